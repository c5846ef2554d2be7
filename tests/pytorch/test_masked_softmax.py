"""masked_softmax against its contract, line by line."""

import math

import oracle
import pytest
import torch
from cases import DTYPES, LAYOUTS, TOLERANCE, laid_out, lengths, masks, nested, normal
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from d2l_attention.torch import masked_softmax

SIZES = st.integers(0, 4)


@given(st.data(), st.lists(SIZES, min_size=3, max_size=4), st.sampled_from(DTYPES), LAYOUTS)
def test_it_equals_the_loop_over_rows(data, shape, dtype, layout):
    X = laid_out(normal(*shape, dtype=dtype), layout)
    before = X.clone()
    lens = data.draw(lengths(shape[0], shape[-2], shape[-1]))
    mask = data.draw(masks(tuple(shape)))
    weights = masked_softmax(X, lens, mask)
    want = oracle.masked_softmax(
        nested(X), shape, nested(lens), nested(mask), () if mask is None else mask.shape
    )
    assert weights.shape == X.shape
    assert weights.dtype == dtype
    assert torch.equal(X, before)
    for index, weight in want.items():
        assert weights[index].item() == pytest.approx(weight, abs=TOLERANCE[dtype])
        assert (weights[index] == 0) == (weight == 0)


@given(st.data())
def test_every_row_sums_to_one_or_is_empty(data):
    X = normal(2, 3, 4)
    lens, mask = data.draw(lengths(2, 3, 4)), data.draw(masks((2, 3, 4)))
    sums = masked_softmax(X, lens, mask).sum(-1)
    assert ((sums - 1).abs().lt(1e-12) | (sums == 0)).all()


def test_lengths_per_sequence_hide_the_keys_behind_them():
    weights = masked_softmax(torch.zeros(2, 2, 4), torch.tensor([2, 3]))
    row_of = {2: [1 / 2, 1 / 2, 0, 0], 3: [1 / 3, 1 / 3, 1 / 3, 0]}
    torch.testing.assert_close(weights, torch.tensor([[row_of[2]] * 2, [row_of[3]] * 2]))


