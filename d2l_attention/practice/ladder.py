"""The ladder of Part I: what each part brings. `python -m tools.ladder` makes its log."""

from functools import partial
from pathlib import Path

LOG = Path(__file__).parents[1] / "data" / "ladder.txt"
BEGIN = "The score of "  # all models go on from here
ROWS = [line.split("\t") for line in LOG.read_text("utf-8").splitlines() if "\t" in line]
RUNGS = {name: chapter for chapter, name, *_ in ROWS if chapter != "-"}  # no controls


def stored(name: str) -> tuple[list[float], str]:
    """Return the losses of a rung from all starts, and what the first model writes after BEGIN."""
    for _, rung, *losses, text in ROWS:
        if rung == name:
            return [float(loss) for loss in losses], text
    raise ValueError(f"name must be one of {[row[1] for row in ROWS]}, got {name!r}")


def show_ladder(mine: dict[str, tuple[float, str]]):
    """Draw all rungs, those of `mine` with this loss and text; what comes after them is hatched."""
    from matplotlib import pyplot as plt

    last = max(list(RUNGS).index(name) for name in mine if stored(name))
    height = 0.3 + 0.4 * len(RUNGS) + 0.26 * min(last + 2, len(RUNGS))
    fig, ax = plt.subplots(figsize=(4.7, height), layout="none")
    ax.set(position=(0, 0, 1, 1), xlim=(0, 4.7), ylim=(height, 0))  # in inches
    ax.axis("off")
    left, end, y = 0.72, 4.65, 0.45
    unit = (end - left) / 4.34  # ln 77, the loss of a guess
    say = partial(ax.text, size=9, color="#555555", va="center")
    say(left, 0.12, "loss on text it never saw")
    say(end, 0.12, "a guess: 4.34", ha="right")
    ax.plot([end, end], [0.24, height], ":", color="#555555", lw=1)
    for i, (name, chapter) in enumerate(RUNGS.items()):
        look = {"color": "#111111", "weight": "bold"} if name in mine else {}
        say(left, y, name, size=10, **look)
        say(0.02, y, "" if chapter in [*RUNGS.values()][:i] else chapter, size=13, **look)
        if i > last:
            ax.barh(y + 0.2, end - left, 0.15, left, fill=False, hatch="/////", ec="#BBBBBB", lw=0)
            say(left, y + 0.4, "guess before you turn the page" if i == last + 1 else "")
        else:
            losses, text = stored(name)
            loss, text = mine.get(name, (losses[0], text))
            plates = ["#BBBBBB"] * i + ["#D55E00" if look else "#BBBBBB"]  # one for each part
            ax.barh([y + 0.4 - 0.055 * k for k in range(i + 1)], 0.27, 0.036, 0.28, color=plates)
            ax.barh(y + 0.2, loss * unit, 0.15, left, color="#0072B2" if look else "#8FC1DE")
            say(left + loss * unit + 0.06, y + 0.205, f"{loss:.2f}", size=10, **look)
            text = (BEGIN + text.removeprefix(BEGIN)).replace("\n", " ")[:52]
            say(left, y + 0.4, text, size=8.5, family="monospace", **look | {"weight": "normal"})
        if name == "+ attention" and i <= last:
            ahead = stored("+ attention, reading ahead")[0][0]
            ax.plot([left + ahead * unit] * 2, [y + 0.11, y + 0.29], color="#D55E00")
            note = {"size": 8.5, "color": "#B84F00", "ha": "right"}
            say(end - 0.05, y + 0.205, f"reading ahead {ahead:.2f}", **note)
        y += 0.66 if i < last + 2 else 0.4
    plt.close(fig) if "inline" in plt.get_backend() else None  # a cell shows what it returns
    return fig
