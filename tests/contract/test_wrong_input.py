"""Wrong input is refused with an error that names the argument, what came and what would fit."""

import inspect
from functools import partial

import numpy as np
import pytest

from d2l_attention.checks import kind
from d2l_attention.figures import as_panels, show_heatmaps, show_sentences
from tests.contract.comparing import refuses
from tests.contract.framework import adapter, array, numpy, ours
from tests.contract.samples import HEADS, INF, LAYERS, NAN, SIZES, B, D, M, N, batch, normal

# Scores are (2, 3, 4): two examples, three queries, four keys.
FLOATS, INSIDE = "valid_lens must hold integers, got ", "valid_lens must lie in 0..4, got "
SHAPE = "valid_lens must have shape (2,) or (2, 3), got "
LENGTHS = {
    "floats": (array([NAN, 2.5]), TypeError, f"{FLOATS}{kind(array([1.0]))}"),
    "a list of floats": ([2.0, 3.0], TypeError, FLOATS),
    "a mask": (
        array(np.ones((2, 3), bool)),
        TypeError,
        f"{kind(array([True]))}; a mask goes by na",
    ),
    "negative": (array([-1, 2]), ValueError, INSIDE + "-1..2"),
    "too long": (array([5, 2]), ValueError, INSIDE + "2..5"),
    "negative for a query": ([[1, 2, 3], [4, -5, 0]], ValueError, INSIDE + "-5..4"),
    "per key": (array(np.ones((2, 4), int)), ValueError, SHAPE + "(2, 4); a mask goes by name"),
    "one for all": (array([3]), ValueError, SHAPE + "(1,)"),
    "one number": (3, ValueError, SHAPE + "()"),
    "a column": ([[1], [2]], ValueError, SHAPE + "(2, 1)"),
    "rows of other lengths": ([[1, 2], [3]], ValueError, "valid_lens must be rectangular, got"),
    "None in a list": ([1, None], TypeError, "valid_lens must hold numbers, got None"),
    "text": (["1", "2"], TypeError, "valid_lens must hold numbers, got '1'"),
}
BOOLEAN, BROADCAST = "mask must be boolean (True = may attend), got ", "mask must broadcast to (2, "
MASKS = {
    "floats": (np.ones((2, 3, 4)), TypeError, BOOLEAN),
    "integers": (np.ones((3, 4), np.int32), TypeError, BOOLEAN),
    "other keys": (np.ones((3, 5), bool), ValueError, BROADCAST),
    "other queries": (np.ones((2, 4), bool), ValueError, BROADCAST),
    "other batch": (np.ones((3, 1, 1), bool), ValueError, BROADCAST),
    "more axes": (np.ones((1, 2, 3, 4), bool), ValueError, BROADCAST),
}


def attended(name, need_weights, **arguments):
    return LAYERS[name].make()(*map(array, batch()), **arguments, need_weights=need_weights)


