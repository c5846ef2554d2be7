"""Attention in blocks, attention without padding, what a function holds, and small helpers."""

from functools import partial
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
@pytest.mark.parametrize("lens", [[4, 2], [0, 2], [[0, 2, 3], [4, 0, 1]]])
def test_gradients_of_blocks_equal_those_of_plain_attention(lens, dtype):
    keep = attention_mask((B, N, M), lens)

    def plain(queries, keys, values):
        scores = jnp.where(keep, queries @ keys.mT / queries.shape[-1] ** 0.5, -1e9)
        return jnp.where(keep, jax.nn.softmax(scores, axis=-1), 0) @ values

    def gradients(attend, arrays):
        return jax.grad(lambda *arrays: (attend(*arrays) ** 2).sum(), (0, 1, 2))(*arrays)

    arrays = batch(dtype=dtype)
    got = gradients(lambda *arrays: blockwise_attention(*arrays, keep, 3), arrays)
    want = gradients(plain, [x.astype("float32") for x in arrays])
    for grad, wanted in zip(got, want, strict=True):
        assert grad.dtype == dtype
        close(grad, wanted, 4 * TOLERANCE[dtype])


def test_gradients_of_blocks_hold_less_than_all_weights():
    arrays, weights = [jnp.ones((1, 1024, 8))] * 3, 1024 * 1024 * 4

    def loss(*arrays):
        return blockwise_attention(*arrays, block=64).sum()

    assert temporary_bytes(jax.grad(loss, argnums=(0, 1, 2)), *arrays) < weights


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


@pytest.mark.parametrize("lens", [(3, 2, 1), range(3, 0, -1), [np.int64(3), 2, 1]], ids=repr)
def test_lengths_to_cut_at_are_any_sequence_of_integers(lens):
    arrays, keep = batch(b=3), np.arange(M) < np.reshape([3, 2, 1], (3, 1, 1))
    want = fused_attention(*arrays, np.broadcast_to(keep, (3, N, M)))
    close(attention_without_padding(*arrays, lens), want)


def test_lengths_to_cut_at_are_static_in_a_compiled_program_as_a_tuple():
    arrays, traces = batch(b=3), []

    @partial(jax.jit, static_argnames="lens")
    def cut(*arrays, lens):
        traces.append(lens)
        return attention_without_padding(*arrays, lens)

    for lens in ((4, 2, 0), (4, 2, 1), (4, 2, 0)):
        close(cut(*arrays, lens=lens), attention_without_padding(*arrays, list(lens)))
    assert traces == [(4, 2, 0), (4, 2, 1)]


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
