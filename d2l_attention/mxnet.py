# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in MXNet: the functions that the chapters derive."""

from d2l_attention.frameworks import check_installed

check_installed("mxnet")

import numpy
from mxnet import autograd, np, npx
from mxnet.gluon import nn

from d2l_attention import checks
from d2l_attention.figures import show_heatmaps, use_svg_display
from d2l_attention.frameworks import to_numpy

__all__ = ["show_heatmaps", "use_svg_display", "masked_softmax", "check_shape", "Attention",
    "DotProductAttention", "AdditiveAttention"]  # fmt: skip


# From book/mxnet/attention_scoring_functions.md
Array = np.ndarray


def row_lengths(valid_lens: object, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return a length 0..m for each row of scores (b, ..., n, m)."""
    if valid_lens is None:
        return numpy.full(shape[:-1], shape[-1])
    checks.check_numbers("valid_lens", valid_lens)
    lens = numpy.asarray(to_numpy(valid_lens))
    if lens.dtype.kind == "f" and (lens == lens.clip(-9e9, 9e9).round()).all():
        lens = lens.astype(int)  # np.array([4, 2]) is floating point
    no_mask = "; there are no masks here, only lengths"
    checks.check_valid_lens(lens, shape, no_mask)  # integers, (b,) or (b, n)
    checks.check_lengths(lens, shape, no_mask)  # 0..m
    b = shape[:-2][:1]  # scores (n, m) of one example have none
    rows = lens.shape[len(b) :] or (1,)  # n, or 1 with a length per sentence
    lens = lens.reshape(*b, *(1,) * (len(shape) - 3), *rows).astype(int)
    return numpy.broadcast_to(lens, shape[:-1])


def check_array(name: str, x: object, *kinds: str) -> None:
    """Raise TypeError unless x is MXNet's new array, of one of these types."""
    if not isinstance(x, Array):
        got = f"{type(x).__module__}.{type(x).__name__}"
        raise TypeError(f"{name} must be an array of mxnet.np, got {got}")
    if kinds and (got := checks.kind(x)) not in kinds:
        fit = f"{' or '.join(kinds)}, as MXNet multiplies no others"
        raise TypeError(f"{name} must be {fit}, got {got}")


def masked_softmax(X: Array, valid_lens: object = None) -> Array:
    """Return the softmax over the first keys of each row; 0 behind them.

    It has X's shape and dtype. Rows of length 0 and their gradients are 0.

    Args: X, scores (b, ..., n, m), or (n, m) of one example, in float16,
        float32 or float64; valid_lens, whole numbers in 0..m, (b,) or (b, n).
    Raises: TypeError for another data type; ValueError for a wrong shape, or
        a length outside 0..m.
    """
    check_array("X", X)
    checks.check_scores(X)
    lens = row_lengths(valid_lens, X.shape)
    lens = np.array(lens, dtype="int32", ctx=X.ctx)  # on the device of X
    return npx.softmax(X, length=lens, use_length=True, axis=-1)


def check_shape(array: Array, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `array` has exactly this shape."""
    if tuple(array.shape) != tuple(shape):
        got = f"{tuple(shape)}, got {tuple(array.shape)}"
        raise ValueError(f"tensor must have shape {got}")


class Attention(nn.Block):
    """Attention with any score: a subclass defines `score`.

    In training mode it drops a weight with probability `dropout`.
    `attention_weights` holds those of the last call, (b, n, m), before that.
    """

    def __init__(self, dropout: float = 0.0, **of_block: object) -> None:
        checks.check_rate("dropout", dropout)
        super().__init__(**of_block)
        self.rate, self.dropout = dropout, nn.Dropout(dropout)
        self.attention_weights: Array | None = None

    def __call__(self, queries: Array, keys: Array, values: Array, valid_lens=None) -> Array:
        """Attend: (b, n, d_q), (b, m, d_k), (b, m, v) -> (b, n, v).

        `valid_lens`: masked_softmax. NaN behind the longest length of an
        example does no harm. TypeError: not all float32, or all float64.
        """
        return super().__call__(queries, keys, values, valid_lens)  # no names

    def forward(self, queries, keys, values, valid_lens):
        given = {"queries": queries, "keys": keys, "values": values}
        checks.check_inputs(self, **given)
        for name, x in given.items():
            check_array(name, x, "float32", "float64")
        checks.check_one_type(*given.values())
        lens = row_lengths(valid_lens, (*queries.shape[:-1], keys.shape[1]))
        used = np.array(lens.max(-1, initial=0), ctx=queries.ctx)  # (b,)
        keys, values = (  # sequence_mask of nothing ends the program
            npx.sequence_mask(x, used, True, axis=1) if x.size else x for x in (keys, values)
        )
        weights = masked_softmax(self.score(queries, keys), lens)
        self.attention_weights = weights.detach()
        if self.rate == 1 and autograd.is_training():
            return 0 * npx.batch_dot(weights, values)  # dropout makes NaN
        return npx.batch_dot(self.dropout(weights), values)  # (b, n, v)


class DotProductAttention(Attention):
    """Scaled dot products: scores q^T k / sqrt(d) (Vaswani et al., 2017)."""

    def score(self, queries: Array, keys: Array) -> Array:
        """Return the scores (b, n, m), for queries and keys of equal size."""
        checks.check_same_size(queries, keys)
        scaled = queries / queries.shape[-1] ** 0.5
        return npx.batch_dot(scaled, keys, transpose_b=True)


def projected(name: str, vectors: Array, dense: nn.Dense) -> Array:
    """Apply a layer, which has the size -1 before its first call."""
    checks.check_features(name, vectors, max(0, dense.weight.shape[1]))
    if (want := numpy.dtype(dense.weight.dtype)) != vectors.dtype:
        need = f"the type of the layer, {want}"
        raise TypeError(f"{name} must have {need}, got {checks.kind(vectors)}")
    return dense(vectors)


class AdditiveAttention(Attention):
    """Additive attention: scores w_v^T tanh(W_q q + W_k k).

    With num_hiddens = h hidden units (Bahdanau, Cho, Bengio, 2015, appendix
    A.1.2); those of all pairs are held at once, (b, n, m, h). Call
    `initialize()` first; the sizes of inputs are those of the first call.
    """

    def __init__(self, num_hiddens: int, dropout: float = 0.0, **of_block):
        checks.check_layer_sizes(num_hiddens)
        super().__init__(dropout, **of_block)
        options = {"use_bias": False, "flatten": False}
        self.W_q, self.W_k = (nn.Dense(num_hiddens, **options) for _ in "qk")
        self.w_v = nn.Dense(1, **options)

    def score(self, queries: Array, keys: Array) -> Array:
        """Return scores (b, n, m) of queries (b, n, d_q), keys (b, m, d_k)."""
        q = projected("queries", queries, self.W_q)[:, :, None]  # (b, n, 1, h)
        k = projected("keys", keys, self.W_k)[:, None]  # (b, 1, m, h)
        return self.w_v(np.tanh(q + k))[..., 0]  # (b, n, m, h) -> (b, n, m)