CALLS = {
    "attention_mask": lambda **arguments: ours.attention_mask((B, N, M), **arguments),
    "masked_softmax": lambda **arguments: ours.masked_softmax(array(normal(B, N, M)), **arguments),
    **{
        f"{name}, need_weights={need}": partial(attended, name, need)
        for name in LAYERS
        for need in (True, False)
    },
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_wrong_lengths_and_masks_are_refused(call):
    for lens, error, message in LENGTHS.values():
        refuses(call, error, message, valid_lens=lens)
    for name, (mask, error, message) in MASKS.items():
        if name in getattr(adapter, "MASKS_TAKEN", ()):
            continue
        given = array(mask)
        message += kind(given) if error is TypeError else ""
        refuses(call, error, message, mask=given)
        refuses(call, error, message, mask=given, valid_lens=[1, 2])
    refuses(call, ValueError, "mask must be rectangular, got", mask=[[True], [True, False]])


@pytest.mark.parametrize("name", LAYERS)
def test_a_mask_of_integers_is_no_lengths_where_they_can_be_told_apart(name):
    x = array(normal(N, N, D))
    layer = adapter.make(LAYERS[name].kind, **LAYERS[name].sizes | {"value_size": D})
    call = partial(adapter.call, layer, x, x, x, need_weights=False)
    message = "valid_lens must hold a length for each query, got a 0 or 1 for each key: a mask goes"
    for rows in ([1, 1, 1], [1, 0, 0], [1, 1, 0]), ([0, 1, 1], [0, 0, 1], [0, 0, 0]):
        refuses(call, ValueError, message, array(np.array(rows)))
    for lens in ([[1, 2, 3]] * 3, [[0, 1, 2], [1, 1, 1], [0, 0, 1]], np.eye(3, dtype=int), [1] * 3):
        call(array(np.array(lens)))


def test_masks_of_0_and_1_are_taken_where_the_framework_makes_such():
    keep = MASKS["integers"][0] * np.array([0, 1, 1, 0])
    for taken in getattr(adapter, "MASKS_TAKEN", ()):
        X, given = array(normal(B, N, M)), array(keep.astype(MASKS[taken][0].dtype))
        want = numpy(ours.masked_softmax(X, mask=array(keep > 0)))
        assert (numpy(ours.masked_softmax(X, mask=given)) == want).all()


AGREE, EACH, AXES = (
    "queries, keys, values must agree in batch and heads; got queries ",
    "there must be one value for each key; got queries ",
    "queries, keys, values must have equally many axes, 2 or more; got queries ",
)
SHAPES = {
    "batch of one query": (
        ((1, 3, D), (2, 4, D), (2, 4, 2)),
        f"{AGREE}(1, 3, 3), keys (2, 4, 3), values (2, 4, 2)",
    ),
    "batch of one value": (((2, 3, D), (2, 4, D), (1, 4, 2)), AGREE),
    "other heads": (((2, 2, 3, D), (2, 1, 4, D), (2, 1, 4, 2)), AGREE),
    "too few values": (((2, 3, D), (2, 4, D), (2, 3, 2)), EACH),
    "too few axes": (((D,), (D,), (D,)), AXES),
    "no axes": (((), (), ()), AXES),
    "other axes of values": (((2, 3, D), (2, 4, D), (2, 1, 4, 2)), AXES),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("need_weights", [True, False])
def test_sizes_and_types_that_do_not_fit_are_refused(name, need_weights):
    call = partial(LAYERS[name].make(), need_weights=need_weights)
    for shapes, message in SHAPES.values():
        refuses(call, ValueError, message, *(array(normal(*shape)) for shape in shapes))
    for which in range(3):
        arrays = [array(x) for x in batch()]
        arrays[which] = array(np.ones(arrays[which].shape, np.int32))
        message = f"queries, keys, values must be floating point, got {kind(arrays[which])}"
        refuses(call, TypeError, message, *arrays)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("which", ["queries", "keys"])
def test_vectors_of_another_dimension_are_refused(name, which):
    sizes = {"queries": D, "keys": D} | {which: D + 1}
    shapes = (B, N, sizes["queries"]), (B, M, sizes["keys"]), (B, M, 2)
    message = "queries and keys must have equal dimensions, got queries of dimension {} and keys of"
    message = message.format(sizes["queries"])
    if name.startswith(("additive", "bilinear", "heads")) and (name, which) != ("bilinear", "keys"):
        message = f"{which} must have dimension 3, got {shapes[which == 'keys']}"
    if (name, which) == ("bilinear", "keys"):
        message = "dimension 3"  # the size of keys may be known as such, or by the matrix alone
    for need_weights in (True, False):
        call = partial(LAYERS[name].make(), need_weights=need_weights)
        refuses(call, ValueError, message, *(array(np.ones(shape)) for shape in shapes))


NO_SIZES = [0, -4, 2.0, True, "2", NAN]
MADE = {
    "AdditiveAttention": ({"num_hiddens": 4, **SIZES}, NO_SIZES),
    "BilinearAttention": ({"rank": 4, **SIZES}, NO_SIZES),
    "MultiHeadAttention": ({**HEADS, "num_kv_heads": 1}, NO_SIZES),
    "CosineAttention": ({"temperature": 0.5}, [0, -1, NAN, INF, "1", True]),
}


@pytest.mark.parametrize("kind", MADE)
def test_sizes_are_positive_whole_numbers_and_a_temperature_is_positive(kind):
    sizes, wrong = MADE[kind]
    for name in inspect.signature(getattr(ours, kind)).parameters.keys() & sizes:
        for number in wrong:
            with pytest.raises((TypeError, ValueError), match=f"^{name} must .*got '?{number}'?$"):
                adapter.make(kind, **sizes | {name: number})


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("rate", [1.5, -0.5, 50, NAN, "0.1", None, True])
def test_a_rate_of_dropout_lies_between_0_and_1(name, rate):
    with pytest.raises((TypeError, ValueError), match=f"^dropout must lie in 0..1, got '?{rate}"):
        LAYERS[name].make(dropout=rate)


def test_a_shape_that_differs_is_named():
    x = array(np.zeros((2, 3)))
    ours.check_shape(x, (2, 3))
    refuses(ours.check_shape, ValueError, "must have shape (3, 2), got (2, 3)", x, (3, 2))


def test_heat_maps_whose_sizes_do_not_fit_are_refused():
    for shape in ((3,), (1, 1, 1, 2, 3)):
        refuses(as_panels, ValueError, "matrices must have shape", array(np.zeros(shape)))
    call = (array(np.zeros((1, 2, 3, 3))), "keys", "queries")
    refuses(show_heatmaps, ValueError, "titles must have length 2, got 1", *call, titles=["one"])
    refuses(show_heatmaps, ValueError, "matrices must be rectangular, got", [[1, 2], [3]], "k", "q")
    message = "masked must broadcast to the shape of the matrices (1, 2, 3, 3), got shape (2,)"
    refuses(show_heatmaps, ValueError, message, *call, masked=[True, False])
    call = [["a", "b"]], array(np.ones((1, 3)))
    refuses(show_sentences, ValueError, "weights must have shape (1, 2)", *call)


@pytest.mark.parametrize(
    ("matrix", "masked", "limits"),
    [
        ([[5, NAN], [7, -INF]], False, (5, 7)),
        ([[5, 90], [7, 8]], [[False, True], [False, False]], (5, 8)),
        ([[0, 0.5], [0.75, 0]], True, (0.5, 0.75)),
        ([[NAN, 3]], [[False, True]], (0, 1)),
    ],
)
def test_the_limits_of_a_heat_map_are_those_of_the_entries_that_it_shows(matrix, masked, limits):
    figure = show_heatmaps(matrix, "keys", "queries", masked=masked, vmin=None, vmax=None)
    figure.draw_without_rendering()
    colors = figure.axes[0].collections[0]
    assert colors.get_clim() == limits
