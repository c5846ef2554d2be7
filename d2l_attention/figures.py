"""How the book's figures look: one style for all, and heat maps on one color scale."""

import sys
from collections.abc import Sequence

import numpy as np

from d2l_attention.checks import check_numbers
from d2l_attention.frameworks import to_numpy

STYLE = {
    "axes.prop_cycle": "cycler('color', ['#0072B2', '#D55E00', '#009E73', "
    "'#CC79A7', '#E69F00', '#56B4E9', '#555555'])",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.figsize": (5.0, 3.0),
    "figure.titlesize": 11,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "path.simplify": False,  # what it would leave out depends on the CPU
    "savefig.pad_inches": 0.15,
    "svg.hashsalt": "d2l_attention",
    **dict.fromkeys(["axes.edgecolor", "xtick.color", "ytick.color"], "#555555"),
    **dict.fromkeys(["axes.titlesize", "figure.labelsize"], 10),
    **dict.fromkeys(["legend.fontsize", "xtick.labelsize", "ytick.labelsize"], 9),
}
BLUE, ORANGE = "#0072B2", "#D55E00"  # of weights and of queries, as in the diagrams


def use_svg_display() -> None:
    """Give all figures the book's look, and show them as SVG in Jupyter.

    The look replaces the reader's own matplotlib settings.
    """
    import matplotlib

    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    if "ipykernel" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        # without a date, the same figure is the same text at every run
        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


def show_heatmaps(
    matrices,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    cmap: str = "Blues",
    *,
    xticks: Sequence[str] | None = None,
    yticks: Sequence[str] | None = None,
    vmin: float | None = 0.0,
    vmax: float | None = 1.0,
    masked=False,
):
    """Draw matrices as heat maps on one color scale; return the figure.

    Args:
        matrices: Arrays (n, m), (columns, n, m) or (rows, columns, n, m), or lists of such.
        xlabel, ylabel: What the columns (keys) and the rows (queries) are.
        titles: One per panel, or one per column.
        figsize: Width and height in inches; by default as much as needed.
        cmap: Name of a color map.
        xticks, yticks: m and n names; by default indices.
        vmin, vmax: Ends of the color scale; None: the smallest and the largest entry that is
            finite and not masked.
        masked: Which cells are masked, and hatched: an array that fits the matrices, or True,
            for those with an exact 0.

    Raises:
        ValueError: The number of axes, titles or ticks does not fit, or the shape of masked.
    """
    panels = as_panels(matrices)
    hatched = panels == 0 if masked is True else as_hatched(masked, panels.shape)
    panels = panels.round(6)  # so that all devices give equal colors
    rows, columns, n, m = panels.shape
    titles = as_labels("titles", titles, columns, rows * columns)
    ticks = as_labels("xticks", xticks, m), as_labels("yticks", yticks, n)
    seen = panels[np.isfinite(panels) & ~hatched]
    low, high = (seen.min(), seen.max()) if seen.size else (0.0, 1.0)
    low = min(low, high if vmax is None else vmax) if vmin is None else vmin
    high = max(low, high) if vmax is None else vmax
    scale = {"cmap": cmap, "vmin": float(low), "vmax": float(high)}
    return draw_panels(panels, hatched, (xlabel, ylabel), titles, ticks, figsize, scale)


def show_sentences(sentences: Sequence[Sequence[str]], weights):
    """Draw sentences side by side, and how much the last word of each attends to every word.

    Args:
        sentences: Lists of words, all of one length n.
        weights: One row of attention weights for each sentence: (sentences, n).

    Raises:
        ValueError: The weights do not fit the sentences.
    """
    from matplotlib import pyplot as plt
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    weights = np.asarray(to_numpy(weights), dtype=np.float64).round(6)
    if sizes := {(len(sentences), len(words)) for words in sentences} - {weights.shape}:
        raise ValueError(f"weights must have shape {sizes.pop()}, got {weights.shape}")
    n = weights.shape[1]
    size = 2.1 * len(sentences), 0.27 * n + 0.2
    fig, axes = plt.subplots(1, len(sentences), figsize=size, squeeze=False)
    for ax, words, row in zip(axes[0], sentences, weights, strict=True):
        for j, (word, weight) in enumerate(zip(words, row, strict=True)):
            # tinted by opacity, so that words stay legible on a dark page
            ax.add_patch(Rectangle((0, j), 1, 1, color=BLUE, alpha=0.6 * weight, linewidth=0))
            ax.add_patch(Rectangle((0, j), 1, 1, fill=False, edgecolor="0.88"))
            ax.text(0.06, j + 0.5, word, va="center", weight="bold" if weight > 0.5 else "normal")
            if weight >= 0.05:
                ax.text(0.95, j + 0.5, f"{weight:.2f}", ha="right", va="center", size=8)
            far = 1 + 0.75 * (n - 1 - j) / n
            bow = Path([(1, n - 0.5), (far, n - 0.5), (far, j + 0.5), (1, j + 0.5)], [1, 4, 4, 4])
            look = {"fill": False, "edgecolor": BLUE, "linewidth": round(4 * weight, 1)}
            ax.add_patch(PathPatch(bow, capstyle="butt", **look))
        ax.add_patch(Rectangle((0, n - 1), 1, 1, fill=False, edgecolor=ORANGE, linewidth=2))
        ax.set(xlim=(-0.03, 1.6), ylim=(n + 0.1, -0.1))
        ax.axis("off")
    if "inline" in plt.get_backend():
        plt.close(fig)  # Jupyter shows the figure that a cell returns
    return fig


