# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in pytorch: the functions that the chapters derive."""

import math
import os
import platform
import sys
import weakref
from collections.abc import Callable
from importlib import metadata

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# From book/00_start_here.md, Meet three helpers
FIGURE_STYLE = {
    "axes.prop_cycle": "cycler('color', ['#0072B2', '#D55E00', '#009E73', "
    "'#CC79A7', '#E69F00', '#56B4E9', '#555555'])",
    "axes.axisbelow": True,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "figure.figsize": (5.0, 3.0),
    "figure.labelsize": 10,
    "figure.titlesize": 11,
    "font.size": 10,
    "grid.color": "#E6E6E6",
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "path.simplify": False,  # what it would leave out depends on the CPU
    "savefig.pad_inches": 0.15,
    "svg.hashsalt": "d2l_attention",
    "xtick.color": "#555555",
    "xtick.labelsize": 9,
    "ytick.color": "#555555",
    "ytick.labelsize": 9,
}


def use_svg_display() -> None:
    """Give all figures the book's look, and show them as SVG in Jupyter.

    The look replaces the reader's own matplotlib settings, and the SVG holds
    no date, so that the same figure is the same text at every run.
    """
    import matplotlib

    matplotlib.rcdefaults()
    matplotlib.rcParams.update(FIGURE_STYLE)
    if "ipykernel" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


# From book/00_start_here.md, Meet three helpers
def try_gpu(i: int = 0) -> torch.device:
    """Return GPU number i where there is one, else the CPU.

    The environment variable D2L_DEVICE, such as "cpu", overrules both.
    """
    if forced := os.environ.get("D2L_DEVICE"):
        return torch.device(forced)
    if i < torch.cuda.device_count():
        return torch.device("cuda", i)
    return torch.device("cpu")


# From book/00_start_here.md, Meet three helpers
def version_of(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def free_memory(device: torch.device) -> str:
    """Say how much memory is free on a device, where that can be known."""
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    elif "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", ()):  # Linux
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    else:
        return "unknown"
    return f"{free / 2**30:.1f} GiB"


