"""Draw the book's diagrams: `python book/figures/draw.py` writes them to notebooks/figures/."""

from importlib import import_module
from pathlib import Path

from kit import DIAGRAMS

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "notebooks" / "figures"
for path in sorted(HERE.glob("*.py")):  # each registers its diagrams
    if path != Path(__file__):
        import_module(path.stem)


def main() -> None:
    """Write all diagrams."""
    for name, drawn in DIAGRAMS.items():
        (FOLDER / f"{name}.svg").write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
