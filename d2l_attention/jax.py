# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in JAX: the functions that the chapters derive."""

from d2l_attention.frameworks import check_installed

check_installed("jax")

import math
import os
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from flax import nnx
from jax import Array
from jax import numpy as jnp

from d2l_attention.checks import (
    check_cache,
    check_divides,
    check_even,
    check_features,
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
    check_room,
    check_same_size,
    check_scores,
    check_sizes,
    check_valid_lens,
    check_vectors,
    check_whole_sizes,
)
from d2l_attention.figures import show_heatmaps, use_svg_display
from d2l_attention.frameworks.jax import as_array, as_arrays, as_known, check_strict
from d2l_attention.machine import environment_report

__all__ = ["show_heatmaps", "check_shape", "rotate", "gaussian", "boxcar", "triangular",
    "epanechnikov", "constant", "pairwise_distances", "nadaraya_watson", "attention_mask",
    "masked_softmax", "zero_padding", "fused_attention", "Attention", "DotProductAttention",
    "additive_scores", "AdditiveAttention", "DistanceAttention", "BilinearAttention",
    "CosineAttention", "temporary_bytes", "KeyValueCache", "MultiHeadAttention", "use_svg_display",
    "environment_report", "try_gpu"]  # fmt: skip


# From book/01_queries_keys_values.md
def check_shape(array: Array, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `array` has exactly this shape."""
    if (have := jnp.asarray(array).shape) != tuple(shape):
        raise ValueError(f"array must have shape {tuple(shape)}, got {have}")


def parameters(layer):
    """Yield name and parameter, in the order in which the layer made them."""
    listed = isinstance(layer, nnx.List)
    for name, part in enumerate(layer) if listed else vars(layer).items():
        if isinstance(part, nnx.Param):
            yield name, part
        elif isinstance(part, nnx.Module):
            yield from parameters(part)


def draw(layer, seed):
    """Draw all matrices anew in float64, alike in all frameworks."""
    rng = np.random.default_rng(seed)
    for name, p in parameters(layer):
        entries = jnp.full(p.shape, float(name == "scale"))  # of a norm
        if name == "embedding":
            entries = jnp.array(rng.normal(size=p.shape))
        elif name == "kernel":  # (inputs, outputs): the transpose of W
            std = (3 * p.shape[0]) ** -0.5
            entries = jnp.array(rng.normal(0, std, p.shape[::-1]).T)
        p.set_value(entries)


# From book/04_order.md
def angles(positions: Array, d: int, base: float = 10_000.0) -> Array:
    """Return i base^(-2l / d) for positions i (..., n): (..., n, d / 2)."""
    pairs = np.arange(0, d, 2).reshape(*[1] * positions.ndim, -1)
    return positions[..., None] * base ** (-pairs / d)


def rotate(x: Array, positions: Array | None = None, base: float = 10_000.0) -> Array:
    """Turn neighboring features of vectors (..., n, d) by their positions.

    Features 2l and 2l + 1 turn by the angle i base^(-2l / d) at position i
    (Su et al., 2021). Positions are (n,), or the shape of x without d, where
    all axes but n may be 1: (b, 1, n) for x (b, H, n, d). None: 0 to n - 1.
    TypeError: x is not floating point. ValueError: d is odd, or wrong shapes.
    """
    check_even(x := as_array("x", x))
    n, d = x.shape[-2:]
    positions = jnp.arange(n) if positions is None else positions
    positions = as_array("positions", positions)
    check_positions(positions.shape, x.shape[:-1])
    y = x.astype(float)
    a = angles(positions.astype(float), d, base)  # (..., n, d/2)
    a = a[(None,) * (x.ndim - a.ndim)]
    even, odd, cos, sin = y[..., ::2], y[..., 1::2], jnp.cos(a), jnp.sin(a)
    pairs = even * cos - odd * sin, even * sin + odd * cos
    turned = jnp.stack(pairs, axis=-1)  # (..., n, d/2, 2)
    return turned.reshape(*turned.shape[:-2], d).astype(x.dtype)


# From book/05_many_heads_and_a_block.md
def split_heads(x: Array, heads: int) -> Array:
    """Split the last axis: (b, n, D) -> (b, n, H, D/H) -> (b, H, n, D/H)."""
    size = x.shape[-1] // heads
    return x.reshape(*x.shape[:-1], heads, size).swapaxes(1, 2)


# From book/08_kernels.md
def gaussian(r: Array) -> Array:
    """Return exp(-r^2 / 2), elementwise, for distances of any shape."""
    return jnp.exp(-0.5 * jnp.asarray(r) ** 2)


def boxcar(r: Array) -> Array:
    """Return 1 where |r| <= 1, else 0, for distances of any shape."""
    return (abs(r := jnp.asarray(r)) <= 1).astype(r.dtype)


def triangular(r: Array) -> Array:
    """Return max(0, 1 - |r|), elementwise, for distances of any shape."""
    return jnp.maximum(1 - abs(jnp.asarray(r)), 0)


def epanechnikov(r: Array) -> Array:
    """Return 3/4 max(0, 1 - r^2), elementwise, for any shape."""
    return 0.75 * jnp.maximum(1 - jnp.asarray(r) ** 2, 0)


def constant(r: Array) -> Array:
    """Return 1 for every distance, in the shape of `r`."""
    return jnp.ones_like(jnp.asarray(r))


def pairwise_distances(queries: Array, keys: Array) -> Array:
    """Return Euclidean distances (n, m) of queries (n, d) from keys (m, d).

    For d = 1, (n,) and (m,) will do. ValueError: other shapes. Where points
    meet, the gradient is 0.
    """
    queries, keys = as_arrays(queries=queries, keys=keys)
    check_vectors(queries, keys)
    q, k = (x[:, None] if x.ndim == 1 else x for x in (queries, keys))
    if not jnp.issubdtype(q.dtype, jnp.floating):
        q = q.astype(int)  # in the eight bits of uint8, 1 - 3 is 254
    check_strict(q, k)
    gaps = q[:, None] - k[None]  # (n, 1, d) - (1, m, d) -> (n, m, d)
    squares = jnp.square(gaps / 1).sum(-1)  # (n, m); integers get roots
    # A root of 0 has no finite slope, and its gradient would be NaN.
    apart = squares != 0  # not > 0: that would make NaN a distance of 0
    return jnp.where(apart, jnp.sqrt(jnp.where(apart, squares, 1)), 0)


def nadaraya_watson(
    x_train: Array, y_train: Array, x_val: Array, kernel: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Predict values at new points: attention with a kernel's weights.

    Keys (m, d) or (m,), values (m, v) or (m,) and queries x_val (n, d) or
    (n,) give predictions (n, v) or (n,) and weights (n, m). `kernel` turns
    distances into similarities >= 0; a row where all are 0 is NaN.
    A NaN target makes all predictions NaN, and `boxcar` and `constant` hide
    a NaN distance: its similarity is 0 or 1.
    """
    x_train, y_train = as_arrays(x_train=x_train, y_train=y_train)
    check_pairs(x_train, y_train)
    r = pairwise_distances(x_val, x_train)
    similarity = kernel(r).astype(r.dtype)
    weights = similarity / similarity.sum(-1, keepdims=True)
    return weights @ y_train.astype(weights.dtype), weights


# From book/10_masked_softmax.md
def can_be_read(x: Array | np.ndarray) -> bool:
    """Say whether values can be read: NumPy's, and on CPUs of this process.

    A tracer has none, and reading others would wait, or fail.
    """
    if isinstance(x, jax.core.Tracer) or not isinstance(x, Array):
        return isinstance(x, np.ndarray)
    on_cpu = all(device.platform == "cpu" for device in x.devices())
    return on_cpu and x.is_fully_addressable


def check_range(lens: Array | np.ndarray, shape: tuple) -> None:
    """Raise ValueError if what can be read are other than lengths."""
    if can_be_read(lens):
        check_lengths(np.asarray(lens), shape)


def length_mask(shape: tuple[int, ...], valid_lens: Array | list) -> Array:
    """Return a mask, True at a row's first keys, (b, 1, ..., 1 or n, m)."""
    b, m = shape[:-2][:1], shape[-1]  # scores (n, m) have no b
    lens = as_known("valid_lens", valid_lens)
    check_valid_lens(lens, shape)  # integers, (b,) or (b, n)
    check_range(lens, shape)  # 0..m
    rows = lens.shape[len(b) :] or (1,)  # n, or 1: a length per sequence
    lens = lens.reshape(*b, *(1,) * (len(shape) - 3), *rows, 1)
    keys = jnp.arange(m).reshape(*(1,) * (len(shape) - 1), m)
    return keys < lens.astype(int)


def as_boolean(mask: Array) -> Array:
    """Return a mask of 0 and 1, as Flax makes them, as a boolean one."""
    known = np.asarray(mask) if can_be_read(mask) else None
    if known is not None and np.any(known.astype(bool) != known):
        return mask  # other numbers are no mask: check_mask refuses them
    return jnp.asarray(mask.astype(bool))


def poisoned(mask: Array | None, x: Array) -> Array:
    """Return x, or NaN if a mask holds other numbers than 0 and 1."""
    mask = as_known("mask", mask)
    if mask is None or mask.dtype == bool:
        return x
    return jnp.where(((mask == 0) | (mask == 1)).all(), x, jnp.nan)


def attention_mask(
    shape: tuple[int, ...], valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array | None:
    """Join valid lengths and a mask with AND: True = may attend.

    It has the axes of the scores, `shape` (b, ..., n, m), and broadcasts to
    them; None = no mask. Lengths, mask and errors are as in masked_softmax.
    """
    if mask is not None:
        mask = as_boolean(as_known("mask", mask))
        check_mask(mask, shape)
        mask = mask[(None,) * (len(shape) - mask.ndim)]  # (n, m) -> (1, n, m)
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens)
    return inside if mask is None else mask & inside


def masked_softmax(
    X: Array, valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array:
    """Return the softmax over the keys that may be attended to.

    It has X's shape and dtype. In a fully masked row all weights and
    gradients are 0; a row whose allowed scores are all -inf is NaN.

    Args: X, floating-point scores (b, ..., n, m) or, of one example, (n, m);
        valid_lens, integers in 0..m, (b,) or (b, n); mask, boolean or 0 and
        1, broadcastable, True = may attend; with heads, three axes are
        (H, n, m), and refused where b is H.
    Raises: TypeError for another data type; ValueError for a wrong shape;
        and, on the CPU and not while tracing, for lengths outside 0..m and
        masks of other numbers, which else make all weights NaN.
    """
    check_scores(X := as_array("X", X))
    keep = attention_mask(X.shape, valid_lens, mask)
    return poisoned(mask, softmax_over(X, keep))


def wide(x: Array) -> Array:
    """Return half precision as float32, and others as they are."""
    return x.astype(np.promote_types(x.dtype, np.float32))


@jax.jit
def softmax_over(X: Array, keep: Array | None) -> Array:
    """Return the softmax of X over the keys to keep; None: over all."""
    scores = wide(X)
    if keep is None:
        return jax.nn.softmax(scores).astype(X.dtype)
    some = keep.any(-1, keepdims=True)  # (..., n, 1): is any key left?
    bound = jnp.where(keep, jnp.inf, -jnp.inf).astype(scores.dtype)
    scores = jnp.fmin(scores, bound)  # where(keep, X, -inf), but faster
    top = scores.max(-1, keepdims=True, initial=-jnp.inf)
    top = jax.lax.stop_gradient(jnp.where(some, top, 0))
    powers = jnp.exp(scores - top)  # masked: 0
    total = jnp.where(some, powers.sum(-1, keepdims=True), 1)
    return (powers / total).astype(X.dtype)


def zero_padding(keep: Array | None, *arrays: Array) -> list[Array]:
    """Zero out the rows that no query may attend to, as 0 * NaN is NaN.

    Mask keep (b, n, m), None: no padding; arrays (b, m, any); or with heads.
    """
    arrays = [jnp.asarray(array) for array in arrays]
    if keep is None:
        return arrays
    used = jnp.asarray(keep).any(-2)[..., None]  # -> (b, m) -> (b, m, 1)
    return [jnp.where(used, array, 0) for array in arrays]


# From book/12_scaled_dot_product_attention.md
def pad_features(x: Array, size: int) -> Array:
    """Fill up vectors (..., d) with zeros: (..., size)."""
    empty = [(0, 0)] * (x.ndim - 1)
    return jnp.pad(x, [*empty, (0, size - x.shape[-1])])


def fused_attention(
    queries: Array,
    keys: Array,
    values: Array,
    keep: Array | None = None,
    scale: float | None = None,
    implementation: str | None = None,
) -> Array:
    """Run JAX's own scaled dot-product attention, heads or none.

    (b, n, d), (b, m, d), (b, m, v), or all with heads after b -> (b, n, v).
    Nothing is checked. Where v differs from d, zeros fill up the smaller
    vectors. Fully masked rows are 0. The softmax is taken in float32, that
    of float64 scores, too.

    Args: keep, mask with the axes of the scores; scale, 1 / sqrt(d) by
        default; implementation, "xla" or "cudnn", by default JAX chooses.
    """
    queries, keys, values = map(jnp.asarray, (queries, keys, values))
    keep = as_known("keep", keep)
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    if one_head := queries.ndim == 3:  # (b, n, d) -> (b, 1, n, d)
        queries, keys, values = (x[:, None] for x in (queries, keys, values))
        keep = None if keep is None else keep[:, None]
    size = max(queries.shape[-1], values.shape[-1])
    q, k, v = (pad_features(x, size) for x in (queries, keys, values))
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))  # (b, n, heads, size)
    how = {"mask": keep, "scale": scale, "implementation": implementation}
    with jax.numpy_dtype_promotion("standard"):  # which it counts on
        out = jax.nn.dot_product_attention(q, k, v, **how)
    some = True if keep is None else keep.any(-1, keepdims=True)
    out = jnp.where(some, out.swapaxes(1, 2)[..., : values.shape[-1]], 0)
    return out[:, 0] if one_head else out