def environment_report() -> str:
    """Return versions, device and free memory as text for a bug report.

    It holds no names of users, machines or folders.
    """
    device = try_gpu()
    threads = torch.get_num_threads()
    model = f"{torch.backends.cpu.get_cpu_capability()}, {threads} threads"
    if device.type == "cuda":
        model = torch.cuda.get_device_name(device)
    facts = {
        "book": version_of("d2l-attention"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "matplotlib": version_of("matplotlib"),
        "device": f"{device} ({model})",
        "free memory": free_memory(device),
    }
    return "\n".join(f"{name:12} {fact}" for name, fact in facts.items())


# From book/01_queries_keys_values.md, Blend the entries
def check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Check that a tensor has exactly this shape, and no other.

    Args:
        tensor: anything that has a shape
        shape: the wanted number of entries along each axis

    Raises:
        ValueError: if the shape differs; names both shapes.
    """
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"tensor must have shape {tuple(shape)}, got {tuple(tensor.shape)}")


# From book/01_queries_keys_values.md, Draw the weights
def as_panels(matrices) -> Tensor:
    """Return matrices as panels in rows and columns: (rows, columns, n, m)."""
    if isinstance(matrices, list | tuple):
        matrices = torch.stack([torch.as_tensor(part) for part in matrices])
    panels = torch.as_tensor(matrices).detach().cpu().double()
    if not 2 <= panels.dim() <= 4 or panels.numel() == 0:
        raise ValueError(
            "matrices must have shape (n, m), (columns, n, m) or "
            "(rows, columns, n, m) and at least one cell, "
            f"got shape {tuple(panels.shape)}"
        )
    panels = panels[(None,) * (4 - panels.dim())]  # (n, m) -> (1, 1, n, m)
    return panels.round(decimals=6)  # so that all devices give equal colors


def as_labels(name: str, labels, *sizes: int) -> list[str] | None:
    """Return labels as strings, and None as None; check how many there are."""
    if labels is None:
        return None
    labels = [str(label) for label in labels]
    if len(labels) not in sizes:
        wanted = " or ".join(str(size) for size in sorted(set(sizes)))
        raise ValueError(f"{name} must have length {wanted}, got {len(labels)}: {labels}")
    return labels


# From book/01_queries_keys_values.md, Draw the weights
def draw_panel(ax, panel: Tensor, xticks, yticks, **scale):
    """Draw one matrix (n, m), row 0 on top, NaN gray; return its cells."""
    n, m = panel.shape
    x, y = (torch.arange(size + 1).numpy() - 0.5 for size in (m, n))
    lines = {"edgecolors": "0.88", "linewidth": 0.6}
    if max(n, m) > 24:  # too small for lines; no gaps between cells either
        lines = {"edgecolors": "face", "linewidth": 0.4}
    cells = ax.pcolormesh(x, y, panel.numpy(), **lines, **scale)
    ax.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), facecolor="0.65")
    ax.grid(False)
    ax.spines[:].set(visible=True, color="0.8", linewidth=0.6)
    upright = max(map(len, xticks or [""])) > 3
    ax.tick_params(length=0)
    ax.tick_params(axis="x", labelrotation=90 if upright else 0)
    if xticks or m <= 16:
        ax.set_xticks(range(m), xticks)
    else:
        ax.locator_params("x", integer=True)  # as many as there is room for
    if yticks or n <= 16:
        ax.set_yticks(range(n), yticks)
    else:
        ax.locator_params("y", integer=True)
    return cells


def figure_size(shape, xticks, yticks) -> tuple[float, float]:
    """Return width and height in inches for panels (rows, columns, n, m).

    Cells measure 0.36 inches, or less where there are many of them.
    """
    rows, columns, n, m = shape
    cell = min(0.36, 5.6 / (columns * m), 5.6 / (rows * n))
    names_x, names_y = (max(map(len, t or [""])) for t in (xticks, yticks))
    width = columns * max(0.6, cell * m) + 0.07 * names_y + 1.3
    height = rows * (max(0.5, cell * n) + 0.25) + 0.07 * names_x + 0.6
    return width, height


# From book/01_queries_keys_values.md, Draw the weights
def draw_panels(panels, names, titles, ticks, figsize, scale):
    """Draw panels (rows, columns, n, m) and a color bar; return the figure."""
    from matplotlib import pyplot as plt

    rows, columns = panels.shape[:2]
    figsize = figsize or figure_size(panels.shape, *ticks)
    fig, axes = plt.subplots(
        rows, columns, figsize=figsize, sharex=True, sharey=True, squeeze=False
    )
    for i, ax in enumerate(axes.flat):
        panel = panels[i // columns, i % columns]
        cells = draw_panel(ax, panel, *ticks, **scale)
        ax.set_title(titles[i % len(titles)] if titles else "")
    fig.supxlabel(names[0])
    fig.supylabel(names[1])
    bar = fig.colorbar(cells, ax=axes, aspect=6 * figsize[1])
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=0.4)
    bar.outline.set(edgecolor="0.8", linewidth=0.6)
    if "inline" in plt.get_backend():
        plt.close(fig)  # Jupyter shows the figure that a cell returns
    return fig


def show_heatmaps(
    matrices,
    xlabel: str,
    ylabel: str,
    titles=None,
    figsize=None,
    cmap="Blues",
    *,
    xticks=None,
    yticks=None,
    vmin: float | None = 0.0,
    vmax: float | None = 1.0,
):
    """Draw matrices as heat maps on one color scale; return the figure.

    Args: matrices (n, m), (columns, n, m) or (rows, columns, n, m); titles,
        one per panel or per column; figsize in inches, None = as needed;
        xticks and yticks, m and n names, None = indices; vmin and vmax,
        the ends of the color scale, None = the smallest and largest entry.
    Raises: ValueError if the number of axes, titles or ticks does not fit.
    """
    panels = as_panels(matrices)
    rows, columns, n, m = panels.shape
    titles = as_labels("titles", titles, columns, rows * columns)
    ticks = as_labels("xticks", xticks, m), as_labels("yticks", yticks, n)
    low, high = panels.nan_to_num().aminmax()
    ends = low if vmin is None else vmin, high if vmax is None else vmax
    scale = {"cmap": cmap, "vmin": float(ends[0]), "vmax": float(ends[1])}
    return draw_panels(panels, (xlabel, ylabel), titles, ticks, figsize, scale)


# From book/02_kernels.md, Choose how the weight falls
def gaussian(r: Tensor) -> Tensor:
    """Return exp(-r^2 / 2), elementwise, for distances of any shape."""
    return torch.exp(-0.5 * r**2)


def boxcar(r: Tensor) -> Tensor:
    """Return 1 where |r| <= 1, else 0, for distances of any shape."""
    return (r.abs() <= 1).to(r.dtype)


def triangular(r: Tensor) -> Tensor:
    """Return max(0, 1 - |r|), elementwise, for distances of any shape."""
    return (1 - r.abs()).clamp(min=0)


def epanechnikov(r: Tensor) -> Tensor:
    """Return 3/4 max(0, 1 - r^2), elementwise, for any shape."""
    return 0.75 * (1 - r**2).clamp(min=0)


def constant(r: Tensor) -> Tensor:
    """Return 1 for every distance, in the shape of `r`."""
    return torch.ones_like(r)


# From book/02_kernels.md, Compute all queries at once
def pairwise_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """Return the distance of every query from every key.

    Args:
        queries: (n, d), or (n,) for d = 1.
        keys: (m, d), or (m,) for d = 1.

    Returns:
        (n, m), Euclidean distances.

    Raises:
        ValueError: Other numbers of axes, or two different sizes d.
    """
    q, k = (x[:, None] if x.dim() == 1 else x for x in (queries, keys))
    if not q.dim() == k.dim() == 2 or q.shape[-1] != k.shape[-1]:
        got = f"{tuple(queries.shape)} and {tuple(keys.shape)}"
        raise ValueError(f"queries and keys must be (n, d) and (m, d), got {got}")
    gaps = q[:, None] - k  # (n, 1, d) - (m, d) -> (n, m, d)
    return torch.linalg.vector_norm(gaps, dim=-1)  # (n, m, d) -> (n, m)


# From book/02_kernels.md, Compute all queries at once
def nadaraya_watson(
    x_train: Tensor,
    y_train: Tensor,
    x_val: Tensor,
    kernel: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """Predict values at new points: attention with a kernel's weights.

    Args:
        x_train: Keys (m, d), or (m,) for d = 1.
        y_train: Values (m, v) or (m,).
        x_val: Queries (n, d), or (n,) for d = 1.
        kernel: From distances (n, m) to similarities >= 0 of that shape.

    Returns:
        Predictions (n, v) or (n,), and the attention weights (n, m). A row
        is NaN where all its similarities are 0: no key is in reach.

    Raises:
        ValueError: Shapes do not fit.
    """
    if len(x_train) != len(y_train):
        got = f"{len(x_train)} and {len(y_train)}"
        raise ValueError(f"x_train and y_train must come in pairs, got {got}")
    r = pairwise_distances(x_val, x_train)
    similarity = kernel(r).to(r.dtype)
    weights = similarity / similarity.sum(-1, keepdim=True)
    return weights @ y_train, weights


# From book/04_masked_softmax.md, Look where looking is free
def is_plain(tensor: Tensor) -> bool:
    """False for what torch.compile, torch.export and torch.func pass.

    These run a function on stand-ins: a shape, but no values of their own.
    """
    compiling = torch.compiler.is_compiling()
    return not compiling and torch.func.debug_unwrap(tensor) is tensor


def can_look(tensor: Tensor) -> bool:
    """True where Python may read values for free: real ones, on the CPU."""
    return tensor.is_cpu and is_plain(tensor)


# From book/04_masked_softmax.md, Look where looking is free
def length_span(lens: Tensor) -> tuple[int, int]:
    """Return the least and the greatest length; (0, 0) without a look."""
    if not can_look(lens) or not lens.numel():
        return 0, 0
    ends = lens.tolist() if lens.dim() == 1 else [int(x) for x in lens.aminmax()]
    return min(ends), max(ends)


# From book/04_masked_softmax.md, From lengths to a mask
def check_lengths(lens: Tensor, b: int, n: int, m: int) -> None:
    """Raise an error unless `lens` has integers in 0..m, (b,) or (b, n).

    The range is looked at where a look is free: see can_look.

    Raises:
        TypeError: `lens` does not hold integers.
        ValueError: The shape or the range is wrong.
    """
    wrong = lens.is_floating_point() or lens.dtype == torch.bool
    if wrong and lens.numel():  # an empty list becomes a float tensor
        raise TypeError(f"valid_lens must hold integers, got {lens.dtype}")
    want = f"{(b,)} or {(b, n)}"
    if (have := tuple(lens.shape)) not in ((b,), (b, n)):
        raise ValueError(f"valid_lens must have shape {want}, got {have}")
    least, most = length_span(lens)
    if least < 0 or most > m:
        raise ValueError(f"valid_lens must lie in 0..{m}, got {least}..{most}")


# From book/04_masked_softmax.md, From lengths to a mask
def length_mask(
    shape: tuple[int, ...],
    valid_lens: Tensor | list,
    device: torch.device | None = None,
) -> Tensor:
    """Return a mask that is True at the first `valid_lens` keys of a row.

    Args:
        shape: Shape (b, ..., n, m) of the scores.
        valid_lens: Integers in 0..m, per sequence (b,) or per query (b, n).
        device: Where the mask is to be; by default where `valid_lens` is.

    Returns:
        Boolean (b, 1, ..., 1, m), or (b, 1, ..., n, m) with lengths (b, n).

    Raises:
        TypeError, ValueError: As `check_lengths` does.
    """
    b, n, m = shape[0], *shape[-2:]
    lens = torch.as_tensor(valid_lens)
    check_lengths(lens, b, n, m)
    rows = lens.shape[1:] or (1,)  # a length for each query, or one for all
    lens = lens.reshape(b, *(1,) * (len(shape) - 3), *rows, 1).to(device)
    return torch.arange(m, device=lens.device) < lens


# From book/04_masked_softmax.md, Join masks with AND
def align_mask(shape: tuple[int, ...], mask: Tensor) -> Tensor:
    """Return `mask` with as many axes as `shape`, to which it broadcasts.

    Args:
        shape: Shape (b, ..., n, m) of the scores.
        mask: Boolean, True = may attend.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: `mask` does not broadcast to `shape`.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}")
    have = (1,) * (len(shape) - mask.dim()) + tuple(mask.shape)
    fits = (h in (1, w) for h, w in zip(have, shape))
    if len(have) != len(shape) or not all(fits):
        have, want = tuple(mask.shape), tuple(shape)
        raise ValueError(f"mask must broadcast to {want}, got {have}")
    return mask.reshape(have)  # (n, m) -> (1, n, m)


