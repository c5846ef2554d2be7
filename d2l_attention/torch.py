# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in PyTorch: the functions that the chapters derive."""

import math
import os
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from d2l_attention.checks import (
    check_divides,
    check_features,
    check_inputs,
    check_lengths,
    check_positions,
    check_same_size,
    check_scores,
    check_sizes,
)
from d2l_attention.figures import show_heatmaps, use_svg_display
from d2l_attention.machine import environment_report
from d2l_attention.memory import LiveBytes

__all__ = ["use_svg_display", "environment_report", "try_gpu", "check_shape", "show_heatmaps",
    "gaussian", "boxcar", "triangular", "epanechnikov", "constant", "pairwise_distances",
    "nadaraya_watson", "attention_mask", "masked_softmax", "zero_padding", "fused_attention",
    "Attention", "DotProductAttention", "additive_scores", "AdditiveAttention", "unit_vectors",
    "DistanceAttention", "BilinearAttention", "CosineAttention", "LiveBytes", "blockwise_attention",
    "sinusoidal_positions", "relative_positions", "RelativeBias", "alibi_slopes", "alibi_bias",
    "rotate", "sink_softmax", "sparsemax", "linear_attention", "KeyValueCache",
    "MultiHeadAttention", "attention_without_padding"]  # fmt: skip


# From book/00_start_here.md, Meet three helpers
def try_gpu(i: int = 0) -> torch.device:
    """Return GPU number i where there is one, else the CPU.

    The environment variable D2L_DEVICE, such as "cpu", overrides both.
    """
    if forced := os.environ.get("D2L_DEVICE"):
        return torch.device(forced)
    if i < torch.cuda.device_count():
        return torch.device("cuda", i)
    return torch.device("cpu")


# From book/01_queries_keys_values.md, Blend the entries
def check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `tensor` has exactly this shape."""
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"tensor must have shape {tuple(shape)}, got {tuple(tensor.shape)}")


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

    Queries (n, d) and keys (m, d), or (n,) and (m,) for d = 1, give
    Euclidean distances (n, m). Raises ValueError for other shapes.
    """
    q, k = (x[:, None] if x.dim() == 1 else x for x in (queries, keys))
    if not q.dim() == k.dim() == 2 or q.shape[-1] != k.shape[-1]:
        got = f"{tuple(queries.shape)} and {tuple(keys.shape)}"
        raise ValueError(f"queries and keys must be (n, d) and (m, d), got {got}")
    if not q.is_floating_point():
        q = q.long()  # in the eight bits of uint8, 1 - 3 is 254
    gaps = q[:, None] - k  # (n, 1, d) - (m, d) -> (n, m, d)
    if not gaps.is_floating_point():  # a distance of integers is a root
        gaps = gaps.float()
    return torch.linalg.vector_norm(gaps, dim=-1)  # (n, m, d) -> (n, m)


