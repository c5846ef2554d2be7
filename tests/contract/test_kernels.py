"""Kernels and Nadaraya-Watson regression, against loops over Python's own numbers."""

import math

import numpy as np
import pytest

from tests.contract import oracle
from tests.contract.comparing import TOLERANCE, close, gradients, refuses
from tests.contract.framework import array, dtype_of, numpy, ours
from tests.contract.samples import NAN, normal

DISTANCES = np.array([[-3, -1, -0.5], [0, 0.25, 1], [1.5, 2, -1.25]])
every_kernel = pytest.mark.parametrize("name", oracle.KERNELS)


@every_kernel
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_kernel_is_its_formula_at_every_distance(name, dtype):
    got = getattr(ours, name)(array(DISTANCES, dtype))
    assert dtype_of(got) == dtype
    close(got, np.vectorize(oracle.KERNELS[name])(DISTANCES), TOLERANCE[dtype])


@pytest.mark.parametrize("sizes", [(3, 4, 2), (0, 2, 2), (2, 0, 2), (3, 4, 1)])
def test_distances_are_those_of_every_pair_and_numbers_are_vectors_of_size_1(sizes):
    n, m, d = sizes
    queries, keys = normal(n, d), normal(m, d, seed=1)
    want = np.reshape([math.dist(q, k) for q in queries for k in keys], (n, m))
    for q in (queries, *[queries[:, 0]][: d == 1]):
        for k in (keys, *[keys[:, 0]][: d == 1]):
            close(ours.pairwise_distances(array(q), array(k)), want)


@pytest.mark.parametrize(
    ("dtype", "query", "key"),
    [("uint8", 1, 3), ("int8", 100, -100), ("int32", 2**30, 2**30 + 3)],
)
def test_distances_of_integers_neither_wrap_around_nor_are_rounded(dtype, query, key):
    q, k = (array(np.array([x], dtype)) for x in (query, key))
    for pair in ((q, k), (k, q)):
        assert numpy(ours.pairwise_distances(*pair)).tolist() == [[abs(query - key)]]


def test_a_point_that_is_nan_has_no_distance_from_any_other():
    queries, keys = array([0, NAN]), array([0, 3, NAN])
    found = np.isnan(numpy(ours.pairwise_distances(queries, keys)))
    assert found.tolist() == [[False, False, True], [True, True, True]]
    prediction, _ = ours.nadaraya_watson(keys, array([1.0, 1, 1]), queries, ours.gaussian)
    assert np.isnan(numpy(prediction)).all()


def test_the_gradient_where_query_and_key_meet_is_0():
    x = np.array([[1.0, 2], [4, 6]])
    found = gradients(ours.pairwise_distances, (x, x), np.ones((2, 2)))
    close(found[0], [[-0.6, -0.8], [0.6, 0.8]])
    close(found[1], [[-0.6, -0.8], [0.6, 0.8]])


@pytest.mark.parametrize(
    "shapes",
    [((3, 2), (4, 3)), ((1, 3, 2), (4, 2)), ((3, 2), (1, 4, 2)), ((), (4,)), ((3, 2), (4,))],
)
def test_sizes_that_do_not_fit_are_refused(shapes):
    message = "queries and keys must be (n, d) and (m, d), got {} and {}".format(*shapes)
    refuses(ours.pairwise_distances, ValueError, message, *(array(np.ones(s)) for s in shapes))


def test_a_kernel_may_answer_yes_or_no():
    arrays = [array(x) for x in ([0.0, 2], [1.0, 5], [0.5])]
    outputs, _ = ours.nadaraya_watson(*arrays, lambda r: r <= 1)
    assert numpy(outputs).tolist() == [1]


def test_inputs_and_values_come_in_pairs():
    for size, got in ((2, "3 and 2"), ((), "3 and 1")):
        message = f"x_train and y_train must come in pairs, got {got}"
        arrays = (array(np.ones(shape)) for shape in (3, size, 1))
        refuses(ours.nadaraya_watson, ValueError, message, *arrays, ours.gaussian)
