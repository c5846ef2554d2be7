"""Sink, sparsemax and linear attention in JAX, against plain NumPy."""

from functools import partial

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax_cases import LENS, MASKS, NAN, SINGLE_OR_LESS, TOLERANCE, B, M, N, batch, close, normal

from d2l_attention import jax as ours
from d2l_attention.jax import (
    attention_mask,
    linear_attention,
    sink_softmax,
    sparsemax,
    temporary_bytes,
)


def sink_row(scores):
    e = np.exp(scores)
    return e / (1 + e.sum())


def sparsemax_row(scores):
    """The threshold by bisection: the sum of what is above it falls from more than 1 to 0."""
    low, high = scores.min() - 1, scores.max()
    for _ in range(60):
        theta = (low + high) / 2
        low, high = (theta, high) if np.maximum(scores - theta, 0).sum() > 1 else (low, theta)
    return np.maximum(scores - high, 0)


ROWS = {sink_softmax: sink_row, sparsemax: sparsemax_row}
both = pytest.mark.parametrize("function", ROWS, ids=lambda function: function.__name__)


def by_rows(function, X, lens=None, mask=None):
    keep = attention_mask(X.shape, lens, mask)
    keep = np.broadcast_to(True if keep is None else keep, X.shape)
    want = np.zeros(X.shape)
    for index in np.ndindex(X.shape[:-1]):
        seen = keep[index]
        if seen.any():
            want[index][seen] = ROWS[function](np.asarray(X, np.float64)[index][seen])
    return want


@both
@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
@pytest.mark.parametrize("mask", [None, MASKS["(n, m)"]], ids=["no mask", "mask"])
def test_rows_equal_their_definition(function, lens, mask):
    X = normal(B, N, M)
    close(function(X, lens, mask), by_rows(function, X, lens, mask))
    heads = jnp.stack([X, 2 * X], 1)
    close(function(heads, lens, mask)[:, 1], by_rows(function, 2 * X, lens, mask))


@both
@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
def test_the_dtype_is_kept_in_every_precision(function, dtype):
    X = normal(B, N, M, dtype=dtype)
    weights = function(X, [4, 0])
    assert weights.dtype == dtype
    close(weights, by_rows(function, X, [4, 0]), TOLERANCE[dtype])


@both
def test_hidden_scores_and_empty_rows_do_no_harm_also_to_gradients(function):
    def loss(X):
        return (function(X, [2, 0]) ** 2).sum()

    X = normal(B, N, M)
    spoilt = X.at[0, :, 2:].set(NAN).at[1].set(NAN)
    close(function(spoilt, [2, 0]), function(X, [2, 0]), 0)
    gradient = np.asarray(jax.grad(loss)(spoilt))
    close(gradient, jax.grad(loss)(X), 1e-7)
    assert not gradient[1].any()
    assert gradient[0].any()


@both
@pytest.mark.parametrize("size", [-3e38, 3e38, 80.0])
def test_scores_of_any_size_have_finite_weights(function, size):
    X = jnp.array([[[size, size, 0.0, size]]])
    want = {sink_softmax: [0.5, 0.5], sparsemax: [0.5, 0.5]}[function]
    got = function(X, [2])[0, 0]
    close(got, [0] * 4 if size < 0 and function is sink_softmax else [*want, 0, 0])


@both
@pytest.mark.parametrize("shape", [(0, N, M), (B, 0, M), (B, N, 0)])
def test_nothing_in_gives_nothing_out(function, shape):
    assert function(jnp.zeros(shape)).shape == shape


def test_the_gradient_of_sparsemax_is_that_of_its_support():
    X = jnp.array([[[1.0, 0.8, -2.0]]])
    upstream = jnp.array([[[1.0, 3.0, 7.0]]])
    assert sparsemax(X)[0, 0, 2] == 0
    gradient = jax.grad(lambda X: (sparsemax(X) * upstream).sum())(X)
    close(gradient, [[[-1, 1, 0]]])  # less the mean over the two that have weight


# ---- linear attention


def elu_features(x):
    return np.where(x > 0, x + 1, np.exp(x))


def by_similarity(queries, keys, values, lens=None, causal=False, features=elu_features):
    q, k, v = (np.asarray(x, np.float64) for x in (queries, keys, values))
    similarity = features(q) @ np.swapaxes(features(k), -1, -2)  # (b, ..., n, m)
    if causal:
        similarity = np.tril(similarity)
    if lens is not None:
        seen = np.arange(k.shape[-2]) < np.array(lens).reshape(-1, *(1,) * (q.ndim - 1))
        similarity = similarity * seen
    totals = similarity.sum(-1, keepdims=True)
    return similarity @ v / np.where(totals == 0, 1, totals)


