"""Multi-head attention in JAX: a loop over heads, shared keys, and the cache of fixed size."""

import re

import jax
import numpy as np
import oracle
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import (
    LENS,
    MASKS,
    NAN,
    SINGLE_OR_LESS,
    TOLERANCE,
    B,
    D,
    M,
    N,
    V,
    batch,
    close,
    normal,
)

from d2l_attention.jax import DistanceAttention, KeyValueCache, MultiHeadAttention

SIZES = {"query_size": D, "key_size": D, "value_size": V}


def layer_of(num_hiddens=8, num_heads=4, **options):
    """Return a layer in evaluation, for `batch` or, without sizes, for self-attention."""
    layer = MultiHeadAttention(num_hiddens, num_heads, **options, rngs=nnx.Rngs(0))
    layer.eval()
    return layer


def projected(x, linear):
    bias = 0 if linear.bias is None else np.asarray(linear.bias[...])
    return np.asarray(x) @ np.asarray(linear.kernel[...]) + bias


def by_loops(layer, queries, keys, values, lens=None, mask=None):
    """One head at a time, each attending by plain loops: outputs and weights (b, H, n, m)."""
    q, k, v = (
        projected(x, linear)
        for x, linear in zip(
            (queries, keys, values), (layer.W_q, layer.W_k, layer.W_v), strict=True
        )
    )
    d, shared = q.shape[-1] // layer.num_heads, layer.num_heads // layer.num_kv_heads
    outputs, weights = [], []
    for head in range(layer.num_heads):
        own, group = (slice(i * d, (i + 1) * d) for i in (head, head // shared))
        lists = (x[..., part].tolist() for x, part in ((q, own), (k, group), (v, group)))
        shape = () if mask is None else mask.shape
        found = None if mask is None else mask.tolist()
        output, weight = oracle.attention(oracle.scaled_dot_score, *lists, lens, found, shape, d)
        outputs.append(output)
        weights.append(weight)
    joined = np.concatenate([np.array(output) for output in outputs], axis=-1)
    return projected(joined, layer.W_o), np.stack(weights, axis=1)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 2}, {"num_kv_heads": 1, "bias": True}])
@pytest.mark.parametrize("lens", [None, [4, 2], LENS["(b, n)"]])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_a_loop_over_heads(options, lens, mask):
    layer = layer_of(**SIZES, **options)
    if layer.W_q.bias is not None:
        layer.W_q.bias[...] = normal(8, seed=9)
    want, weights = by_loops(layer, *batch(), lens, mask)
    output, shown = layer(*batch(), lens, mask=mask, need_weights=True)
    close(output, want)
    close(shown, weights)
    close(layer(*batch(), lens, mask=mask), output, 0)


def test_any_score_of_the_book_fits_inside():
    layer = layer_of(attention=DistanceAttention, **SIZES)
    output = layer(*batch(), [4, 2])
    parts = layer.W_q, layer.W_k, layer.W_v
    q, k, v = (W(x).reshape(B, -1, 4, 2) for W, x in zip(parts, batch(), strict=True))
    heads = [layer.attention(q[:, :, i], k[:, :, i], v[:, :, i], [4, 2]) for i in range(4)]
    close(output, layer.W_o(jnp.concatenate(heads, -1)))


def test_parameters_have_the_sizes_that_are_given():
    layer = layer_of(num_kv_heads=2, bias=True, **SIZES)
    shapes = {name: getattr(layer, name).kernel.shape for name in ("W_q", "W_k", "W_v", "W_o")}
    assert shapes == {"W_q": (D, 8), "W_k": (D, 4), "W_v": (V, 4), "W_o": (8, 8)}
    assert layer.W_v.bias.shape == (4,)
    assert layer_of().W_v.kernel.shape == (8, 8)
    assert layer_of().W_q.bias is None


# ---- causal order


def test_a_causal_layer_does_not_see_the_future():
    layer, x = layer_of(), normal(1, 4, 8)
    want = np.asarray(layer(x, x, x, causal=True))
    for i in range(4):
        changed = x.at[:, i:].add(1)
        output = np.asarray(layer(changed, changed, changed, causal=True))
        close(output[:, :i], want[:, :i])
        assert not np.isclose(output[:, i:], want[:, i:]).all(-1).any()


@pytest.mark.parametrize("n", [1, N, M, 5])
def test_the_queries_are_the_last_of_the_places(n):
    layer = layer_of(**SIZES)
    _, weights = layer(*batch(n=n), causal=True, need_weights=True)
    seen = np.arange(M) <= M - n + np.arange(n)[:, None]
    assert (np.asarray(weights > 0) == seen).all()


def test_causal_order_lengths_and_mask_are_joined_with_and():
    layer, order, mask = layer_of(**SIZES), np.tri(N, M, M - N, dtype=bool), MASKS["(n, m)"]
    for lens in ([4, 2], LENS["(b, n)"]):
        together = layer(*batch(), lens, mask=mask & order)
        close(layer(*batch(), lens, mask=mask, causal=True), together)


