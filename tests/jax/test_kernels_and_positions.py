"""Kernels, Nadaraya-Watson regression, positions and biases in JAX, against loops."""

import math
import re

import jax
import numpy as np
import oracle
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import SINGLE_OR_LESS, TOLERANCE, close, normal

from d2l_attention.jax import (
    DotProductAttention,
    RelativeBias,
    alibi_bias,
    alibi_slopes,
    boxcar,
    constant,
    epanechnikov,
    fused_attention,
    gaussian,
    nadaraya_watson,
    pairwise_distances,
    relative_positions,
    rotate,
    sinusoidal_positions,
    triangular,
)

# ---- kernels

KERNELS = (gaussian, boxcar, triangular, epanechnikov, constant)
FORMULAS = {kernel: oracle.KERNELS[kernel.__name__] for kernel in KERNELS}
DISTANCES = np.array([[-3.0, -1.0, -0.5], [0.0, 0.25, 1.0], [1.5, 2.0, 1.25]], np.float32)
every_kernel = pytest.mark.parametrize("kernel", FORMULAS, ids=lambda kernel: kernel.__name__)


@every_kernel
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_kernel_is_its_formula_at_every_distance(kernel, dtype):
    got = kernel(jnp.asarray(DISTANCES, dtype))
    assert got.dtype == dtype
    close(got, np.vectorize(FORMULAS[kernel])(DISTANCES), TOLERANCE[dtype])


def distances(queries, keys):
    return np.array([[math.dist(q, k) for k in keys.tolist()] for q in queries.tolist()])


@pytest.mark.parametrize("d", [1, 2])
def test_distances_are_those_of_every_pair(d):
    queries, keys = normal(3, d), normal(4, d, seed=1)
    close(pairwise_distances(queries, keys), distances(queries, keys))
    if d == 1:
        close(pairwise_distances(queries[:, 0], keys[:, 0]), distances(queries, keys))
    assert pairwise_distances(jnp.array([0, 3]), jnp.array([1])).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("dtype", "query", "key"),
    [("uint8", 1, 3), ("int8", 100, -100), ("int32", 2**30, 2**30 + 3)],
)
def test_distances_of_integers_neither_wrap_around_nor_are_rounded(dtype, query, key):
    q, k = jnp.array([query], dtype), jnp.array([key], dtype)
    assert pairwise_distances(q, k).tolist() == [[abs(query - key)]]
    assert pairwise_distances(k, q).tolist() == [[abs(query - key)]]


def test_the_gradient_where_query_and_key_meet_is_finite():
    x = jnp.array([[1.0, 2.0], [4.0, 6.0]])
    gradient = jax.grad(lambda q: pairwise_distances(q, x).sum())(x)
    close(gradient, [[-0.6, -0.8], [0.6, 0.8]])


@pytest.mark.parametrize("shapes", [((3, 2), (4, 3)), ((1, 3, 2), (4, 2)), ((), (4,))])
def test_sizes_that_do_not_fit_are_refused(shapes):
    message = "queries and keys must be (n, d) and (m, d), got {} and {}".format(*shapes)
    with pytest.raises(ValueError, match=re.escape(message)):
        pairwise_distances(*(jnp.zeros(shape) for shape in shapes))


@every_kernel
def test_a_prediction_is_the_mean_of_the_values_by_similarity(kernel):
    keys, values, queries = normal(6, 2) / 4, normal(6, 2, seed=1), normal(3, 2, seed=2) / 4
    similarity = np.vectorize(FORMULAS[kernel])(distances(queries, keys))
    want = similarity / similarity.sum(1, keepdims=True)
    outputs, weights = nadaraya_watson(keys, values, queries, kernel)
    close(weights, want)
    close(outputs, want @ np.asarray(values))


def test_a_query_without_a_key_in_reach_is_nan():
    outputs, weights = nadaraya_watson(*(jnp.array(x) for x in ([0, 1], [1, 2], [9, 0])), boxcar)
    assert np.isnan(outputs).tolist() == [True, False]
    assert weights[1].tolist() == [0.5, 0.5]


def test_keys_and_values_come_in_pairs():
    with pytest.raises(ValueError, match="x_train and y_train must come in pairs, got 3 and 2"):
        nadaraya_watson(jnp.zeros(3), jnp.zeros(2), jnp.zeros(1), constant)


# ---- positions


def angle(i, t, d, base=10_000.0):
    return i * base ** (-2 * t / d)