def test_lengths_per_query_hide_the_keys_behind_them():
    weights = masked_softmax(torch.zeros(1, 3, 2), torch.tensor([[1, 2, 0]]))
    torch.testing.assert_close(weights, torch.tensor([[[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]]))


def test_true_in_a_mask_means_may_attend():
    weights = masked_softmax(torch.zeros(1, 1, 2), mask=torch.tensor([True, False]))
    assert weights.tolist() == [[[1.0, 0.0]]]


def test_lengths_and_mask_both_hold():
    mask = torch.tensor([False, True, True])
    weights = masked_softmax(torch.zeros(1, 1, 3), torch.tensor([2]), mask)
    assert weights.tolist() == [[[0.0, 1.0, 0.0]]]


def test_lengths_per_query_are_the_same_for_every_head():
    X, lens = normal(2, 3, 4, 5), torch.tensor([[1, 2, 3, 4], [5, 4, 0, 2]])
    weights = masked_softmax(X, lens)
    for head in range(3):
        torch.testing.assert_close(weights[:, head], masked_softmax(X[:, head], lens))


@pytest.mark.parametrize("lens", [[2, 0], [[1, 2], [0, 3]]])
def test_lists_of_integers_are_welcome_as_lengths(lens):
    X = normal(2, 2, 3)
    assert torch.equal(masked_softmax(X, lens), masked_softmax(X, torch.tensor(lens)))


@pytest.mark.parametrize("arguments", [{"valid_lens": [0, 3]}, {"valid_lens": [[0, 2], [3, 1]]}])
def test_a_row_without_keys_is_zero_and_has_gradient_zero(arguments):
    X = normal(2, 2, 3).requires_grad_()
    weights = masked_softmax(X, **arguments)
    (weights * normal(2, 2, 3, seed=1)).sum().backward()
    assert weights[0, 0].tolist() == [0, 0, 0]
    assert X.grad[0, 0].tolist() == [0, 0, 0]
    assert X.grad.isfinite().all()
    assert X.grad[1].abs().sum() > 0


def test_the_callers_scores_stay_as_they_are():
    X = normal(2, 2, 3)
    before = X.clone()
    for lens in (None, [1, 2], [0, 2]):
        with torch.no_grad():
            masked_softmax(X, lens)
        masked_softmax(X, lens)
        assert torch.equal(X, before)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_lengths_may_be_unsigned(dtype):
    X = normal(2, 3, 4)
    want = masked_softmax(X, [0, 3])
    assert torch.equal(masked_softmax(X, torch.tensor([0, 3]).to(dtype)), want)


def test_scores_that_are_expanded_stay_as_they_are():
    X = normal(1, 1, 4).expand(2, 3, 4)
    before = X.clone()
    weights = masked_softmax(X, [1, 3])
    assert torch.equal(X, before)
    assert torch.equal(weights, masked_softmax(before, [1, 3]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lens", [[2, 4], [0, 3]])
def test_the_dtype_is_kept_in_every_precision(dtype, lens):
    X = normal(2, 3, 4, dtype=dtype)
    weights = masked_softmax(X, lens)
    assert weights.dtype == dtype
    want = masked_softmax(X.double(), lens)
    torch.testing.assert_close(weights.double(), want, atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("lens", [None, [2, 4], [0, 3]])
def test_autocast_changes_neither_dtype_nor_weights(half, lens):
    X = normal(2, 3, 4, dtype=torch.float32)
    want = masked_softmax(X, lens)
    with torch.autocast("cpu", dtype=half):
        for scores in (X.clone(), X.to(half)):
            for needs_gradient in (False, True):
                weights = masked_softmax(scores.requires_grad_(needs_gradient), lens)
                assert weights.dtype == scores.dtype
                torch.testing.assert_close(weights.float(), want, atol=1e-2, rtol=0)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [(torch.float32, -2e6), (torch.float32, 3e38), (torch.float16, 6e4), (torch.float16, -6e4)],
)
def test_scores_of_any_finite_size_are_masked(dtype, size):
    X = torch.full((1, 1, 4), size, dtype=dtype)
    assert masked_softmax(X, [2]).tolist() == [[[0.5, 0.5, 0, 0]]]


def test_masked_keys_lose_to_valid_ones_however_low_these_are():
    X = torch.tensor([[[-2e6, -2e6, 5.0]]])
    assert masked_softmax(X, [2]).tolist() == [[[0.5, 0.5, 0]]]


@pytest.mark.parametrize("arguments", [{}, {"valid_lens": [0, 3]}, {"mask": torch.eye(3, 4) > 0}])
def test_lengths_and_masks_follow_the_scores_to_their_device(arguments):
    weights = masked_softmax(normal(2, 3, 4).to("meta"), **arguments)
    assert weights.device.type == "meta"
    assert weights.shape == (2, 3, 4)


def test_shifting_all_scores_of_a_row_changes_nothing():
    X = normal(2, 3, 4)
    torch.testing.assert_close(masked_softmax(X - 1000, [1, 4]), masked_softmax(X, [1, 4]))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("lens", [[2, 3], [0, 2]])
def test_bad_numbers_behind_the_length_reach_neither_weights_nor_gradients(bad, lens):
    clean = normal(2, 3, 4).requires_grad_()
    spoilt = clean.detach().clone()
    spoilt[0, :, lens[0] :] = bad
    spoilt.requires_grad_()
    for X in (clean, spoilt):
        masked_softmax(X, lens).pow(2).sum().backward()
    assert torch.equal(masked_softmax(spoilt, lens), masked_softmax(clean, lens))
    assert torch.equal(spoilt.grad, clean.grad)


def test_nan_in_a_valid_score_stays_visible():
    X = torch.zeros(1, 2, 3)
    X[0, 0, 1] = math.nan
    weights = masked_softmax(X, [2])
    assert weights[0, 0, :2].isnan().all()
    assert weights[0, 1].tolist() == [0.5, 0.5, 0]


def test_scores_that_are_all_minus_infinity_are_no_mask_and_stay_visible():
    X = torch.full((1, 2, 3), -math.inf)
    X[0, 1, 2] = X[0, 1, 0] = 0
    weights = masked_softmax(X, [2])
    assert weights[0, 0, :2].isnan().all()
    assert weights[0, 1].tolist() == [1, 0, 0]
    assert masked_softmax(X, [0]).count_nonzero() == 0  # masked: no NaN


ARGUMENTS = {
    "no mask": {},
    "lengths": {"valid_lens": torch.tensor([2, 4])},
    "an empty row": {"valid_lens": torch.tensor([[3, 0, 1], [4, 2, 4]])},
    "a mask": {"mask": torch.tensor([[True, False, True, True]] * 2 + [[False] * 4])},
}


@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")  # torch's own import
@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
class TestDerivatives:
    def test_gradients_equal_finite_differences(self, arguments):
        X = normal(2, 3, 4).requires_grad_()
        assert gradcheck(lambda X: masked_softmax(X, **arguments), X, check_forward_ad=True)

    def test_second_derivatives_equal_finite_differences(self, arguments):
        X = normal(2, 3, 4).requires_grad_()
        assert gradgradcheck(lambda X: masked_softmax(X, **arguments), X)

    def test_functional_gradients_equal_backward(self, arguments):
        def loss(X):
            return masked_softmax(X, **arguments).pow(2).sum()

        X = normal(2, 3, 4).requires_grad_()
        loss(X).backward()
        torch.testing.assert_close(torch.func.grad(loss)(X.detach()), X.grad)

    def test_forward_derivatives_work_without_backward_ones(self, arguments):
        X, direction = normal(2, 3, 4), normal(2, 3, 4, seed=1)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(X, direction)
            weights = masked_softmax(dual, **arguments)
            tangent = torch.autograd.forward_ad.unpack_dual(weights).tangent
        _, want = torch.func.jvp(lambda X: masked_softmax(X, **arguments), (X,), (direction,))
        torch.testing.assert_close(tangent, want)

    def test_nothing_changes_without_gradients(self, arguments):
        X = normal(2, 3, 4).requires_grad_()
        with torch.no_grad():
            without = masked_softmax(X, **arguments)
        with torch.inference_mode():
            inference = masked_softmax(X, **arguments)
        assert torch.equal(without, masked_softmax(X, **arguments))
        assert torch.equal(inference, without)
        assert masked_softmax(X, **arguments).requires_grad


def test_an_empty_list_is_the_lengths_of_an_empty_batch():
    scores = torch.zeros(0, 3, 4)
    assert masked_softmax(scores, []).shape == scores.shape
    assert masked_softmax(scores, [], torch.ones(3, 4, dtype=torch.bool)).shape == scores.shape