# ---- the cache


def cache_of(layer, b=B, m=6):
    return KeyValueCache(b, layer.num_kv_heads, m, 2)


@pytest.mark.parametrize("parts", [[1] * 6, [4, 2], [2, 1, 3]])
@pytest.mark.parametrize("room", [6, 9])
def test_with_a_cache_the_outputs_are_the_same(parts, room):
    layer, x = layer_of(num_kv_heads=2), normal(B, 6, 8)
    lens = np.array([6, 4])
    want, cache, seen = layer(x, x, x, lens, causal=True), cache_of(layer, m=room), 0
    for size in parts:
        part = x[:, seen : seen + size]
        output = layer(part, part, part, lens, causal=True, cache=cache)
        close(output, want[:, seen : seen + size])
        seen += size
        assert cache.length[...] == seen
    assert cache.keys.shape == cache.values.shape == (B, 2, room, 2)


def test_one_compiled_step_fits_every_length_of_the_cache():
    layer, x, traced = layer_of(), normal(B, 6, 8), []

    @nnx.jit
    def step(layer, cache, token):
        traced.append(None)
        return layer(token, token, token, causal=True, cache=cache)

    want, cache = layer(x, x, x, causal=True), cache_of(layer)
    for i in range(6):
        close(step(layer, cache, x[:, i : i + 1])[:, 0], want[:, i])
    assert len(traced) == 1


def test_places_that_are_not_taken_are_not_seen_also_without_causal_order():
    layer, x = layer_of(), normal(B, 4, 8)
    cache = cache_of(layer)
    for part in (x[:, :2], x[:, 2:]):
        output, weights = layer(part, part, part, cache=cache, need_weights=True)
    close(output, layer(x[:, 2:], x, x))
    assert not np.asarray(weights)[..., 4:].any()


RULES = {  # which keys j query i may see, of six
    "strictly causal": np.tri(6, k=-1, dtype=bool),
    "at random": np.random.default_rng(3).random((6, 6)) < 0.5,
}


@pytest.mark.parametrize("mask", RULES.values(), ids=RULES)
@pytest.mark.parametrize("causal", [True, False])
def test_a_key_that_is_masked_now_may_be_seen_later(mask, causal):
    layer, x = layer_of(num_kv_heads=2), normal(B, 6, 8)
    mask = mask & np.tri(6, dtype=bool)  # token by token, nothing later is there to be seen
    want, cache = layer(x, x, x, mask=mask, causal=causal), cache_of(layer)
    for i in range(6):
        output = layer(*[x[:, i : i + 1]] * 3, mask=mask[i : i + 1], causal=causal, cache=cache)
        close(output[:, 0], want[:, i])


def test_a_key_outside_the_length_of_one_query_may_be_seen_by_a_later_one():
    layer, x = layer_of(), normal(B, 4, 8)
    lens = np.tile(np.arange(4), (B, 1))  # (b, n): strictly causal, as lengths
    want, cache = layer(x, x, x, lens), cache_of(layer, m=4)
    for i in range(4):
        output = layer(*[x[:, i : i + 1]] * 3, lens[:, i : i + 1], cache=cache)
        close(output[:, 0], want[:, i])


def test_a_cache_keeps_nan_of_the_padding_out():
    layer, x = layer_of(), normal(B, 4, 8).at[1, 3].set(NAN)
    cache = cache_of(layer)
    layer(x, x, x, [4, 3], cache=cache)
    assert np.isfinite(cache.keys[...]).all()
    assert np.isfinite(cache.values[...]).all()


def test_with_a_cache_only_new_keys_that_no_query_may_see_are_zeroed_out():
    layer, x = layer_of(), normal(1, 4, 8)
    mask = np.broadcast_to([False, True, True, True], (4, 4))  # an earlier key is padding
    want, cache = layer(x, x, x, mask=mask, causal=True), cache_of(layer, b=1, m=4)
    layer(*[x[:, :3]] * 3, mask=mask[:3], causal=True, cache=cache)
    close(layer(*[x[:, 3:]] * 3, mask=mask[3:], cache=cache), want[:, 3:])


def test_a_cache_without_room_is_refused_and_left_alone():
    layer, x = layer_of(), normal(B, 4, 8)
    cache = cache_of(layer, m=5)
    layer(x, x, x, cache=cache)
    keys = cache.keys[...]
    message = "cache has 5 places, 4 taken: no room for 4 more tokens"
    with pytest.raises(ValueError, match=message):
        layer(x, x, x, cache=cache)
    assert cache.keys[...] is keys
    assert cache.length[...] == 4
    with pytest.raises(ValueError, match="cache has 2 places, 0 taken: no room for 4 more tokens"):
        layer(x, x, x, cache=cache_of(layer, m=2))


