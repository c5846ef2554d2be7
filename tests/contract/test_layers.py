"""Every attention class against the oracle, and against what its docstring promises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract import oracle, samples
from tests.contract.comparing import (
    HALF,
    TOLERANCE,
    attend,
    close,
    differences,
    gradients,
    refuses,
    slopes,
)
from tests.contract.framework import adapter, array, dtype_of, numpy, ours, parameters, rounded
from tests.contract.samples import ATTENTIONS, INF, LENS, MASKS, NAN, B, D, M, N, V, batch, normal

every_score = pytest.mark.parametrize("name", ATTENTIONS)
SHAPES = [(B, N, M, V), (1, 1, 1, 1), (0, N, M, V), (B, 0, M, V), (B, N, 0, V), (B, N, M, 0)]
SHAPES += [(B, N, M, D), (B, N, M, 5)]  # values as long as keys, and longer


def in_loops(name, arrays, lens=None, mask=None):
    """Outputs and weights of the layer `name` by loops."""
    score = ATTENTIONS[name].score(parameters(ATTENTIONS[name].make()))
    return oracle.attention(score, arrays, lens, mask)


@every_score
@settings(max_examples=20)
@given(st.data(), st.sampled_from(SHAPES))
def test_it_equals_the_loop_over_queries_and_keys(name, data, sizes):
    b, n, m, _ = sizes
    arrays, layer = batch(*sizes), ATTENTIONS[name].make()
    lens, mask = data.draw(samples.lengths(b, n, m)), data.draw(samples.masks((b, n, m)))
    output, weights = attend(layer, *arrays, lens, mask=mask)
    want, shown = in_loops(name, arrays, lens, mask)
    close(output, want)
    close(weights, shown)
    assert ((numpy(weights) == 0) == (shown == 0)).all()


@every_score
@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
def test_heads_are_computed_one_by_one(name, lens):
    arrays, layer = batch(heads=(2,)), ATTENTIONS[name].make()
    output, weights = (numpy(x) for x in attend(layer, *arrays, lens))
    assert output.shape == (B, 2, N, V)
    for head in range(2):
        want, shown = in_loops(name, [x[:, head] for x in arrays], lens)
        close(output[:, head], want)
        close(weights[:, head], shown)


@every_score
def test_one_example_needs_no_axis_for_the_batch(name):
    layer = ATTENTIONS[name].make()
    for lens, mask in ((None, None), (3, None), ([1, 0, 4], MASKS["(n, m)"])):
        both = (attend(layer, *(x[:1] for x in batch()), lens and [lens], mask=mask),
                attend(layer, *(x[0] for x in batch()), lens, mask=mask))  # fmt: skip
        for want, got in zip(*both, strict=True):
            close(got, numpy(want)[0])


@every_score
@pytest.mark.parametrize("lens", [[4, 2], [0, 3]])
def test_gradients_are_those_of_the_loop_also_for_parameters(name, lens):
    arrays, layer = batch(), ATTENTIONS[name].make()
    values = parameters(layer)

    def squares(queries, keys, given_values, *of_layer):
        score = ATTENTIONS[name].score(dict(zip(values, of_layer, strict=True)))
        return oracle.attention(score, (queries, keys, given_values), lens)[0] ** 2

    want = differences(squares, [*arrays, *values.values()], np.ones((B, N, V)))
    for got in (slopes(layer, arrays, lens, need_weights=False), slopes(layer, arrays, lens)):
        for one, other in zip(got, want, strict=True):
            close(one, other, 1e-4)


@every_score
@pytest.mark.parametrize("fillings", [(1e30, -1e30), (NAN, 0), (0, INF), (NAN, NAN), (1e37, 1e37)])
@pytest.mark.parametrize("lens", [[4, 2], [0, 3], [[1, 2, 3], [2, 0, 1]]])
def test_padding_reaches_neither_output_nor_gradients(name, fillings, lens):
    layer, (queries, keys, values) = ATTENTIONS[name].make(), batch()
    keys, values = (np.where(behind(lens), 0, x) for x in (keys, values))
    spoilt = [np.where(behind(lens), f, x) for f, x in zip(fillings, (keys, values), strict=True)]
    clean = [queries, keys, values]
    results = attend(layer, queries, *spoilt, lens), attend(layer, *clean, lens)
    for got, want in zip(*results, strict=True):
        close(got, want)
    results = slopes(layer, [queries, *spoilt], lens), slopes(layer, clean, lens)
    for got, want in zip(*results, strict=True):
        close(got, want, 1e-4)


def behind(lens) -> np.ndarray:
    """True (b, m, 1) at the keys that no query sees."""
    most = np.array(lens).reshape(B, -1).max(-1)
    return (np.arange(M) >= most[:, None])[..., None]


@every_score
@pytest.mark.parametrize("which", ["keys", "values"])
def test_nan_in_a_pair_that_is_looked_at_stays_visible(name, which):
    arrays = dict(zip(("queries", "keys", "values"), batch(), strict=True))
    arrays[which][0, 1, 0] = NAN
    for need_weights in (True, False):
        given = [array(x) for x in arrays.values()]
        output, _ = adapter.call(ATTENTIONS[name].make(), *given, [2, 2], need_weights=need_weights)
        assert np.isnan(numpy(output)[0]).any()
        assert np.isfinite(numpy(output)[1]).all()


@every_score
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_output_has_the_type_of_the_inputs_in_every_precision(name, dtype):
    layer = ATTENTIONS[name].make(dtype=dtype)
    assert {dtype_of(p) for p in adapter.parameters(layer).values()} <= {dtype}
    output, weights = attend(layer, *batch(), [0, 3], dtype=dtype)
    assert dtype_of(output) == dtype
    assert dtype_of(weights) == dtype
    score = ATTENTIONS[name].score(parameters(layer))
    want, shown = oracle.attention(score, [rounded(x, dtype) for x in batch()], [0, 3])
    close(output, want, 4 * TOLERANCE[dtype])
    close(weights, shown, 4 * TOLERANCE[dtype])


def test_dropout_drops_whole_weights_in_training_only_and_doubles_the_others():
    layer = adapter.make("DotProductAttention", dropout=0.5)
    ones = np.ones((64, 1, D)), np.ones((64, 2, D)), np.ones((64, 2, V))
    close(attend(layer, *ones)[0], np.ones((64, 1, V)))
    layer = adapter.in_training(layer)
    seen = []
    for need_weights in (True, False, False):
        output, weights = adapter.call(layer, *map(array, ones), need_weights=need_weights)
        seen.append(numpy(output)[:, 0])
        assert (seen[-1][:, 0] == seen[-1][:, 1]).all()
        close(np.unique(seen[-1]), [0, 1, 2])  # none, one or both of two weights, doubled
        if need_weights:  # those before dropout
            close(weights, np.full((64, 1, 2), 0.5))
    assert (seen[1] != seen[2]).any()


@pytest.mark.parametrize("name", [name for name in samples.LAYERS if name != "dot"])
def test_every_layer_takes_a_probability_of_dropout(name):
    arrays, layer = batch(), samples.LAYERS[name].make(dropout=1.0)
    close(attend(layer, *arrays)[0], attend(samples.LAYERS[name].make(), *arrays)[0])
    output, _ = adapter.call(adapter.in_training(layer), *map(array, arrays), need_weights=False)
    assert not numpy(output).any()


def test_a_class_needs_features_or_a_score_and_says_so():
    class Nameless(ours.Attention):
        pass

    refuses(Nameless(), NotImplementedError, "Nameless defines no features", *map(array, batch()))


# ---- parameters


def test_a_temperature_begins_as_given():
    assert float(numpy(adapter.make("CosineAttention").temperature)) == pytest.approx(0.1)
    fixed = adapter.make("CosineAttention", temperature=2, learnable=False)
    assert float(numpy(fixed.temperature)) == pytest.approx(2)


def test_weights_that_a_call_returns_are_differentiated_like_any_output():
    layer, (queries, keys, values) = adapter.make("DotProductAttention"), batch()
    if hasattr(layer, "attention_weights"):
        pytest.skip("a layer that keeps its weights keeps them without a gradient")

    def of_layer(queries):
        return adapter.call(layer, queries, array(keys), array(values), need_weights=True)[1] ** 2

    (found,) = gradients(of_layer, [queries], np.ones((B, N, M)))
    assert found.all()


# ---- the functions inside


@pytest.mark.parametrize("block", [1, 30, 2**18])
@pytest.mark.parametrize("heads", [(), (2,)])
def test_additive_scores_are_the_same_in_blocks_of_any_size(block, heads):
    arrays = normal(B, *heads, N, 5), normal(B, *heads, M, 5, seed=1), normal(5, seed=2)
    direction = normal(B, *heads, N, M)

    def formula(q, k, w):
        return np.tanh(q[..., :, None, :] + k[..., None, :, :]) @ w

    def in_blocks(q, k, w):
        return adapter.additive_scores(q, k, w, block=block)

    close(in_blocks(*map(array, arrays)), formula(*arrays))
    want = differences(formula, arrays, direction)
    for got, wanted in zip(gradients(in_blocks, arrays, direction), want, strict=True):
        close(got, wanted)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("scale", [1, 0.01])
def test_additive_scores_in_half_precision_lose_no_digits_of_small_sums(dtype, scale):
    q, k, w = scale * normal(B, N, 33), scale * normal(B, M, 33, seed=1), normal(33)
    got = adapter.additive_scores(*(array(x, dtype) for x in (q, k, w)))
    assert dtype_of(got) == "float32"
    q, k, w = (rounded(x, dtype) for x in (q, k, w))
    want = np.tanh(q[:, :, None] + k[:, None]) @ w
    tolerance = TOLERANCE[dtype] * min(abs(want).max(), 1)
    np.testing.assert_allclose(numpy(got), want, atol=tolerance, rtol=0)


def test_unit_vectors_have_length_1_or_0_and_finite_gradients():
    x = np.array([[3.0, 4], [0, 0], [-0.5, 0]])
    close(ours.unit_vectors(array(x)), [[0.6, 0.8], [0, 0], [-1, 0]])
    (gradient,) = gradients(ours.unit_vectors, [x], np.ones((3, 2)))
    close(gradient, [[0.032, -0.024], [1, 1], [0, 2]])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_unit_vectors_keep_the_direction_of_very_long_and_very_short_vectors(dtype):
    small, large = (1e-4, 6e4) if dtype == "float16" else (1e-30, 1e30)
    x = np.array([[3.0, 4, 0], [-1, 0, 0]])
    for size in (small, large / 4):
        unit = ours.unit_vectors(array(size * x, dtype))
        assert dtype_of(unit) == dtype
        close(unit, [[0.6, 0.8, 0], [-1, 0, 0]], max(TOLERANCE[dtype], 1e-6))
    many = array(np.full((1, 4096), 1100.0), dtype)  # the squares of float16 overflow
    close(ours.unit_vectors(many), np.full((1, 4096), 1 / 64), 2 * TOLERANCE[dtype])


def test_the_dimension_of_a_distance_is_positive():
    empty = (array(np.ones((B, size, x))) for size, x in ((N, 0), (M, 0), (M, V)))
    refuses(adapter.make("DistanceAttention"), ValueError, "dimension of queries must be", *empty)


# ---- half precision


@pytest.mark.parametrize("dtype", HALF)
def test_large_scores_of_half_inputs_are_not_rounded(dtype):
    arrays = 8 * normal(B, N, 4), 8 + normal(B, M, 4, seed=1) / 8, normal(B, M, V)
    arrays = [rounded(x, dtype) for x in arrays]
    _, weights = attend(adapter.make("DotProductAttention"), *arrays, dtype=dtype)
    _, want = oracle.attention(oracle.scaled_dot_score, arrays)
    close(weights, want, TOLERANCE[dtype] / 2)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("lens", [None, [2], [1]])
def test_distances_in_half_precision_neither_overflow_nor_are_lost(dtype, lens):
    layer, one = adapter.make("DistanceAttention"), lens == [1]
    keys = np.array([[[300.0, 0], [301, 0]]])  # in bfloat16, 301 rounds to 300
    output, _ = attend(layer, np.zeros((1, 1, 2)), keys, np.eye(2)[None], lens, dtype=dtype)
    want = [0.5, 0.5] if dtype == "bfloat16" and not one else [1, 0]
    assert numpy(output)[0, 0].tolist() == want
    query, keys = np.array([[[64.0]]]), np.array([[[64], [64.5]]])  # between large products
    output, _ = attend(layer, query, keys, np.eye(2)[None], lens, dtype=dtype)
    e = 0 if one else math.exp(-0.125)
    close(numpy(output)[0, 0], [1 / (1 + e), e / (1 + e)], TOLERANCE[dtype] / 4)
