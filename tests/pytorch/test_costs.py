"""Attention over blocks of keys, and the bytes that are counted."""

import math

import oracle
import pytest
import torch
from cases import D, batch, lengths, masks, nested, normal
from hypothesis import given, settings
from hypothesis import strategies as st

from d2l_attention.memory import LiveBytes, memories
from d2l_attention.torch import attention_mask, blockwise_attention, fold_in, fused_attention


@settings(max_examples=60)
@given(st.data(), st.tuples(*[st.integers(0, 5)] * 4), st.integers(1, 6))
def test_blocks_of_any_size_equal_the_loop_over_queries_and_keys(data, sizes, block):
    b, n, m, v = sizes
    tensors = batch(b, n, m, v)
    lens, mask = data.draw(lengths(b, n, m)), data.draw(masks((b, n, m)))
    keep = attention_mask((b, n, m), lens, mask)
    out = blockwise_attention(*tensors, keep, block)
    shape = () if mask is None else mask.shape
    lists = map(nested, (*tensors, lens, mask))
    want, _ = oracle.attention(oracle.scaled_dot_score, *lists, shape, v)
    want = torch.tensor(want, dtype=torch.float64).reshape(b, n, v)
    torch.testing.assert_close(out, want)


@pytest.mark.parametrize("shape", [(2, 1, 1, 4), (1, 1, 3, 4), (2, 5, 3, 1), (2, 1, 3, 4)])
def test_heads_and_masks_that_broadcast_equal_the_fused_function(shape):
    tensors, keep = batch(heads=(5,)), normal(*shape) > -0.3
    want = fused_attention(*tensors, keep.expand(2, 5, 3, 4))
    torch.testing.assert_close(blockwise_attention(*tensors, keep, 3), want)
    torch.testing.assert_close(blockwise_attention(*tensors), fused_attention(*tensors))


@pytest.mark.parametrize("block", [1, 2, 128])
def test_rows_without_keys_are_0_and_nan_in_the_padding_stays_there(block):
    queries, keys, values = batch()
    keep = attention_mask((2, 3, 4), [0, 3])
    want = blockwise_attention(queries, keys, values, keep, block)
    assert torch.equal(want[0], torch.zeros(3, 2).double())
    keys[0] = values[0] = keys[1, 3] = values[1, 3] = math.nan
    assert torch.equal(blockwise_attention(queries, keys, values, keep, block), want)


def test_gradients_equal_finite_differences():
    tensors = [t.requires_grad_() for t in batch()]
    keep = attention_mask((2, 3, 4), [3, 0])
    assert torch.autograd.gradcheck(lambda *t: blockwise_attention(*t, keep, 2), tensors)


def test_huge_scores_neither_overflow_nor_vanish():
    queries, keys, values = batch()
    out = blockwise_attention(queries, keys * 1e4, values, block=1)
    torch.testing.assert_close(out, fused_attention(queries, keys * 1e4, values))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sums_many_small_weights_in_single(dtype):
    """Added one by one in half precision, a sum of ones stops growing at 2048, or at 256."""
    m = 4096
    zeros = torch.zeros(1, 1, D, dtype=dtype), torch.zeros(1, m, D, dtype=dtype)
    values = torch.arange(m).remainder(2).to(dtype).reshape(1, m, 1)
    out = blockwise_attention(*zeros, values, block=1)
    assert out.dtype == dtype
    assert out.item() == 0.5


def test_no_more_weights_than_a_blocks_are_held():
    queries, keys, values = batch(1, 64, 1024, 4, dtype=torch.float32)
    with LiveBytes() as live:
        blockwise_attention(queries, keys, values, block=64)
    assert live.peak < 64 * 1024 * 4 / 2


def test_the_default_block_is_128_keys():
    queries, keys, values = batch(1, 64, 1024, 4, dtype=torch.float32)
    peaks = []
    for arguments in ((None,), (None, 128)):
        with LiveBytes() as live:
            blockwise_attention(queries, keys, values, *arguments)
        peaks.append(live.peak)
    assert peaks[0] == peaks[1]


def test_sizes_that_do_not_fit_are_refused():
    queries, keys, values = batch()
    with pytest.raises(ValueError, match="there must be one value for each key"):
        blockwise_attention(queries, keys, values[:, 1:])


@pytest.mark.parametrize("block", [0, -1])
def test_a_block_without_keys_is_refused(block):
    with pytest.raises(ValueError, match=f"block must be at least 1, got {block}"):
        blockwise_attention(*batch(), block=block)


def test_folding_in_blocks_gives_the_maximum_the_sum_and_the_weighted_sum():
    a, values = normal(2, 3, 6), normal(2, 6, 4, seed=1)
    a[:, 0] = a[:, 1, :3] = -torch.inf
    c = torch.full((2, 3, 1), -torch.inf).double()
    s, o = torch.zeros_like(c), torch.zeros(2, 3, 4).double()
    for part in (slice(0, 3), slice(3, 4), slice(4, 6)):
        c, s, o = fold_in(c, s, o, a[..., part], values[:, part])
    top = a.amax(-1, keepdim=True)
    e = torch.exp(a - top.clamp(min=-1e300))
    torch.testing.assert_close(c, top)
    torch.testing.assert_close(s, e.sum(-1, keepdim=True))
    torch.testing.assert_close(o, e @ values)


def test_bytes_are_counted_while_their_tensors_live():
    with LiveBytes() as live:
        x = torch.ones(1000)
        assert (live.now, live.peak) == (4000, 4000)
        y = x + 1
        assert (live.now, live.peak) == (8000, 8000)
        del x
        assert (live.now, live.peak) == (4000, 8000)
        y.mul_(2)
        y.reshape(10, 100).T  # noqa: B018
        assert (live.now, live.peak) == (4000, 8000)
    assert live.log == [("ones", 4000, 4000), ("add", 4000, 8000)]


def test_bytes_of_before_are_not_counted():
    x = torch.ones(1000)
    with LiveBytes() as live:
        x.mul_(2)
        torch.add(x, 1, out=x)
        x[10:]
    assert (live.now, live.peak, live.log) == (0, 0, [])
    del x
    assert live.now == 0


def test_a_gradient_that_is_only_read_is_not_counted():
    x = torch.ones(1000, requires_grad=True)
    with LiveBytes() as live:
        x.sum().backward()
        assert x.grad is x.grad is not None
    assert [name for name, _, _ in live.log] == ["sum"]


def test_two_views_of_one_new_tensor_are_counted_once():
    with LiveBytes() as live:
        halves = torch.ones(6, dtype=torch.float64).split(3)
        assert len(halves) == 2
        both = torch.ones(5).aminmax()
        assert both.min == both.max == 1
    assert live.log[:3] == [("ones", 48, 48), ("ones", 20, 68), ("aminmax", 8, 76)]


def test_a_new_tensor_and_a_view_of_it_from_one_operation_are_counted_once():
    def with_view():
        x = torch.ones(6)
        return x, x[3:]

    live = LiveBytes()
    results = live.__torch_function__(with_view, types=())
    assert live.now == 24
    del results
    assert live.now == 0


def test_the_memory_of_tensors_is_found_in_nested_lists():
    a, b = torch.ones(2), torch.ones(3)
    found = memories([a, (b, [1, "x", None, {"view": a[1:]}])])
    assert [m.nbytes() for m in found] == [8, 12, 8]
    assert found[0].data_ptr() == found[2].data_ptr() == a.data_ptr()
