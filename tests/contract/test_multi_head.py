"""Multi-head attention: a loop over heads, shared keys, causal order and the cache."""

import numpy as np
import pytest

from tests.contract import oracle
from tests.contract.comparing import TOLERANCE, attend, close, differences, refuses, slopes
from tests.contract.framework import adapter, array, dtype_of, numpy, ours, parameters, rounded
from tests.contract.samples import LENS, MASKS, NAN, B, D, M, N, V, batch, normal

SIZES = {"query_size": D, "key_size": D, "value_size": V}
FIXED_CACHE = "KeyValueCache" in adapter.OWN_ARGUMENTS_OF  # in others it grows
GROUPS = [{}, {"num_kv_heads": 2}, {"num_kv_heads": 1, "bias": True}]


def layer_of(num_hiddens=8, num_heads=4, **options):
    """Return a layer for self-attention of 8 features; with SIZES for `batch`."""
    return adapter.make("MultiHeadAttention", num_hiddens, num_heads, **options)


def by_heads(p, arrays, lens=None, mask=None, num_heads=4, score=oracle.scaled_dot_score):
    """One head at a time, by loops, with parameters p: outputs and weights (b, H, n, m)."""

    def projected(x, name):
        return x @ p[name].T + p.get(f"{name}.bias", 0)

    q, k, v = (projected(x, n) for x, n in zip(arrays, ("W_q", "W_k", "W_v"), strict=True))
    d = q.shape[-1] // num_heads
    shared = q.shape[-1] // k.shape[-1]
    outputs, weights = [], []
    for head in range(num_heads):
        own, group = (slice(i * d, (i + 1) * d) for i in (head, head // shared))
        parts = q[..., own], k[..., group], v[..., group]
        output, weight = oracle.attention(score, parts, lens, mask)
        outputs.append(output)
        weights.append(weight)
    return projected(np.concatenate(outputs, -1), "W_o"), np.stack(weights, 1)


@pytest.mark.parametrize("options", GROUPS)
@pytest.mark.parametrize("lens", [None, [4, 2], LENS["(b, n)"]])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_a_loop_over_heads(options, lens, mask):
    layer = layer_of(**SIZES, **options)
    output, weights = attend(layer, *batch(), lens, mask=mask)
    want, shown = by_heads(parameters(layer), batch(), lens, mask)
    close(output, want)
    close(weights, shown)


@pytest.mark.parametrize("examples", [1, B])
def test_each_head_may_have_a_mask_of_its_own(examples):
    layer = layer_of(**SIZES)
    mask = np.random.default_rng(0).random((examples, 4, N, M)) < 0.7
    for causal in (False, True):
        _, weights = attend(layer, *batch(), [4, 2], mask=mask, causal=causal)
        order = np.tri(N, M, M - N if causal else M, dtype=bool)
        seen = mask & order & (np.arange(M) < np.array([4, 2])[:, None, None, None])
        assert ((numpy(weights) > 0) == seen).all()


def test_gradients_are_those_of_the_loop_also_for_parameters_and_none_is_nan_by_padding():
    layer, arrays, lens = layer_of(4, 2, num_kv_heads=1, bias=True, **SIZES), batch(), [3, 0]
    values = parameters(layer)

    def squares(*inputs):
        p = dict(zip(values, inputs[3:], strict=True))
        return by_heads(p, inputs[:3], lens, num_heads=2)[0] ** 2

    want = differences(squares, [*arrays, *values.values()], np.ones((B, N, 4)))
    behind = np.array([[0, 0, 0, 1], [1, 1, 1, 1]], bool)[..., None]
    spoilt = [arrays[0], *(np.where(behind, NAN, x) for x in arrays[1:])]
    for got in (slopes(layer, x, lens, size=4) for x in (arrays, spoilt)):
        for one, other in zip(got, want, strict=True):
            close(one, other, 1e-4)
    close(attend(layer, *spoilt, lens)[0], attend(layer, *arrays, lens)[0])


def test_any_score_of_the_book_fits_inside():
    layer = layer_of(attention=ours.DistanceAttention, **SIZES)
    want, _ = by_heads(parameters(layer), batch(), [4, 2], score=oracle.distance_score)
    close(attend(layer, *batch(), [4, 2])[0], want)


# ---- causal order


@pytest.mark.parametrize(("b", "n", "m"), [(B, n, M) for n in range(7)] + [(0, N, M), (B, N, 0)])
def test_the_queries_are_the_last_of_the_places(b, n, m):
    output, weights = attend(layer_of(num_kv_heads=2, **SIZES), *batch(b, n, m), causal=True)
    seen = np.arange(m) <= m - n + np.arange(n)[:, None]
    assert ((numpy(weights) > 0) == seen).all()
    assert m > 0 or not numpy(output).any()


# ---- the cache


def new_cache(layer, b: int, m: int, d: int):
    sizes = (b, layer.num_kv_heads, m, d) if FIXED_CACHE else ()
    return ours.KeyValueCache(*sizes)


def cached(cache) -> tuple:
    """Return the keys and values that a cache holds, (b, heads, read, d)."""
    read = int(cache.length[...]) if FIXED_CACHE else None
    return cache.keys[:, :, :read], cache.values[:, :, :read]


def in_parts(layer, x, parts, need_weights=True, room=0, **each):
    """Return the outputs of x, read in parts with one cache, and that cache.

    `each` may have lens=function(first, end) of a part, a mask for all, and causal.
    """
    cache, outputs, read = new_cache(layer, len(x), x.shape[1] + room, 2), [], 0
    for size in parts:
        part, end = array(x[:, read : read + size]), read + size
        lens = each["lens"](read, end) if "lens" in each else None
        options = {"causal": each.get("causal", False)}
        if "mask" in each:
            columns = x.shape[1] + room if FIXED_CACHE else end  # one for each place
            options["mask"] = array(each["mask"][read:end, :columns])
        inputs = (part, part, part, lens)
        options |= {"cache": cache, "need_weights": need_weights}
        outputs.append(numpy(adapter.call(layer, *inputs, **options)[0]))
        read = end
        keys, values = cached(cache)
        assert keys.shape == values.shape == (len(x), layer.num_kv_heads, read, 2)
    return np.concatenate(outputs, 1), cache


@pytest.mark.parametrize("parts", [[6], [1] * 6, [4, 2], [2, 1, 3]])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("attention", ["DotProductAttention", "DistanceAttention"])
def test_with_a_cache_the_outputs_are_the_same(parts, need_weights, attention):
    layer, x = layer_of(num_kv_heads=2, attention=getattr(ours, attention)), normal(B, 6, 8)
    want, _ = attend(layer, x, x, x, [6, 4], causal=True)
    got, _ = in_parts(layer, x, parts, need_weights, causal=True,
                      lens=lambda first, end: [min(length, end) for length in (6, 4)])  # fmt: skip
    close(got, want)


def test_without_causal_order_all_that_has_been_read_is_seen():
    layer, x = layer_of(), normal(B, 4, 8)
    got, _ = in_parts(layer, x, [2, 2], room=3)
    close(got[:, 2:], attend(layer, x[:, 2:], x, x)[0])


RULES = {  # which keys j query i may see, of six: a step with one token may hide its own key
    "strictly causal": np.tri(6, k=-1, dtype=bool),
    "at random": np.tri(6, dtype=bool) & (np.random.default_rng(3).random((6, 6)) < 0.5),
    "the first key is padding": np.tri(6, dtype=bool) & (np.arange(6) > 0),
}


@pytest.mark.parametrize("mask", RULES.values(), ids=RULES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("parts", [[1] * 6, [5, 1]])
def test_a_key_that_no_present_query_may_see_is_kept_for_later_ones(mask, causal, parts):
    layer, x = layer_of(num_kv_heads=2), normal(B, 6, 8)
    want, _ = attend(layer, x, x, x, mask=mask, causal=causal)
    for need_weights in (True, False):
        close(in_parts(layer, x, parts, need_weights, mask=mask, causal=causal)[0], want)


def test_lengths_for_each_query_hide_a_key_from_present_queries_only():
    layer, x = layer_of(), normal(B, 4, 8)
    lens = np.array([[0, 1, 1, 3], [0, 0, 2, 4]])
    got, _ = in_parts(layer, x, [1] * 4, lens=lambda first, end: lens[:, first:end].tolist())
    close(got, attend(layer, x, x, x, lens.tolist())[0])


@pytest.mark.parametrize("parts", [[4], [3, 1]])
def test_a_cache_keeps_nan_of_the_padding_out(parts):
    layer, x = layer_of(bias=True, num_kv_heads=2), normal(B, 4, 8)
    want, _ = attend(layer, x, x, x, [4, 3], causal=True)
    x[1, 3] = NAN
    got, cache = in_parts(layer, x, parts, causal=True,
                          lens=lambda first, end: [min(end, 4), min(end, 3)])  # fmt: skip
    assert all(np.isfinite(numpy(held)).all() for held in cached(cache))
    close(got[0], want[0])
    close(got[1, :3], want[1, :3])


@pytest.mark.parametrize(
    ("options", "b", "want"), [({}, 3, (3, 4, 2)), ({"num_kv_heads": 2}, 2, (2, 2, 2))]
)
def test_a_cache_of_another_batch_or_layer_is_refused_and_left_alone(options, b, want):
    _, cache = in_parts(layer_of(), normal(B, 4, 8), [4], room=1)
    held, new = [numpy(x) for x in cached(cache)], array(normal(b, 1, 8))
    message = "cache must have keys of shape (b, heads, any, d) = ({}, {}, any, {}), got (2, 4, "
    other = layer_of(**options)
    with pytest.raises(ValueError, match="new one for each batch and each layer"):
        adapter.call(other, *[new] * 3, cache=cache, need_weights=False)
    refuses(other, ValueError, message.format(*want), *[new] * 3, cache=cache)
    for now, before in zip(cached(cache), held, strict=True):
        close(now, before, 0)


def test_a_cache_refuses_values_that_do_not_fit_its_keys():
    cache = new_cache(layer_of(), B, 6, 2)
    keys, values = array(np.ones((B, 4, 3, 2))), array(np.ones((B, 4, 2, 2)))
    wanted = "keys and values must be (b, heads, new, d), and one value for each key; got keys "
    message = f"{wanted}(2, 4, 3, 2), values (2, 4, 2, 2)"
    refuses(cache.append, ValueError, message, keys, values)
    refuses(cache.append, ValueError, f"{wanted}(2, 4, 3)", *[array(np.ones((B, 4, 3)))] * 2)
    cache.append(keys, keys)
    message = "cache must have values of shape (b, heads, any, d) = (2, 4, any, 5), got (2, 4, "
    refuses(cache.append, ValueError, message, keys, array(np.ones((B, 4, 3, 5))))
    assert all(held.shape[2] == 3 for held in cached(cache))


def test_a_call_that_fails_adds_nothing_to_the_cache():
    layer, x = layer_of(), normal(B, 4, 8)
    _, cache = in_parts(layer, x, [4], room=4)
    for wrong in ({"valid_lens": [11, 3]}, {"mask": array(np.ones((5, 5), bool))}):
        with pytest.raises(ValueError, match=r"valid_lens|mask"):
            layer(*[array(x)] * 3, cache=cache, **wrong)
    assert cached(cache)[0].shape[2] == 4


of_fixed_size = pytest.mark.skipif(not FIXED_CACHE, reason="a cache that grows")


@of_fixed_size
def test_one_compiled_step_fits_every_length_of_a_cache_of_fixed_size():
    layer, x, cache = layer_of(), normal(B, 6, 8), ours.KeyValueCache(B, 4, 6, 2)
    want, _ = attend(layer, x, x, x, causal=True)
    step, traced = adapter.compiled(
        lambda layer, cache, token: layer(token, token, token, causal=True, cache=cache)
    )
    for i in range(6):
        close(step(layer, cache, array(x[:, i : i + 1])), numpy(want)[:, i : i + 1])
    assert len(traced) == 1


@of_fixed_size
def test_a_cache_without_room_is_refused_and_left_alone():
    layer, x = layer_of(), array(normal(B, 4, 8))
    cache, small = ours.KeyValueCache(B, 4, 6, 2), ours.KeyValueCache(B, 4, 2, 2)
    layer(x, x, x, cache=cache)
    held = [numpy(x) for x in cached(cache)]
    message = "cache has 6 places, 4 taken: no room for 4 more tokens"
    refuses(layer, ValueError, message, x, x, x, cache=cache)
    for now, before in zip(cached(cache), held, strict=True):
        close(now, before, 0)
    compiled, _ = adapter.compiled(lambda layer, cache: layer(x, x, x, cache=cache))
    message = "cache has 2 places: no room for 4 more tokens"
    refuses(compiled, ValueError, message, layer, small)


@of_fixed_size
@pytest.mark.parametrize("of_cache", ["float32", "bfloat16"])
def test_a_cache_of_any_type_keeps_the_type_of_the_inputs(of_cache):
    layer, x = layer_of(dtype="bfloat16"), array(normal(B, 4, 8), "bfloat16")
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 4, 4, 2, of_cache)
    for i in range(4):
        output = layer(*[x[:, i : i + 1]] * 3, causal=True, cache=cache)
        assert dtype_of(output) == "bfloat16"
        close(output, want[:, i : i + 1], 4 * TOLERANCE["bfloat16"])
    assert dtype_of(cache.keys) == of_cache


# ---- numbers of every kind


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_data_type_stays(dtype):
    layer = layer_of(dtype=dtype, num_kv_heads=2, **SIZES)
    assert {dtype_of(p) for p in adapter.parameters(layer).values()} == {dtype}
    output, weights = attend(layer, *batch(), [4, 2], dtype=dtype)
    assert dtype_of(output) == dtype_of(weights) == dtype
    arrays = [rounded(x, dtype) for x in batch()]
    close(output, by_heads(parameters(layer), arrays, [4, 2])[0], 4 * TOLERANCE[dtype])
    given, cache = [array(x, dtype) for x in batch(m=4)], new_cache(layer, B, 6, 2)
    assert dtype_of(layer(*given, causal=True, cache=cache)) == dtype


# ---- input that does not fit


def test_heads_and_groups_of_heads_must_divide():
    for number in (3, 16):
        message = f"num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got {number}"
        refuses(layer_of, ValueError, message, 8, number)
    for number in (3, 8):
        message = f"num_kv_heads must divide num_heads = 4: one of [1, 2, 4], got {number}"
        refuses(layer_of, ValueError, message, num_kv_heads=number)


def test_inputs_of_other_axes_and_values_of_another_dimension_are_refused():
    layer, arrays = layer_of(**SIZES), batch()
    inputs = map(array, [*arrays[:2], np.ones((B, M, 3))])
    refuses(layer, ValueError, "values must have dimension 2, got (2, 4, 3)", *inputs)
    if not getattr(adapter, "LIKE_FLAX", False):
        heads = map(array, batch(heads=(2,)))
        refuses(layer, ValueError, "queries must have 3 axes (b, n, d), got (2, 2, 3, 3)", *heads)
        refuses(layer, ValueError, "must have 3 axes", *(array(x[0]) for x in arrays))
