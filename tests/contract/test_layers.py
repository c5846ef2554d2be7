"""Every attention class against the oracle, and against what its docstring promises."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract import oracle, samples
from tests.contract.comparing import HALF, TOLERANCE, attend, close, differences, gradients
from tests.contract.framework import adapter, array, dtype_of, numpy, ours, parameters, rounded
from tests.contract.samples import ATTENTIONS, INF, LENS, MASKS, NAN, B, D, M, N, V, batch, normal

of_heads = partial(samples.Score, "MultiHeadAttention")
PAIRS = samples.HEADS | {"num_hiddens": 8, "num_heads": 4, "num_kv_heads": 2}
ONE = samples.HEADS | {"num_kv_heads": 1, "bias": True, "attention": ours.DistanceAttention}
LAYERS = ATTENTIONS | {
    "heads": of_heads(samples.HEADS, oracle.scaled_dot_score),
    "heads in pairs": of_heads(PAIRS, oracle.scaled_dot_score),
    "heads by distance": of_heads(ONE, oracle.distance_score),
}
every_layer = pytest.mark.parametrize("name", LAYERS)
SHAPES = [(B, N, M, V), (1, 1, 1, 1), (0, N, M, V), (B, 0, M, V), (B, N, 0, V), (B, N, M, 0)]
SHAPES += [(B, N, M, D), (B, N, M, 5)]  # values as long as keys, and longer


def in_loops(name, p, arrays, lens=None, mask=None):
    """Outputs and weights of the layer `name` with parameters p, by loops, head by head."""
    if "W_v" not in p:
        return oracle.attention(LAYERS[name].score(p), arrays, lens, mask)
    names = zip(arrays, ("W_q", "W_k", "W_v"), strict=True)
    q, k, v = (x @ p[W].T + p.get(f"{W}.bias", 0) for x, W in names)
    heads = LAYERS[name].sizes["num_heads"]
    shared = q.shape[-1] // k.shape[-1]
    q, k, v = np.split(q, heads, -1), *(np.split(x, heads // shared, -1) for x in (k, v))
    parts = ((q[i], k[i // shared], v[i // shared]) for i in range(heads))
    found = [oracle.attention(LAYERS[name].formula, part, lens, mask) for part in parts]
    joined = np.concatenate([output for output, _ in found], -1)
    return joined @ p["W_o"].T + p.get("W_o.bias", 0), np.stack([w for _, w in found], 1)


def compare(got, want, tolerance=1e-5):
    for one, other in zip(got, want, strict=True):
        close(one, other, tolerance)


@every_layer
@settings(max_examples=20)
@given(st.data(), st.sampled_from(SHAPES))
def test_it_equals_the_loop_over_queries_and_keys(name, data, sizes):
    b, n, m, v = sizes
    arrays, layer = batch(b, n, m, v if name in ATTENTIONS else V), LAYERS[name].make()
    lens, mask = data.draw(samples.lengths(b, n, m)), data.draw(samples.masks((b, n, m)))
    found = attend(layer, *arrays, lens, mask=mask)
    want = in_loops(name, parameters(layer), arrays, lens, mask)
    compare(found, want)
    assert ((numpy(found[1]) == 0) == (want[1] == 0)).all()


def test_dropout_drops_whole_weights_in_training_only_and_doubles_the_others():
    layer = adapter.in_training(adapter.make("DotProductAttention", dropout=0.5))
    ones, seen = [array(np.ones(s)) for s in ((64, 1, D), (64, 2, D), (64, 2, V))], []
    for need_weights in (True, False, False):
        output, weights = adapter.call(layer, *ones, need_weights=need_weights)
        seen.append(numpy(output)[:, 0])
        assert (seen[-1][:, 0] == seen[-1][:, 1]).all()
        close(np.unique(seen[-1]), [0, 1, 2])  # none, one or both of two weights, doubled
        if need_weights:  # those before dropout
            close(weights, np.full((64, 1, 2), 0.5))
    assert (seen[1] != seen[2]).any()


@pytest.mark.parametrize("name", ATTENTIONS)
def test_heads_are_computed_one_by_one_and_one_example_needs_no_axis_for_the_batch(name):
    arrays, layer = batch(heads=(2,)), LAYERS[name].make()
    for i, lens in itertools.product(range(2), LENS.values()):
        found = [numpy(x)[:, i] for x in attend(layer, *arrays, lens)]
        compare(found, in_loops(name, parameters(layer), [x[:, i] for x in arrays], lens))
    for lens, mask in ((None, None), (3, None), ([1, 0, 4], MASKS["(n, m)"])):
        want = in_loops(name, parameters(layer), [x[:1] for x in batch()], lens and [lens], mask)
        compare(attend(layer, *(x[0] for x in batch()), lens, mask=mask), [x[0] for x in want])


@every_layer
@pytest.mark.parametrize("lens", [[4, 2], [0, 3], [[1, 2, 3], [2, 0, 1]]])
def test_outputs_and_gradients_are_those_of_the_loop_whatever_stands_in_the_padding(name, lens):
    arrays, layer = batch(), LAYERS[name].make()
    values = parameters(layer)

    def squares(queries, keys, given_values, *of_layer):
        p = dict(zip(values, of_layer, strict=True))
        return in_loops(name, p, (queries, keys, given_values), lens)[0] ** 2

    want = in_loops(name, values, arrays, lens)
    slope = differences(squares, [*arrays, *values.values()], np.ones(want[0].shape))
    hidden = (np.arange(M) >= np.reshape(lens, (B, -1)).max(-1)[:, None])[..., None]
    for fillings in ((NAN, NAN), (NAN, 0), (0, INF), (1e30, -1e30)):
        filled = zip(fillings, arrays[1:], strict=True)
        spoilt = [arrays[0], *(np.where(hidden, filling, x) for filling, x in filled)]
        compare(attend(layer, *spoilt, lens), want)
        for options in ({}, {"need_weights": False}):
            compare(adapter.slopes(layer, [*map(array, spoilt)], lens, **options), slope, 1e-4)


@every_layer
def test_nan_in_a_pair_that_is_looked_at_stays_visible(name):
    for which, need_weights in ((1, True), (1, False), (2, True), (2, False)):
        arrays = batch()
        arrays[which][0, 1, 0] = NAN
        given = [*map(array, arrays), [2, 2]]
        output, _ = adapter.call(LAYERS[name].make(), *given, need_weights=need_weights)
        assert np.isnan(numpy(output)).any((1, 2)).tolist() == [True, False]


@every_layer
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_outputs_have_the_type_of_the_inputs_and_dropout_in_training_leaves_none(name, dtype):
    layer = LAYERS[name].make(dtype=dtype, dropout=1.0)
    arrays = [rounded(x, dtype) for x in batch()]
    found = attend(layer, *batch(), [0, 3], dtype=dtype)
    assert {dtype_of(x) for x in (*found, *adapter.parameters(layer).values())} == {dtype}
    compare(found, in_loops(name, parameters(layer), arrays, [0, 3]), 4 * TOLERANCE[dtype])
    inputs = (array(x, dtype) for x in arrays)
    output, _ = adapter.call(adapter.in_training(layer), *inputs, need_weights=False)
    assert (numpy(output) == numpy(output)[:1, :1]).all()  # nothing, or a bias


@pytest.mark.parametrize("block", [1, 30, 2**18])
@pytest.mark.parametrize("heads", [(), (2,)])
def test_additive_scores_are_the_same_in_blocks_of_any_size(block, heads):
    arrays = normal(B, *heads, N, 5), normal(B, *heads, M, 5, seed=1), normal(5, seed=2)
    function, direction = partial(adapter.additive_scores, block=block), normal(B, *heads, N, M)

    def formula(q, k, w):
        return np.tanh(q[..., :, None, :] + k[..., None, :, :]) @ w

    close(function(*map(array, arrays)), formula(*arrays))
    compare(gradients(function, arrays, direction), differences(formula, arrays, direction))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_unit_vectors_have_length_1_or_0_whatever_their_length_and_finite_gradients(dtype):
    x = np.array([[3.0, 4], [0, 0], [-0.5, 0]])
    for size in (1, 1e-3, 1e4) if dtype == "float16" else (1, 1e-30, 1e29):
        unit = ours.unit_vectors(array(size * x, dtype))
        assert dtype_of(unit) == dtype
        close(unit, [[0.6, 0.8], [0, 0], [-1, 0]], max(TOLERANCE[dtype], 1e-6))
    many = array(np.full((1, 4096), 1100.0), dtype)  # the squares of float16 overflow
    close(ours.unit_vectors(many), np.full((1, 4096), 1 / 64), 2 * TOLERANCE[dtype])
    (gradient,) = gradients(ours.unit_vectors, [x], np.ones((3, 2)))
    close(gradient, [[0.032, -0.024], [1, 1], [0, 2]])


@pytest.mark.parametrize("dtype", HALF)
def test_large_scores_of_half_inputs_are_not_rounded(dtype):
    arrays = 8 * normal(B, N, 4), 8 + normal(B, M, 4, seed=1) / 8, normal(B, M, V)
    arrays = [rounded(x, dtype) for x in arrays]
    sums = adapter.additive_scores(*(array(x, dtype) for x in (*arrays[:2], normal(4))))
    assert dtype_of(sums) == "float32"
    for name, options in (("dot", {}), ("distance", {}), ("cosine", {"temperature": 0.01})):
        score = partial(ATTENTIONS[name].formula, **options, **options and {"log_ratio": 0})
        _, weights = attend(adapter.make(ATTENTIONS[name].kind, **options), *arrays, dtype=dtype)
        close(weights, oracle.attention(score, arrays)[1], TOLERANCE[dtype] / 2)


def test_a_device_is_a_gpu_where_there_is_one_unless_one_is_forced(monkeypatch):
    for forced, gpus, i, place in (("", 0, 0, 0), ("", 1, 0, 1), ("", 1, 1, 0), ("cpu", 1, 0, 0)):
        monkeypatch.setenv("D2L_DEVICE", forced)
        assert adapter.devices(monkeypatch, gpus)[place] == ours.try_gpu(i)
