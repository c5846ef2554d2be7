"""Kernels and Nadaraya-Watson regression, against loops over Python's own numbers."""

import math
import re

import oracle
import pytest
import torch
from cases import normal

from d2l_attention.torch import (
    boxcar,
    constant,
    epanechnikov,
    gaussian,
    nadaraya_watson,
    pairwise_distances,
    triangular,
)

KERNELS = (gaussian, boxcar, triangular, epanechnikov, constant)
FORMULAS = {kernel: oracle.KERNELS[kernel.__name__] for kernel in KERNELS}
DISTANCES = [-3.0, -1.25, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5, 2.0]
every_kernel = pytest.mark.parametrize("kernel", FORMULAS, ids=lambda kernel: kernel.__name__)


@every_kernel
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_kernel_is_its_formula_at_every_distance(kernel, dtype):
    want = torch.tensor([FORMULAS[kernel](r) for r in DISTANCES], dtype=dtype)
    r = torch.tensor(DISTANCES, dtype=dtype)
    torch.testing.assert_close(kernel(r), want)
    torch.testing.assert_close(kernel(r.reshape(3, 3)), want.reshape(3, 3))


def both(sizes):
    n, m, d = sizes
    return normal(n, d), normal(m, d, seed=1)


@pytest.mark.parametrize("sizes", [(3, 4, 2), (1, 5, 3), (0, 2, 2), (2, 0, 2), (4, 2, 1)])
def test_distances_are_those_of_every_pair(sizes):
    queries, keys = both(sizes)
    want = [[math.dist(q, k) for k in keys.tolist()] for q in queries.tolist()]
    want = torch.tensor(want, dtype=torch.float64).reshape(sizes[0], sizes[1])
    torch.testing.assert_close(pairwise_distances(queries, keys), want)


def test_numbers_are_vectors_of_size_1():
    queries, keys = both((3, 4, 1))
    want = (queries - keys.T).abs()
    for q in (queries, queries[:, 0]):
        for k in (keys, keys[:, 0]):
            torch.testing.assert_close(pairwise_distances(q, k), want)


@pytest.mark.parametrize(
    ("dtype", "query", "key"),
    [(torch.uint8, 1, 3), (torch.int8, 100, -100), (torch.int64, 2**40, 2**40 + 3)],
)
def test_distances_of_integers_neither_wrap_around_nor_are_rounded(dtype, query, key):
    pair = torch.tensor([query], dtype=dtype), torch.tensor([key], dtype=dtype)
    for q, k in (pair, pair[::-1]):
        want = torch.tensor([[float(abs(query - key))]])
        torch.testing.assert_close(pairwise_distances(q, k), want, rtol=0, atol=0)


def test_a_point_that_is_nan_has_no_distance_from_any_other():
    queries, keys = torch.tensor([0.0, torch.nan]), torch.tensor([0.0, 3.0, torch.nan])
    distances = pairwise_distances(queries, keys)
    assert distances.isnan().tolist() == [[False, False, True], [True, True, True]]
    prediction, _ = nadaraya_watson(keys, torch.ones(3), queries, gaussian)
    assert prediction.isnan().all()


def test_the_gradient_where_query_and_key_meet_is_finite():
    x = normal(3, 2).requires_grad_()
    pairwise_distances(x, x).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize(
    "shapes",
    [((3, 2), (4, 3)), ((1, 3, 2), (4, 2)), ((3, 2), (1, 4, 2)), ((), (4,)), ((3, 2), (4,))],
)
def test_sizes_that_do_not_fit_are_refused(shapes):
    message = "queries and keys must be (n, d) and (m, d), got {} and {}".format(*shapes)
    with pytest.raises(ValueError, match=re.escape(message)):
        pairwise_distances(*(torch.zeros(shape) for shape in shapes))


@every_kernel
@pytest.mark.parametrize("d", [1, 2])
def test_a_prediction_is_the_mean_of_the_values_by_similarity(kernel, d):
    x_train, y_train, x_val = normal(6, d) / 4, normal(6, 2, seed=1), normal(3, d, seed=2) / 4
    predictions, weights = nadaraya_watson(x_train, y_train, x_val, kernel)
    for query, prediction, row in zip(x_val.tolist(), predictions, weights, strict=True):
        likeness = [FORMULAS[kernel](math.dist(query, key)) for key in x_train.tolist()]
        assert sum(likeness) > 0
        want = torch.tensor(likeness, dtype=torch.float64) / sum(likeness)
        torch.testing.assert_close(row, want)
        torch.testing.assert_close(prediction, (want[:, None] * y_train).sum(0))


def test_numbers_and_vectors_of_values_go_through():
    x_train, y_train, x_val = normal(6), normal(6, 1), normal(3, 1)[:, 0]
    columns, weights = nadaraya_watson(x_train, y_train, x_val, gaussian)
    numbers, same = nadaraya_watson(x_train, y_train[:, 0], x_val[:, None], gaussian)
    assert (columns.shape, numbers.shape, weights.shape) == ((3, 1), (3,), (3, 6))
    torch.testing.assert_close(numbers, columns[:, 0])
    assert torch.equal(weights, same)


def test_a_query_out_of_reach_of_all_keys_gives_nan():
    out, weights = nadaraya_watson(torch.zeros(2), torch.ones(2), torch.tensor([0.0, 9]), boxcar)
    assert out.isnan().tolist() == [False, True]
    assert weights.isnan().tolist() == [[False, False], [True, True]]


def test_a_kernel_may_answer_yes_or_no():
    out, _ = nadaraya_watson(
        torch.tensor([0.0, 2]), torch.tensor([1.0, 5]), torch.tensor([0.5]), lambda r: r <= 1
    )
    assert out.tolist() == [1.0]


def test_inputs_and_values_come_in_pairs():
    with pytest.raises(ValueError, match="x_train and y_train must come in pairs, got 3 and 2"):
        nadaraya_watson(torch.zeros(3), torch.zeros(2), torch.zeros(1), gaussian)
