"""Draw the book's diagrams: `python book/figures/draw.py` writes the SVG files beside this one."""

from importlib import import_module
from pathlib import Path

from kit import DIAGRAMS

HERE = Path(__file__).parent
for path in sorted(HERE.glob("*.py")):  # each registers its diagrams
    if path != Path(__file__):
        import_module(path.stem)


def main() -> None:
    """Write all diagrams beside this file."""
    for name, drawn in DIAGRAMS.items():
        (HERE / f"{name}.svg").write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
