"""masked_softmax and attention_mask against their contract, line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2l_attention.checks import kind
from tests.contract import oracle
from tests.contract.comparing import TOLERANCE, close, differences, gradients, refuses
from tests.contract.framework import array, numpy, ours
from tests.contract.samples import INF, LENS, MASKS, NAN, B, M, N, lengths, masks, normal

SHAPES = [(B, N, M), (B, 3, N, M), (1, 1, 1), (0, N, M), (B, 0, M), (B, N, 0)]


def softmax(X, lens=None, mask=None, dtype=None) -> np.ndarray:
    return numpy(ours.masked_softmax(array(X, dtype), lens, array(mask)))


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from([*TOLERANCE]), st.sampled_from([1, 100]))
def test_it_equals_the_loop_over_rows_in_every_precision(data, shape, dtype, scale):
    X = array(scale * normal(*shape), dtype)
    before = numpy(X)
    lens = data.draw(lengths(shape[0], *shape[-2:]))
    mask = data.draw(masks(shape))
    weights = ours.masked_softmax(X, lens, array(mask))
    want = oracle.masked_softmax(before, lens, mask)
    assert weights.dtype == X.dtype
    assert (numpy(X) == before).all()
    close(weights, want, TOLERANCE[dtype])
    if scale == 1:
        assert ((numpy(weights) == 0) == (want == 0)).all()


@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_gradients_are_those_of_the_loop_and_0_in_a_row_without_keys(lens, mask):
    X, direction = normal(B, N, M), normal(B, N, M, seed=1)
    (want,) = differences(lambda X: oracle.masked_softmax(X, lens, mask), [X], direction)
    (found,) = gradients(lambda X: ours.masked_softmax(X, lens, array(mask)), [X], direction)
    close(found, want)
    assert (found[oracle.masked_softmax(X, lens, mask).sum(-1) == 0] == 0).all()


@pytest.mark.parametrize("hidden", [NAN, INF, -INF, 3e38])
@pytest.mark.parametrize("lens", [[2, 0], [[1, 2, 3], [3, 0, 2]]])
def test_what_stands_in_hidden_scores_reaches_neither_weights_nor_gradients(hidden, lens):
    def slopes(X):
        return gradients(lambda X: ours.masked_softmax(X, lens) ** 2, [X], np.ones(X.shape))[0]

    clean = normal(B, N, M)
    seen = np.arange(M) < np.array(lens).reshape(B, -1, 1)
    spoilt = np.where(seen, clean, hidden)
    assert (softmax(spoilt, lens) == softmax(clean, lens)).all()
    close(slopes(spoilt), slopes(clean), 1e-7)


def test_scores_that_are_all_minus_infinity_are_no_mask_and_stay_visible():
    X = np.full((1, 2, 3), -INF)
    X[0, 1, [0, 2]] = 0
    weights = softmax(X, [2])
    assert np.isnan(weights[0, 0, :2]).all()
    assert weights[0, 1].tolist() == [1, 0, 0]
    assert not softmax(X, [0]).any()  # masked: no NaN


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", -2e6), ("float32", 3e38), ("float16", 6e4), ("float16", -6e4)]
)
def test_masked_keys_lose_to_valid_ones_of_any_finite_size(dtype, size):
    X = np.array([[[size, size, 5, 0]]])
    assert softmax(X, [2], dtype=dtype).tolist() == [[[0.5, 0.5, 0, 0]]]
    assert softmax(np.full((1, 1, M), size), dtype=dtype).tolist() == [[[0.25] * M]]


def test_a_mask_that_could_be_of_examples_or_of_heads_is_refused():
    X, mask = array(normal(B, B, N, M)), array(np.ones((B, 1, M), bool))
    message = f"mask must have 4 axes, (b, 1, n, m) or (1, H, n, m) for scores {(B, B, N, M)}, got"
    refuses(ours.masked_softmax, ValueError, message, X, mask=mask)
    assert ours.attention_mask((B, 3, N, M), mask=array(np.ones((3, 1, M), bool))).shape[1] == 3
    assert ours.attention_mask((1, 1, N, M), mask=mask[:1]).shape == (1, 1, 1, M)


def test_scores_of_too_few_axes_or_of_integers_are_refused():
    for shape in ((), (4,)):
        message = f"X must have 2 axes or more, got {shape}"
        refuses(ours.masked_softmax, ValueError, message, array(np.ones(shape)))
    X = array(np.ones((B, N, M), np.int32))
    refuses(ours.masked_softmax, TypeError, f"X must be floating point, got {kind(X)}", X)