# From book/04_masked_softmax.md, Join masks with AND
def attention_mask(
    shape: tuple[int, ...],
    valid_lens: Tensor | list | None = None,
    mask: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """Join valid lengths and a mask with AND: True = may attend.

    Args:
        shape: Shape (b, ..., n, m) of the scores.
        valid_lens: Integers in 0..m, per sequence (b,) or per query (b, n).
        mask: Boolean, broadcastable to `shape`; with heads (b, 1, n, m).
        device: Where both are to go; by default they stay.

    Returns:
        Boolean mask with as many axes as `shape` that broadcasts to it;
        None if there are neither lengths nor a mask.

    Raises:
        TypeError, ValueError: As `length_mask` and `align_mask` do.
    """
    if mask is not None:
        mask = align_mask(shape, torch.as_tensor(mask, device=device))
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens, device)
    return inside if mask is None else mask & inside


# From book/04_masked_softmax.md, The softmax
def may_overwrite(tensor: Tensor) -> bool:
    """True for a result of ours that no derivative will ask for again."""
    tangent = forward_ad.unpack_dual(tensor).tangent
    return is_plain(tensor) and not tensor.requires_grad and tangent is None


# From book/04_masked_softmax.md, The softmax
def softmax_where(keep: Tensor, X: Tensor, full: bool) -> Tensor:
    """Return the softmax of X over the keys where `keep` is True.

    full: every row is known to have a key. Otherwise empty rows become 0.
    """
    some, fill = None, -torch.inf
    if not full:
        some = keep.any(-1, keepdim=True)  # (..., n, 1): has the row any key?
        fill = torch.where(some, -torch.inf, 0.0).to(X.dtype)
    scores = torch.where(keep, X, fill)
    out = scores if may_overwrite(scores) else None  # spares a third tensor
    weights = torch.softmax(scores, -1, X.dtype, out=out)
    return weights if full else torch.mul(weights, some, out=out)


