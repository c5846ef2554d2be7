"""additive_scores: the formula, in one block and in many."""

import math

import pytest
import torch
from cases import normal

from d2l_attention.torch import additive_scores


def linear(w):
    return lambda hidden: hidden @ w.unsqueeze(-1)  # (..., h) x (h, 1) -> (..., 1)


def in_blocks(q, k, w, **options):
    return additive_scores(q, k, linear(w), **options)


def formula(q, k, w):
    return torch.tanh(q[..., :, None, :] + k[..., None, :, :]) @ w


def inputs(b, n, m, h, dtype=torch.float64):
    shapes = ((b, n, h), (b, m, h), (h,))
    return [normal(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]


SIZES = {
    "few numbers": (2, 3, 4, 5),
    "one block": (2, 16, 17, 33),
    "blocks that differ in size": (2, 40, 128, 33),
    "a block for every query": (1, 3, 700, 400),
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_scores_equal_the_formula_with_and_without_gradients(sizes):
    q, k, w = (t.requires_grad_() for t in inputs(*sizes))
    want = formula(q, k, w)
    torch.testing.assert_close(in_blocks(q, k, w), want)
    with torch.no_grad():
        torch.testing.assert_close(in_blocks(q, k, w), want)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_gradients_equal_those_of_the_formula(sizes):
    tensors = [t.requires_grad_() for t in inputs(*sizes)]
    direction = normal(*sizes[:3], seed=7)
    got = torch.autograd.grad(in_blocks(*tensors), tensors, direction)
    want = torch.autograd.grad(formula(*tensors), tensors, direction)
    torch.testing.assert_close(got, want)


def test_second_derivatives_of_blocks_equal_finite_differences():
    tensors = [t.requires_grad_() for t in inputs(1, 9, 61, 31)]
    assert torch.autograd.gradgradcheck(in_blocks, tensors, fast_mode=True)


@pytest.mark.parametrize("recorded", ["queries", "keys", "weights"])
def test_one_recorded_tensor_is_enough_for_a_gradient(recorded):
    tensors = dict(zip(("queries", "keys", "weights"), inputs(2, 40, 128, 33), strict=True))
    tensors[recorded].requires_grad_()
    in_blocks(*tensors.values()).sum().backward()
    assert tensors[recorded].grad.abs().sum() > 0


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_blocks_can_be_mapped_over(axes):
    q, k, w = inputs(3, 40, 256, 33, dtype=torch.float32)
    q, k = (t[0] if axis is None else t for t, axis in zip((q, k), axes, strict=True))
    got = torch.func.vmap(lambda q, k: in_blocks(q, k, w), axes)(q, k)
    torch.testing.assert_close(got, formula(q, k, w))


def test_heads_are_scored_one_by_one():
    q, k, w = normal(2, 3, 40, 33), normal(2, 3, 128, 33, seed=1), normal(33, seed=2)
    torch.testing.assert_close(in_blocks(q, k, w), formula(q, k, w))


def test_blocks_of_any_size_give_the_same_scores():
    q, k, w = inputs(2, 16, 17, 33)
    for block in (1, 1000, 5000, 2**18):
        torch.testing.assert_close(in_blocks(q, k, w, block=block), formula(q, k, w))


def test_the_size_of_a_block_can_be_chosen():
    q, k, w = inputs(2, 8, 17, 33)
    with torch.profiler.profile(profile_memory=True) as record:
        in_blocks(q, k, w, block=2 * 17 * 33)
    assert max(event.self_cpu_memory_usage for event in record.events()) == 8 * 2 * 17 * 33


def test_saturated_scores_stay_exact():
    q = torch.full((1, 8, 64), 300.0)
    scores = in_blocks(q, -2 * q.expand(1, 8, 64)[:, :1].expand(1, 64, 64), torch.ones(64))
    torch.testing.assert_close(scores, torch.full((1, 8, 64), -64.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_gives_the_same_up_to_rounding(dtype):
    q, k, w = inputs(2, 16, 17, 33, dtype=dtype)
    scores = in_blocks(q, k, w)
    assert scores.dtype == dtype
    want = formula(q.double(), k.double(), w.double())
    tolerance = 2 * torch.finfo(dtype).eps * math.sqrt(33)
    torch.testing.assert_close(scores.double(), want, atol=tolerance, rtol=0)


def test_without_gradients_no_large_block_is_kept():
    q, k, w = inputs(2, 128, 128, 64, dtype=torch.float32)
    with torch.profiler.profile(profile_memory=True) as record:
        in_blocks(q, k, w)
    sizes = [event.self_cpu_memory_usage for event in record.events()]
    assert max(sizes) <= 2**20


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_loses_no_digits_of_small_sums(dtype):
    q, k, w = inputs(2, 16, 17, 33, dtype=dtype)
    q, k = 0.01 * q, 0.01 * k
    want = formula(q.double(), k.double(), w.double())
    tolerance = torch.finfo(dtype).eps * want.abs().max()
    torch.testing.assert_close(in_blocks(q, k, w).double(), want, atol=tolerance, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_pair_has_the_same_score_in_every_batch_and_block(dtype):
    q, k, w = inputs(64, 16, 17, 33, dtype=dtype)
    many = in_blocks(q, k, w)
    sizes = 8 if dtype != torch.float32 else w.abs().sum()  # one rounding; a rounding per term
    tolerance = torch.finfo(dtype).eps * sizes
    for i in (0, 40):
        for block in (1, 2**18):
            one = in_blocks(q[i : i + 1], k[i : i + 1], w, block=block)
            torch.testing.assert_close(one, many[i : i + 1], atol=tolerance, rtol=0)


def test_no_queries_or_no_keys_give_no_scores():
    for n, m in ((0, 4), (3, 0), (0, 0)):
        assert in_blocks(*inputs(2, n, m, 5)).shape == (2, n, m)