class Attention(nnx.Module):
    """Attention with any score: a subclass defines `features` or `score`.

    Args: dropout, probability of dropping a weight in training; dtype, type
        to compute in, by default the widest of the inputs; rngs, where
        dropout draws, needed in training with dropout only.
    """

    def __init__(
        self, dropout: float = 0.0, *, dtype: jnp.dtype | None = None, rngs: nnx.Rngs | None = None
    ) -> None:
        check_rate("dropout", dropout)
        self.dropout = nnx.Dropout(dropout, rngs=rngs if dropout else None)
        self.dtype = dtype

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return features of queries and keys: their products are scores."""
        raise NotImplementedError(f"{type(self).__name__} defines no features")

    def score(self, queries: Array, keys: Array) -> Array:
        """Return the scores (b, n, m)."""
        q, k = map(wide, self.features(queries, keys))
        return q @ k.mT  # -> (b, n, m)

    def __call__(
        self,
        queries: Array,
        keys: Array,
        values: Array,
        valid_lens: Array | list | None = None,
        mask: Array | None = None,
        need_weights: bool = False,
        *,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Array | tuple[Array, Array]:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, v) -> (b, n, v).

        With `need_weights`, return the output and the weights (b, n, m)
        from before dropout; `deterministic`, `rngs`: nnx.Dropout.
        Heads may follow b, and one example may come without b; `valid_lens`,
        `mask`: masked_softmax. NaN in
        padded keys and values does no harm; in padded *queries* it reaches
        gradients. The output has the type of the values, or `dtype`.
        """
        arrays = as_arrays(queries=queries, keys=keys, values=values)
        check_sizes(*arrays)
        check_strict(*arrays, dtype=self.dtype)
        dtype = jnp.result_type(*arrays) if self.dtype is None else self.dtype
        queries, keys, values = (x.astype(dtype) for x in arrays)
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask)
        keys, values = zero_padding(keep, keys, values)
        weights = masked_softmax(self.score(queries, keys), mask=keep)
        weights = poisoned(mask, weights.astype(values.dtype))
        used = self.dropout(weights, deterministic=deterministic, rngs=rngs)
        output = used @ values  # (b, n, m) x (b, m, v)
        return (output, weights) if need_weights else output