def as_panels(matrices) -> np.ndarray:
    """Return matrices as panels in rows and columns: (rows, columns, n, m)."""
    check_numbers("matrices", matrices)
    panels = np.asarray(to_numpy(matrices), dtype=np.float64)
    if not 2 <= panels.ndim <= 4 or panels.size == 0:
        raise ValueError(
            "matrices must have shape (n, m), (columns, n, m) or (rows, columns, n, m) and at "
            f"least one cell, got shape {panels.shape}"
        )
    return panels[(None,) * (4 - panels.ndim)]  # (n, m) -> (1, 1, n, m)


def as_hatched(masked, shape: tuple[int, ...]) -> np.ndarray:
    """Return which cells of panels of a shape (rows, columns, n, m) are masked."""
    check_numbers("masked", masked)
    marks = np.asarray(to_numpy(masked)) > 0
    try:
        return np.broadcast_to(marks, shape)
    except ValueError:
        got = f"{shape}, got shape {marks.shape}"
        raise ValueError(f"masked must broadcast to the shape of the matrices {got}") from None


def as_labels(name: str, labels, *sizes: int) -> list[str] | None:
    """Return labels as strings, and None as None; check how many there are."""
    if labels is None:
        return None
    labels = [str(label) for label in labels]
    if len(labels) not in sizes:
        wanted = " or ".join(map(str, sorted(set(sizes))))
        raise ValueError(f"{name} must have length {wanted}, got {len(labels)}: {labels}")
    return labels


def draw_panels(panels, hatched, names, titles, ticks, figsize, scale):
    """Draw panels (rows, columns, n, m) and a color bar; return the figure."""
    from matplotlib import pyplot as plt
    from matplotlib.cm import ScalarMappable

    size = figsize or figure_size(panels.shape, *ticks)
    fig, axes = plt.subplots(
        *panels.shape[:2], figsize=size, sharex=True, sharey=True, squeeze=False
    )
    for i, (at, ax) in enumerate(np.ndenumerate(axes)):
        cells = draw_panel(ax, panels[at], hatched[at], ticks, scale)
        ax.set_title(titles[i % len(titles)] if titles else "")
    fig.supxlabel(names[0])
    fig.supylabel(names[1])
    few = ScalarMappable(cells.norm, cells.cmap.resampled(32))  # 256 steps weigh 50 KB more
    bar = fig.colorbar(few, ax=axes, aspect=6 * size[1])
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=0.4)
    bar.outline.set(edgecolor="0.8", linewidth=0.6)
    if "inline" in plt.get_backend():
        plt.close(fig)  # Jupyter shows the figure that a cell returns
    return fig


def draw_panel(ax, panel: np.ndarray, hatched: np.ndarray, ticks, scale: dict):
    """Draw one matrix (n, m), row 0 on top, NaN gray; return its cells."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    n, m = panel.shape
    x, y = (np.arange(size + 1) - 0.5 for size in (m, n))
    lines = {"edgecolors": "0.88", "linewidth": 0.6}
    if max(n, m) > 24:  # too small for lines; no gaps between cells either
        lines = {"edgecolors": "face", "linewidth": 0.4}
    cells = ax.pcolormesh(x, y, panel, **lines, **scale)
    ax.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), facecolor="0.65")
    ax.grid(False)
    ax.spines[:].set(visible=True, color="0.8", linewidth=0.6)
    ax.tick_params(length=0)
    ax.tick_params(axis="x", labelrotation=90 if max(map(len, ticks[0] or [""])) > 3 else 0)
    for axis, size, names in zip((ax.xaxis, ax.yaxis), (m, n), ticks, strict=True):
        if names or size <= 16:
            axis.set_ticks(range(size), names)
        else:
            axis.get_major_locator().set_params(integer=True)  # as many as there is room for
    square, corners = Path.unit_rectangle().vertices - 0.5, np.argwhere(hatched)[:, ::-1]
    if len(corners):
        squares = Path.make_compound_path(*(Path(square + at, closed=True) for at in corners))
        ax.add_patch(PathPatch(squares, fill=False, linewidth=0, edgecolor="0.8", hatch="////"))
    return cells


def figure_size(shape: tuple[int, ...], xticks, yticks) -> tuple[float, float]:
    """Return inches for panels (rows, columns, n, m): 0.36 a cell, or less where there are many."""
    rows, columns, n, m = shape
    cell = min(0.36, 5.6 / (columns * m), 5.6 / (rows * n))
    names_x, names_y = (max(map(len, t or [""])) for t in (xticks, yticks))
    width = columns * max(0.6, cell * m) + 0.07 * names_y + 1.3
    height = rows * (max(0.5, cell * n) + 0.25) + 0.07 * names_x + 0.6
    return width, height
