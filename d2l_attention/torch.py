# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in PyTorch: the functions that the chapters derive."""

from d2l_attention.frameworks import check_installed

check_installed("pytorch")

import os
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from d2l_attention.checks import (
    check_cache,
    check_divides,
    check_even,
    check_inputs,
    check_layer_sizes,
    check_lengths,
    check_mask,
    check_pairs,
    check_positions,
    check_positive,
    check_projected,
    check_rank,
    check_rate,
    check_same_size,
    check_scores,
    check_valid_lens,
    check_vectors,
)
from d2l_attention.figures import show_heatmaps, use_svg_display
from d2l_attention.machine import environment_report
from d2l_attention.memory import LiveBytes
from d2l_attention.tensors import LazyLinear, apply_wide, as_tensor, as_tensors, check_tensors, wide

__all__ = ["show_heatmaps", "check_shape", "rotate", "gaussian", "boxcar", "triangular",
    "epanechnikov", "constant", "pairwise_distances", "nadaraya_watson", "attention_mask",
    "masked_softmax", "zero_padding", "fused_attention", "Attention", "DotProductAttention",
    "additive_scores", "AdditiveAttention", "DistanceAttention", "BilinearAttention",
    "CosineAttention", "LiveBytes", "KeyValueCache", "MultiHeadAttention", "use_svg_display",
    "environment_report", "try_gpu"]  # fmt: skip


# From book/01_queries_keys_values.md
def check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `tensor` has exactly this shape."""
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"tensor must have shape {tuple(shape)}, got {tuple(tensor.shape)}")


# From book/04_order.md
def angles(positions: Tensor, d: int, base: float = 10_000.0) -> Tensor:
    """Return i base^(-2l / d) for positions i (..., n): (..., n, d / 2)."""
    pairs = torch.arange(0, d, 2, device=positions.device)
    return positions.unsqueeze(-1) * base ** (-pairs.to(positions) / d)


def rotate(x: Tensor, positions: Tensor | None = None, base: float = 10_000.0) -> Tensor:
    """Turn neighboring features of vectors (..., n, d) by their positions.

    Features 2l and 2l + 1 turn by the angle i base^(-2l / d) at position i
    (Su et al., 2021). Positions are (n,), or the shape of x without d, where
    all axes but n may be 1: (b, 1, n) for x (b, H, n, d). None: 0 to n - 1.
    TypeError: x is not floating point. ValueError: d is odd, or wrong shapes.
    """
    check_even(x := as_tensor("x", x))
    n, d = x.shape[-2:]
    positions = as_tensor("positions", positions, x.device)
    if positions is None:
        positions = torch.arange(n, device=x.device)
    check_positions(tuple(positions.shape), tuple(x.shape[:-1]))
    exact = torch.promote_types(x.dtype, torch.float32)
    a = angles(positions.to(exact), d, base)  # (..., n, d/2)
    even, odd, cos, sin = x[..., ::2], x[..., 1::2], a.cos(), a.sin()
    pairs = even * cos - odd * sin, even * sin + odd * cos
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


# From book/05_many_heads_and_a_block.md
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split the last axis: (b, n, D) -> (b, n, H, D/H) -> (b, H, n, D/H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


# From book/08_kernels.md
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


def pairwise_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """Return Euclidean distances (n, m) of queries (n, d) from keys (m, d).

    For d = 1, (n,) and (m,) will do. ValueError: other shapes. Where points
    meet, the gradient is 0, and a second derivative NaN.
    """
    queries, keys = as_tensors(queries=queries, keys=keys)
    check_vectors(queries, keys)
    q, k = (x[:, None] if x.dim() == 1 else x for x in (queries, keys))
    q = q if q.is_floating_point() else q.long()  # in uint8, 1 - 3 is 254
    gaps = q[:, None] - k  # (n, 1, d) - (m, d) -> (n, m, d)
    gaps = gaps if gaps.is_floating_point() else gaps.float()  # for a root
    return torch.linalg.vector_norm(gaps, dim=-1)  # (n, m, d) -> (n, m)


def nadaraya_watson(
    x_train: Tensor, y_train: Tensor, x_val: Tensor, kernel: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Predict values at new points: attention with a kernel's weights.

    Keys (m, d) or (m,), values (m, v) or (m,) and queries x_val (n, d) or
    (n,) give predictions (n, v) or (n,) and weights (n, m). `kernel` turns
    distances into similarities >= 0; a row where all are 0 is NaN.
    A NaN target makes all predictions NaN, and `boxcar` and `constant` hide
    a NaN distance: its similarity is 0 or 1.
    """
    x_train, y_train = as_tensors(x_train=x_train, y_train=y_train)
    check_pairs(x_train, y_train)
    r = pairwise_distances(x_val, x_train)
    similarity = kernel(r).to(r.dtype)
    weights = similarity / similarity.sum(-1, keepdim=True)
    return weights @ y_train.to(weights.dtype), weights