@pytest.mark.parametrize("lens", [None, [4, 2], [0, 3]])
@pytest.mark.parametrize("heads", [(), (2,)])
def test_linear_attention_equals_its_table_of_similarities(lens, heads):
    arrays = batch(heads=heads)
    close(linear_attention(*arrays, lens), by_similarity(*arrays, lens))
    queries, keys, values = batch(n=M, heads=heads)
    got = linear_attention(queries, keys, values, lens, causal=True)
    close(got, by_similarity(queries, keys, values, lens, causal=True))


def test_any_positive_features_will_do():
    arrays = batch()
    got = linear_attention(*arrays, [4, 2], features=lambda x: jnp.exp(x))
    close(got, by_similarity(*arrays, [4, 2], features=np.exp))


@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
def test_linear_attention_keeps_the_dtype_and_sums_in_single_precision(dtype):
    arrays = batch(dtype=dtype)
    got = linear_attention(*arrays, [4, 0])
    assert got.dtype == dtype
    close(got, by_similarity(*arrays, [4, 0]), TOLERANCE[dtype])
    many = (
        jnp.ones((1, 1, 2), dtype),
        jnp.ones((1, 10_000, 2), dtype),
        jnp.ones((1, 10_000, 1), dtype),
    )
    assert linear_attention(*many).tolist() == [[[1.0]]]


def test_nan_in_the_padding_reaches_neither_outputs_nor_gradients():
    def loss(*arrays):
        return (linear_attention(*arrays, [2, 0]) ** 2).sum()

    queries, keys, values = batch()
    gradient = jax.grad(loss, argnums=(0, 1, 2))
    want = gradient(queries, keys, values)
    keys, values = (x.at[0, 2:].set(NAN).at[1].set(NAN) for x in (keys, values))
    for got, clean in zip(gradient(queries, keys, values), want, strict=True):
        close(got, clean)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_elu_features_are_positive_and_exact_for_every_negative_number(dtype):
    y = ours.elu_features(jnp.array([-20.0, -100.0, -1e4, -np.inf], dtype))
    assert y.dtype == dtype
    assert (y * y * y > 0).all()
    x = np.array([-25.0, -17.0, -1.0, -1e-6, 0.0, 0.5, 3.0])
    np.testing.assert_allclose(ours.elu_features(jnp.array(x)), elu_features(x), rtol=3e-6)


def test_gradients_of_elu_features_are_those_of_the_branch_that_is_taken():
    slope = jax.vmap(jax.grad(ours.elu_features))
    close(slope(jnp.array([-1e4, -2.0, 0.0, 2.0, 1e4])), [0, np.exp(-2), 1, 1, 1])
    assert np.isnan(ours.elu_features(jnp.array(NAN)))


@pytest.mark.parametrize("size", [-20.0, -100.0, -1e4])
@pytest.mark.parametrize("of_keys", [False, True])
def test_a_query_with_valid_keys_gets_their_values_whatever_its_size(size, of_keys):
    query, values = jnp.full((1, 1, 2), size), jnp.array([[[0.1], [0.3], [7.0]]])
    keys = jnp.full((1, 3, 2), size) if of_keys else jnp.ones((1, 3, 2))
    close(linear_attention(query, keys, jnp.ones((1, 3, 1))), [[[1]]])
    close(linear_attention(query, keys, values, [2]), [[[0.2]]])


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_chunks_of_causal_linear_attention_are_as_one(n):
    arrays = batch(n=n, m=n, heads=(2,))
    for lens in (None, [n // 2, 0]):
        got = linear_attention(*arrays, lens, causal=True)
        close(got, by_similarity(*arrays, lens, causal=True), 1e-5)


def test_gradients_of_causal_linear_attention_pass_from_chunk_to_chunk():
    def whole(queries, keys, values):
        q, k = ours.elu_features(queries), ours.elu_features(keys)
        similarity = jnp.tril(q @ k.mT)
        return similarity @ values / similarity.sum(-1, keepdims=True)

    def loss(attend, *arrays):
        return (attend(*arrays) * jnp.cos(jnp.arange(130.0))[:, None]).sum()

    arrays = batch(n=130, m=130)
    for argnum in (1, 2, 3):
        got = jax.grad(loss, argnum)(partial(linear_attention, causal=True), *arrays)
        close(got, jax.grad(loss, argnum)(whole, *arrays), 1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_holds_no_matrix_of_all_pairs(causal):
    def training(x):
        return jax.grad(lambda x: linear_attention(x, x, x, causal=causal).sum())(x)

    x = jnp.ones((1, 2048, 64))
    matrix = 2048 * 2048 * 4
    assert temporary_bytes(lambda x: linear_attention(x, x, x, causal=causal), x) < matrix / 4
    assert temporary_bytes(training, x) < matrix
