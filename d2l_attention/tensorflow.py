# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in TensorFlow: the functions that the chapters derive."""

from d2l_attention.frameworks import check_installed

check_installed("tensorflow")

import os
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf
from tensorflow import Tensor
from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

from d2l_attention.checks import (
    check_cache,
    check_divides,
    check_even,
    check_features,
    check_inputs,
    check_lengths,
    check_mask,
    check_numbers,
    check_pairs,
    check_positions,
    check_positive,
    check_projected,
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
from d2l_attention.machine import environment_report

__all__ = ["show_heatmaps", "check_shape", "rotate", "gaussian", "boxcar", "triangular",
    "epanechnikov", "constant", "pairwise_distances", "nadaraya_watson", "attention_mask",
    "masked_softmax", "zero_padding", "fused_attention", "Attention", "DotProductAttention",
    "additive_scores", "AdditiveAttention", "DistanceAttention", "BilinearAttention",
    "CosineAttention", "temporary_bytes", "KeyValueCache", "MultiHeadAttention", "use_svg_display",
    "environment_report", "try_gpu"]  # fmt: skip


# From book/01_queries_keys_values.md
def check_shape(tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `tensor` has exactly this shape."""
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"tensor must have shape {tuple(shape)}, got {tuple(tensor.shape)}")


def draw(model, seed):
    """Draw all matrices anew, alike in all frameworks."""
    rng = np.random.default_rng(seed)
    for p in model.trainable_variables:
        if p.name == "embeddings":
            p.assign(rng.normal(size=p.shape))
        elif p.name == "kernel":  # (inputs, outputs): the transpose of W
            std = (3 * p.shape[0]) ** -0.5
            p.assign(rng.normal(0, std, p.shape[::-1]).T)
        else:  # a bias, or the scales of a norm
            p.assign(np.full(p.shape, float(p.name == "gamma")))


class Adam:
    """Adam (Kingma and Ba, 2015, algorithm 1)."""

    def __init__(self, parameters, rate):
        self.parameters, self.rate = parameters, rate
        self.t = tf.Variable(0.0, dtype=parameters[0].dtype)  # steps
        zeros = [tf.zeros_like(p) for p in parameters]
        self.m, self.v = ([tf.Variable(z) for z in zeros] for _ in "mv")

    def step(self, gradients):
        t = self.t.assign_add(1)
        of_all = zip(self.parameters, gradients, self.m, self.v, strict=True)
        for p, g, m, v in of_all:
            g = tf.convert_to_tensor(g)  # adds up an embedding's parts
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g**2)
            size = tf.sqrt(v / (1 - 0.999**t)) + 1e-8
            p.assign_sub(self.rate * m / (1 - 0.9**t) / size)


# From book/04_order.md
def angles(positions: Tensor, d: int, base: float = 10_000.0) -> Tensor:
    """Return i base^(-2l / d) for positions i (..., n): (..., n, d / 2)."""
    return positions[..., None] * base ** (-np.arange(0, d, 2) / d)


def as_tensors(**args: Tensor | list | None) -> list[Tensor | None]:
    """Return arrays and lists, also lists of tensors, as tensors."""
    for name, x in args.items():
        if x is not None:
            check_numbers(name, x)
    return [x if x is None else tf.convert_to_tensor(x) for x in args.values()]


def sizes(x: Tensor) -> tuple:
    """Return the shape of x: numbers, or tensors where a graph is open."""
    found = tf.shape(x)
    return tuple(found[i] if s is None else s for i, s in enumerate(x.shape))


def known(shape: tuple) -> tuple:
    """Return a shape with None for the sizes that are tensors."""
    return tuple(s if isinstance(s, int) else None for s in shape)


def rotate(x: Tensor, positions: Tensor | None = None, base: float = 10_000.0) -> Tensor:
    """Turn neighboring features of vectors (..., n, d) by their positions.

    Features 2l and 2l + 1 turn by the angle i base^(-2l / d) at position i
    (Su et al., 2021). Positions are (n,), or the shape of x without d, where
    all axes but n may be 1: (b, 1, n) for x (b, H, n, d). None: 0 to n - 1.
    TypeError: x is not floating point. ValueError: d is odd, or wrong shapes.
    """
    x, positions = as_tensors(x=x, positions=positions)
    check_even(x)
    positions = tf.range(sizes(x)[-2]) if positions is None else positions
    check_positions(known(sizes(positions)), known(sizes(x)[:-1]))
    exact = x if x.dtype == tf.float64 else tf.cast(x, tf.float32)
    a = angles(tf.cast(positions, exact.dtype), x.shape[-1], base)
    even, odd = exact[..., ::2], exact[..., 1::2]  # like a: (..., n, d/2)
    cos, sin = tf.cos(a), tf.sin(a)
    pairs = even * cos - odd * sin, even * sin + odd * cos
    turned = tf.reshape(tf.stack(pairs, axis=-1), sizes(x))
    return tf.cast(turned, x.dtype)


# From book/05_many_heads_and_a_block.md
def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split the last axis: (b, n, D) -> (b, n, H, D/H) -> (b, H, n, D/H)."""
    b, n, _ = sizes(x)
    split = tf.reshape(x, (b, n, heads, x.shape[-1] // heads))
    return tf.transpose(split, (0, 2, 1, 3))


# From book/08_kernels.md
def gaussian(r: Tensor) -> Tensor:
    """Return exp(-r^2 / 2), elementwise, for distances of any shape."""
    return tf.exp(tf.square(r) / -2)


def boxcar(r: Tensor) -> Tensor:
    """Return 1 where |r| <= 1, else 0, for distances of any shape."""
    return tf.cast(tf.abs(r) <= 1, tf.convert_to_tensor(r).dtype)


def triangular(r: Tensor) -> Tensor:
    """Return max(0, 1 - |r|), elementwise, for distances of any shape."""
    return tf.maximum(1 - tf.abs(r), 0)


def epanechnikov(r: Tensor) -> Tensor:
    """Return 3/4 max(0, 1 - r^2), elementwise, for any shape."""
    return tf.maximum(1 - tf.square(r), 0) * 3 / 4


def constant(r: Tensor) -> Tensor:
    """Return 1 for every distance, in the shape of `r`."""
    return tf.ones_like(r)


def wide(x: Tensor) -> Tensor:
    """Return x in float32, or as it is in float64."""
    return x if x.dtype == tf.float64 else tf.cast(x, tf.float32)


def pairwise_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """Return Euclidean distances (n, m) of queries (n, d) from keys (m, d).

    For d = 1, (n,) and (m,) will do. ValueError: other shapes. Where points
    meet, the gradient is 0.
    """
    queries, keys = as_tensors(queries=queries, keys=keys)
    check_vectors(queries, keys)
    q, k = (x[:, None] if len(x.shape) == 1 else x for x in (queries, keys))
    kind = keras.backend.result_type(q.dtype, k.dtype, float)
    whole = q.dtype.is_integer and k.dtype.is_integer  # uint8: 1 - 3 is 254
    q, k = (tf.cast(x, tf.float64 if whole else kind) for x in (q, k))
    gaps = wide(q)[:, None] - wide(k)  # (n, 1, d) - (m, d) -> (n, m, d)
    squares = tf.reduce_sum(gaps**2, -1)  # (n, m)
    # A root of 0 has no finite slope, and its gradient would be NaN.
    apart = squares != 0  # not > 0: that would make NaN a distance of 0
    return tf.cast(tf.where(apart, tf.sqrt(tf.where(apart, squares, 1)), 0), kind)


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
    similarity = tf.cast(kernel(r), wide(r).dtype)
    weights = tf.cast(similarity / tf.reduce_sum(similarity, -1, keepdims=True), r.dtype)
    return tf.tensordot(weights, tf.cast(y_train, r.dtype), 1), weights


# From book/10_masked_softmax.md
def check_range(lens: Tensor, shape: tuple) -> None:
    """Check lengths, but not in a graph, nor on a GPU, which would wait."""
    values = None if "GPU" in lens.device else tf.get_static_value(lens)
    if values is not None:
        check_lengths(values, known(shape))


def length_mask(shape: tuple, valid_lens: Tensor | list) -> Tensor:
    """Return a mask, True at a row's first keys, (b, 1, ..., 1 or n, m)."""
    (lens,) = as_tensors(valid_lens=valid_lens)
    check_valid_lens(lens, known(shape))  # integers, (b,) or (b, n)
    check_range(lens, shape)  # 0..m
    lens = tf.cast(lens, tf.int32)
    each = len(lens.shape) > len(shape[:-2][:1])  # a length for each query
    rows = lens if each else lens[..., None]  # (b, n or 1)
    heads = (None,) * (len(shape) - 3)
    return tf.range(shape[-1]) < rows[..., *heads, :, None]


def attention_mask(
    shape: tuple, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor | None:
    """Join valid lengths and a mask with AND: True = may attend.

    It has the axes of the scores, `shape` (b, ..., n, m), and broadcasts to
    them; None = no mask. Sizes may be tensors, as in tf.shape(X)[-1].
    Lengths, mask and errors are as in masked_softmax.
    """
    if mask is not None:
        (mask,) = as_tensors(mask=mask)
        if mask.dtype.is_integer:  # Keras's masks may be 0 and 1
            mask = tf.cast(mask, tf.bool)
        check_mask(mask, known(shape))
        more = (None,) * (len(shape) - len(mask.shape))
        mask = mask[*more, ...]  # (n, m) -> (1, n, m)
    if valid_lens is None:
        return mask
    inside = length_mask(shape, valid_lens)
    return inside if mask is None else mask & inside


def masked_softmax(
    X: Tensor, valid_lens: Tensor | list | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the softmax over the keys that may be attended to.

    It has X's shape and dtype. In a fully masked row all weights and
    gradients are 0; a row whose allowed scores are all -inf is NaN.

    Args: X, floating-point scores (b, ..., n, m) or, of one example, (n, m);
        valid_lens, integers in 0..m, (b,) or (b, n); mask, boolean or 0 and
        1, True = may attend: two axes are (n, m), three (b, 1, m) or
        (b, n, m), with heads (H, n, m), and refused where b is H.
    Raises: TypeError for another data type; ValueError for a wrong shape, or
        a length outside 0..m (on the CPU only, and not inside a graph).
    """
    (X,) = as_tensors(X=X)
    check_scores(X)
    keep, scores = attention_mask(sizes(X), valid_lens, mask), wide(X)
    if keep is None:
        return tf.cast(tf.nn.softmax(scores), X.dtype)
    some = tf.reduce_any(keep, -1, keepdims=True)  # (..., n, 1): any key left?
    fill = tf.cast(tf.where(some, -np.inf, 0.0), scores.dtype)
    weights = tf.nn.softmax(tf.where(keep, scores, fill))
    return tf.cast(weights, X.dtype) * tf.cast(some, X.dtype)


def zero_padding(keep: Tensor | None, *tensors: Tensor) -> list[Tensor]:
    """Zero out the rows that no query may attend to, as 0 * NaN is NaN.

    Mask keep (b, n, m), None: no padding; tensors (b, m, any); or with heads.
    """
    if keep is None:
        return list(tensors)
    used = tf.reduce_any(keep, -2)[..., None]  # (b, n, m) -> (b, m, 1)
    return [tf.where(used, tensor, 0) for tensor in tensors]


# From book/12_scaled_dot_product_attention.md
def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    keep: Tensor | None = None,
    scale: float | None = None,
) -> Tensor:
    """Run Keras's own scaled dot-product attention, heads or none.

    (b, n, d), (b, m, d), (b, m, v), or all with heads after b -> (b, n, v).
    Nothing is checked. Fully masked rows are 0.

    Args: keep, mask with the axes of the scores; scale, 1 / sqrt(d) by
        default.
    """
    one_head = len(queries.shape) == 3
    if one_head:  # (b, n, d) -> (b, 1, n, d)
        queries, keys, values = (x[:, None] for x in (queries, keys, values))
        keep = None if keep is None else keep[:, None]
    order = (0, 2, 1, 3)  # (b, heads, n, d) -> (b, n, heads, d) and back
    q, k, v = (tf.transpose(x, order) for x in (queries, keys, values))
    out = keras.ops.dot_product_attention(q, k, v, mask=keep, scale=scale)
    out = tf.transpose(out, order)
    if keep is not None:
        out = tf.where(tf.reduce_any(keep, -1, keepdims=True), out, 0)
    return out[:, 0] if one_head else out


@keras.saving.register_keras_serializable("d2l_attention")
class Attention(keras.layers.Layer):
    """Attention with any score: a subclass defines `features` or `score`.

    Args: dropout, probability of dropping a weight in training; seed, of
        dropout; name, dtype and others as in every Keras layer.
    """

    def __init__(self, dropout: float = 0.0, *, seed: int | None = None, **options) -> None:
        check_rate("dropout", dropout)
        super().__init__(**options)
        self.dropout = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)
        self.supports_masking = True

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return features of queries and keys: their products are scores."""
        raise NotImplementedError(f"{type(self).__name__} defines no features")

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the scores (b, n, m)."""
        q, k = self.features(queries, keys)
        return by_group(wide(q), wide(k), transpose_b=True)  # -> (b, n, m)

    def call(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        mask: Tensor | None = None,
        need_weights: bool = False,
        *,
        keys_mask: Tensor | None = None,
        shared: int = 1,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, v) -> (b, n, v).

        With `need_weights`, return the output and the weights (b, n, m)
        from before dropout, which works in `training` only. Keras hands on
        `keys_mask`, (b, m) or (b, ..., m), that of an Embedding of the keys.
        Heads or other axes may follow b, or b be missing; of heads, each of
        keys and values may serve `shared` of queries. `valid_lens`, `mask`:
        masked_softmax, lists by name. NaN in padded keys and values does no
        harm; in padded *queries* it reaches gradients. Scores and softmax
        are in float32 or wider; results have the layer's compute dtype.
        """
        one_each = queries if shared == 1 else queries[:, ::shared]
        check_sizes(one_each, keys, values)
        shape = (*sizes(queries)[:-1], sizes(keys)[-2])  # (b, n, m)
        keep = attention_mask(shape, valid_lens, mask)
        keep = with_keys_mask(shape, keep, keys_mask)
        by_head = keep is not None and keep.shape[1] != 1
        if shared > 1 and (by_head or type(self).score is not Attention.score):
            keys, values = (tf.repeat(x, shared, 1) for x in (keys, values))
        keys, values = zero_padding(keep, keys, values)
        weights = tf.cast(masked_softmax(self.score(queries, keys), mask=keep), values.dtype)
        used = self.dropout(weights, training=training)
        output = by_group(used, values)  # (b, n, v)
        return (output, weights) if need_weights else output

    def compute_mask(self, queries: Tensor, previous_mask: Tensor | None) -> Tensor | None:
        """Return the mask of the queries, which is that of the outputs."""
        return getattr(queries, "_keras_mask", None)  # previous: our `mask`

    def compute_output_shape(self, queries: tuple, *others: tuple) -> tuple:
        """Return the shape of the output, from those of the inputs."""
        return (*queries[:-1], others[-1][-1])

    compute_output_spec = keras.Operation.compute_output_spec  # by a trial


def with_keys_mask(shape: tuple, keep: Tensor | None, keys_mask: Tensor | None) -> Tensor | None:
    """Join a mask with that of an Embedding of the keys, (b, m)."""
    if keys_mask is None:
        return keep
    (keys_mask,) = as_tensors(keys_mask=keys_mask)
    more = (None,) * (len(shape) - len(keys_mask.shape))  # with heads: 2
    each = attention_mask(shape, mask=keys_mask[..., *more, :])  # (b, 1, m)
    return each if keep is None else keep & each


def by_group(x: Tensor, y: Tensor, **options: bool) -> Tensor:
    """Multiply as tf.matmul; of heads, H/G of x may share one of y.

    (b, H, n, i) x (b, G, i, m) -> (b, H, n, m), without copies.
    """
    if len(x.shape) != 4 or x.shape[1] == y.shape[1]:
        return tf.matmul(x, y, **options)
    b, H, n, i = sizes(x)
    rows = tf.reshape(x, (b, y.shape[1], H // y.shape[1] * n, i))
    product = tf.matmul(rows, y, **options)  # (b, G, H/G n, m)
    return tf.reshape(product, (b, H, n, sizes(product)[-1]))


@keras.saving.register_keras_serializable("d2l_attention")
class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / sqrt(d) and k, both of dimension d."""
        check_same_size(queries, keys)
        return wide(queries) / queries.shape[-1] ** 0.5, keys


# From book/13_additive_attention.md
def score_all(query: Tensor, k: Tensor, w_v: Tensor) -> Tensor:
    """Return the scores of all pairs at once."""
    hidden = tf.tanh(query[..., None, :] + k)  # (b, 1, h) + (b, m, h)
    return tf.linalg.matvec(hidden, w_v)  # (b, m, h) x (h,) -> (b, m)


@tf.function(reduce_retracing=True)
def score_each(queries: Tensor, k: Tensor, w_v: Tensor) -> Tensor:
    """Return the scores (n, b, m) of queries (n, b, h), one by one."""
    score = tf.recompute_grad(score_all)
    return tf.map_fn(lambda query: score(query, k, w_v), queries, parallel_iterations=1)


def additive_scores(q: Tensor, k: Tensor, w_v: Tensor) -> Tensor:
    """Return the scores w_v . tanh(q + k), (b, n, m), in float32 or wider.

    Beyond 2^18 hidden units, or for open n or m, query by query: there second
    derivatives, forward mode, tf.vectorized_map of gradients and TFLite fail.

    Args: q and k, projected queries (b, n, h) and keys (b, m, h), or with
        heads; w_v, weights (h,) of the hidden units.
    """
    q, k, w_v = map(wide, as_tensors(q=q, k=k, w_v=w_v))
    units = (*q.shape[1:], k.shape[-2])  # of all pairs: b n h m, or open
    if None not in units and np.prod((q.shape[0] or 1, *units)) <= 2**18:
        return score_all(q, k[..., None, :, :], w_v)
    n = sizes(q)[-2]
    queries = tf.einsum("...nh->n...h", q)  # (b, n, h) -> (n, b, h)
    more = [0, tf.maximum(1 - n, 0)]  # tf.map_fn needs one query
    queries = tf.pad(queries, [more] + [[0, 0]] * (len(q.shape) - 1))
    inside = not tf.executing_eagerly()  # a graph takes the function itself in
    each = score_each.python_function if inside else score_each
    return tf.einsum("n...m->...nm", each(queries, k, w_v)[:n])  # (b, n, m)


def linear(units: int, name: str, dtype: object, bias: bool = False) -> keras.layers.Dense:
    """Return a dense layer, without bias unless asked for."""
    return keras.layers.Dense(int(units), use_bias=bias, name=name, dtype=dtype)


@keras.saving.register_keras_serializable("d2l_attention")
class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    With num_hiddens = h hidden units (Bahdanau, Cho, Bengio, 2015, appendix
    A.1.2); see `additive_scores`. The first call takes the sizes of inputs.
    """

    def __init__(self, num_hiddens: int, dropout: float = 0.0, **options) -> None:
        check_whole_sizes(num_hiddens=num_hiddens)
        super().__init__(dropout, **options)
        self.W_q = linear(num_hiddens, "W_q", self.dtype_policy)
        self.W_k = linear(num_hiddens, "W_k", self.dtype_policy)
        self.w_v = linear(1, "w_v", self.dtype_policy)

    def build(self, queries_shape: tuple, keys_shape: tuple) -> None:
        """Make the parameters for queries and keys of these shapes."""
        self.W_q.build(queries_shape)
        self.W_k.build(keys_shape)
        self.w_v.build((self.W_q.units,))

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        check_projected(self, queries, keys)
        w_v = self.w_v.kernel  # (h, 1); quantized, it is codes without scale
        if self.w_v.quantization_mode is not None:
            w_v = self.w_v(tf.eye(self.W_q.units, dtype=self.compute_dtype))
        return additive_scores(self.W_q(queries), self.W_k(keys), w_v[:, 0])


# From book/14_distance_bilinear_cosine.md
def unit_vectors(x: Tensor) -> Tensor:
    """Divide vectors (..., d) by their lengths; zero vectors stay zero."""
    exact = wide(x)
    largest = tf.reduce_max(abs(tf.stop_gradient(exact)), -1, keepdims=True)
    exact = exact / tf.where(largest > 0, largest, 1)  # squares: at most 1
    squares = tf.reduce_sum(exact**2, -1, keepdims=True)  # (..., 1)
    norm = tf.sqrt(tf.where(squares > 0, squares, 1))
    return tf.cast(exact / norm, x.dtype)


@keras.saving.register_keras_serializable("d2l_attention")
class DistanceAttention(Attention):
    """Attention by distance: scores -|q - k|^2 / (2 sqrt(d)).

    The weights are those of a Gaussian kernel with variance sqrt(d): scores
    leave out what all keys of a query share. In float32 or wider. Far from
    the origin rounding errors grow: move it first.
    """

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return [q; 1] / sqrt(d) and [k; -|k|^2 / 2], of dimension d + 1."""
        check_same_size(queries, keys)
        check_positive("dimension of queries", queries.shape[-1])
        queries, keys = wide(queries), wide(keys)
        ones = tf.ones_like(queries[..., :1])  # (b, n, 1)
        norms = tf.reduce_sum(keys**2, -1, keepdims=True)  # (b, m, 1)
        q = tf.concat([queries, ones], -1) / queries.shape[-1] ** 0.5
        return q, tf.concat([keys, -0.5 * norms], -1)


@keras.saving.register_keras_serializable("d2l_attention")
class BilinearAttention(Attention):
    """Bilinear attention: scores q^T M k / sqrt(size).

    rank None: M is a full matrix, and size is that of the keys. Else
    M = W_q^T W_k, and size = rank, as in a Transformer head. The first call
    takes the sizes of queries and keys.
    """

    def __init__(self, rank: int | None = None, dropout: float = 0.0, **options) -> None:
        check_whole_sizes(rank=rank)
        super().__init__(dropout, **options)
        self.rank = rank

    def build(self, queries_shape: tuple, keys_shape: tuple) -> None:
        """Make the parameters for queries and keys of these shapes."""
        self.key_size = keys_shape[-1]
        size = self.key_size if self.rank is None else self.rank
        self.W_q = linear(size, "W_q", self.dtype_policy)
        self.W_k = None if self.rank is None else linear(size, "W_k", self.dtype_policy)
        self.W_q.build(queries_shape)
        if self.W_k is not None:
            self.W_k.build(keys_shape)

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_q q / sqrt(size) and W_k k, both of this size."""
        check_features("queries", queries, self.W_q.kernel.shape[0])
        check_features("keys", keys, self.key_size)
        q = self.W_q(queries)
        k = keys if self.W_k is None else self.W_k(keys)
        return wide(q) / q.shape[-1] ** 0.5, k


@keras.saving.register_keras_serializable("d2l_attention")
class CosineAttention(Attention):
    """Cosine attention: scores cos(q, k) / temperature; cos(0, k) = 0.

    temperature > 0, else ValueError; training may change it if `learnable`.
    """

    def __init__(
        self, dropout: float = 0.0, temperature: float = 0.1, learnable: bool = True, **options
    ) -> None:
        check_positive("temperature", temperature)
        super().__init__(dropout, **options)
        self.log_ratio = self.add_weight(
            initializer="zeros", trainable=learnable, name="log_ratio", autocast=False
        )  # weight decay pulls back to the start, not to 1
        start = keras.initializers.Constant(float(temperature))
        self.start = self.add_weight(
            initializer=start, trainable=False, name="start", autocast=False
        )

    @property
    def temperature(self) -> Tensor:
        return self.start * tf.exp(self.log_ratio)

    def features(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return q / (|q| temperature) and k / |k|."""
        check_same_size(queries, keys)
        q, k = unit_vectors(wide(queries)), unit_vectors(wide(keys))
        return q / tf.cast(self.temperature, q.dtype), k


# From book/16_what_attention_costs.md
def temporary_bytes(function: Callable, *tensors: Tensor) -> int:
    """Return the bytes held on the way, apart from arguments and results."""
    compiled = tf.function(lambda *x: function(*x), jit_compile=True)
    program = compiled.experimental_get_compiler_ir(*tensors)
    plan = HloProto.FromString(program("optimized_hlo_proto_serialized"))
    return sum(
        place.size
        for place in plan.buffer_assignment.buffer_allocations
        if not (place.is_entry_computation_parameter or place.maybe_live_out)
        and not (place.is_constant or place.is_thread_local)
    )


# From book/18_caches_and_shared_keys.md
def causal_mask(n: int, m: int, first: int | Tensor) -> Tensor:
    """Let n of m positions, from `first` on, see no later one: (n, m)."""
    queries = first + tf.range(n)[:, None]  # (n, 1)
    return tf.range(m) <= queries  # (m,), (n, 1) -> (n, m)


class KeyValueCache(tf.Module):
    """The projected keys and values of all tokens that one layer has read.

    It has m places from the start, so that one graph fits every length:
    the variables `keys` and `values` are (b, heads, m, d), the first
    `length` of the m places are taken, and `real` (b, m) is False where
    padding stands. A graph does not know `length`: where a cache is full
    there, its last places are overwritten without an error. Make it outside
    of a tf.function.

    Args:
        b, num_heads, m, d: batch size, heads of keys and values, places,
            dimension of a head.
        dtype: that of keys and values in the cache.
    """

    def __init__(self, b: int, num_heads: int, m: int, d: int, dtype: str = "float32") -> None:
        check_whole_sizes(b=b, num_heads=num_heads, m=m, d=d)
        super().__init__()
        zeros = tf.zeros((b, num_heads, m, d), dtype)
        self.keys = tf.Variable(zeros, trainable=False)
        self.values = tf.Variable(zeros, trainable=False)
        self.real = tf.Variable(tf.ones((b, m), bool), trainable=False)
        self.length = tf.Variable(0, trainable=False)

    def check_room(self, new: int | Tensor) -> None:
        """Raise ValueError unless `new` more tokens fit, if that is known."""
        if not tf.is_symbolic_tensor(new):
            length = int(self.length) if tf.executing_eagerly() else None
            check_room(self.keys.shape[-2], length, new)

    def append(
        self, keys: Tensor, values: Tensor, keys_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Put new keys and values (b, heads, new, d) in; return all places.

        They come back in the type of the new ones. `keys_mask` (b, new) is
        False where a new token is padding. ValueError: they do not fit each
        other or the cache, or there is too little room.
        """
        check_cache(self, keys, values)
        b, _, new, _ = sizes(keys)
        self.check_room(new)
        real = with_keys_mask((b, new), tf.ones((b, new), bool), keys_mask)
        first = tf.stack([0, 0, self.length, 0])
        both = (self.keys, keys), (self.values, values)
        for held, x in both:
            x = tf.cast(x, held.dtype)
            held.assign(keras.ops.slice_update(held.value(), first, x))
        self.real.assign(keras.ops.slice_update(self.real.value(), first[1:3], real))
        self.length.assign_add(new)
        return tuple(tf.cast(held, x.dtype) for held, x in both)


def lasting_mask(shape: tuple, valid_lens, first, new) -> Tensor | None:
    """Return the mask (b, 1, new) of new keys by lengths (b,), else None."""
    if valid_lens is None or len(valid_lens.shape) != 1:
        return None
    return attention_mask(shape, valid_lens)[:, :, first : first + new]


class Heads(keras.layers.Layer):
    """The parameters of multi-head attention, and what Keras asks of it."""

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        num_kv_heads: int | None = None,
        attention: Callable[..., keras.layers.Layer] = DotProductAttention,
        seed: int | None = None,
        **options,
    ) -> None:
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_divides("num_heads", num_heads, "num_hiddens", num_hiddens)
        check_divides("num_kv_heads", kv_heads, "num_heads", num_heads)
        super().__init__(**options)
        kv_hiddens = num_hiddens // num_heads * kv_heads
        self.num_heads, self.num_kv_heads = int(num_heads), int(kv_heads)
        dtype = self.dtype_policy.name  # Keras can save a name
        seeded = {} if seed is None else {"seed": seed}
        self.attention = attention(dropout=dropout, dtype=dtype, **seeded)
        self.W_q = linear(num_hiddens, "W_q", self.dtype_policy, bias)
        self.W_k = linear(kv_hiddens, "W_k", self.dtype_policy, bias)
        self.W_v = linear(kv_hiddens, "W_v", self.dtype_policy, bias)
        self.W_o = linear(num_hiddens, "W_o", self.dtype_policy, bias)
        self.supports_masking = True

    compute_mask = Attention.compute_mask  # that of the queries
    compute_output_spec = Attention.compute_output_spec

    def compute_output_shape(self, queries: tuple, *others: tuple) -> tuple:
        """Return the shape of the output, from those of the inputs."""
        return (*queries[:-1], self.W_o.units)

    def build(self, queries_shape: tuple, keys_shape: tuple, values_shape: tuple) -> None:
        """Make the parameters for queries, keys and values of these shapes."""
        self.W_q.build(queries_shape)
        self.W_k.build(keys_shape)
        self.W_v.build(values_shape)
        self.W_o.build((self.W_q.units,))

    def get_config(self) -> dict:
        """Return what a file holds of the layer beside its parameters."""
        inner = keras.saving.serialize_keras_object(self.attention)
        return super().get_config() | {
            "num_hiddens": self.W_o.units,
            "num_heads": self.num_heads,
            "num_kv_heads": self.num_kv_heads,
            "bias": self.W_o.use_bias,
            "attention": inner,  # with its dropout and seed
        }

    @classmethod
    def from_config(cls, config: dict) -> keras.layers.Layer:
        """Make the layer that `get_config` describes."""
        inner = keras.saving.deserialize_keras_object(config["attention"])
        return cls(**config | {"attention": lambda **options: inner})


@keras.saving.register_keras_serializable("d2l_attention")
class MultiHeadAttention(Heads):
    """Multi-head attention (Vaswani et al., 2017, section 3.2.2).

    The first call takes the sizes of queries, keys and values.

    Args:
        num_hiddens: dimension D of the output, and of all heads together.
        num_heads: number H of heads; it divides num_hiddens.
        dropout: probability of dropping an attention weight in training.
        bias: whether the projections add a learned vector.
        num_kv_heads: number of heads of keys and values, each shared by a
            group of query heads; it divides num_heads. None: num_heads.
        attention: makes the layer inside, called with `dropout=`, `dtype=`
            and, for a `seed` of dropout, `seed=`.
        name, dtype and others: as in every Keras layer. Initializers and
            regularizers: as attributes of W_q, ..., before the first call.
    """

    def call(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | list | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
        keys_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, d_v) -> (b, n, D).

        Args:
            valid_lens, mask: as for `Attention`, with scores (b, n, m); all
                heads share them, but for a mask (b, H, n, m).
            causal: the queries stand at the last n of the tokens that have
                been read, and see no later one; the first see none if there
                are more queries than tokens.
            cache: earlier keys and values: the new ones join it, and m
                counts its places. Places that are not taken are masked.
                It holds keys as projected; `attention` turns them anew.
                Positions count padding: put that of prompts on the left.
            need_weights: return the weights (b, H, n, m), too.
            keys_mask: (b, new), from an Embedding by Keras; a cache keeps it.
            training: whether dropout works.
        """
        check_inputs(self, queries, keys, values)
        valid_lens, mask = as_tensors(valid_lens=valid_lens, mask=mask)
        (b, n, _), new = sizes(queries), sizes(keys)[1]
        places, past = new, 0
        if cache is not None:
            cache.check_room(new)
            places, past = cache.keys.shape[-2], cache.length.value()
        by_head = mask is not None and len(mask.shape) == 4
        shape = (b, *[self.num_heads] * by_head, n, places)
        keep = attention_mask(shape, valid_lens, mask)
        if causal or cache is not None:
            rows = n if causal else 1  # one row for all: what is there
            order = causal_mask(rows, places, past + new - rows)
            keep = order[None] if keep is None else keep & order
        if cache is None:
            keep = with_keys_mask(shape, keep, keys_mask)
            seen = tf.reduce_any(keep, 1) if by_head else keep
        else:
            seen = lasting_mask((b, n, places), valid_lens, past, new)
            seen = with_keys_mask((b, 1, new), seen, keys_mask)
        keys, values = zero_padding(seen, keys, values)
        q = split_heads(self.W_q(queries), self.num_heads)
        k = split_heads(self.W_k(keys), self.num_kv_heads)
        v = split_heads(self.W_v(values), self.num_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v, keys_mask)
            keep = with_keys_mask(shape, keep, cache.real)
        if keep is not None and not by_head:
            keep = keep[:, None]  # (b, n, m) -> (b, 1, n, m)
        how = {"mask": keep, "need_weights": need_weights, "training": training}
        shared = self.num_heads // self.num_kv_heads
        if shared > 1:
            if type(self.attention).call is Attention.call:
                how["shared"] = shared
            else:  # it may not know of shared heads
                k, v = (tf.repeat(x, shared, axis=1) for x in (k, v))
        out = self.attention(q, k, v, **how)
        out, weights = out if need_weights else (out, None)
        out = tf.transpose(out, (0, 2, 1, 3))  # (b, n, H, D/H)
        out = self.W_o(tf.reshape(out, (b, n, self.W_q.units)))  # (b, n, D)
        return (out, weights) if need_weights else out


# From book/notation.md
def try_gpu(i: int = 0) -> str:
    """Return the name of GPU i, or of the CPU; for `tf.device`.

    The environment variable D2L_DEVICE, such as "cpu" or "cuda:1",
    overrides both.
    """
    kind, _, number = os.environ.get("D2L_DEVICE", "").partition(":")
    if kind:
        return f"/{'CPU' if kind == 'cpu' else 'GPU'}:{number or 0}"
    if i < len(tf.config.list_physical_devices("GPU")):
        return f"/GPU:{i}"
    return "/CPU:0"