class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return q / sqrt(d) and k, both of dimension d."""
        check_same_size(queries, keys)
        return wide(queries) / queries.shape[-1] ** 0.5, keys


# From book/13_additive_attention.md
@jax.jit(static_argnames="block")
def additive_scores(q: Array, k: Array, w_v: Array, block: int = 2**18) -> Array:
    """Return the scores w_v . tanh(q + k), (b, n, m), block by block.

    The backward pass computes each block anew. In float32 or wider.
    May be sharded over batch, heads and keys, not over queries: it loops
    over them.

    Args: q and k, projected queries (b, n, h) and keys (b, m, h), or with
        heads; w_v, weights (h,) of the hidden units; block, how many entries
        q + k may hold at a time, at least one query of each example.
    """
    q, k, w_v = as_arrays(q=q, k=k, w_v=w_v)

    @jax.checkpoint
    def score(query: Array) -> Array:  # (b, h) -> (b, m)
        hidden = jnp.tanh(wide(query[..., None, :]) + wide(k))
        return hidden @ w_v.astype(hidden.dtype)

    queries = jnp.moveaxis(q, -2, 0)  # (b, n, h) -> (n, b, h)
    some = None  # nothing is not divided, nor a size that is a symbol
    if all(isinstance(s, int) and s for s in (*q.shape, *k.shape)):
        some = min(len(queries), max(1, block // k.size))
    scores = jax.lax.map(score, queries, batch_size=some)
    return jnp.moveaxis(scores, 0, -2)  # (n, b, m) -> (b, n, m)


def in_type_of_inputs(arrays: tuple, *, dtype: jnp.dtype | None = None, **_) -> tuple:
    """Cast inputs and parameters to `dtype`, or the type of the inputs."""
    dtype = arrays[0].dtype if dtype is None else dtype
    return tuple(x if x is None else x.astype(dtype) for x in arrays)


linear = partial(nnx.Linear, use_bias=False, promote_dtype=in_type_of_inputs)


class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    With num_hiddens = h hidden units (Bahdanau, Cho, Bengio, 2015, appendix
    A.1.2); `rngs` draws the first weights, in `param_dtype`, and dropout.
    """

    def __init__(
        self,
        num_hiddens: int,
        dropout: float = 0.0,
        *,
        query_size: int,
        key_size: int,
        dtype: jnp.dtype | None = None,
        param_dtype: jnp.dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        check_layer_sizes(num_hiddens, query_size, key_size)
        of = {"param_dtype": param_dtype, "rngs": rngs}
        self.W_q = linear(query_size, num_hiddens, **of)
        self.W_k = linear(key_size, num_hiddens, **of)
        self.w_v = linear(num_hiddens, 1, **of)
        super().__init__(dropout, dtype=dtype, rngs=rngs)

    def score(self, queries: Array, keys: Array) -> Array:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        check_projected(self, queries, keys)
        q, k = self.W_q(queries), self.W_k(keys)
        units = jnp.eye(q.shape[-1] + 1, q.shape[-1])  # each one, and 0
        w_v = self.w_v(units)[:, 0]  # also of nnx.LoRALinear, say
        return additive_scores(q, k, w_v[:-1] - w_v[-1])


# From book/14_distance_bilinear_cosine.md
def unit_vectors(x: Array) -> Array:
    """Divide vectors (..., d) by their lengths; zero vectors stay zero."""
    largest = abs(jax.lax.stop_gradient(wide(x)))
    largest = largest.max(-1, keepdims=True, initial=0)  # (..., 1)
    y = wide(x) / jnp.where(largest > 0, largest, 1)  # squares: at most 1
    squares = jnp.square(y).sum(-1, keepdims=True)
    norm = jnp.sqrt(jnp.where(squares > 0, squares, 1))
    return (y / norm).astype(x.dtype)


class DistanceAttention(Attention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    The weights are those of a Gaussian kernel with variance sqrt(d): scores
    leave out what all keys of a query share. In float32 or wider. Far from
    the origin rounding errors grow: move it first.
    """

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of dimension d + 1."""
        check_same_size(queries, keys)
        check_positive("dimension of queries", queries.shape[-1])
        queries, keys = wide(queries), wide(keys)
        ones = jnp.ones_like(queries[..., :1])  # (b, n, 1)
        norms = jnp.square(keys).sum(-1, keepdims=True)  # (b, m, 1)
        q = jnp.concatenate([queries, ones], axis=-1)
        k = jnp.concatenate([keys, -0.5 * norms], axis=-1)
        return q / queries.shape[-1] ** 0.5, k


class BilinearAttention(Attention):
    """Bilinear attention: scores q^T M k / sqrt(size).

    rank None: M is a full matrix, and size = key_size. Else M = W_q^T W_k,
    and size = rank, as in a Transformer head. `rngs` draws the first
    weights, in `param_dtype`, and dropout.
    """

    def __init__(
        self,
        rank: int | None = None,
        dropout: float = 0.0,
        *,
        query_size: int,
        key_size: int,
        dtype: jnp.dtype | None = None,
        param_dtype: jnp.dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        check_rank(rank, key_size, query_size)
        of = {"param_dtype": param_dtype, "rngs": rngs}
        self.key_size = key_size
        full = rank is None
        self.W_q = linear(query_size, key_size if full else rank, **of)
        self.W_k = nnx.data(None if full else linear(key_size, rank, **of))
        super().__init__(dropout, dtype=dtype, rngs=rngs)

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return W_q q / sqrt(size) and W_k k, both of this size."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, self.key_size)
        q = wide(self.W_q(queries))
        k = keys if self.W_k is None else self.W_k(keys)
        return q / q.shape[-1] ** 0.5, k


class CosineAttention(Attention):
    """Cosine attention: scores cos(q, k) / temperature; cos(0, k) = 0.

    temperature > 0, else ValueError; training may change it if `learnable`.
    `param_dtype` is its type.
    """

    def __init__(
        self,
        dropout: float = 0.0,
        temperature: float = 0.1,
        learnable: bool = True,
        *,
        dtype: jnp.dtype | None = None,
        param_dtype: jnp.dtype = jnp.float32,
        rngs: nnx.Rngs | None = None,
    ) -> None:
        check_positive("temperature", temperature)
        super().__init__(dropout, dtype=dtype, rngs=rngs)
        start = jnp.full((), temperature, param_dtype)
        self.start = nnx.Variable(start)  # weight decay pulls back to it
        kind = nnx.Param if learnable else nnx.Variable
        self.log_ratio = kind(jnp.zeros((), param_dtype))

    @property
    def temperature(self) -> Array:
        return self.start[...] * jnp.exp(self.log_ratio[...])

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        q, k = unit_vectors(wide(queries)), unit_vectors(wide(keys))
        return q / self.temperature.astype(q.dtype), k


# From book/16_what_attention_costs.md
def temporary_bytes(function: Callable, *arrays: Array) -> int:
    """Return the bytes held on the way, apart from arguments and results.

    They are those of the program for a CPU, wherever the arrays are.
    """
    with jax.default_device(jax.devices("cpu")[0]):
        compiled = jax.jit(function).lower(*arrays).compile()
    return compiled.memory_analysis().temp_size_in_bytes


# From book/18_caches_and_shared_keys.md
def causal_mask(n: int, m: int, first: int | Array) -> Array:
    """Let n of m positions, from `first` on, see no later one: (n, m)."""
    queries = first + jnp.arange(n)[:, None]  # (n, 1)
    return jnp.arange(m)[None] <= queries  # (1, m), (n, 1) -> (n, m)


class KeyValueCache(nnx.Module):
    """The projected keys and values of all tokens that one layer has read.

    It has m places from the start, so that a compiled step fits every
    length: `keys` and `values` are (b, heads, m, d), the first `length` of
    the m places are taken. Compile a step with nnx.jit: jax.jit changes a
    copy, which is lost unless the step returns it. Compiled code does not
    know `length`: a full cache overwrites its last places without an error.

    Args:
        b, num_heads, m, d: batch size, heads of keys and values, places,
            dimension of a head.
        dtype: that of keys and values in the cache.
    """

    def __init__(
        self, b: int, num_heads: int, m: int, d: int, dtype: jnp.dtype = jnp.float32
    ) -> None:
        check_whole_sizes(b=b, num_heads=num_heads, m=m, d=d)
        self.keys = nnx.Cache(jnp.zeros((b, num_heads, m, d), dtype))
        self.values = nnx.Cache(jnp.zeros((b, num_heads, m, d), dtype))
        self.length = nnx.Cache(jnp.zeros((), int))

    def check_room(self, new: int) -> None:
        """Raise ValueError unless `new` more tokens fit, if that is known."""
        length = self.length[...]
        known = not isinstance(length, jax.core.Tracer)
        check_room(self.keys.shape[-2], int(length) if known else None, new)

    def append(self, keys: Array, values: Array) -> tuple[Array, Array]:
        """Put new keys and values (b, heads, new, d) in; return all places.

        They come back in the type of the new ones. ValueError: they do not
        fit each other or the cache, or there is too little room.
        """
        keys, values = as_arrays(keys=keys, values=values)
        check_cache(self, keys, values)
        self.check_room(keys.shape[2])
        first = self.length[...]
        for held, x in ((self.keys, keys), (self.values, values)):
            held[...] = jax.lax.dynamic_update_slice_in_dim(
                held[...], x.astype(held.dtype), first, axis=-2
            )
        self.length[...] = first + keys.shape[2]
        k, v = self.keys[...], self.values[...]
        return k.astype(keys.dtype), v.astype(values.dtype)


def lasting_mask(shape: tuple, valid_lens, first, new) -> Array | None:
    """Return the mask (b, 1, new) of new keys by lengths (b,), else None."""
    if np.ndim(valid_lens) != 1:
        return None
    inside = attention_mask(shape, valid_lens)  # (b, 1, m)
    return jax.lax.dynamic_slice_in_dim(inside, first, new, axis=-1)


def drops(layer: nnx.Module, deterministic: bool | None) -> bool:
    """Say whether a layer drops weights in this call."""
    dropout = getattr(layer, "dropout", None)
    if not getattr(dropout, "rate", 0):
        return False
    calm = dropout.deterministic if deterministic is None else deterministic
    return not calm


def attend_in_groups(layer: nnx.Module, q, k, v, mask, **how) -> tuple:
    """Return output and weights or None; groups of heads share k and v."""
    (b, heads), groups = q.shape[:2], k.shape[1]
    if heads > groups and drops(layer, how["deterministic"]):
        k, v = (jnp.repeat(x, heads // groups, axis=1) for x in (k, v))
        groups = heads

    def attend(q, k, v, mask):
        out = layer(q, k, v, mask=mask, **how)
        return out if how["need_weights"] else (out, None)

    def split(x):  # (b, H, n, any) -> (b, G, H/G, n, any)
        return x.reshape(x.shape[0], groups, heads // groups, *x.shape[2:])

    if heads == groups:
        return attend(q, k, v, mask)
    own = mask is not None and mask.shape[1] > 1  # one for each head
    axes = (2, None, None, 2 if own else None)
    each = jax.vmap(attend, in_axes=axes, out_axes=2)
    found = each(split(q), k, v, split(mask) if own else mask)
    return jax.tree.map(lambda x: x.reshape(b, heads, *x.shape[3:]), found)


def mask_of_heads(shape: tuple, valid_lens, mask) -> Array | None:
    """Return the mask (b, 1 or H, n, m) for scores (b, H, n, m), or None."""
    if np.ndim(mask) == 4:
        return attention_mask(shape, valid_lens, mask)
    keep = attention_mask((shape[0], *shape[2:]), valid_lens, mask)
    return None if keep is None else keep[:, None]


def one_batch(arrays: tuple, lens, mask) -> tuple:
    """Return the axes before the last two, and all with these joined."""
    lens, mask = as_known("valid_lens", lens), as_known("mask", mask)
    lead, n = arrays[0].shape[:-2], arrays[0].shape[-2:-1]
    if len(lead) == 1:
        return lead, arrays, lens, mask
    check_sizes(*arrays)

    def joined(x):
        return x.reshape(math.prod(lead), *x.shape[len(lead) :])

    if lens is not None:
        if lens.shape not in (lead, lead + n):
            want, got = f"{lead} or {lead + n}", lens.shape
            raise ValueError(f"valid_lens must have shape {want}, got {got}")
        lens = joined(lens)
    if np.ndim(mask) >= len(lead) + 2:
        mask = joined(jnp.broadcast_to(mask, lead + mask.shape[len(lead) :]))
    return lead, [joined(x) for x in arrays], lens, mask


class MultiHeadAttention(nnx.Module):
    """Multi-head attention (Vaswani et al., 2017, section 3.2.2).

    Args:
        num_hiddens: dimension D of the output, and of all heads together.
        num_heads: number H of heads; it divides num_hiddens.
        dropout: probability of dropping an attention weight in training.
        bias: whether the projections add a learned vector.
        query_size, key_size, value_size: dimensions of the inputs. None: D.
        num_kv_heads: number of heads of keys and values, each shared by a
            group of query heads; it divides num_heads. None: num_heads.
        attention: makes the layer inside, called with `dropout=`, `rngs=`.
        dtype: type to compute in. None: that of the inputs.
        param_dtype: type of the parameters.
        rngs: where the first weights are drawn, and dropout.
    Initializers, precision and others: put an nnx.Linear of the same sizes
    in the place of W_q, W_k, W_v or W_o.
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
        attention: Callable[..., nnx.Module] = DotProductAttention,
        dtype: jnp.dtype | None = None,
        param_dtype: jnp.dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        inputs = query_size, key_size, value_size
        check_layer_sizes(num_hiddens, *inputs)
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_divides("num_heads", num_heads, "num_hiddens", num_hiddens)
        check_divides("num_kv_heads", kv_heads, "num_heads", num_heads)
        kv_hiddens = num_hiddens // num_heads * kv_heads
        self.num_heads, self.num_kv_heads = num_heads, kv_heads
        of = {"dtype": dtype, "param_dtype": param_dtype, "rngs": rngs}
        projection = partial(linear, use_bias=bias, **of)
        self.W_q = projection(query_size or num_hiddens, num_hiddens)
        self.W_k = projection(key_size or num_hiddens, kv_hiddens)
        self.W_v = projection(value_size or num_hiddens, kv_hiddens)
        self.W_o = projection(num_hiddens, num_hiddens)
        self.attention = attention(dropout=dropout, rngs=rngs)

    def __call__(
        self,
        queries: Array,
        keys: Array,
        values: Array,
        valid_lens: Array | list | None = None,
        *,
        mask: Array | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
        deterministic: bool | None = None,
        rngs: nnx.Rngs | None = None,
    ) -> Array | tuple[Array, Array]:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, d_v) -> (b, n, D).

        Args:
            valid_lens, mask: as for `Attention`, with scores (b, n, m); all
                heads share them, but for a mask of four axes (b, H, n, m).
                Instead of b, there may be any number of axes, or none.
            causal: the queries stand at the last n of the tokens that have
                been read, and see no later one; the first see none if there
                are more queries than tokens.
            cache: earlier keys and values: the new ones join it, and m
                counts its places. Places that are not taken are masked.
                It holds keys as projected; `attention` turns them anew.
                Positions count padding: put that of prompts on the left.
            need_weights: return the weights (b, H, n, m), too.
            deterministic, rngs: of dropout, as for nnx.Dropout.
        """
        arrays = as_arrays(queries=queries, keys=keys, values=values)
        lead, arrays, valid_lens, mask = one_batch(arrays, valid_lens, mask)
        queries, keys, values = arrays
        check_inputs(self, queries, keys, values)
        (b, n), new = queries.shape[:2], keys.shape[1]
        places = new if cache is None else cache.keys.shape[-2]
        past = 0 if cache is None else cache.length[...]
        shape = b, self.num_heads, n, places
        keep = mask_of_heads(shape, valid_lens, mask)
        if causal or cache is not None:
            rows = n if causal else 1  # one row for all: what is there
            order = causal_mask(rows, places, past + new - rows)[None, None]
            keep = order if keep is None else keep & order
        seen = None if keep is None else keep.any(1)
        if cache is not None:
            seen = lasting_mask((b, n, places), valid_lens, past, new)
        keys, values = zero_padding(seen, keys, values)
        q = split_heads(self.W_q(queries), self.num_heads)
        k = split_heads(self.W_k(keys), self.num_kv_heads)
        v = split_heads(self.W_v(values), self.num_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        how = {"deterministic": deterministic, "rngs": rngs}
        how["need_weights"] = need_weights
        out, weights = attend_in_groups(self.attention, q, k, v, keep, **how)
        out = poisoned(mask, out).swapaxes(1, 2)  # -> (b, n, H, D/H)
        out = self.W_o(out.reshape(*lead, n, self.W_q.out_features))
        if not need_weights:
            return out
        return out, poisoned(mask, weights).reshape(*lead, *shape[1:])


# From book/notation.md
def try_gpu(i: int = 0) -> jax.Device:
    """Return GPU or TPU number i where there is one, else the CPU.

    The environment variable D2L_DEVICE, such as "cpu" or "cuda:1",
    overrides both.
    """
    platform, _, number = os.environ.get("D2L_DEVICE", "").partition(":")
    if platform:
        return jax.devices(platform)[int(number or 0)]
    found = [d for d in jax.devices() if d.platform != "cpu"]
    return found[i] if i < len(found) else jax.devices("cpu")[0]