# From book/10_masked_softmax.md
def check_range(lens: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError if an ordinary CPU tensor holds other than lengths."""
    tracing = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if tracing or type(lens) is not torch.Tensor or not lens.is_cpu:
        return
    try:
        known = lens.numpy()
    except RuntimeError:  # without values: inside vmap or make_fx
        return
    check_lengths(known, shape)


def length_mask(
    shape: tuple[int, ...], valid_lens: Tensor | list, device: torch.device | None = None
) -> Tensor:
    """Return a mask, True at a row's first keys, (b, 1, ..., 1 or n, m)."""
    lens, m = as_tensor("valid_lens", valid_lens), shape[-1]
    check_valid_lens(lens, shape)  # integers, (b,) or (b, n)
    lens = lens.long()
    check_range(lens, shape)  # 0..m
    b = shape[:-2][:1]  # scores (n, m) of one example have none
    rows = lens.shape[len(b) :] or (1,)  # n, or 1 with a length per sequence
    lens = lens.reshape(*b, *(1,) * (len(shape) - 3), *rows, 1)
    return torch.arange(m, device=device or lens.device) < lens.to(device)


def attention_mask(
    shape: tuple[int, ...],
    valid_lens: Tensor | list | None = None,
    mask: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """Join valid lengths and a mask with AND: True = may attend.

    It has the axes of the scores, `shape` (b, ..., n, m), and broadcasts to
    them; None = no mask. Lengths, mask and errors are as in masked_softmax;
    both go to `device`, by default they stay.
    """
    if mask is not None:
        mask = as_tensor("mask", mask, device)
        check_mask(mask, shape)
        mask = mask[(None,) * (len(shape) - mask.dim())]  # (n, m) -> (1, n, m)
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens, device)
    return inside if mask is None else mask & inside


def masked_softmax(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the softmax over the keys that may be attended to.

    It has X's shape and dtype. In a fully masked row all weights and
    gradients are 0; a row whose allowed scores are all -inf is NaN.

    Args: X, floating-point scores (b, ..., n, m), or (n, m) of one example;
        valid_lens, integers in 0..m, (b,) or (b, n); mask, boolean, True =
        may attend: two axes are (n, m), three (b, 1, m) or (b, n, m); with
        heads (b, 1, n, m), (b, H, n, m), or (H, n, m) where b is not H.
    Raises: TypeError for another data type; ValueError for a wrong shape, or
        a length outside 0..m (on the CPU, not under tracing, not in vmap).
    """
    check_scores(X := as_tensor("X", X))
    keep = attention_mask(X.shape, valid_lens, mask, X.device)
    if keep is None:
        return X.softmax(-1, dtype=X.dtype)
    some = keep.any(-1, keepdim=True)  # (..., n, 1): is any key left?
    fill = torch.where(some, -torch.inf, 0.0).to(X.dtype)
    scores = torch.where(keep, X, fill)
    return scores.softmax(-1, dtype=X.dtype) * some


def zero_padding(keep: Tensor | None, *tensors: Tensor) -> list[Tensor]:
    """Zero out the rows that no query may attend to, as 0 * NaN is NaN.

    Mask keep (b, n, m), None: no padding; tensors (b, m, any); or with heads.
    """
    if keep is None:
        return list(tensors)
    used = keep.any(-2).unsqueeze(-1)  # (b, n, m) -> (b, m) -> (b, m, 1)
    return [torch.where(used, tensor, 0) for tensor in tensors]


# From book/12_scaled_dot_product_attention.md
def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    keep: Tensor | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Run PyTorch's fused scaled dot-product attention, heads or none.

    (b, n, d), (b, m, d), (b, m, v), or all with heads after b -> (b, n, v).
    Nothing is checked. Where v differs from d, zeros fill up the smaller
    vectors. Fused compute kernels have no second and no forward-mode
    derivatives. Fully masked rows are 0; masked_softmax differs in two
    corners: rows whose allowed scores are all -inf are 0 here, too, and a
    fully masked row whose query is NaN is NaN.

    Args: keep, mask with the axes of the scores; dropout, probability of
        dropping a weight, in evaluation too; scale, 1 / sqrt(d) by default.
    """
    d, v = queries.shape[-1], values.shape[-1]
    if d != v:  # the fast compute kernels expect equal dimensions
        scale = d**-0.5 if scale is None else scale
        gaps = [(0, max(d, v) - size) for size in (d, d, v)]
        padded = map(F.pad, (queries, keys, values), gaps)
        return fused_attention(*padded, keep, dropout, scale)[..., :v]
    tensors = [queries, keys, values, keep]
    if one_head := queries.dim() == 3:  # (b, n, d) -> (b, 1, n, d)
        tensors = [t if t is None else t.unsqueeze(1) for t in tensors]
    out = F.scaled_dot_product_attention(*tensors, dropout, scale=scale)
    return out.squeeze(1) if one_head else out


class Attention(nn.Module):
    """Attention with any score: a subclass defines `features` or `score`.

    Training drops a weight with probability `dropout`. After a call,
    `attention_weights` holds the weights (b, n, m) before dropout, without
    gradient, or None without `need_weights`; they are not saved or copied.
    What a call inside torch.vmap leaves there is of no use outside.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        check_rate("dropout", dropout)
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: Tensor | None = None

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return features of queries and keys: their products are scores."""
        raise NotImplementedError(f"{type(self).__name__} defines no features")

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the scores (b, n, m)."""
        q, k = self.features(queries, keys)
        return wide(q) @ wide(k).mT  # -> (b, n, m), in float32 or wider

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

        Heads may follow b, or b be missing; `valid_lens`, `mask`:
        masked_softmax. NaN in padded keys and values does no harm; in padded
        *queries* it reaches gradients. Without `need_weights`, a layer that
        defines `features` runs `fused_attention`. Scores and softmax are in
        float32 or wider; the output has the type of the values.
        """
        check_tensors(self, queries, keys, values)
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask, queries.device)
        keys, values = zero_padding(keep, keys, values)
        score = getattr(self.score, "__func__", None)  # one's own has none
        if not need_weights and score is Attention.score:
            self.attention_weights = None
            p = self.dropout.p if self.training else 0.0
            q, k = self.features(queries, keys)
            v, kind = values.to(q.dtype), values.dtype
            return fused_attention(q, k, v, keep, p, scale=1.0).to(kind)
        weights = masked_softmax(self.score(queries, keys), mask=keep)
        weights = weights.to(values.dtype)  # rounded once
        self.attention_weights = weights.detach() if need_weights else None
        output = self.dropout(weights) @ values  # (b, n, v)
        return output.to(values.dtype)  # torch.autocast has another

    def __getstate__(self) -> dict:  # what copies and files hold
        return self.__dict__ | {"attention_weights": None}


class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / sqrt(d) and k, both of dimension d."""
        check_same_size(queries, keys)
        return queries / queries.shape[-1] ** 0.5, keys


# From book/13_additive_attention.md
def additive_scores(
    q: Tensor, k: Tensor, w_v: Callable[[Tensor], Tensor], block: int = 2**18
) -> Tensor:
    """Return the scores w_v(tanh(q + k)), (b, n, m), block by block.

    q (b, n, h) and k (b, m, h), or with heads, are projected, `w_v` is linear
    without bias, (..., h) -> (..., 1), and q + k holds at most `block` entries
    at a time, or one query of each example.
    """

    def score(part: Tensor) -> Tensor:  # (b, step, h) -> (b, step, m)
        hidden = torch.tanh(wide(part).unsqueeze(-2) + wide(k).unsqueeze(-3))
        return apply_wide(w_v, hidden, q.dtype).squeeze(-1)

    if torch.compiler.is_compiling():  # a loop would be unrolled
        return score(q)
    step = max(1, block // max(1, k.numel()))  # queries at a time
    return torch.cat([score(part) for part in q.split(step, -2)], -2)


def linear(inputs: int | None, outputs: int, bias=False) -> nn.Linear:
    """Return a linear layer. None: it takes inputs from the first call."""
    if inputs is None:
        return LazyLinear(outputs, bias)
    return nn.Linear(inputs, outputs, bias)


class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    With num_hiddens = h hidden units (Bahdanau, Cho, Bengio, 2015, appendix
    A.1.2); query_size and key_size None: taken from the first call.
    """

    def __init__(
        self,
        num_hiddens: int,
        dropout: float = 0.0,
        query_size: int | None = None,
        key_size: int | None = None,
    ) -> None:
        check_layer_sizes(num_hiddens, query_size, key_size)
        super().__init__(dropout)
        self.W_q = linear(query_size, num_hiddens)
        self.W_k = linear(key_size, num_hiddens)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        check_projected(self, queries, keys)
        return additive_scores(self.W_q(queries), self.W_k(keys), self.w_v)


# From book/14_distance_bilinear_cosine.md
def unit_vectors(x: Tensor) -> Tensor:
    """Divide vectors (..., d) by their lengths; zero vectors stay zero."""
    largest = x.detach().abs().amax(-1, keepdim=True)  # (..., d) -> (..., 1)
    x = x / torch.where(largest > 0, largest, 1)  # squares are at most 1
    squares = x.square().sum(-1, keepdim=True)
    return x / torch.where(squares > 0, squares, 1).sqrt()


class DistanceAttention(Attention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    The weights are those of a Gaussian kernel with variance sqrt(d): scores
    leave out what all keys of a query share. In float32 or wider, but for
    torch.autocast. Far from the origin rounding errors grow: move it first.
    """

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of dimension d + 1."""
        check_same_size(queries, keys)
        check_positive("dimension of queries", queries.shape[-1])
        wide = torch.promote_types(queries.dtype, torch.float32)
        queries, keys = queries.to(wide), keys.to(wide)
        ones = torch.ones_like(queries[..., :1])  # (b, n, 1)
        norms = keys.square().sum(-1, keepdim=True)  # (b, m, d) -> (b, m, 1)
        q = torch.cat([queries, ones], dim=-1) / queries.shape[-1] ** 0.5
        return q, torch.cat([keys, -0.5 * norms], dim=-1)


class BilinearAttention(Attention):
    """Bilinear attention: scores q^T M k / sqrt(size).

    rank None: M is a full matrix, and size = key_size, else ValueError. Else
    M = W_q^T W_k, and size = rank, as in a Transformer head. Other sizes
    that are None are taken from the first call.
    """

    def __init__(
        self,
        rank: int | None = None,
        dropout: float = 0.0,
        query_size: int | None = None,
        key_size: int | None = None,
    ) -> None:
        check_rank(rank, key_size, query_size)
        super().__init__(dropout)
        size = key_size if rank is None else rank
        self.W_q = linear(query_size, size)
        self.W_k = nn.Identity() if rank is None else linear(key_size, size)

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_q q / sqrt(size) and W_k k, both of this size."""
        check_projected(self, queries, keys)
        q, k = self.W_q(queries), self.W_k(keys)
        check_same_size(q, k)
        return q / q.shape[-1] ** 0.5, k


class CosineAttention(Attention):
    """Cosine attention: scores cos(q, k) / temperature; cos(0, k) = 0.

    temperature > 0, else ValueError; training may change it if `learnable`.
    """

    def __init__(
        self, dropout: float = 0.0, temperature: float = 0.1, learnable: bool = True
    ) -> None:
        check_positive("temperature", temperature)
        super().__init__(dropout)
        start = torch.tensor(float(temperature))
        self.register_buffer("start", start)  # weight decay pulls back to it
        self.log_ratio = nn.Parameter(torch.zeros(()), requires_grad=learnable)

    @property
    def temperature(self) -> Tensor:
        return self.start * self.log_ratio.exp()

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        check_positive("dimension of queries", queries.shape[-1])
        q, k = unit_vectors(wide(queries)), unit_vectors(wide(keys))
        return q / self.temperature, k


# From book/18_caches_and_shared_keys.md
def causal_mask(n: int, m: int, device: torch.device | None) -> Tensor:
    """Let the last n of m positions see no later one: a mask (n, m)."""
    queries = torch.arange(m - n, m, device=device)[:, None]  # (n, 1)
    return torch.arange(m, device=device) <= queries  # (m,), (n, 1) -> (n, m)


class KeyValueCache:
    """The projected keys and values of all tokens that one layer has read.

    `keys` and `values` are (b, heads, m, d), or None at the start.
    """

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.keys is None else self.keys.shape[-2]

    def __bool__(self) -> bool:  # an empty cache is a cache
        return True

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Join new keys and values (b, heads, new, d); return all of them.

        All take type and device of the new ones. ValueError: these do not
        fit each other, or those before.
        """
        check_cache(self, keys, values)
        if self.keys is not None:
            keys = torch.cat([self.keys.to(keys), keys], dim=-2)
            values = torch.cat([self.values.to(values), values], dim=-2)
        self.keys, self.values = keys, values
        return keys, values


def lasting_mask(
    shape: tuple[int, ...], valid_lens: Tensor | list | None, first: int, device: torch.device
) -> Tensor | None:
    """Return the mask (b, 1, new) of new keys by lengths (b,), else None."""
    lens = as_tensor("valid_lens", valid_lens)
    if lens is None or lens.dim() != 1:
        return None
    return attention_mask(shape, valid_lens, None, device)[..., first:]


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al., 2017, section 3.2.2).

    Args:
        num_hiddens: dimension D of the output, and of all heads together.
        num_heads: number H of heads; it divides num_hiddens.
        dropout: probability of dropping an attention weight in training.
        bias: whether the projections add a learned vector.
        query_size, key_size, value_size: dimensions of the inputs. None:
            taken from the first call.
        num_kv_heads: number of heads of keys and values, each shared by a
            group of query heads; it divides num_heads. None: num_heads.
        attention: makes the layer inside, called with `dropout=`.

    After a call, `attention_weights` holds the weights (b, H, n, m) of the
    layer inside.
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        query_size: int | None = None,
        key_size: int | None = None,
        value_size: int | None = None,
        num_kv_heads: int | None = None,
        attention: Callable[..., nn.Module] = DotProductAttention,
    ) -> None:
        super().__init__()
        inputs = query_size, key_size, value_size
        check_layer_sizes(num_hiddens, *inputs)
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_divides("num_heads", num_heads, "num_hiddens", num_hiddens)
        check_divides("num_kv_heads", kv_heads, "num_heads", num_heads)
        kv_hiddens = num_hiddens // num_heads * kv_heads
        self.num_heads, self.num_kv_heads = num_heads, kv_heads
        self.attention = attention(dropout=dropout)
        self.W_q = linear(query_size, num_hiddens, bias)
        self.W_k = linear(key_size, kv_hiddens, bias)
        self.W_v = linear(value_size, kv_hiddens, bias)
        joined = None if None in inputs else num_hiddens
        self.W_o = linear(joined, num_hiddens, bias)

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
                (b, n, m) that all heads share, or (b, H, n, m) for a mask
                of 4 axes.
            causal: the queries stand at the last n of the m positions, and
                see no later one; where n > m, the first n - m see none.
            cache: earlier keys and values: the new ones join it, and m
                counts them all. NaN may then stand in new keys and values
                behind lengths (b,) only: later queries may see the others.
                It holds keys as projected; `attention` turns them anew.
                Positions count padding: put that of prompts on the left.
        """
        check_tensors(self, queries, keys, values)
        check_inputs(self, queries, keys, values)
        past = 0 if cache is None else len(cache)
        b, n, m = *queries.shape[:2], past + keys.shape[1]
        mask = as_tensor("mask", mask)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # all heads share it: (b, 1, n, m)
        shape = (b, self.num_heads, n, m)
        keep = attention_mask(shape, valid_lens, mask, queries.device)
        if causal:
            order = causal_mask(n, m, queries.device)
            keep = order[None, None] if keep is None else keep & order
        seen = None if keep is None else keep.any(1)  # by any of the heads
        if cache is not None:
            seen = lasting_mask((b, n, m), valid_lens, past, queries.device)
        keys, values = zero_padding(seen, keys, values)
        q = split_heads(self.W_q(queries), self.num_heads)
        k = split_heads(self.W_k(keys), self.num_kv_heads)
        v = split_heads(self.W_v(values), self.num_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        if (shared := self.num_heads // self.num_kv_heads) > 1:
            k, v = (t.repeat_interleave(shared, dim=1) for t in (k, v))
        out = self.attention(q, k, v, mask=keep, need_weights=need_weights)
        return self.W_o(out.transpose(1, 2).flatten(2))  # (b, n, D)


# From book/notation.md
def try_gpu(i: int = 0) -> torch.device:
    """Return GPU i, or the CPU where there is none; D2L_DEVICE overrides."""
    if forced := os.environ.get("D2L_DEVICE"):
        return torch.device(forced)
    if i < torch.cuda.device_count():
        return torch.device("cuda", i)
    return torch.device("cpu")
