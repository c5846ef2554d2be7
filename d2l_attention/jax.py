# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in JAX: the functions that the chapters derive."""

import os
from collections.abc import Callable, Sequence
from functools import partial

import jax
import numpy as np
from flax import nnx
from flax.nnx.nn import dtypes
from jax import Array
from jax import numpy as jnp

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

__all__ = ["use_svg_display", "environment_report", "try_gpu", "check_shape", "show_heatmaps",
    "gaussian", "boxcar", "triangular", "epanechnikov", "constant", "pairwise_distances",
    "nadaraya_watson", "attention_mask", "masked_softmax", "zero_padding", "fused_attention",
    "Attention", "DotProductAttention", "additive_scores", "AdditiveAttention", "unit_vectors",
    "DistanceAttention", "BilinearAttention", "CosineAttention", "temporary_bytes",
    "blockwise_attention", "sinusoidal_positions", "relative_positions", "RelativeBias",
    "alibi_slopes", "alibi_bias", "rotate", "sink_softmax", "sparsemax", "linear_attention",
    "KeyValueCache", "MultiHeadAttention", "attention_without_padding"]  # fmt: skip


# From book/00_start_here.md, Meet three helpers
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


# From book/01_queries_keys_values.md, Blend the entries
def check_shape(array: Array, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `array` has exactly this shape."""
    if tuple(array.shape) != tuple(shape):
        raise ValueError(f"array must have shape {tuple(shape)}, got {tuple(array.shape)}")


# From book/02_kernels.md, Choose how the weight falls
def gaussian(r: Array) -> Array:
    """Return exp(-r^2 / 2), elementwise, for distances of any shape."""
    return jnp.exp(-0.5 * r**2)


def boxcar(r: Array) -> Array:
    """Return 1 where |r| <= 1, else 0, for distances of any shape."""
    return (abs(r) <= 1).astype(r.dtype)


def triangular(r: Array) -> Array:
    """Return max(0, 1 - |r|), elementwise, for distances of any shape."""
    return jnp.maximum(1 - abs(r), 0)


def epanechnikov(r: Array) -> Array:
    """Return 3/4 max(0, 1 - r^2), elementwise, for any shape."""
    return 0.75 * jnp.maximum(1 - r**2, 0)


def constant(r: Array) -> Array:
    """Return 1 for every distance, in the shape of `r`."""
    return jnp.ones_like(r)


# From book/02_kernels.md, Compute all queries at once
def pairwise_distances(queries: Array, keys: Array) -> Array:
    """Return the distance of every query from every key.

    Queries (n, d) and keys (m, d), or (n,) and (m,) for d = 1, give
    Euclidean distances (n, m). Where two points meet, the gradient is 0.
    Raises ValueError for other shapes.
    """
    q, k = (x[:, None] if x.ndim == 1 else x for x in (queries, keys))
    if not q.ndim == k.ndim == 2 or q.shape[-1] != k.shape[-1]:
        got = f"{tuple(queries.shape)} and {tuple(keys.shape)}"
        raise ValueError(f"queries and keys must be (n, d) and (m, d), got {got}")
    if not jnp.issubdtype(q.dtype, jnp.floating):
        q = q.astype(int)  # in the eight bits of uint8, 1 - 3 is 254
    gaps = q[:, None] - k  # (n, 1, d) - (m, d) -> (n, m, d)
    squares = jnp.square(gaps * 1.0).sum(-1)  # (n, m); integers get roots
    apart = squares != 0  # not > 0: that would make NaN a distance of 0
    return jnp.sqrt(jnp.where(apart, squares, 1)) * apart


def nadaraya_watson(
    x_train: Array, y_train: Array, x_val: Array, kernel: Callable[[Array], Array]
) -> tuple[Array, Array]:
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
    similarity = kernel(r).astype(r.dtype)
    weights = similarity / similarity.sum(-1, keepdims=True)
    return weights @ y_train.astype(weights.dtype), weights


# From book/04_masked_softmax.md, From lengths to a mask
def check_range(lens: Array | np.ndarray, m: int) -> None:
    """Raise ValueError if a length lies outside 0..m.

    Reads lists, NumPy arrays, and arrays on CPUs of this process: a tracer
    has no values, and reading others would wait, or fail.
    """
    if isinstance(lens, jax.core.Tracer) or 0 in lens.shape:
        return
    if isinstance(lens, Array):
        on_cpu = all(device.platform == "cpu" for device in lens.devices())
        if not (on_cpu and lens.is_fully_addressable):
            return
    least, most = np.min(np.asarray(lens)), np.max(np.asarray(lens))
    if least < 0 or most > m:
        raise ValueError(f"valid_lens must lie in 0..{m}, got {least}..{most}")


def length_mask(shape: tuple[int, ...], valid_lens: Array | list) -> Array:
    """Return a mask that is True at the first `valid_lens` keys of a row.

    It is (b, 1, ..., 1, m), or (b, 1, ..., n, m) with lengths (b, n).
    """
    b, n, m = shape[0], *shape[-2:]
    made = isinstance(valid_lens, Array | np.ndarray)  # else list or number
    lens = valid_lens if made else np.asarray(valid_lens)
    empty = 0 in lens.shape  # NumPy takes [] for floating point
    if not empty and not jnp.issubdtype(lens.dtype, jnp.integer):
        raise TypeError(f"valid_lens must hold integers, got {lens.dtype}")
    rows = tuple(lens.shape[1:])  # () with a length per sequence
    wrong = lens.ndim not in (1, 2) or lens.shape[0] != b
    if wrong or (rows and rows[0] != n):
        want, got = f"{(b,)} or {(b, n)}", tuple(lens.shape)
        raise ValueError(f"valid_lens must have shape {want}, got {got}")
    check_range(lens, m)
    lens = lens.reshape(b, *(1,) * (len(shape) - 3), *(rows or (1,)), 1)
    return jnp.arange(m) < lens


# From book/04_masked_softmax.md, Join masks with AND
def align_mask(shape: tuple[int, ...], mask: Array) -> Array:
    """Return `mask` with as many axes as `shape`, to which it broadcasts."""
    if mask.dtype != bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}")
    have = (1,) * (len(shape) - mask.ndim) + tuple(mask.shape)
    fits = [h == 1 or h == w for h, w in zip(have, shape)]
    if len(have) != len(shape) or not all(fits):
        have, want = tuple(mask.shape), tuple(shape)
        raise ValueError(f"mask must broadcast to {want}, got {have}")
    return mask.reshape(have)  # (n, m) -> (1, n, m)


def attention_mask(
    shape: tuple[int, ...], valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array | None:
    """Join valid lengths and a mask with AND: True = may attend.

    The result broadcasts to `shape` and has as many axes; None = no mask.

    Args:
        shape: Shape (b, ..., n, m) of the scores.
        valid_lens, mask: As in masked_softmax, with the same errors.
    """
    if mask is not None:
        mask = align_mask(shape, jnp.asarray(mask))
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens)
    return inside if mask is None else mask & inside


# From book/04_masked_softmax.md, The softmax
@jax.jit
def softmax_over(X: Array, keep: Array | None) -> Array:
    """Return the softmax of X over the keys to keep; None: over all."""
    if keep is None:
        return jax.nn.softmax(X, axis=-1)
    some = keep.any(-1, keepdims=True)  # (..., n, 1): is any key left?
    bound = jnp.where(keep, jnp.inf, -jnp.inf).astype(X.dtype)
    scores = jnp.fmin(X, bound)  # where(keep, X, -inf)
    top = scores.max(-1, keepdims=True, initial=-jnp.inf)
    top = jax.lax.stop_gradient(jnp.where(some, top, 0))
    powers = jnp.exp(scores - top)  # masked: 0
    return powers / jnp.where(some, powers.sum(-1, keepdims=True), 1)


def masked_softmax(
    X: Array, valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array:
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
            (checked on the CPU only, and not while tracing).
    """
    check_scores(X)
    keep = attention_mask(X.shape, valid_lens, mask)
    return softmax_over(X, keep)


# From book/06_scaled_dot_product_attention.md, Keep NaN out of the padding
def zero_padding(keep: Array | None, *arrays: Array) -> list[Array]:
    """Zero out the rows that no query may attend to, as 0 * NaN is NaN.

    Args:
        keep: boolean mask with the axes of the scores, to which it
            broadcasts: (b, n, m) or (b, heads, n, m). None: no padding.
        arrays: keys, values, ...: (b, m, any), or with heads.
    """
    if keep is None:
        return list(arrays)
    used = keep.any(-2)[..., None]  # (b, n, m) -> (b, m) -> (b, m, 1)
    return [jnp.where(used, array, 0) for array in arrays]


# From book/06_scaled_dot_product_attention.md, Meet the fused function
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

    Fully masked rows are 0. The softmax is taken in float32, that of
    float64 scores, too. Values may have another size than keys: the
    smaller ones are filled up with zeros, which change no product.

    Args:
        queries, keys, values: (b, n, d), (b, m, d), (b, m, v), or with
            heads after b. Sizes must fit: nothing is checked.
        keep: boolean mask, True = may attend, with the axes of the scores.
        scale: factor of the dot products. None: 1 / sqrt(d).
        implementation: "xla", "cudnn", or None: JAX chooses.
    """
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    if one_head := queries.ndim == 3:  # (b, n, d) -> (b, 1, n, d)
        queries, keys, values = (x[:, None] for x in (queries, keys, values))
        keep = None if keep is None else keep[:, None]
    size = max(queries.shape[-1], values.shape[-1])
    q, k, v = (pad_features(x, size) for x in (queries, keys, values))
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))  # (b, n, heads, size)
    how = {"scale": scale, "implementation": implementation}
    out = jax.nn.dot_product_attention(q, k, v, mask=keep, **how)
    some = True if keep is None else keep.any(-1, keepdims=True)
    out = jnp.where(some, out.swapaxes(1, 2)[..., : values.shape[-1]], 0)
    return out[:, 0] if one_head else out


# From book/06_scaled_dot_product_attention.md, One layer for every score
class Attention(nnx.Module):
    """Attention with any score: a subclass defines `features` or `score`.

    Args:
        dropout: probability of dropping an attention weight in training.
        dtype: type to compute in. None: that of the inputs, the widest.
        rngs: where dropout draws; needed in training with dropout only.
    """

    def __init__(
        self, dropout: float = 0.0, *, dtype: jnp.dtype | None = None, rngs: nnx.Rngs | None = None
    ) -> None:
        self.dropout, self.dtype = nnx.Dropout(dropout, rngs=rngs), dtype

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return features of queries and keys: their products are scores."""
        raise NotImplementedError(f"{type(self).__name__} defines no features")

    def score(self, queries: Array, keys: Array) -> Array:
        """Return the scores (b, n, m)."""
        q, k = self.features(queries, keys)
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
        An axis of heads may follow b; `valid_lens`, `mask`: masked_softmax.
        NaN in padded keys and values does no harm; in padded *queries* it
        reaches gradients. The output has the type of the values, or
        `dtype`, also where scores are wider.
        """
        check_sizes(queries, keys, values)
        arrays = queries, keys, values
        queries, keys, values = dtypes.promote_dtype(arrays, dtype=self.dtype)
        shape = (*queries.shape[:-1], keys.shape[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask)
        keys, values = zero_padding(keep, keys, values)
        weights = masked_softmax(self.score(queries, keys), mask=keep)
        used = self.dropout(weights, deterministic=deterministic, rngs=rngs)
        output = used.astype(values.dtype) @ values  # (b, n, m) x (b, m, v)
        return (output, weights) if need_weights else output


class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return q / sqrt(d) and k, both of dimension d."""
        check_same_size(queries, keys)
        return queries / queries.shape[-1] ** 0.5, keys


# From book/07_additive_attention.md, Score block by block
@jax.jit(static_argnames="block")
def additive_scores(q: Array, k: Array, w_v: Array, block: int = 2**18) -> Array:
    """Return the scores w_v . tanh(q + k), (b, n, m), block by block.

    The backward pass computes each block anew. In float32 or wider inside.
    May be sharded over batch, heads and keys, not over queries: it loops
    over them.

    Args:
        q, k: projected queries (b, n, h) and keys (b, m, h), or with heads.
        w_v: weights (h,) of the hidden units.
        block: how many entries q + k may hold at a time; a block has at
            least one query of each example.
    """
    wide = jnp.promote_types(q.dtype, jnp.float32)

    @jax.checkpoint
    def score(query: Array) -> Array:  # (b, h) -> (b, m)
        hidden = jnp.tanh(query[..., None, :].astype(wide) + k.astype(wide))
        return hidden.astype(q.dtype) @ w_v

    queries = jnp.moveaxis(q, -2, 0)  # (b, n, h) -> (n, b, h)
    step = max(1, block // max(1, k.size))
    scores = jax.lax.map(score, queries, batch_size=min(step, max(1, len(queries))))
    return jnp.moveaxis(scores, 0, -2)  # (n, b, m) -> (b, n, m)


# From book/07_additive_attention.md, Build the layer
def in_type_of_inputs(arrays: tuple, *, dtype: jnp.dtype | None = None, **_) -> tuple:
    """Cast inputs and parameters to `dtype`, or the type of the inputs."""
    dtype = arrays[0].dtype if dtype is None else dtype
    return tuple(x if x is None else x.astype(dtype) for x in arrays)


linear = partial(nnx.Linear, use_bias=False, promote_dtype=in_type_of_inputs)


class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    Bahdanau, Cho, Bengio, 2015, appendix A.1.2.

    Args:
        num_hiddens: number h of hidden units.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: dimensions of queries and keys.
        dtype: type to compute in. None: that of the inputs.
        param_dtype: type of the parameters.
        rngs: where the first weights are drawn, and dropout.
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
        super().__init__(dropout, dtype=dtype, rngs=rngs)
        of = {"param_dtype": param_dtype, "rngs": rngs}
        self.W_q = linear(query_size, num_hiddens, **of)
        self.W_k = linear(key_size, num_hiddens, **of)
        self.w_v = linear(num_hiddens, 1, **of)

    def score(self, queries: Array, keys: Array) -> Array:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, self.W_k.in_features)
        w_v = self.w_v.kernel[:, 0].astype(queries.dtype)  # (h, 1) -> (h,)
        return additive_scores(self.W_q(queries), self.W_k(keys), w_v)


# From book/08_more_scoring_functions.md, A zero vector has no direction
def unit_vectors(x: Array) -> Array:
    """Divide vectors (..., d) by their lengths; zero vectors stay zero.

    The results have length 1 to rounding, where the square of a length
    neither over- nor underflows in float32 or wider. The gradient grows
    like 1 / length; at a zero vector it passes unchanged, where the true
    one does not exist.
    """
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    squares = jnp.square(wide).sum(-1, keepdims=True)  # (..., 1)
    norm = jnp.sqrt(jnp.where(squares > 0, squares, 1))
    return (wide / norm).astype(x.dtype)


# From book/08_more_scoring_functions.md, Distance
class DistanceAttention(Attention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    The scores leave out a term that all keys of a query share. The weights
    are those of a Gaussian kernel with variance sqrt(d). Far from the
    origin rounding errors grow: move the origin to the data first.
    Scores are computed in float32 or wider, as squared norms overflow in
    half precision.
    """

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of dimension d + 1."""
        check_same_size(queries, keys)
        wide = jnp.promote_types(queries.dtype, jnp.float32)
        queries, keys = queries.astype(wide), keys.astype(wide)
        ones = jnp.ones_like(queries[..., :1])  # (b, n, 1)
        norms = jnp.square(keys).sum(-1, keepdims=True)  # (b, m, 1)
        q = jnp.concatenate([queries, ones], axis=-1)
        k = jnp.concatenate([keys, -0.5 * norms], axis=-1)
        return q / queries.shape[-1] ** 0.5, k


# From book/08_more_scoring_functions.md, Bilinear
class BilinearAttention(Attention):
    """Bilinear attention: scores q^T M k / sqrt(s).

    Full: M has any rank, and s is the dimension of keys. Low rank:
    M = W_q^T W_k, and s is the rank; this is the score of a Transformer head.

    Args:
        rank: rank of the low-rank form. None: a full matrix.
        dropout: probability of dropping an attention weight in training.
        query_size, key_size: dimensions of queries and keys.
        dtype: type to compute in. None: that of the inputs.
        param_dtype: type of the parameters.
        rngs: where the first weights are drawn, and dropout.
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
        super().__init__(dropout, dtype=dtype, rngs=rngs)
        of = {"param_dtype": param_dtype, "rngs": rngs}
        self.key_size = key_size
        full = rank is None
        self.W_q = linear(query_size, key_size if full else rank, **of)
        self.W_k = nnx.data(None if full else linear(key_size, rank, **of))

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return W_q q / sqrt(s) and W_k k, both of dimension s."""
        check_features("queries", queries, self.W_q.in_features)
        check_features("keys", keys, self.key_size)
        q = self.W_q(queries)
        k = keys if self.W_k is None else self.W_k(keys)
        return q / q.shape[-1] ** 0.5, k


# From book/08_more_scoring_functions.md, Cosine
class CosineAttention(Attention):
    """Cosine attention: scores cos(q, k) / temperature; cos(0, k) = 0.

    Args:
        dropout: probability of dropping an attention weight in training.
        temperature: positive, else ValueError; the smaller, the sharper.
        learnable: whether training may change the temperature.
        dtype: type to compute in. None: that of the inputs.
        param_dtype: type of the temperature.
        rngs: where dropout draws.
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
        super().__init__(dropout, dtype=dtype, rngs=rngs)
        if not temperature > 0:
            raise ValueError(f"temperature must be positive, got {temperature}")
        self.start = temperature  # weight decay pulls back to it, not to 1
        kind = nnx.Param if learnable else nnx.Variable
        self.log_ratio = kind(jnp.zeros((), param_dtype))

    @property
    def temperature(self) -> Array:
        return self.start * jnp.exp(self.log_ratio[...])

    def features(self, queries: Array, keys: Array) -> tuple[Array, Array]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        temperature = self.temperature.astype(queries.dtype)
        return unit_vectors(queries) / temperature, unit_vectors(keys)


# From book/09_what_attention_costs.md, Count the bytes
def temporary_bytes(function: Callable, *arrays: Array) -> int:
    """Return how many bytes the compiled function holds on its way.

    Arguments and results are not counted.
    """
    compiled = jax.jit(function).lower(*arrays).compile()
    return compiled.memory_analysis().temp_size_in_bytes


# From book/09_what_attention_costs.md, Go in blocks, and carry the mask
def fold_in(c: Array, s: Array, o: Array, a: Array, values: Array) -> tuple[Array, Array, Array]:
    """Add a block of keys to a running softmax and weighted sum.

    Maximum c and sum s (..., n, 1): Milakov, Gimelshein, 2018; weighted sum
    o (..., n, v): Rabe, Staats, 2021. They start as -inf, 0, 0; at the end
    the output is o / s. Scores a of the block (..., n, block): -inf = masked.
    """
    c_new = jnp.maximum(c, a.max(-1, keepdims=True, initial=-jnp.inf))
    top = jnp.where(c_new == -jnp.inf, 0, c_new)  # nothing seen yet: 0
    shrink, e = jnp.exp(c - top), jnp.exp(a - top)
    s = shrink * s + e.sum(-1, keepdims=True)
    return c_new, s, shrink * o + e @ values


def fold_block(
    q: Array,
    keys: Array,
    values: Array,
    keep: Array,
    block: int,
    state: tuple[Array, Array, Array],
    i: Array,
) -> tuple[tuple[Array, Array, Array], None]:
    """Add a block of keys, from place i on: one step of a scan."""
    start = jnp.minimum(i, keys.shape[-2] - block)
    part = partial(jax.lax.dynamic_slice_in_dim, start_index=start, slice_size=block)
    fresh = part(keep, axis=-1) & (start + jnp.arange(block) >= i)
    a = jnp.where(fresh, q @ part(keys, axis=-2).mT, -jnp.inf)
    wide = state[0].dtype
    v = part(values, axis=-2).astype(wide)
    return fold_in(*state, a.astype(wide), v), None


@jax.jit(static_argnames="block")
def blockwise_attention(
    queries: Array, keys: Array, values: Array, keep: Array | None = None, block: int = 128
) -> Array:
    """Return scaled dot-product attention, computed over blocks of keys.

    Fully masked rows are 0. Only the weights of one block are held, and the
    backward pass computes them anew. Sharded by examples, heads or queries,
    every device works alone; sharded by keys, each gathers all of them.

    Args:
        queries, keys, values, keep: as for fused_attention; (b, n, v) out.
        block: how many keys to take at once, at least 1.
    """
    check_sizes(queries, keys, values)
    if block < 1:
        raise ValueError(f"block must be at least 1, got {block}")
    keys, values = zero_padding(keep, keys, values)
    q, m = queries / queries.shape[-1] ** 0.5, keys.shape[-2]
    keep = jnp.ones((1,) * q.ndim, bool) if keep is None else keep
    keep = jnp.broadcast_to(keep, (*keep.shape[:-1], m))
    wide = jnp.promote_types(q.dtype, jnp.float32)
    s, o = (jnp.zeros((*q.shape[:-1], k), wide) for k in (1, values.shape[-1]))
    size, starts = min(block, m), jnp.arange(0, m, block)
    step = jax.checkpoint(partial(fold_block, q, keys, values, keep, size))
    (_, s, o), _ = jax.lax.scan(step, (s - jnp.inf, s, o), starts)
    return (o / jnp.where(s == 0, 1, s)).astype(q.dtype)


# From book/11_positions_in_the_score.md, Waves of many lengths
def angles(positions: Array, d: int, base: float = 10_000.0) -> Array:
    """Return i base^(-2t / d) for positions i (..., n): (..., n, d / 2).

    ValueError: d is odd.
    """
    if d % 2:
        raise ValueError(
            f"the dimension must be even, as features go in pairs, got {d}; "
            f"{d - 1} or {d + 1} would fit"
        )
    return positions[..., None] * base ** (-np.arange(0, d, 2) / d)


def sinusoidal_positions(n: int, d: int) -> Array:
    """Return n vectors (n, d) of sines and cosines (Vaswani et al., 2017).

    Even features are sines, odd ones cosines. They are computed in float64.

    Raises:
        ValueError: d is odd.
    """
    a = angles(np.arange(n), d)  # (n, d/2), by NumPy
    pairs = np.stack([np.sin(a), np.cos(a)], axis=-1)  # (n, d/2, 2)
    return jnp.asarray(pairs.reshape(n, d))


# From book/11_positions_in_the_score.md, A learned bias for each distance
def relative_positions(n: int, m: int) -> Array:
    """Return i - j for n queries and m keys: integers (n, m).

    The queries stand at the last n of the m positions, as with a cache.

    Raises:
        ValueError: There are more queries than keys.
    """
    if not 0 <= n <= m:
        raise ValueError(f"n must lie in 0..m = {m}, got {n}")
    return jnp.arange(m - n, m)[:, None] - jnp.arange(m)


class RelativeBias(nnx.Module):
    """A learned bias for each head and distance, 0 before training.

    Args:
        num_heads: Heads, at least 1, else ValueError.
        max_distance: Farther keys share its bias; at least 1, else
            ValueError.
    """

    def __init__(self, num_heads: int, max_distance: int) -> None:
        sizes = {"num_heads": num_heads, "max_distance": max_distance}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        self.max_distance = max_distance
        self.bias = nnx.Param(jnp.zeros((num_heads, 2 * max_distance + 1)))

    def __call__(self, n: int, m: int) -> Array:
        """Return the bias (heads, n, m) of the last n of m positions."""
        c = self.max_distance
        rows = jnp.clip(relative_positions(n, m), -c, c) + c  # in 0..2c
        return self.bias[:, rows]


# From book/11_positions_in_the_score.md, Let distance cost something: ALiBi
def alibi_slopes(num_heads: int) -> Array:
    """Return the slopes 2^(-8/H), 2^(-16/H), ..., 2^(-8) of H heads: (H,).

    The geometric sequence of Press, Smith and Lewis (2022), section 3.

    Raises:
        ValueError: There is no head.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    return 2.0 ** (-8 * jnp.arange(1, num_heads + 1) / num_heads)


def alibi_bias(slopes: Array, n: int, m: int) -> Array:
    """Return -slope |i - j| for slopes (heads,): (heads, n, m).

    The n queries stand at the last n of the m positions.

    Raises:
        ValueError: `slopes` has not one axis, or n > m.
    """
    if slopes.ndim != 1:
        raise ValueError(f"slopes must have shape (heads,), got {tuple(slopes.shape)}")
    return slopes[:, None, None] * -abs(relative_positions(n, m))


# From book/11_positions_in_the_score.md, From the loop to the function
def rotate(x: Array, positions: Array | None = None, base: float = 10_000.0) -> Array:
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
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"x must be floating point, got {x.dtype}")
    n, d = x.shape[-2:]
    positions = jnp.arange(n) if positions is None else jnp.asarray(positions)
    check_positions(positions.shape, x.shape[:-1])
    exact = jnp.promote_types(x.dtype, jnp.float32)
    a = angles(positions.astype(exact), d, base)  # (..., n, d/2)
    even, odd, cos, sin = x[..., ::2], x[..., 1::2], jnp.cos(a), jnp.sin(a)
    pairs = even * cos - odd * sin, even * sin + odd * cos
    turned = jnp.stack(pairs, axis=-1)  # (..., n, d/2, 2)
    return turned.reshape(*turned.shape[:-2], d).astype(x.dtype)


# From book/12_scores_that_stay_healthy.md, Let a query abstain
def masked_scores(
    X: Array, valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array:
    """Return the scores with -inf at all keys that are masked.

    Arguments and errors are those of masked_softmax.
    """
    check_scores(X)
    keep = attention_mask(X.shape, valid_lens, mask)
    return X if keep is None else jnp.where(keep, X, -jnp.inf)


def sink_softmax(
    X: Array, valid_lens: Array | list | None = None, mask: Array | None = None
) -> Array:
    """Return exp(a_i) / (1 + sum exp(a_j)) over the keys that may be seen.

    A softmax with one more key of score 0, the sink, whose weight is left
    out (Miller, 2023). Rows sum to less than 1; a fully masked row is 0.
    Arguments and errors are those of masked_softmax.
    """
    scores = masked_scores(X, valid_lens, mask)
    sink = jnp.zeros_like(X, shape=(*X.shape[:-1], 1))
    both = jnp.concatenate([scores, sink], axis=-1)  # (..., n, m + 1)
    return jax.nn.softmax(both, axis=-1)[..., :-1]


# From book/12_scores_that_stay_healthy.md, Give exact zeros
def sparsemax(X: Array, valid_lens: Array | list | None = None, mask: Array | None = None) -> Array:
    """Return the weights nearest to the scores: rows sum to 1, many are 0.

    max(a_i - theta, 0) with the threshold theta that makes the sum 1
    (Martins, Astudillo, 2016). A fully masked row is 0. Arguments and
    errors are those of masked_softmax.
    """
    scores = masked_scores(X, valid_lens, mask)
    a = scores.astype(jnp.promote_types(X.dtype, jnp.float32))
    ranked = jnp.sort(a, axis=-1, descending=True)
    top = jnp.maximum(ranked[..., :1], jnp.finfo(a.dtype).min)
    sums = jnp.cumsum(jnp.maximum(ranked - top, -2), axis=-1) - 1  # -2: far
    r = jnp.arange(1, X.shape[-1] + 1)
    theta = (sums / r).max(-1, keepdims=True, initial=-jnp.inf)
    return jax.nn.relu(a - top - theta).astype(X.dtype)


# From book/12_scores_that_stay_healthy.md, Read exp(q·k) as a kernel
@jax.jit
def elu_features(x: Array) -> Array:
    """Return elu(x) + 1, elementwise: x + 1 for x > 0, and exp(x) below.

    Never less than the cube root of the smallest normal number of the dtype
    (2e-13 in float32), so that no product of three such numbers becomes 0.
    """
    floor = float(jnp.finfo(x.dtype).tiny) ** (1 / 3)
    low = jnp.maximum(jnp.exp(jnp.where(x > 0, 0, x)), floor)
    return jnp.where(x > 0, x + 1, low)


@jax.jit
def sum_in_chunks(q: Array, k: Array, v: Array) -> Array:
    """Return tril(q k^T) v, (b, n, v): a scan over chunks of 64 or less."""
    n, size = q.shape[-2], max(1, min(q.shape[-2], 64))
    padding = *[(0, 0)] * (q.ndim - 2), (0, -n % size), (0, 0)
    q, k, v = (jnp.pad(x, padding) for x in (q, k, v))
    shape = *q.shape[:-2], q.shape[-2] // size, size  # (b, chunks, size)
    split = [x.reshape(*shape, x.shape[-1]) for x in (q, k, v)]

    def step(state: Array, chunk: list[Array]) -> tuple[Array, Array]:
        q, k, v = chunk
        return state + k.mT @ v, q @ state + jnp.tril(q @ k.mT) @ v

    state = k[..., :0, :].mT @ v[..., :0, :]  # (b, r, v): 0
    chunks = [jnp.moveaxis(x, -3, 0) for x in split]
    _, sums = jax.lax.scan(step, state, chunks)  # (chunks, b, size, v)
    return jnp.moveaxis(sums, 0, -3).reshape(v.shape)[..., :n, :]


def sum_over_keys(q: Array, k: Array, v: Array, causal: bool) -> Array:
    """Return q (k^T v), (b, n, v), with features q, k of dimension r."""
    check_same_size(q, k)
    if not causal:
        return q @ (k.mT @ v)  # (b, n, r) x (b, r, v)
    if q.shape[-2] != k.shape[-2]:
        got = f"got {q.shape[-2]} queries and {k.shape[-2]} keys"
        raise ValueError(f"causal: one query for each key, {got}")
    return sum_in_chunks(q, k, v)


def linear_attention(
    queries: Array,
    keys: Array,
    values: Array,
    valid_lens: Array | list | None = None,
    causal: bool = False,
    features: Callable[[Array], Array] = elu_features,
) -> Array:
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
    keep = attention_mask(shape, valid_lens)
    keys, values = zero_padding(keep, keys, values)
    wide = jnp.promote_types(queries.dtype, jnp.float32)
    q, k = features(queries.astype(wide)), features(keys.astype(wide))
    (k,) = zero_padding(keep, k)  # the features of 0 need not be 0
    ones = jnp.ones((*values.shape[:-1], 1), wide)  # these count the weights
    v = jnp.concatenate([values.astype(wide), ones], axis=-1)
    sums = sum_over_keys(q, k, v, causal)  # (b, n, v + 1)
    outputs, totals = sums[..., :-1], sums[..., -1:]
    return (outputs / jnp.where(totals == 0, 1, totals)).astype(queries.dtype)


# From book/13_many_heads.md, Project, split, attend, join
def split_heads(x: Array, heads: int) -> Array:
    """Split the last axis: (b, n, D) -> (b, n, H, D/H) -> (b, H, n, D/H)."""
    size = x.shape[-1] // heads
    return x.reshape(*x.shape[:-1], heads, size).swapaxes(1, 2)


# From book/13_many_heads.md, Write the layer
def causal_mask(n: int, m: int, first: int | Array) -> Array:
    """Return (n, m), True at keys no later than the query.

    The n queries stand at the places first, first + 1, ... of the m places.
    """
    queries = first + jnp.arange(n)[:, None]  # (n, 1)
    return jnp.arange(m) <= queries  # (m,), (n, 1) -> (n, m)


def check_new(held: tuple, keys: Array, values: Array) -> None:
    """Raise ValueError unless new keys and values fit a cache's shape."""
    for name, new in (("keys", keys.shape), ("values", values.shape)):
        if held[:2] != new[:2] or held[3] != new[3]:
            raise ValueError(
                f"cache must have {name} of shape (b, heads, any, d) = "
                f"({new[0]}, {new[1]}, any, {new[3]}), got {held}: "
                f"make a new one for each batch and each layer"
            )
    if keys.shape != values.shape:
        got = f"got keys {keys.shape}, values {values.shape}"
        raise ValueError(f"there must be one value for each key; {got}")


class KeyValueCache(nnx.Module):
    """The projected keys and values of all tokens that one layer has read.

    It has m places from the start, so that a compiled step fits every
    length: `keys` and `values` are (b, heads, m, d), the first `length` of
    the m places are taken. Compiled code does not know `length`: where a
    cache is full there, its last places are overwritten without an error.

    Args:
        b, num_heads, m, d: batch size, heads of keys and values, places,
            dimension of a head.
        dtype: that of keys and values in the cache.
    """

    def __init__(
        self, b: int, num_heads: int, m: int, d: int, dtype: jnp.dtype = jnp.float32
    ) -> None:
        self.keys = nnx.Cache(jnp.zeros((b, num_heads, m, d), dtype))
        self.values = nnx.Cache(jnp.zeros((b, num_heads, m, d), dtype))
        self.length = nnx.Cache(jnp.zeros((), int))

    def check_room(self, new: int) -> None:
        """Raise ValueError unless `new` more tokens fit, if that is known."""
        length, m = self.length[...], self.keys.shape[-2]
        known = not isinstance(length, jax.core.Tracer)
        if new > m or (known and length + new > m):
            taken = f", {length} taken" if known else ""
            raise ValueError(f"cache has {m} places{taken}: no room for {new} more tokens")

    def append(self, keys: Array, values: Array) -> tuple[Array, Array]:
        """Put new keys and values (b, heads, new, d) in; return all places.

        What comes back has the type of the new keys and values. ValueError:
        another batch size, number of heads or dimension, not one value for
        each key, or too little room.
        """
        check_new(self.keys.shape, keys, values)
        self.check_room(keys.shape[2])
        first = self.length[...]
        for held, x in ((self.keys, keys), (self.values, values)):
            held[...] = jax.lax.dynamic_update_slice_in_dim(
                held[...], x.astype(held.dtype), first, axis=-2
            )
        self.length[...] = first + keys.shape[2]
        k, v = self.keys[...], self.values[...]
        return k.astype(keys.dtype), v.astype(values.dtype)


class HeadProjections(nnx.Module):
    """The projections of `MultiHeadAttention`, whose arguments it takes."""

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
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_divides("num_heads", num_heads, "num_hiddens", num_hiddens)
        check_divides("num_kv_heads", kv_heads, "num_heads", num_heads)
        kv_hiddens = num_hiddens // num_heads * kv_heads
        self.num_heads, self.num_kv_heads = num_heads, kv_heads
        self.attention = attention(dropout=dropout, rngs=rngs)
        of = {"dtype": dtype, "param_dtype": param_dtype, "rngs": rngs}
        projection = partial(linear, use_bias=bias, **of)
        self.W_q = projection(query_size or num_hiddens, num_hiddens)
        self.W_k = projection(key_size or num_hiddens, kv_hiddens)
        self.W_v = projection(value_size or num_hiddens, kv_hiddens)
        self.W_o = projection(num_hiddens, num_hiddens)

    def project(self, queries, keys, values, cache=None) -> tuple:
        """Return q (b, H, n, d), and k and v (b, H, m, d) with the cache."""
        q = split_heads(self.W_q(queries), self.num_heads)
        k = split_heads(self.W_k(keys), self.num_kv_heads)
        v = split_heads(self.W_v(values), self.num_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        if (shared := self.num_heads // self.num_kv_heads) > 1:
            k, v = (jnp.repeat(x, shared, axis=1) for x in (k, v))
        return q, k, v


def lasting_mask(shape: tuple, valid_lens, first, new) -> Array | None:
    """Return the mask (b, 1, new) of new keys by the length of a sequence.

    A mask, or a length for each query, binds no later query: None.
    """
    if np.ndim(valid_lens) != 1:
        return None
    inside = attention_mask(shape, valid_lens)  # (b, 1, m)
    return jax.lax.dynamic_slice_in_dim(inside, first, new, axis=-1)


class MultiHeadAttention(HeadProjections):
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
    """

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
                heads share them.
            causal: the queries stand at the last n of the tokens that have
                been read, and see no later one.
            cache: earlier keys and values: the new ones join it, and m
                counts its places. Places that are not taken are masked.
            need_weights: return the weights (b, H, n, m), too.
            deterministic, rngs: of dropout, as for nnx.Dropout.
        """
        check_inputs(self, queries, keys, values)
        (b, n), new = queries.shape[:2], keys.shape[1]
        places, past = new, 0
        if cache is not None:
            cache.check_room(new)
            places, past = cache.keys.shape[-2], cache.length[...]
        shape = (b, n, places)
        keep = attention_mask(shape, valid_lens, mask)
        if causal or cache is not None:
            rows = n if causal else 1  # one row for all: what is there
            order = causal_mask(rows, places, past + new - rows)
            keep = order[None] if keep is None else keep & order
        seen = keep
        if cache is not None:
            seen = lasting_mask(shape, valid_lens, past, new)
        keys, values = zero_padding(seen, keys, values)
        q, k, v = self.project(queries, keys, values, cache)
        mask = None if keep is None else keep[:, None]  # (b, 1, n, m)
        how = {"mask": mask, "deterministic": deterministic, "rngs": rngs}
        out = self.attention(q, k, v, need_weights=need_weights, **how)
        out, weights = out if need_weights else (out, None)
        out = self.W_o(out.swapaxes(1, 2).reshape(b, n, -1))  # (b, n, D)
        return (out, weights) if need_weights else out


# From book/14_from_lesson_to_library.md, Cut off the padding
def attention_without_padding(
    queries: Array, keys: Array, values: Array, lens: Sequence[int]
) -> Array:
    """Run fused_attention on each example alone, with its padding cut off.

    Args:
        queries, keys, values: as for fused_attention.
        lens: b lengths in 0..m, a sequence of integers: shapes follow from
            them. A tuple can be a static argument of jax.jit.

    Raises:
        TypeError, ValueError: shapes do not match, or lens is not a sequence
            of b integers in 0..m.
    """
    check_sizes(queries, keys, values)
    check_lengths(lens, keys.shape[0], keys.shape[-2])
    outputs = [fused_attention(queries[:0], keys[:0], values[:0])]  # if b = 0
    for i, length in enumerate(lens):
        k, v = (x[i : i + 1, ..., :length, :] for x in (keys, values))
        outputs.append(fused_attention(queries[i : i + 1], k, v))
    return jnp.concatenate(outputs)