# From book/04_masked_softmax.md, The softmax
def masked_softmax(
    X: Tensor,
    valid_lens: Tensor | list | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the softmax over the keys that may be attended to.

    Args:
        X: Scores, floating point, (b, n, m) or (b, ..., n, m).
        valid_lens: Integers in 0..m, per sequence (b,) or per query (b, n).
        mask: Boolean, True = may attend; broadcastable to `X`.

    Returns:
        Attention weights with shape and dtype of `X`. All other keys have
        weight 0; in a row without any key, all weights and gradients are 0.

    Raises:
        TypeError: A dtype is wrong: `X` floating, lengths integer, mask bool.
        ValueError: `X` has fewer than 3 axes, or a shape or length is wrong.
    """
    if not X.is_floating_point():
        raise TypeError(f"X must be floating point, got {X.dtype}")
    if X.dim() < 3:
        raise ValueError(f"X must have 3 axes or more, got {tuple(X.shape)}")
    keep = attention_mask(X.shape, valid_lens, mask, X.device)
    if keep is None:
        return X.softmax(-1, dtype=X.dtype)
    full = mask is None and length_span(torch.as_tensor(valid_lens))[0] > 0
    return softmax_where(keep, X, full)


# From book/06_scaled_dot_product_attention.md, Check the sizes first
def check_sizes(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    """Check that queries, keys and values of a minibatch fit together.

    Args:
        queries: (b, n, any size), or (b, heads, n, any size).
        keys: (b, m, any size), or (b, heads, m, any size).
        values: (b, m, v), or (b, heads, m, v).

    Raises:
        TypeError: a tensor is not floating point.
        ValueError: the number of axes is not 3 or 4 or differs, batch or
            heads differ, or there is not one value for each key.
    """
    for t in (queries, keys, values):
        if not t.is_floating_point():
            raise TypeError(f"queries, keys, values must be floating point, got {t.dtype}")
    q, k, v = (tuple(t.shape) for t in (queries, keys, values))
    got = f"got queries {q}, keys {k}, values {v}"
    if not len(q) == len(k) == len(v) or len(q) not in (3, 4):
        raise ValueError(f"queries, keys, values must have 3 axes, or 4 with heads; {got}")
    if not q[:-2] == k[:-2] == v[:-2]:
        raise ValueError(f"queries, keys, values must agree in batch and heads; {got}")
    if k[-2] != v[-2]:
        raise ValueError(f"there must be one value for each key; {got}")


# From book/06_scaled_dot_product_attention.md, Keep NaN out of the padding
def clear_padding(keep: Tensor | None, *tensors: Tensor) -> list[Tensor]:
    """Set rows that no query may attend to to 0, because 0 * NaN is NaN.

    Args:
        keep: boolean mask, True = may attend, with the axes of the scores
            and broadcastable to them: (b, n, m) or (b, heads, n, m).
            None: nothing is padding.
        tensors: keys, values, ...: (b, m, any size), or with heads.

    Returns:
        The tensors in the same order, new ones where there is a mask.
    """
    if keep is None:
        return list(tensors)
    used = keep.any(-2).unsqueeze(-1)  # (b, n, m) -> (b, m) -> (b, m, 1)
    return [torch.where(used, tensor, 0) for tensor in tensors]


# From book/06_scaled_dot_product_attention.md, Look before you clear
def all_finite(*tensors: Tensor) -> bool:
    """False if a number is NaN, infinite or huge, or no look is free.

    One such number spoils the norm of all, which takes one quick look.
    """
    norm = torch.linalg.vector_norm
    return all([can_look(t) and math.isfinite(norm(t.detach())) for t in tensors])


# From book/06_scaled_dot_product_attention.md, Meet the fused function
def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    keep: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Run PyTorch's fused scaled dot-product attention, heads or none.

    Args:
        queries, keys, values: (b, n, d), (b, m, d), (b, m, v), or with
            heads after b. Sizes must fit: see check_sizes.
        keep: boolean mask, True = may attend, with the axes of the scores.
        dropout: probability of dropping a weight, in evaluation too.

    Returns:
        (b, n, v), or (b, heads, n, v); rows without any key are 0.
    """
    if queries.dim() == 3:  # (b, n, d) -> (b, 1, n, d): one head
        q, k, v = (t.unsqueeze(1) for t in (queries, keys, values))
        keep = None if keep is None else keep.unsqueeze(1)
        one_head = fused_attention(q, k, v, keep, dropout)
        return one_head.squeeze(1)  # (b, 1, n, v) -> (b, n, v)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=keep, dropout_p=dropout)


# From book/06_scaled_dot_product_attention.md, Cut each example to its own length
def lengths_to_cut(queries: Tensor, keys: Tensor, valid_lens, mask) -> list[int]:
    """Return the lengths (b,) where it pays to cut each example to its own.

    It does for long examples on the CPU. The list is empty elsewhere, and
    where a mask or lengths per query ask for more than one cut.
    """
    short = queries.shape[-2] * keys.shape[-2] < 2**16
    if valid_lens is None or mask is not None or short or not queries.is_cpu:
        return []
    lens = torch.as_tensor(valid_lens)
    return lens.tolist() if lens.dim() == 1 and length_span(lens)[1] else []


def fused_by_example(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    lens: list[int],
    dropout: float = 0.0,
) -> Tensor:
    """Run fused_attention on each example alone, without its padding."""
    outputs = [
        fused_attention(q, k[..., :m, :], v[..., :m, :], None, dropout)
        for q, k, v, m in zip(queries.split(1), keys.split(1), values.split(1), lens, strict=True)
    ]
    return torch.cat(outputs)


# From book/06_scaled_dot_product_attention.md, Build the layer
def product(a: Tensor, b: Tensor) -> Tensor:
    """Return a @ b; without heads by bmm, which starts faster than @."""
    return torch.bmm(a, b) if a.dim() == 3 else a @ b


# From book/06_scaled_dot_product_attention.md, Build the layer
class DotProductAttention(nn.Module):
    """Scaled dot-product attention: softmax(Q K^T / sqrt(d)) V.

    Vaswani et al., Attention Is All You Need, 2017, equation 1.

    Args:
        dropout: probability of dropping an attention weight in training.

    After a call, `attention_weights` holds the weights (b, n, m) before
    dropout and without gradient, or None where they were not wanted.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        mask: Tensor | None = None,
        need_weights: bool = True,
    ) -> Tensor:
        """Attend: (b, n, d), (b, m, d), (b, m, v) -> (b, n, v).

        An axis of heads may follow b. `valid_lens` and `mask` are those of
        masked_softmax; without `need_weights` the fused function works.
        """
        check_sizes(queries, keys, values)
        d, d_keys = queries.shape[-1], keys.shape[-1]
        if d != d_keys:
            raise ValueError(
                "a dot product needs queries and keys of the same size, "
                f"got queries of size {d} and keys of size {d_keys}"
            )
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        if not all_finite(keys, values):
            keep = attention_mask(shape, valid_lens, mask, queries.device)
            keys, values = clear_padding(keep, keys, values)
        if not need_weights:
            self.attention_weights = None
            p = self.dropout.p if self.training else 0.0
            keep = attention_mask(shape, valid_lens, mask, queries.device)
            if lens := lengths_to_cut(queries, keys, valid_lens, mask):
                return fused_by_example(queries, keys, values, lens, p)
            return fused_attention(queries, keys, values, keep, p)
        scores = product(queries / d**0.5, keys.transpose(-2, -1))  # (b, n, m)
        weights = masked_softmax(scores, valid_lens, mask)
        self.attention_weights = weights.detach()
        return product(self.dropout(weights), values)  # (b, n, v)


# From book/07_additive_attention.md, Hold the scores once
def sigmoid_scores(q: Tensor, k: Tensor, w: Tensor, step: int) -> Tensor:
    """Return w^T sigmoid(q + k), computed for `step` queries at a time.

    q (b, n, 1, h), k (b, 1, m, h), w (h,) -> (b, n, m); b may be (b, heads).
    """
    blocks = (
        (rows + k).sigmoid_() @ w  # in place: the sum is ours alone
        for rows in q.split(step, dim=-3)  # (b, step, 1, h)
    )
    if not all(may_overwrite(tensor) for tensor in (q, k, w)):
        return torch.cat(list(blocks), dim=-2)
    scores = q.new_empty((*q.shape[:-2], k.shape[-2]))  # (b, n, m), once
    for part, block in zip(scores.split(step, dim=-2), blocks, strict=True):
        part.copy_(block)
    return scores


# From book/07_additive_attention.md, Few numbers, many numbers
def additive_scores(q: Tensor, k: Tensor, w: Tensor, block: int | None = None) -> Tensor:
    """Score every query with every key: w^T tanh(q + k), block by block.

    Uses tanh(x) = 2 sigmoid(2x) - 1. Without gradients, one block and the
    scores are all that is held.

    Args:
        q: projected queries (b, n, h), or (b, heads, n, h).
        k: projected keys (b, m, h), or (b, heads, m, h).
        w: weights of the hidden units (h,).
        block: how many numbers q + k may hold at a time; a block has at
            least one query of each example. None: what suits the device.

    Returns:
        Scores (b, n, m), or (b, heads, n, m).
    """
    n, m = q.shape[-2], k.shape[-2]
    block = block or (2**18 if k.is_cpu else 2**26)  # 1 MiB fits a CPU's cache
    if q.numel() * m <= min(block, 2**14):  # few: here the formula is faster
        return torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ w
    step = n if torch.compiler.is_compiling() else max(1, block // k.numel())
    q2 = 2 * q.unsqueeze(-2)  # (b, n, h) -> (b, n, 1, h)
    k2 = 2 * k.unsqueeze(-3)  # (b, m, h) -> (b, 1, m, h)
    return sigmoid_scores(q2, k2, 2 * w, step) - w.sum()  # (b, n, m)


# From book/07_additive_attention.md, Build the layer
def check_features(name: str, tensor: Tensor, size: int) -> None:
    """Check that vectors have the size a layer was made for; 0: any size."""
    if size not in (0, tensor.shape[-1]):
        raise ValueError(f"{name} must have size {size}, got {tuple(tensor.shape)}")


# From book/07_additive_attention.md, Build the layer
class AdditiveAttention(nn.Module):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    Bahdanau, Cho, Bengio, 2015, appendix A.1.2.

    Args:
        num_hiddens: number h of hidden units.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: sizes of queries and keys. None: taken from
            the first call.

    After a call, `attention_weights` holds the weights (b, n, m) before
    dropout and without gradient, or None where they were not wanted.
    """

    def __init__(
        self,
        num_hiddens: int,
        dropout: float = 0.0,
        query_size: int | None = None,
        key_size: int | None = None,
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None
        self.W_q, self.W_k = (
            nn.LazyLinear(num_hiddens, bias=False)
            if size is None
            else nn.Linear(size, num_hiddens, bias=False)
            for size in (query_size, key_size)
        )
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        mask: Tensor | None = None,
        need_weights: bool = True,
    ) -> Tensor:
        """Attend: (b, n, any size), (b, m, any size), (b, m, v) -> (b, n, v).

        `valid_lens` and `mask` are those of masked_softmax.
        """
        check_sizes(queries, keys, values)
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, self.W_k.in_features)
        if not all_finite(keys, values):
            shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
            keep = attention_mask(shape, valid_lens, mask, queries.device)
            keys, values = clear_padding(keep, keys, values)
        q, k = self.W_q(queries), self.W_k(keys)  # (b, n, h), (b, m, h)
        scores = additive_scores(q, k, self.w_v.weight[0])  # (b, n, m)
        weights = masked_softmax(scores, valid_lens, mask)
        self.attention_weights = weights.detach() if need_weights else None
        return product(self.dropout(weights), values)  # (b, n, v)


