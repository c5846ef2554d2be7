"""Attention in blocks, attention without padding, what a function holds, and small helpers."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import MASKS, NAN, SINGLE_OR_LESS, TOLERANCE, B, M, N, batch, close

import d2l_attention.jax as module
from d2l_attention.jax import (
    DotProductAttention,
    attention_mask,
    attention_without_padding,
    blockwise_attention,
    fused_attention,
    temporary_bytes,
    try_gpu,
)


@pytest.mark.parametrize("block", [1, 3, 4, 100])
@pytest.mark.parametrize("heads", [(), (2,)])
@pytest.mark.parametrize("lens", [None, [4, 2], [[0, 2, 3], [4, 1, 0]]])
def test_blocks_of_any_size_give_the_same_outputs(block, heads, lens):
    arrays = batch(heads=heads)
    keep = attention_mask((B, *heads, N, M), lens)
    want = DotProductAttention()(*arrays, mask=keep)
    close(blockwise_attention(*arrays, keep, block), want)


def test_blocks_give_the_same_gradients_without_a_trace_of_padding():
    def loss(function):
        return jax.grad(lambda *arrays: (function(*arrays) ** 2).sum(), argnums=(0, 1, 2))

    keep = attention_mask((B, N, M), [0, 2])
    layer = DotProductAttention()
    queries, keys, values = batch()
    want = loss(lambda *arrays: layer(*arrays, mask=keep))(queries, keys, values)
    keys, values = (x.at[0].set(NAN).at[1, 2:].set(NAN) for x in (keys, values))
    got = loss(lambda *arrays: blockwise_attention(*arrays, keep, 3))(queries, keys, values)
    for a, b in zip(got, want, strict=True):
        close(a, b)


@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
def test_blocks_keep_the_dtype(dtype):
    arrays, keep = batch(dtype=dtype), jnp.asarray(MASKS["(b, 1, m)"])
    got = blockwise_attention(*arrays, keep, 3)
    assert got.dtype == dtype
    want = DotProductAttention()(*(x.astype("float32") for x in arrays), mask=keep)
    close(got, want, TOLERANCE[dtype])


def test_blocks_of_large_scores_do_not_overflow():
    queries, keys, values = batch()
    close(blockwise_attention(1e4 * queries, keys, values, block=2),
          DotProductAttention()(1e4 * queries, keys, values))  # fmt: skip


@pytest.mark.parametrize("sizes", [(0, N, M), (B, 0, M), (B, N, 0)])
def test_nothing_in_gives_nothing_out(sizes):
    arrays = batch(*sizes)
    shape = (*sizes[:2], 2)
    assert blockwise_attention(*arrays).shape == shape
    assert not np.asarray(blockwise_attention(*arrays)).any() or sizes[2]


def test_temporary_bytes_are_those_between_arguments_and_results():
    x = jnp.ones((64, 64))
    assert temporary_bytes(lambda x: x + 1, x) == 0
    products = temporary_bytes(lambda x: (x @ x) @ (x @ x.T), x)
    assert x.nbytes <= products <= 4 * x.nbytes


def test_blocks_hold_less_than_all_weights():
    arrays = [jnp.ones((1, 512, 8))] * 3
    layer = DotProductAttention()
    weights = 512 * 512 * 4
    assert temporary_bytes(lambda *arrays: layer(*arrays), *arrays) >= weights
    assert temporary_bytes(lambda *a: blockwise_attention(*a, block=32), *arrays) < weights / 2


@pytest.mark.parametrize("heads", [(), (2,)])
def test_attention_without_padding_equals_attention_with_a_mask(heads):
    arrays, lens = batch(b=3, heads=heads), [4, 2, 0]
    keep = np.arange(M) < np.reshape(lens, (3, *(1 for _ in heads), 1, 1))
    want = fused_attention(*arrays, np.broadcast_to(keep, (3, *heads, N, M)))
    close(attention_without_padding(*arrays, lens), want)
    assert attention_without_padding(*batch(b=0), []).shape == (0, N, 2)


def test_a_device_can_be_forced(monkeypatch):
    monkeypatch.setenv("D2L_DEVICE", "cpu")
    assert try_gpu() == jax.devices("cpu")[0]


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_a_device_is_a_gpu_or_tpu_where_there_is_one(monkeypatch, platform):
    monkeypatch.setenv("D2L_DEVICE", "")
    found, cpu = SimpleNamespace(platform=platform), SimpleNamespace(platform="cpu")
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu] if name else [found])
    assert try_gpu() is found
    assert try_gpu(1) is cpu


def test_a_device_is_the_cpu_where_there_is_no_other(monkeypatch):
    monkeypatch.setenv("D2L_DEVICE", "")
    cpu = SimpleNamespace(platform="cpu")
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu])
    assert try_gpu() is cpu
    assert try_gpu(1) is cpu


def test_public_names_are_documented_and_few():
    assert 20 <= len(module.__all__) <= 40
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    assert not {"jax", "jnp", "np", "nnx", "Array", "partial"} & set(module.__all__)
    assert issubclass(module.Attention, nnx.Module)
