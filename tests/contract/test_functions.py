"""Masked softmax, rotation, kernels and distances against loops, in every precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract import oracle, samples
from tests.contract.comparing import TOLERANCE, close, gradients, refuses
from tests.contract.framework import adapter, array, dtype_of, numpy, ours, rounded, xp
from tests.contract.samples import INF, NAN, B, M, N, normal

every_type = pytest.mark.parametrize("dtype", TOLERANCE)
SHAPES = [(B, N, M), (B, 3, N, M), (1, 1, 1), (0, N, M), (B, 0, M), (B, N, 0)]
SCALES, MASKS = [1, 100, INF], st.sampled_from(adapter.MASKS_TAKEN)


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from([*TOLERANCE]), st.sampled_from(SCALES))
def test_softmax_equals_the_loop_over_rows(data, shape, dtype, scale):
    scale = min(scale, 1e4 if dtype == "float16" else 1e37)
    lens = data.draw(samples.lengths(shape[0], *shape[-2:]))
    mask = data.draw(samples.masks(shape))
    scores = rounded(scale * normal(*shape), dtype)
    want = oracle.masked_softmax(scores, lens, mask)
    hidden = oracle.masked_softmax(0 * scores, lens, mask) == 0
    given = np.where(hidden, data.draw(st.sampled_from([0, NAN, INF, -INF])), scores)
    X = array(given, dtype)
    masks = [] if mask is None else [array(mask.astype(data.draw(MASKS)))]
    weights = ours.masked_softmax(X, lens, *masks)
    assert weights.dtype == X.dtype
    np.testing.assert_array_equal(numpy(X), given)
    close(weights, want, TOLERANCE[dtype])
    assert ((numpy(weights) == 0) >= hidden).all()
    assert scale > 1 or ((numpy(weights) == 0) == hidden).all()


def test_scores_that_are_all_minus_infinity_are_no_mask_and_stay_visible():
    X = array([[[-INF, -INF, 5], [0, -INF, 0]]])
    want = [[[NAN, NAN, NAN if adapter.MASKS_TAKEN else 0], [1, 0, 0]]]  # 0: by lengths alone
    np.testing.assert_array_equal(numpy(ours.masked_softmax(X, [2])), want)
    assert not numpy(ours.masked_softmax(X, [0])).any()  # masked: no NaN


def rotated(x, positions, base=10_000.0) -> np.ndarray:
    """Turn pairs of features, as products of complex numbers."""
    pairs = np.array([base ** (-i / x.shape[-1]) for i in range(0, x.shape[-1], 2)])
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * positions[..., None] * pairs)
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


@every_type
@pytest.mark.parametrize("shape", [(3,), (2, 1, 3), (1, 4, 3), (1, 1, 3), (2, 4, 3)])
def test_positions_broadcast_axis_by_axis_and_may_be_far(shape, dtype):
    x, at = normal(2, 4, 3, 6), 1000 + np.arange(math.prod(shape)).reshape(shape)
    got = ours.rotate(array(x, dtype), array(at), base=10.0)
    assert dtype_of(got) == dtype
    tolerance = max(4 * TOLERANCE[dtype], 1e-9 if dtype == "float64" else 1e-3)
    close(got, rotated(rounded(x, dtype), at, base=10.0), tolerance)


def test_places_are_positions_and_the_gradient_turns_back():
    x, direction, at = normal(3, 4), normal(3, 4, seed=2), np.arange(3)
    close(ours.rotate(array(x)), rotated(x, at))
    close(*gradients(ours.rotate, [x], direction), rotated(direction, -at))
    assert ours.rotate(array(np.ones((2, 0, 4)))).shape == (2, 0, 4)


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
    x = np.array([[1.0, 2], [4, 6]])  # where query and key meet, the gradient is 0
    for got in gradients(ours.pairwise_distances, (x, x), np.ones((2, 2))):
        close(got, [[-0.6, -0.8], [0.6, 0.8]])


def test_a_kernel_may_answer_yes_or_no_values_may_be_vectors_and_points_lists():
    for made in (list, np.array, array):
        points = map(made, ([0.0, 2, 3], [[1.0, 5], [2, 3], [4, 4]], [0.5, 2.5]))
        output, weights = ours.nadaraya_watson(*points, lambda r: r <= 1)
        close(weights, [[1, 0, 0], [0, 0.5, 0.5]])
        close(output, [[1, 5], [3, 3.5]])


@pytest.mark.parametrize("made", [np.ndarray.tolist, np.array])
def test_lists_and_arrays_of_numpy_are_taken_in_a_mapped_function_too(made):
    x, lens, places = normal(B, N, M), np.array([4, 2]), np.arange(N)
    for function, more in ((ours.masked_softmax, lens), (ours.rotate, places)):
        want, given = function(array(x), array(more)), made(more)
        close(xp.vmap(lambda x, f=function, given=given: f(x, given))(array(x[None]))[0], want)
        close(function(made(x), given), want)


def test_in_a_mapped_function_the_shape_of_lengths_is_checked_and_their_range_is_not():
    X, mapped = array(normal(1, B, N, M)), xp.vmap(ours.masked_softmax)
    assert mapped(X, array([[9, 2]])).shape == (1, B, N, M)
    refuses(mapped, ValueError, "must have shape (2,)", X, array([[1, 2, 3]]))
