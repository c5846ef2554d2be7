"""Masked softmax, rotation, kernels and distances against loops, in every precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract import oracle
from tests.contract.comparing import TOLERANCE, close, differences, gradients
from tests.contract.framework import array, dtype_of, numpy, ours, rounded
from tests.contract.samples import INF, LENS, MASKS, NAN, B, M, N, lengths, masks, normal

every_type = pytest.mark.parametrize("dtype", TOLERANCE)
SHAPES = [(B, N, M), (B, 3, N, M), (1, 1, 1), (0, N, M), (B, 0, M), (B, N, 0)]
SCALES = [1, 100, INF]


# ---- masked softmax


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from([*TOLERANCE]), st.sampled_from(SCALES))
def test_softmax_equals_the_loop_over_rows(data, shape, dtype, scale):
    scale = min(scale, 1e4 if dtype == "float16" else 1e37)
    lens, mask = data.draw(lengths(shape[0], *shape[-2:])), data.draw(masks(shape))
    scores = rounded(scale * normal(*shape), dtype)
    want = oracle.masked_softmax(scores, lens, mask)
    hidden = oracle.masked_softmax(0 * scores, lens, mask) == 0
    given = np.where(hidden, data.draw(st.sampled_from([0, NAN, INF, -INF])), scores)
    X = array(given, dtype)
    weights = ours.masked_softmax(X, lens, array(mask))
    assert weights.dtype == X.dtype
    np.testing.assert_array_equal(numpy(X), given)
    close(weights, want, TOLERANCE[dtype])
    assert ((numpy(weights) == 0) >= hidden).all()
    assert scale > 1 or ((numpy(weights) == 0) == hidden).all()


@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_gradients_of_a_softmax_are_those_of_the_loop(lens, mask):
    X, direction = normal(B, N, M), normal(B, N, M, seed=1)
    (want,) = differences(lambda X: oracle.masked_softmax(X, lens, mask), [X], direction)
    for hidden in (0, NAN, 3e38):
        given = np.where(oracle.masked_softmax(X, lens, mask) == 0, hidden, X)
        (got,) = gradients(lambda X: ours.masked_softmax(X, lens, array(mask)), [given], direction)
        close(got, want)


def test_scores_that_are_all_minus_infinity_are_no_mask_and_stay_visible():
    X = np.full((1, 2, 3), -INF)
    X[0, 1, [0, 2]] = 0
    weights = numpy(ours.masked_softmax(array(X), [2]))
    np.testing.assert_array_equal(weights, [[[NAN] * 3, [1, 0, 0]]])
    assert not numpy(ours.masked_softmax(array(X), [0])).any()  # masked: no NaN


# ---- rotation


def rotated(x, positions, base=10_000.0) -> np.ndarray:
    """Turn pairs of features, as products of complex numbers."""
    pairs = np.array([base ** (-i / x.shape[-1]) for i in range(0, x.shape[-1], 2)])
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * positions[..., None] * pairs)
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


@pytest.mark.parametrize("shape", [(3,), (2, 1, 3), (1, 4, 3), (1, 1, 3), (2, 4, 3)])
def test_positions_broadcast_axis_by_axis(shape):
    x, at = normal(2, 4, 3, 6), np.arange(math.prod(shape)).reshape(shape)
    close(ours.rotate(array(x), array(at), base=10.0), rotated(x, at, base=10.0))
    close(ours.rotate(array(x)), rotated(x, np.arange(3)))
    assert ours.rotate(array(np.ones((2, 0, 4)))).shape == (2, 0, 4)


@every_type
def test_a_rotation_keeps_its_type_and_knows_far_positions(dtype):
    x, at = normal(3, 4), np.array([1000, 1001, 4097])
    got = ours.rotate(array(x, dtype), array(at))
    assert dtype_of(got) == dtype
    tolerance = max(4 * TOLERANCE[dtype], 1e-9 if dtype == "float64" else 1e-3)
    close(got, rotated(rounded(x, dtype), at), tolerance)


def test_the_gradient_of_a_rotation_turns_back():
    direction = normal(3, 4, seed=2)
    (gradient,) = gradients(ours.rotate, [normal(3, 4)], direction)
    close(gradient, rotated(direction, -np.arange(3)))


# ---- kernels


@every_type
@pytest.mark.parametrize("name", oracle.KERNELS)
def test_a_kernel_is_its_formula_at_every_distance(name, dtype):
    distances = np.array([[-3, -1, -0.5], [0, 0.25, 1], [1.5, 2, -1.25]])
    got = getattr(ours, name)(array(distances, dtype))
    assert dtype_of(got) == dtype
    close(got, np.vectorize(oracle.KERNELS[name])(distances), TOLERANCE[dtype])


@pytest.mark.parametrize("sizes", [(3, 4, 2), (0, 2, 2), (2, 0, 2), (3, 4, 1)])
def test_distances_are_those_of_every_pair_and_numbers_are_vectors_of_size_1(sizes):
    n, m, d = sizes
    queries, keys = normal(n, d), normal(m, d, seed=1)
    want = np.reshape([math.dist(q, k) for q in queries for k in keys], (n, m))
    for q in (queries, *[queries[:, 0]][: d == 1]):
        for k in (keys, *[keys[:, 0]][: d == 1]):
            close(ours.pairwise_distances(array(q), array(k)), want)


def test_distances_of_integers_neither_wrap_around_nor_are_rounded_and_nan_stays():
    for dtype, a, b in (("uint8", 1, 3), ("int8", 100, -100), ("int32", 2**30, 2**30 + 3)):
        got = ours.pairwise_distances(*(array(np.array([a, b], dtype)) for _ in range(2)))
        close(got, [[0, abs(a - b)], [abs(a - b), 0]], 0)
    got = numpy(ours.pairwise_distances(array([0, NAN]), array([0, 3])))
    np.testing.assert_array_equal(got, [[0, 3], [NAN, NAN]])


def test_the_gradient_where_query_and_key_meet_is_0():
    x = np.array([[1.0, 2], [4, 6]])
    for got in gradients(ours.pairwise_distances, (x, x), np.ones((2, 2))):
        close(got, [[-0.6, -0.8], [0.6, 0.8]])


def test_a_kernel_may_answer_yes_or_no_and_values_may_be_vectors():
    keys, values = array([0.0, 2, 3]), array([[1.0, 5], [2, 3], [4, 4]])
    output, weights = ours.nadaraya_watson(keys, values, array([0.5, 2.5]), lambda r: r <= 1)
    close(weights, [[1, 0, 0], [0, 0.5, 0.5]])
    close(output, [[1, 5], [3, 3.5]])