def nadaraya_watson(
    x_train: Tensor, y_train: Tensor, x_val: Tensor, kernel: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Predict values at new points: attention with a kernel's weights.

    Args:
        x_train, y_train: Keys (m, d) or (m,) and values (m, v) or (m,).
        x_val: Queries (n, d), or (n,) for d = 1.
        kernel: From distances (n, m) to similarities >= 0 of that shape.

    Returns:
        Predictions (n, v) or (n,), and the attention weights (n, m). A row
        is NaN where all its similarities are 0: no key is in reach.
    """
    if len(x_train) != len(y_train):
        got = f"{len(x_train)} and {len(y_train)}"
        raise ValueError(f"x_train and y_train must come in pairs, got {got}")
    r = pairwise_distances(x_val, x_train)
    similarity = kernel(r).to(r.dtype)
    weights = similarity / similarity.sum(-1, keepdim=True)
    return weights @ y_train.to(weights.dtype), weights


# From book/04_masked_softmax.md, From lengths to a mask
def check_range(lens: Tensor, m: int) -> None:
    """Raise ValueError if a length lies outside 0..m.

    Reads ordinary CPU tensors only: on a GPU that would synchronize, and
    under tracing there are no values.
    """
    tracing = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if tracing or type(lens) is not Tensor or not lens.is_cpu:
        return
    try:
        least, most = (int(end) for end in lens.aminmax())
    except RuntimeError:  # empty, or without values: inside vmap or make_fx
        return
    if least < 0 or most > m:
        raise ValueError(f"valid_lens must lie in 0..{m}, got {least}..{most}")


def length_mask(
    shape: tuple[int, ...], valid_lens: Tensor | list, device: torch.device | None = None
) -> Tensor:
    """Return a mask that is True at the first `valid_lens` keys of a row.

    It is (b, 1, ..., 1, m), or (b, 1, ..., n, m) with lengths (b, n).
    """
    b, n, m = shape[0], *shape[-2:]
    lens = torch.as_tensor(valid_lens)
    numbers = lens.is_floating_point() or lens.is_complex()
    if (numbers or lens.dtype == torch.bool) and lens.numel():
        raise TypeError(f"valid_lens must hold integers, got {lens.dtype}")
    rows = tuple(lens.shape[1:])  # () with a length per sequence
    wrong = lens.dim() not in (1, 2) or lens.shape[0] != b
    if wrong or (rows and rows[0] != n):
        want, got = f"{(b,)} or {(b, n)}", tuple(lens.shape)
        raise ValueError(f"valid_lens must have shape {want}, got {got}")
    lens = lens.long()  # unsigned types lack comparisons
    check_range(lens, m)
    lens = lens.reshape(b, *(1,) * (len(shape) - 3), *(rows or (1,)), 1)
    return torch.arange(m, device=device or lens.device) < lens.to(device)


# From book/04_masked_softmax.md, Join masks with AND
def align_mask(shape: tuple[int, ...], mask: Tensor) -> Tensor:
    """Return `mask` with as many axes as `shape`, to which it broadcasts."""
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}")
    have = (1,) * (len(shape) - mask.dim()) + tuple(mask.shape)
    fits = [h == 1 or h == w for h, w in zip(have, shape)]
    if len(have) != len(shape) or not all(fits):
        have, want = tuple(mask.shape), tuple(shape)
        raise ValueError(f"mask must broadcast to {want}, got {have}")
    return mask.reshape(have)  # (n, m) -> (1, n, m)


def attention_mask(
    shape: tuple[int, ...],
    valid_lens: Tensor | list | None = None,
    mask: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """Join valid lengths and a mask with AND: True = may attend.

    The result broadcasts to `shape` and has as many axes; None = no mask.

    Args:
        shape: Shape (b, ..., n, m) of the scores.
        valid_lens, mask: As in masked_softmax, with the same errors.
        device: Where both go; by default they stay where they are.
    """
    if mask is not None:
        mask = align_mask(shape, torch.as_tensor(mask, device=device))
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens, device)
    return inside if mask is None else mask & inside


# From book/04_masked_softmax.md, The softmax
def masked_softmax(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the softmax over the keys that may be attended to.

    Args:
        X: Scores, floating point, (b, n, m) or (b, ..., n, m).
        valid_lens: Integers in 0..m, per sequence (b,) or per query (b, n).
        mask: Boolean, True = may attend; broadcastable to `X`.

    Returns:
        Attention weights with shape and dtype of `X`. All other keys have
        weight 0; in a fully masked row all weights and gradients are 0.
        A row whose allowed scores are all -inf is NaN: -inf is no mask.

    Raises:
        TypeError: `X` is not floating point, the lengths are not
            integers, or the mask is not boolean.
        ValueError: A shape does not fit, or a length lies outside 0..m
            (checked on the CPU only, and not under tracing).
    """
    check_scores(X)
    keep = attention_mask(X.shape, valid_lens, mask, X.device)
    if keep is None:
        return X.softmax(-1, dtype=X.dtype)
    some = keep.any(-1, keepdim=True)  # (..., n, 1): is any key left?
    fill = torch.where(some, -torch.inf, 0.0).to(X.dtype)
    scores = torch.where(keep, X, fill)
    return scores.softmax(-1, dtype=X.dtype) * some


# From book/06_scaled_dot_product_attention.md, Keep NaN out of the padding
def zero_padding(keep: Tensor | None, *tensors: Tensor) -> list[Tensor]:
    """Zero out the rows that no query may attend to, as 0 * NaN is NaN.

    Args:
        keep: boolean mask with the axes of the scores, to which it
            broadcasts: (b, n, m) or (b, heads, n, m). None: no padding.
        tensors: keys, values, ...: (b, m, any), or with heads.
    """
    if keep is None:
        return list(tensors)
    used = keep.any(-2).unsqueeze(-1)  # (b, n, m) -> (b, m) -> (b, m, 1)
    return [torch.where(used, tensor, 0) for tensor in tensors]


# From book/06_scaled_dot_product_attention.md, Meet the fused function
def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    keep: Tensor | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Run PyTorch's fused scaled dot-product attention, heads or none.

    Fully masked rows are 0. Its fused compute kernels, on CPU and GPU, have
    no second derivatives and no forward-mode ones.

    Args:
        queries, keys, values: (b, n, d), (b, m, d), (b, m, v), or with
            heads after b. Sizes must fit: nothing is checked.
        keep: boolean mask, True = may attend, with the axes of the scores.
        dropout: probability of dropping a weight, in evaluation too.
        scale: factor of the dot products. None: 1 / sqrt(d).
    """
    tensors = [queries, keys, values, keep]
    if one_head := queries.dim() == 3:  # (b, n, d) -> (b, 1, n, d)
        tensors = [t if t is None else t.unsqueeze(1) for t in tensors]
    out = F.scaled_dot_product_attention(*tensors, dropout, scale=scale)
    return out.squeeze(1) if one_head else out


# From book/06_scaled_dot_product_attention.md, One layer for every score
class Attention(nn.Module):
    """Attention with any score: a subclass defines `features` or `score`.

    Args:
        dropout: probability of dropping an attention weight in training.

    After a call, `attention_weights` holds the weights (b, n, m) before
    dropout and without gradient, or None without `need_weights`. They are
    not saved or copied with the layer.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return features of queries and keys: their products are scores."""
        raise NotImplementedError(f"{type(self).__name__} defines no features")

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the scores (b, n, m)."""
        q, k = self.features(queries, keys)
        return q @ k.transpose(-2, -1)  # -> (b, n, m)

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

        An axis of heads may follow b; `valid_lens`, `mask`: masked_softmax.
        NaN in padded keys and values does no harm; in padded *queries* it
        reaches gradients. Without `need_weights`, a layer that defines
        `features` runs `fused_attention`, with its limits. The output has
        the type of the values, also where features or scores are wider.
        """
        check_sizes(queries, keys, values)
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask, queries.device)
        keys, values = zero_padding(keep, keys, values)
        if not need_weights and type(self).score is Attention.score:
            self.attention_weights = None
            p = self.dropout.p if self.training else 0.0
            q, k = self.features(queries, keys)
            v, kind = values.to(q.dtype), values.dtype
            return fused_attention(q, k, v, keep, p, scale=1.0).to(kind)
        weights = masked_softmax(self.score(queries, keys), mask=keep)
        self.attention_weights = weights.detach() if need_weights else None
        return self.dropout(weights).to(values.dtype) @ values  # (b, n, v)

    def __getstate__(self) -> dict:
        return self.__dict__ | {"attention_weights": None}


class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / sqrt(d) and k, both of dimension d."""
        check_same_size(queries, keys)
        return queries / queries.shape[-1] ** 0.5, keys


# From book/07_additive_attention.md, Score block by block
def additive_scores(
    q: Tensor, k: Tensor, w_v: Callable[[Tensor], Tensor], block: int = 2**18
) -> Tensor:
    """Return the scores w_v(tanh(q + k)), (b, n, m), block by block.

    Uses tanh(x) = 2 (sigmoid(2x) - 1/2), in float32 or wider.

    Args:
        q, k: projected queries (b, n, h) and keys (b, m, h), or with heads.
        w_v: linear map without bias from (..., h) to (..., 1).
        block: how many entries q + k may hold at a time; a block has at
            least one query of each example.
    """
    wide = torch.promote_types(q.dtype, torch.float32)
    q2 = 2 * q.unsqueeze(-2).to(wide)  # (b, n, h) -> (b, n, 1, h)
    k2 = 2 * k.unsqueeze(-3).to(wide)  # (b, m, h) -> (b, 1, m, h)

    def score(part: Tensor) -> Tensor:
        hidden = torch.sigmoid(part + k2) - 0.5  # tanh(q + k) / 2
        return w_v(hidden.to(q.dtype)).squeeze(-1)

    if torch.compiler.is_compiling():  # a loop would be unrolled
        return 2 * score(q2)
    step = max(1, block // max(1, k.numel()))
    return 2 * torch.cat([score(part) for part in q2.split(step, -3)], -2)


# From book/07_additive_attention.md, Build the layer
def linear(inputs: int | None, outputs: int) -> nn.Linear:
    """Return a linear layer without bias. None: inputs of the first call."""
    if inputs is None:
        return nn.LazyLinear(outputs, bias=False)
    return nn.Linear(inputs, outputs, bias=False)


class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    Bahdanau, Cho, Bengio, 2015, appendix A.1.2.

    Args:
        num_hiddens: number h of hidden units.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: dimensions of queries and keys. None: taken
            from the first call.
    """

    def __init__(
        self,
        num_hiddens: int,
        dropout: float = 0.0,
        query_size: int | None = None,
        key_size: int | None = None,
    ) -> None:
        super().__init__(dropout)
        self.W_q = linear(query_size, num_hiddens)
        self.W_k = linear(key_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, self.W_k.in_features)
        return additive_scores(self.W_q(queries), self.W_k(keys), self.w_v)


# From book/08_more_scoring_functions.md, A zero vector has no direction
def unit_vectors(x: Tensor) -> Tensor:
    """Divide vectors (..., d) by their lengths; zero vectors stay zero.

    The results have length 1 to rounding, where the square of a length
    neither over- nor underflows. The gradient grows like 1 / length; at a
    zero vector it passes unchanged, where the true one does not exist.
    """
    norm = x.norm(dim=-1, keepdim=True)  # (..., d) -> (..., 1)
    return x / torch.where(norm > 0, norm, 1)


# From book/08_more_scoring_functions.md, Distance
class DistanceAttention(Attention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    The scores leave out a term that all keys of a query share. The weights
    are those of a Gaussian kernel with variance sqrt(d). Far from the
    origin rounding errors grow: move the origin to the data first.
    Scores are computed in float32 or wider, as squared norms overflow in
    half precision; under torch.autocast, in half precision all the same.
    """

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of dimension d + 1."""
        check_same_size(queries, keys)
        wide = torch.promote_types(queries.dtype, torch.float32)
        queries, keys = queries.to(wide), keys.to(wide)
        ones = torch.ones_like(queries[..., :1])  # (b, n, 1)
        norms = keys.square().sum(-1, keepdim=True)  # (b, m, d) -> (b, m, 1)
        q = torch.cat([queries, ones], dim=-1) / queries.shape[-1] ** 0.5
        return q, torch.cat([keys, -0.5 * norms], dim=-1)


# From book/08_more_scoring_functions.md, Bilinear
class BilinearAttention(Attention):
    """Bilinear attention: scores q^T M k / sqrt(s).

    Full: M has any rank, and s is the dimension of keys. Low rank:
    M = W_q^T W_k, and s is the rank; this is the score of a Transformer head.

    Args:
        rank: rank of the low-rank form. None: a full matrix.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: dimensions of queries and keys. None: taken
            from the first call; a full matrix needs key_size, else ValueError.
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
        self.W_q = linear(query_size, size)
        self.W_k = nn.Identity() if rank is None else linear(key_size, size)

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_q q / sqrt(s) and W_k k, both of dimension s."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, getattr(self.W_k, "in_features", 0))
        q, k = self.W_q(queries), self.W_k(keys)
        check_same_size(q, k)
        return q / q.shape[-1] ** 0.5, k


# From book/08_more_scoring_functions.md, Cosine
class CosineAttention(Attention):
    """Cosine attention: scores cos(q, k) / temperature; cos(0, k) = 0.

    Args:
        dropout: probability of dropping an attention weight in training.
        temperature: positive, else ValueError; the smaller, the sharper.
        learnable: whether training may change the temperature.
    """

    def __init__(
        self, dropout: float = 0.0, temperature: float = 0.1, learnable: bool = True
    ) -> None:
        super().__init__(dropout)
        if not temperature > 0:
            raise ValueError(f"temperature must be positive, got {temperature}")
        self.start = temperature  # weight decay pulls back to it, not to 1
        self.log_ratio = nn.Parameter(torch.zeros(()), requires_grad=learnable)

    @property
    def temperature(self) -> Tensor:
        return self.start * self.log_ratio.exp()

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        return unit_vectors(queries) / self.temperature, unit_vectors(keys)


# From book/09_what_attention_costs.md, Go in blocks, and carry the mask
def fold_in(
    c: Tensor, s: Tensor, o: Tensor, a: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Add a block of keys to a running softmax and weighted sum.

    Maximum c and sum s (..., n, 1): Milakov, Gimelshein, 2018; weighted sum
    o (..., n, v): Rabe, Staats, 2021. They start as -inf, 0, 0; at the end
    the output is o / s. Scores a of the block (..., n, block): -inf = masked.
    """
    c_new = torch.maximum(c, a.amax(-1, keepdim=True))
    top = torch.where(c_new == -torch.inf, 0, c_new)  # nothing seen yet: 0
    shrink, e = torch.exp(c - top), torch.exp(a - top)
    s = shrink * s + e.sum(-1, keepdim=True)
    return c_new, s, shrink * o + e @ values


def blockwise_attention(
    queries: Tensor, keys: Tensor, values: Tensor, keep: Tensor | None = None, block: int = 128
) -> Tensor:
    """Return scaled dot-product attention, computed over blocks of keys.

    Fully masked rows are 0. Only the weights of one block are held.

    Args:
        queries, keys, values, keep: as for fused_attention; (b, n, v) out.
        block: how many keys to take at once, at least 1.
    """
    check_sizes(queries, keys, values)
    if block < 1:
        raise ValueError(f"block must be at least 1, got {block}")
    keys, values = zero_padding(keep, keys, values)
    q, m = queries / queries.shape[-1] ** 0.5, keys.shape[-2]
    wide = torch.promote_types(q.dtype, torch.float32)
    c = torch.full_like(q[..., :1], -torch.inf, dtype=wide)  # (b, n, 1)
    s, o = torch.zeros_like(c), c.new_zeros(*c.shape[:-1], values.shape[-1])
    keep = (c < 0 if keep is None else keep).expand(*c.shape[:-1], m)
    for part in (slice(i, i + block) for i in range(0, m, block)):
        a = torch.where(keep[..., part], q @ keys[..., part, :].mT, -torch.inf)
        c, s, o = fold_in(c, s, o, a, values[..., part, :].to(wide))
    return (o / torch.where(s == 0, 1, s)).to(q.dtype)


# From book/11_positions_in_the_score.md, Waves of many lengths
def angles(positions: Tensor, d: int, base: float = 10_000.0) -> Tensor:
    """Return i base^(-2t / d) for positions i (..., n): (..., n, d / 2).

    ValueError: d is odd.
    """
    if d % 2:
        raise ValueError(
            f"the dimension must be even, as features go in pairs, got {d}; "
            f"{d - 1} or {d + 1} would fit"
        )
    pairs = torch.arange(0, d, 2, device=positions.device)
    return positions.unsqueeze(-1) * base ** (-pairs.to(positions) / d)


def sinusoidal_positions(n: int, d: int) -> Tensor:
    """Return n vectors (n, d) of sines and cosines (Vaswani et al., 2017).

    Even features are sines, odd ones cosines. They have the default type.

    Raises:
        ValueError: d is odd.
    """
    a = angles(torch.arange(n, dtype=torch.float64), d)  # (n, d/2)
    pairs = torch.stack([a.sin(), a.cos()], dim=-1)  # (n, d/2, 2)
    return pairs.flatten(-2).to(torch.get_default_dtype())  # (n, d)


# From book/11_positions_in_the_score.md, A learned bias for each distance
def relative_positions(n: int, m: int) -> Tensor:
    """Return i - j for n queries and m keys: integers (n, m).

    The queries stand at the last n of the m positions, as with a cache.

    Raises:
        ValueError: There are more queries than keys.
    """
    if not 0 <= n <= m:
        raise ValueError(f"n must lie in 0..m = {m}, got {n}")
    return torch.arange(m - n, m).unsqueeze(-1) - torch.arange(m)


class RelativeBias(nn.Module):
    """A learned bias for each head and distance, 0 before training.

    Args:
        num_heads: Heads, at least 1, else ValueError.
        max_distance: Farther keys share its bias; at least 1, else
            ValueError.
    """

    def __init__(self, num_heads: int, max_distance: int) -> None:
        super().__init__()
        sizes = {"num_heads": num_heads, "max_distance": max_distance}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        self.max_distance = max_distance
        self.bias = nn.Parameter(torch.zeros(num_heads, 2 * max_distance + 1))

    def forward(self, n: int, m: int) -> Tensor:
        """Return the bias (heads, n, m) of the last n of m positions."""
        c = self.max_distance
        rows = relative_positions(n, m).clamp(-c, c) + c  # in 0..2c
        return self.bias[:, rows.to(self.bias.device)]


# From book/11_positions_in_the_score.md, Let distance cost something: ALiBi
def alibi_slopes(num_heads: int) -> Tensor:
    """Return the slopes 2^(-8/H), 2^(-16/H), ..., 2^(-8) of H heads: (H,).

    The geometric sequence of Press, Smith and Lewis (2022), section 3.

    Raises:
        ValueError: There is no head.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi_bias(slopes: Tensor, n: int, m: int) -> Tensor:
    """Return -slope |i - j| for slopes (heads,): (heads, n, m).

    The n queries stand at the last n of the m positions.

    Raises:
        ValueError: `slopes` has not one axis, or n > m.
    """
    if slopes.dim() != 1:
        raise ValueError(f"slopes must have shape (heads,), got {tuple(slopes.shape)}")
    gaps = -relative_positions(n, m).abs().to(slopes.device)  # (n, m)
    return slopes[:, None, None] * gaps


# From book/11_positions_in_the_score.md, From the loop to the function
def rotate(x: Tensor, positions: Tensor | None = None, base: float = 10_000.0) -> Tensor:
    """Turn neighboring features of vectors (..., n, d) by their positions.

    Features 2t and 2t + 1 turn by the angle i base^(-2t / d) at position i
    (Su et al., 2021). Angles have single precision or better.

    Args:
        positions: (n,), or the shape of x without d, where every axis but n
            may be 1: (b, 1, n) for x (b, H, n, d). None: 0, ..., n - 1.

    Raises:
        TypeError: x is not floating point.
        ValueError: d is odd, or the shape of the positions does not fit.
    """
    if not x.is_floating_point():
        raise TypeError(f"x must be floating point, got {x.dtype}")
    n, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n, device=x.device)
    check_positions(tuple(positions.shape), tuple(x.shape[:-1]))
    exact = torch.promote_types(x.dtype, torch.float32)
    a = angles(positions.to(x.device, exact), d, base)  # (..., n, d/2)
    even, odd, cos, sin = x[..., ::2], x[..., 1::2], a.cos(), a.sin()
    pairs = even * cos - odd * sin, even * sin + odd * cos
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


# From book/12_scores_that_stay_healthy.md, Let a query abstain
def masked_scores(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the scores with -inf at all keys that are masked.

    Arguments and errors are those of masked_softmax.
    """
    check_scores(X)
    keep = attention_mask(X.shape, valid_lens, mask, X.device)
    return X if keep is None else torch.where(keep, X, -torch.inf)


def sink_softmax(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return exp(a_i) / (1 + sum exp(a_j)) over the keys that may be seen.

    A softmax with one more key of score 0, the sink, whose weight is left
    out (Miller, 2023). Rows sum to less than 1; a fully masked row is 0.
    Arguments and errors are those of masked_softmax.
    """
    scores = F.pad(masked_scores(X, valid_lens, mask), (0, 1))  # the sink
    return scores.softmax(-1, dtype=X.dtype)[..., :-1]


# From book/12_scores_that_stay_healthy.md, Give exact zeros
def sparsemax(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the weights nearest to the scores: rows sum to 1, many are 0.

    max(a_i - theta, 0) with the threshold theta that makes the sum 1
    (Martins, Astudillo, 2016). A fully masked row is 0. Arguments and
    errors are those of masked_softmax.
    """
    scores = masked_scores(X, valid_lens, mask)
    a = scores.to(torch.promote_types(X.dtype, torch.float32))
    ranked = a.sort(dim=-1, descending=True).values
    top = ranked[..., :1].clamp(min=torch.finfo(a.dtype).min)
    sums = (ranked - top).clamp(min=-2).cumsum(-1) - 1  # -2: far outside
    r = torch.arange(1, X.shape[-1] + 1, device=X.device)
    theta = F.pad(sums / r, (0, 1), value=-torch.inf).amax(-1, keepdim=True)
    return F.relu(a - top - theta).to(X.dtype)


# From book/12_scores_that_stay_healthy.md, Read exp(q·k) as a kernel
def elu_features(x: Tensor) -> Tensor:
    """Return elu(x) + 1, elementwise: x + 1 for x > 0, and exp(x) below.

    Never less than the cube root of the smallest normal number of the dtype
    (2e-13 in float32), so that no product of three such numbers becomes 0.
    """
    low = math.log(torch.finfo(x.dtype).tiny) / 3
    return x.clamp(low, 0).exp() + F.relu(x)


def sum_over_keys(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Return q (k^T v), (b, n, v), with features q, k of dimension r."""
    check_same_size(q, k)
    if not causal:
        return q @ (k.mT @ v)  # (b, n, r) x (b, r, v)
    if q.shape[-2] != k.shape[-2]:
        got = f"got {q.shape[-2]} queries and {k.shape[-2]} keys"
        raise ValueError(f"causal: one query for each key, {got}")
    state, outputs = k[..., :0, :].mT @ v[..., :0, :], []  # (b, r, v): 0
    chunks = (x.split(64, dim=-2) for x in (q, k, v))
    for q, k, v in zip(*chunks):
        outputs.append(q @ state + (q @ k.mT).tril() @ v)
        state = state + k.mT @ v
    return torch.cat(outputs, dim=-2)


def linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    valid_lens: Tensor | list | None = None,
    causal: bool = False,
    features: Callable[[Tensor], Tensor] = elu_features,
) -> Tensor:
    """Attend with the similarity features(q) . features(k), without (n, m).

    Katharopoulos et al., 2020. A query without any key gets 0.

    Args:
        queries, keys, values: (b, n, d), (b, m, d), (b, m, v), or with heads.
        valid_lens: integers in 0..m, per sequence (b,).
        causal: whether query i sees keys up to i only; then n = m.
        features: from (..., d) to (..., r), not negative.
    """
    check_sizes(queries, keys, values)
    shape = (*keys.shape[:-2], 1, keys.shape[-2])  # (b, 1, m)
    keep = attention_mask(shape, valid_lens, device=keys.device)
    keys, values = zero_padding(keep, keys, values)
    wide = torch.promote_types(queries.dtype, torch.float32)
    q, k = features(queries.to(wide)), features(keys.to(wide))
    (k,) = zero_padding(keep, k)  # the features of 0 need not be 0
    v = F.pad(values.to(wide), (0, 1), value=1.0)  # ones count the weights
    sums = sum_over_keys(q, k, v, causal)  # (b, n, v + 1)
    outputs, totals = sums[..., :-1], sums[..., -1:]
    return (outputs / torch.where(totals == 0, 1, totals)).to(queries.dtype)


# From book/13_many_heads.md, Project, split, attend, join
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split the last axis: (b, n, D) -> (b, n, H, D/H) -> (b, H, n, D/H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


# From book/13_many_heads.md, Write the layer
def causal_mask(n: int, m: int, device: torch.device | None) -> Tensor:
    """Return (n, m), True at keys no later than the query.

    The n queries stand at the last n of the m places.
    """
    queries = torch.arange(m - n, m, device=device)[:, None]  # (n, 1)
    return torch.arange(m, device=device) <= queries  # (m,), (n, 1) -> (n, m)


def check_continues(name: str, held: Tensor, new: Tensor) -> None:
    """Raise ValueError unless `new` differs from `held` in axis -2 alone."""
    if held.shape[:2] != new.shape[:2] or held.shape[3] != new.shape[3]:
        b, heads, _, d = new.shape
        raise ValueError(
            f"cache must have {name} of shape (b, heads, any, d) = "
            f"({b}, {heads}, any, {d}), got {tuple(held.shape)}: "
            f"start a new one for each batch and each layer"
        )


class KeyValueCache:
    """The projected keys and values of all tokens that one layer has read.

    `keys` and `values` are (b, heads, m, d), or None at the start.
    """

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.keys is None else self.keys.shape[-2]

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Join new keys and values (b, heads, new, d); return all of them.

        ValueError: another batch size, number of heads or dimension, or not
        one value for each key.
        """
        if keys.shape[:-1] != values.shape[:-1]:
            got = f"got keys {tuple(keys.shape)}, values {tuple(values.shape)}"
            raise ValueError(f"there must be one value for each key; {got}")
        if self.keys is not None:
            check_continues("keys", self.keys, keys)
            check_continues("values", self.values, values)
            keys = torch.cat([self.keys, keys], dim=-2)
            values = torch.cat([self.values, values], dim=-2)
        self.keys, self.values = keys, values
        return keys, values


class HeadProjections(nn.Module):
    """The projections of `MultiHeadAttention`, whose arguments it takes."""

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        num_kv_heads: int | None = None,
        attention: Callable[..., nn.Module] = DotProductAttention,
    ) -> None:
        super().__init__()
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_divides("num_heads", num_heads, "num_hiddens", num_hiddens)
        check_divides("num_kv_heads", kv_heads, "num_heads", num_heads)
        kv_hiddens = num_hiddens // num_heads * kv_heads
        self.num_heads, self.num_kv_heads = num_heads, kv_heads
        self.attention = attention(dropout=dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias)
        self.W_k = nn.LazyLinear(kv_hiddens, bias)
        self.W_v = nn.LazyLinear(kv_hiddens, bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias)

    def project(
        self, queries: Tensor, keys: Tensor, values: Tensor, cache: KeyValueCache | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return q (b, H, n, d), and k and v (b, H, m, d) with the cache."""
        q = split_heads(self.W_q(queries), self.num_heads)
        k = split_heads(self.W_k(keys), self.num_kv_heads)
        v = split_heads(self.W_v(values), self.num_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        if (shared := self.num_heads // self.num_kv_heads) > 1:
            k, v = (t.repeat_interleave(shared, dim=1) for t in (k, v))
        return q, k, v


class MultiHeadAttention(HeadProjections):
    """Multi-head attention (Vaswani et al., 2017, section 3.2.2).

    Args:
        num_hiddens: dimension D of the output, and of all heads together.
        num_heads: number H of heads; it divides num_hiddens.
        dropout: probability of dropping an attention weight in training.
        bias: whether the projections add a learned vector.
        num_kv_heads: number of heads of keys and values, each shared by a
            group of query heads; it divides num_heads. None: num_heads.
        attention: makes the layer inside, called with `dropout=`.

    After a call, `attention_weights` holds the weights (b, H, n, m) of the
    layer inside. Lazy: input dimensions are taken from the first call.
    """

    @property
    def attention_weights(self) -> Tensor | None:
        return self.attention.attention_weights

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = True,
    ) -> Tensor:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, d_v) -> (b, n, D).

        Args:
            valid_lens, mask, need_weights: as for `Attention`, with scores
                (b, n, m); all heads share them.
            causal: the queries stand at the last n of the m places, and
                see no later place.
            cache: earlier keys and values: the new ones join it, and m
                counts them all. NaN may then stand in new keys and values
                behind lengths (b,) only: later queries may see the others.
        """
        check_inputs(self, queries, keys, values)
        past = 0 if cache is None else len(cache)
        shape = (*queries.shape[:2], past + keys.shape[1])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask, queries.device)
        if causal:
            order = causal_mask(*shape[1:], queries.device)
            keep = order[None] if keep is None else keep & order
        seen = keep
        if cache is not None:  # a later query may see what these do not
            lens = [] if valid_lens is None else valid_lens
            whole = valid_lens if torch.as_tensor(lens).dim() == 1 else None
            seen = attention_mask(shape, whole, None, queries.device)
            seen = None if seen is None else seen[..., past:]
        keys, values = zero_padding(seen, keys, values)
        if keep is not None:
            keep = keep.unsqueeze(1)  # (b, n, m) -> (b, 1, n, m)
        q, k, v = self.project(queries, keys, values, cache)
        out = self.attention(q, k, v, mask=keep, need_weights=need_weights)
        return self.W_o(out.transpose(1, 2).flatten(2))  # (b, n, D)


# From book/14_from_lesson_to_library.md, Cut off the padding
def attention_without_padding(
    queries: Tensor, keys: Tensor, values: Tensor, lens: Sequence[int], dropout: float = 0.0
) -> Tensor:
    """Run fused_attention on each example alone, with its padding cut off.

    Args:
        queries, keys, values, dropout: as for fused_attention.
        lens: b lengths in 0..m, a list, tuple or other sequence of integers:
            no tensor is read.

    Raises:
        TypeError, ValueError: shapes do not match, or lens is not a sequence
            of b integers in 0..m.
    """
    check_sizes(queries, keys, values)
    check_lengths(lens, keys.shape[0], keys.shape[-2])
    outputs = [fused_attention(queries[:0], keys[:0], values[:0])]  # if b = 0
    for i, length in enumerate(lens):
        k, v = (t[i : i + 1, ..., :length, :] for t in (keys, values))
        outputs.append(fused_attention(queries[i : i + 1], k, v, None, dropout))
    return torch.cat(outputs)