def rotated(x, i, base):
    y = list(x)
    for t in range(len(x) // 2):
        cos, sin = math.cos(angle(i, t, len(x), base)), math.sin(angle(i, t, len(x), base))
        y[2 * t] = cos * x[2 * t] - sin * x[2 * t + 1]
        y[2 * t + 1] = sin * x[2 * t] + cos * x[2 * t + 1]
    return y


@pytest.mark.parametrize(("n", "d"), [(0, 2), (5, 6)])
def test_sinusoidal_positions_equal_a_loop(n, d):
    want = np.zeros((n, d))
    for i in range(n):
        for t in range(d // 2):
            want[i, 2 * t : 2 * t + 2] = math.sin(angle(i, t, d)), math.cos(angle(i, t, d))
    close(sinusoidal_positions(n, d), want)


def test_sinusoidal_positions_are_exact_far_out():
    far = sinusoidal_positions(100_001, 2)
    assert far.dtype == jnp.float32
    close(far[-1], [math.sin(100_000), math.cos(100_000)], 1e-6)
    with jax.enable_x64(True):
        assert sinusoidal_positions(2, 4).dtype == jnp.float64


@pytest.mark.parametrize(("n", "m"), [(3, 3), (1, 4), (0, 2)])
def test_distances_and_biases_are_those_of_the_last_queries(n, m):
    want = [[m - n + i - j for j in range(m)] for i in range(n)]
    assert relative_positions(n, m).tolist() == want
    slopes = alibi_slopes(2)
    by_slope = [[[-s * abs(r) for r in row] for row in want] for s in slopes.tolist()]
    close(alibi_bias(slopes, n, m), np.reshape(by_slope, (2, n, m)))
    layer = RelativeBias(2, 2)
    layer.bias[...] = normal(2, 5)
    table = np.asarray(layer.bias[...])
    shown = [[[row[2 + min(max(r, -2), 2)] for r in line] for line in want] for row in table]
    close(layer(n, m), np.reshape(shown, (2, n, m)))


def test_a_relative_bias_begins_with_zeros_and_learns_all_that_it_shows():
    layer = RelativeBias(2, 3)
    assert not layer.bias[...].any()
    state = nnx.grad(lambda layer: layer(5, 5).sum())(layer)  # how often each distance occurs
    close(state["bias"][...], [[1 + 2, 3, 4, 5, 4, 3, 2 + 1]] * 2)


def test_slopes_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert alibi_bias(alibi_slopes(2).astype(jnp.float16), 3, 4).dtype == jnp.float16
    assert not np.signbit(alibi_bias(alibi_slopes(2), 3, 3)[:, 0, 0]).any()


def test_under_a_causal_mask_alibi_is_a_feature_of_the_key():
    class Biased(DotProductAttention):
        is_dot_product = False

        def score(self, queries, keys):
            bias = alibi_bias(slopes, queries.shape[-2], keys.shape[-2])
            return super().score(queries, keys) + bias

    x, slopes, keep = normal(2, 3, 6, 4), alibi_slopes(3), np.tri(6, dtype=bool)
    want = Biased()(x, x, x, mask=keep)
    s = np.broadcast_to(np.asarray(slopes)[:, None, None], (2, 3, 6, 1))
    at = np.broadcast_to(np.arange(6.0)[:, None], (2, 3, 6, 1))
    q, k = np.concatenate([x / 2, s], -1), np.concatenate([x, at], -1)
    got = fused_attention(*map(jnp.float32, (q, k, x)), keep[None, None], scale=1.0)
    close(got, want)


@pytest.mark.parametrize("base", [10_000.0, 10.0])
def test_rotated_vectors_equal_a_loop(base):
    x, at = normal(2, 4, 6), np.array([3, 0, 7, 1])
    want = [[rotated(v, i, base) for v, i in zip(e, at.tolist(), strict=True)] for e in x.tolist()]
    close(rotate(x, at, base), want)


def test_positions_count_from_0_and_may_differ_by_example():
    x = normal(2, 3, 4)
    close(rotate(x), rotate(x, np.arange(3)), 0)
    at = np.array([[0, 1, 2], [5, 6, 7]])
    close(rotate(x, at)[1], rotate(x[1], at[1]))
    close(jax.vmap(rotate)(x, at), rotate(x, at))
    close(rotate(jnp.stack([x, x], 1), at[:, None])[:, 1], rotate(x, at))


@pytest.mark.parametrize("shift", [-50, 7])
def test_scores_of_rotated_vectors_depend_on_the_distance_alone(shift):
    q, k, at = normal(4, 6), normal(4, 6, seed=1), np.arange(4)
    close(rotate(q, at + shift) @ rotate(k, at + shift).T, rotate(q) @ rotate(k).T, 1e-4)
    close(rotate(rotate(q, at), -at), q)


@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
def test_half_precision_keeps_its_type_and_knows_far_positions(dtype):
    x, at = normal(3, 4, dtype=dtype), np.array([1000, 1001, 4097])
    got = rotate(x, at)
    assert got.dtype == dtype
    want = [rotated(v, i, 1e4) for v, i in zip(x.tolist(), at.tolist(), strict=True)]
    close(got, want, max(4 * TOLERANCE[dtype], 1e-3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sinusoidal_positions(3, 5), ValueError, "must be even, as features go in pairs, "
            "got 5; 4 or 6 would fit"),
        (lambda: rotate(jnp.ones((2, 3))), ValueError, "got 3; 2 or 4 would fit"),
        (lambda: rotate(jnp.ones((2, 4), int)), TypeError, "x must be floating point, got int32"),
        (lambda: rotate(jnp.ones((2, 4)), np.arange(3)), ValueError,
            "positions must have shape (..., 2), got (3,)"),
        (lambda: relative_positions(4, 3), ValueError, "n must lie in 0..m = 3, got 4"),
        (lambda: relative_positions(-1, 3), ValueError, "n must lie in 0..m = 3, got -1"),
        (lambda: RelativeBias(0, 3), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: RelativeBias(2, 0), ValueError, "max_distance must be at least 1, got 0"),
        (lambda: alibi_slopes(0), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: alibi_bias(jnp.ones((2, 1)), 3, 3), ValueError,
            "slopes must have shape (heads,), got (2, 1)"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_what_would_fit(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