# From book/08_more_scoring_functions.md, A zero vector has no direction
def unit_vectors(x: Tensor) -> Tensor:
    """Divide every vector by its length; a zero vector stays zero.

    Args:
        x: vectors (..., d).

    Returns:
        Vectors (..., d) of length 1 or 0. At a zero vector the gradient
        passes unchanged: it is finite, where the true one does not exist.
    """
    norm = x.norm(dim=-1, keepdim=True)  # (..., d) -> (..., 1)
    return x / torch.where(norm > 0, norm, 1)


# From book/08_more_scoring_functions.md, Build one layer for all of them
class ScoredAttention(nn.Module):
    """Attention whose scores are dot products of changed queries and keys.

    A subclass defines `as_dot_product`.

    Args:
        dropout: probability of dropping an attention weight in training.

    After a call, `attention_weights` holds the weights (b, n, m) before
    dropout and without gradient, or None where they were not wanted.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def as_dot_product(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors (b, n, s), (b, m, s) whose products are scores."""
        raise NotImplementedError

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        mask: Tensor | None = None,
        need_weights: bool = True,
    ) -> Tensor:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, v) -> (b, n, v).

        An axis of heads may follow b. `valid_lens` and `mask` are those of
        masked_softmax; without `need_weights` the fused function works.
        """
        check_sizes(queries, keys, values)
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask, queries.device)
        keys, values = clear_padding(keep, keys, values)
        q, k = self.as_dot_product(queries, keys)  # (b, n, s), (b, m, s)
        if not need_weights:
            self.attention_weights = None
            p = self.dropout.p if self.training else 0.0
            q = q * q.shape[-1] ** 0.5  # the fused function divides by it
            if lens := lengths_to_cut(q, k, valid_lens, mask):
                return fused_by_example(q, k, values, lens, p)
            return fused_attention(q, k, values, keep, p)
        scores = product(q, k.transpose(-2, -1))  # (b, n, m)
        weights = masked_softmax(scores, valid_lens, mask)
        self.attention_weights = weights.detach()
        return product(self.dropout(weights), values)  # (b, n, v)


# From book/08_more_scoring_functions.md, Distance
def check_same_size(queries: Tensor, keys: Tensor) -> None:
    """Raise ValueError unless queries and keys have the same last size."""
    d_q, d_k = queries.shape[-1], keys.shape[-1]
    if d_q != d_k:
        raise ValueError(
            "queries and keys must have the same size, "
            f"got queries of size {d_q} and keys of size {d_k}"
        )


# From book/08_more_scoring_functions.md, Distance
class DistanceAttention(ScoredAttention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    They are computed up to a term that all keys of a query share. The
    weights are those of a Gaussian kernel with variance sqrt(d). Far from
    the origin digits get lost: move the origin to the data first.

    Args:
        dropout: probability of dropping an attention weight in training.
    """

    def as_dot_product(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of size d + 1."""
        check_same_size(queries, keys)
        ones = torch.ones_like(queries[..., :1])  # (b, n, 1)
        norms = keys.square().sum(-1, keepdim=True)  # (b, m, d) -> (b, m, 1)
        q = torch.cat([queries, ones], dim=-1) / queries.shape[-1] ** 0.5
        return q, torch.cat([keys, -0.5 * norms], dim=-1)


# From book/08_more_scoring_functions.md, Bilinear
class BilinearAttention(ScoredAttention):
    """Bilinear attention: scores q^T M k / sqrt(s).

    Full: M has any rank, and s is the size of the keys. Low rank:
    M = W_q^T W_k, and s is the rank; this is the score of a Transformer head.

    Args:
        rank: rank of the low-rank form. None: a full matrix.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: sizes of queries and keys. None: taken from
            the first call; a full matrix needs key_size.

    Raises:
        ValueError: neither rank nor key_size is given.
    """

    def __init__(
        self,
        rank: int | None = None,
        dropout: float = 0.0,
        query_size: int | None = None,
        key_size: int | None = None,
    ) -> None:
        super().__init__(dropout)
        size = key_size if rank is None else rank
        if size is None:
            raise ValueError("give a rank, or key_size for a full matrix")
        self.W_q, self.W_k = (
            nn.LazyLinear(size, bias=False)
            if inputs is None
            else nn.Linear(inputs, size, bias=False)
            for inputs in (query_size, key_size)
        )
        if rank is None:
            self.W_k = nn.Identity()

    def as_dot_product(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_q q / sqrt(s) and W_k k, both of size s."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, getattr(self.W_k, "in_features", 0))
        q, k = self.W_q(queries), self.W_k(keys)
        check_same_size(q, k)
        return q / q.shape[-1] ** 0.5, k


# From book/08_more_scoring_functions.md, Cosine
class CosineAttention(ScoredAttention):
    """Cosine attention: scores cos(q, k) / temperature.

    A zero vector has cosine 0 with every vector.

    Args:
        dropout: probability of dropping an attention weight in training.
        temperature: positive; small is sharp.
        learnable: whether training may change the temperature.

    Raises:
        ValueError: temperature is not positive.
    """

    def __init__(
        self,
        dropout: float = 0.0,
        temperature: float = 0.1,
        learnable: bool = True,
    ) -> None:
        super().__init__(dropout)
        if not temperature > 0:
            raise ValueError(f"temperature must be positive, got {temperature}")
        log = torch.tensor(float(temperature)).log()
        self.log_temperature = nn.Parameter(log, requires_grad=learnable)

    @property
    def temperature(self) -> Tensor:
        return self.log_temperature.exp()

    def as_dot_product(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        return unit_vectors(queries) / self.temperature, unit_vectors(keys)


# From book/09_what_attention_costs.md, Count the bytes
class LiveBytes(TorchDispatchMode):
    """Count the bytes that the tensors made inside a `with` block hold.

    `now` is what is alive, `peak` the largest value of `now`, `log` a list
    of (operation, new bytes, bytes alive). Memory made before the block and
    what an operation needs inside itself and gives back are not counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.log: list[tuple[str, int, int]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        known = {id(memory) for memory in memories((args, kwargs))}
        result = func(*args, **kwargs)
        new = 0
        for memory in memories(result):
            if id(memory) not in known:  # neither a view nor in place
                known.add(id(memory))
                new += memory.nbytes()
                weakref.finalize(memory, self.release, memory.nbytes())
        self.now += new
        self.peak = max(self.peak, self.now)
        self.log.append((func.__name__, new, self.now))
        return result

    def release(self, nbytes: int) -> None:
        self.now -= nbytes


def memories(tree) -> list[torch.UntypedStorage]:
    """Return the memory behind each tensor in nested lists and tuples."""
    tensors = [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]
    return [tensor.untyped_storage() for tensor in tensors]


# From book/09_what_attention_costs.md, Go in blocks, and carry the mask
def fold_in(
    c: Tensor, s: Tensor, o: Tensor, a: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Take a block of keys into a running softmax and a running blend.

    Online softmax: Milakov, Gimelshein, 2018.

    Args:
        c, s: running maximum and running sum (..., n, 1), at first -inf, 0.
        o: running blend of values (..., n, v), at first 0.
        a: scores of the block (..., n, block), -inf where masked.
        values: values of the block (..., block, v).

    Returns:
        The new c, s and o; the output of attention is o / s.
    """
    c_new = torch.maximum(c, a.amax(-1, keepdim=True))
    top = torch.where(c_new == -torch.inf, 0, c_new)  # nothing seen yet: 0
    shrink, e = torch.exp(c - top), torch.exp(a - top)
    s = shrink * s + e.sum(-1, keepdim=True)
    return c_new, s, shrink * o + e @ values


# From book/09_what_attention_costs.md, Go in blocks, and carry the mask
def blockwise_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    keep: Tensor | None = None,
    block: int = 128,
) -> Tensor:
    """Return scaled dot-product attention, computed over blocks of keys.

    Rows without any key are 0. No more weights than a block's are held.

    Args:
        queries, keys, values, keep: as for fused_attention; (b, n, v) out.
        block: how many keys to look at together.
    """
    check_sizes(queries, keys, values)
    keys, values = clear_padding(keep, keys, values)
    q, m = queries / queries.shape[-1] ** 0.5, keys.shape[-2]
    wide = torch.promote_types(q.dtype, torch.float32)
    c = torch.full_like(q[..., :1], -torch.inf, dtype=wide)  # (b, n, 1)
    s, o = torch.zeros_like(c), c.new_zeros(*c.shape[:-1], values.shape[-1])
    for start in range(0, m, block):
        part = slice(start, start + block)
        a = (q @ keys[..., part, :].transpose(-2, -1)).to(wide)
        if keep is not None:
            inside = keep.expand(*keep.shape[:-1], m)[..., part]
            a = torch.where(inside, a, -torch.inf)  # (b, n, block)
        c, s, o = fold_in(c, s, o, a, values[..., part, :].to(wide))
    return (o / torch.where(s == 0, 1, s)).to(q.dtype)