@pytest.mark.parametrize(
    ("options", "b", "want"), [({}, 3, (3, 4, 2)), ({"num_kv_heads": 2}, 2, (2, 2, 2))]
)
def test_a_cache_of_another_batch_or_layer_is_refused_and_left_alone(options, b, want):
    cache, new = cache_of(layer_of()), normal(b, 1, 8)
    message = "cache must have keys of shape (b, heads, any, d) = ({}, {}, any, {}), got (2, 4, 6"
    with pytest.raises(ValueError, match=re.escape(message.format(*want))):
        layer_of(**options)(new, new, new, cache=cache)
    assert cache.length[...] == 0


@pytest.mark.parametrize(("values", "message"), [
    ((B, 4, 3, 5), "cache must have values of shape (b, heads, any, d) = (2, 4, any, 5), got"),
    ((B, 4, 2, 2), "there must be one value for each key; got keys (2, 4, 3, 2), values (2, 4, 2"),
    ((B, 1, 3, 2), "cache must have values of shape (b, heads, any, d) = (2, 1, any, 2), got"),
])  # fmt: skip
def test_values_that_do_not_fit_the_keys_are_refused_and_nothing_is_added(values, message):
    cache = cache_of(layer_of())
    with pytest.raises(ValueError, match=re.escape(message)):
        cache.append(jnp.ones((B, 4, 3, 2)), jnp.ones(values))
    assert cache.length[...] == 0
    assert not np.asarray(cache.keys[...]).any()


def test_a_call_that_fails_adds_nothing_to_the_cache():
    layer, x = layer_of(), normal(B, 2, 8)
    cache = cache_of(layer)
    for wrong in ({"valid_lens": [11, 3]}, {"mask": np.ones((5, 5), bool)}):
        with pytest.raises(ValueError, match=r"valid_lens|mask"):
            layer(x, x, x, cache=cache, **wrong)
    assert cache.length[...] == 0


# ---- numbers of every kind


def test_nan_in_the_padding_reaches_neither_outputs_nor_gradients():
    layer = layer_of(bias=True, num_kv_heads=2, **SIZES)

    @nnx.jit
    def gradients(layer, *arrays):
        def loss(layer, *arrays):
            return (layer(*arrays, [3, 0]) ** 2).sum()

        return nnx.grad(loss, argnums=(0, 1, 2, 3))(layer, *arrays)

    queries, keys, values = batch()
    want = jax.tree.leaves(gradients(layer, queries, keys, values))
    keys, values = (x.at[0, 3:].set(NAN).at[1].set(NAN) for x in (keys, values))
    for got, clean in zip(
        jax.tree.leaves(gradients(layer, queries, keys, values)), want, strict=True
    ):
        close(got, clean)


@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
@pytest.mark.parametrize("of_parameters", ["float32", "as the inputs"])
def test_the_output_has_the_type_of_the_inputs(dtype, of_parameters):
    kind = jnp.dtype(dtype if of_parameters == "as the inputs" else of_parameters)
    layer, arrays = layer_of(num_kv_heads=2, param_dtype=kind, **SIZES), batch(dtype=dtype)
    output, weights = layer(*arrays, [4, 2], need_weights=True)
    assert output.dtype == weights.dtype == layer(*arrays, [4, 2]).dtype == dtype
    want, _ = by_loops(layer, *(x.astype("float32") for x in arrays), [4, 2])
    close(output, want, 4 * TOLERANCE[dtype])


@pytest.mark.parametrize("of_cache", ["float32", "bfloat16"])
def test_a_cache_of_any_type_keeps_the_type_of_the_inputs(of_cache):
    layer, x = layer_of(), normal(B, 4, 8, dtype="bfloat16")
    want, cache = layer(x, x, x, causal=True), KeyValueCache(B, 4, 4, 2, jnp.dtype(of_cache))
    for i in range(4):
        output = layer(*[x[:, i : i + 1]] * 3, causal=True, cache=cache)
        assert output.dtype == jnp.bfloat16
        close(output[:, 0], want[:, i], 4 * TOLERANCE["bfloat16"])
    assert cache.keys.dtype == of_cache


def test_a_layer_computes_in_its_dtype_if_it_has_one():
    output = layer_of(dtype=jnp.bfloat16, **SIZES)(*batch(), [4, 2])
    assert output.dtype == jnp.bfloat16
    close(output, layer_of(**SIZES)(*batch(), [4, 2]), 4 * TOLERANCE["bfloat16"])


def test_weights_are_dropped_in_training_only():
    layer = layer_of(dropout=0.5, **SIZES)
    close(layer(*batch()), layer(*batch()), 0)
    layer.train()
    output, weights = layer(*batch(), need_weights=True)
    assert (np.asarray(layer(*batch())) != np.asarray(output)).any()
    close(weights.sum(-1), np.ones((B, 4, N)))
