"""Multi-head attention: masks of heads, causal order, shared keys and the cache."""

import inspect

import numpy as np
import pytest

from tests.contract.comparing import TOLERANCE, attend, close, refuses
from tests.contract.framework import adapter, array, dtype_of, numpy, ours
from tests.contract.samples import NAN, SIZES, B, M, N, V, batch, normal

FIXED_CACHE = bool(inspect.signature(ours.KeyValueCache).parameters)  # in others it grows


def layer_of(num_hiddens=8, num_heads=4, **options):
    """Return a layer for self-attention of 8 features."""
    return adapter.make("MultiHeadAttention", num_hiddens, num_heads, **options)


@pytest.mark.parametrize(("b", "n", "m"), [(B, n, M) for n in range(7)] + [(0, N, M), (B, N, 0)])
def test_heads_have_masks_of_their_own_and_the_queries_are_the_last_of_the_places(b, n, m):
    layer, rng = layer_of(num_kv_heads=2, value_size=V, **SIZES), np.random.default_rng(0)
    order = np.arange(m) <= m - n + np.arange(n)[:, None]
    inside = np.arange(m) < np.array([4, 2])[:b, None, None, None]
    for examples in (1, b):
        mask, lens = rng.random((examples, 4, n, m)) < 0.7, [min(m, 4), min(m, 2)][:b]
        for keep, given in (
            (order, {"causal": True}),
            (mask & inside, {"mask": mask, "valid_lens": lens}),
            (mask & inside & order, {"mask": mask, "valid_lens": lens, "causal": True}),
        ):
            _, weights = attend(layer, *batch(b, n, m), **given)
            assert ((numpy(weights) > 0) == keep).all()


def cached(cache) -> list[np.ndarray]:
    """Return the keys and values that a cache holds, (b, heads, read, d)."""
    read = int(cache.length[...]) if FIXED_CACHE else None
    return [numpy(held[:, :, :read]) for held in (cache.keys, cache.values)]


def in_parts(layer, x, parts, lens=None, mask=None, room=0, **options):
    """Return the outputs of x, read in parts with one cache, and that cache."""
    sizes = (len(x), layer.num_kv_heads, x.shape[1] + room, 2) if FIXED_CACHE else ()
    cache, outputs, first = ours.KeyValueCache(*sizes), [], 0
    for end in np.cumsum(parts):
        part, given = array(x[:, first:end]), {"cache": cache, "need_weights": True} | options
        if lens is not None:  # of those read so far
            now = np.array(lens)[:, first:end] if np.ndim(lens) == 2 else np.minimum(lens, end)
            given["valid_lens"] = now.tolist()
        if mask is not None:  # a cache of fixed size has a column for each place
            given["mask"] = array(mask[first:end, : None if FIXED_CACHE else end])
        outputs.append(numpy(adapter.call(layer, part, part, part, **given)[0]))
        first = end
        assert all(held.shape == (len(x), layer.num_kv_heads, end, 2) for held in cached(cache))
    return np.concatenate(outputs, 1), cache


SEEN = {  # a step with one token may hide its own key
    "lengths": {"lens": [6, 4], "causal": True},
    "lengths of queries": {"lens": [[0, 1, 1, 3, 2, 6], [0, 0, 2, 4, 5, 1]]},
    "strictly causal": {"mask": np.tri(6, k=-1, dtype=bool)},
    "at random": {"mask": np.tri(6, dtype=bool) & (np.random.default_rng(3).random((6, 6)) < 0.5)},
    "the first key is padding": {"mask": np.tri(6, dtype=bool) & (np.arange(6) > 0)},
    "and in order": {"mask": np.tri(6, k=-1, dtype=bool), "causal": True},
}


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize("parts", [[6], [1] * 6, [5, 1], [2, 1, 3]])
def test_with_a_cache_the_outputs_are_the_same_and_nan_of_padding_stays_out(seen, parts):
    for need_weights in (True, False):
        attention = ours.DotProductAttention if need_weights else ours.DistanceAttention
        layer = layer_of(num_kv_heads=2, bias=True, attention=attention)
        x, lens = normal(B, 6, 8), seen.get("lens")
        want, _ = attend(layer, x, x, x, lens, **{k: seen[k] for k in seen if k != "lens"})
        if np.ndim(lens) == 1:
            x[1, 4:] = NAN
        real = ~np.isnan(x).any(-1)  # a padded query gives NaN
        got, cache = in_parts(layer, x, parts, **seen, need_weights=need_weights)
        close(got[real], numpy(want)[real])
        assert all(np.isfinite(held).all() for held in cached(cache))


FITS = "cache must have keys of shape (b, heads, any, d) = "
PAIRS = "keys and values must be (b, heads, new, d), and one value for each key; got keys "


def test_what_does_not_fit_a_cache_is_refused_and_leaves_it_alone():
    _, cache = in_parts(layer_of(), normal(B, 4, 8), [4], room=1)
    held, pairs, given = cached(cache), layer_of(num_kv_heads=2), {"cache": cache}
    long, wide = given | {"valid_lens": [9, 3]}, given | {"mask": array(np.eye(6) > 0)}
    parts = [(2, 4, 3, 2), (2, 4, 2, 2)]
    values = "cache must have values of shape (b, heads, any, d) = (2, 4, any, 5), got (2, 4, "
    for message, call, shapes, options in (
        (f"{PAIRS}(2, 4, 3, 2), values (2, 4, 2, 2)", cache.append, parts, {}),
        (f"{PAIRS}(2, 4, 3)", cache.append, [(2, 4, 3)] * 2, {}),
        (values, cache.append, [(2, 4, 1, 2), (2, 4, 1, 5)], {}),
        (f"{FITS}(3, 4, any, 2), got (2, 4, ", layer_of(), [(3, 1, 8)] * 3, given),
        (f"{FITS}(2, 2, any, 2), got (2, 4, ", pairs, [(2, 1, 8)] * 3, given),
        ("valid_lens must lie in 0..5, ", layer_of(), [(2, 1, 8)] * 3, long),
        ("mask must broadcast to ", layer_of(), [(2, 1, 8)] * 3, wide),
        ("5 places, 4 taken: no room for 2 more tokens", layer_of(), [(2, 2, 8)] * 3, given),
    )[: None if FIXED_CACHE else -1]:
        refuses(call, ValueError, message, *(array(np.ones(shape)) for shape in shapes), **options)
        for now, before in zip(cached(cache), held, strict=True):
            close(now, before, 0)


@pytest.mark.skipif(not FIXED_CACHE, reason="a cache that grows")
@pytest.mark.parametrize("of_cache", ["float32", "bfloat16"])
def test_a_cache_of_fixed_size_has_one_compiled_step_and_so_much_room(of_cache):
    layer, x, traced = layer_of(dtype="bfloat16"), array(normal(B, 6, 8), "bfloat16"), []
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 4, 6, 2, of_cache)

    def read(layer, cache, token):
        traced.append(None)
        return layer(token, token, token, causal=True, cache=cache)

    step = adapter.compiled(read)
    for i in range(6):
        output = step(layer, cache, x[:, i : i + 1])
        assert (dtype_of(output), dtype_of(cache.keys)) == ("bfloat16", of_cache)
        close(output, want[:, i : i + 1], 4 * TOLERANCE["bfloat16"])
    assert len(traced) == 1
    message, small = "cache has 2 places: no room for 6 more tokens", ours.KeyValueCache(B, 4, 2, 2)
    refuses(step, ValueError, message, layer, small, x)
