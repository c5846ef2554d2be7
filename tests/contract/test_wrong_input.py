"""Wrong input is refused with an error that names the argument, what came and what would fit."""

from functools import partial

import numpy as np
import pytest

from d2l_attention.checks import kind
from d2l_attention.figures import as_panels, show_heatmaps, show_sentences
from tests.contract.comparing import refuses
from tests.contract.framework import adapter, array, numpy, ours
from tests.contract.samples import ATTENTIONS, NAN, B, D, M, N, batch, normal

# Scores are (2, 3, 4): two examples, three queries, four keys.
FLOATS, INSIDE = "valid_lens must hold integers, got ", "valid_lens must lie in 0..4, got "
SHAPE = "valid_lens must have shape (2,) or (2, 3), got "
LENGTHS = {
    "floats": (array([2.5, 4.0]), TypeError, FLOATS),
    "NaN": (array([NAN, 1]), TypeError, f"{FLOATS}{kind(array([1.0]))}"),
    "a list of floats": ([2.0, 3.0], TypeError, FLOATS),
    "a mask": (
        array(np.ones((2, 3), bool)),
        TypeError,
        f"{kind(array([True]))}; a mask goes by na",
    ),
    "negative": (array([-1, 2]), ValueError, INSIDE + "-1..2"),
    "too long": (array([5, 2]), ValueError, INSIDE + "2..5"),
    "negative for a query": ([[1, 2, 3], [4, -5, 0]], ValueError, INSIDE + "-5..4"),
    "per key": (array(np.ones((2, 4), int)), ValueError, SHAPE + "(2, 4)"),
    "transposed": ([[1, 1]] * 3, ValueError, SHAPE + "(3, 2)"),
    "one for all": (array([3]), ValueError, SHAPE + "(1,)"),
    "one number": (3, ValueError, SHAPE + "()"),
    "a column": ([[1], [2]], ValueError, SHAPE + "(2, 1)"),
}
BOOLEAN, BROADCAST = (
    "mask must be boolean (True = may attend), got ",
    "broadcast to (2, 3, 4), got ",
)
MASKS = {
    "floats": (np.ones((2, 3, 4)), TypeError, BOOLEAN),
    "integers": (np.ones((3, 4), np.int32), TypeError, BOOLEAN),
    "other keys": (np.ones((3, 5), bool), ValueError, BROADCAST + "(3, 5)"),
    "other queries": (np.ones((2, 4), bool), ValueError, BROADCAST + "(2, 4)"),
    "other batch": (np.ones((3, 1, 1), bool), ValueError, BROADCAST + "(3, 1, 1)"),
    "more axes": (np.ones((1, 2, 3, 4), bool), ValueError, BROADCAST + "(1, 2, 3, 4)"),
}


def attended(name, need_weights, **arguments):
    return ATTENTIONS[name].make()(*map(array, batch()), **arguments, need_weights=need_weights)


CALLS = {
    "attention_mask": lambda **arguments: ours.attention_mask((B, N, M), **arguments),
    "masked_softmax": lambda **arguments: ours.masked_softmax(array(normal(B, N, M)), **arguments),
    **{
        f"{name}, need_weights={need}": partial(attended, name, need)
        for name in ATTENTIONS
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
    "other axes of values": (((2, 3, D), (2, 4, D), (2, 1, 4, 2)), AXES),
}


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("need_weights", [True, False])
def test_sizes_and_types_that_do_not_fit_are_refused(name, need_weights):
    call = partial(ATTENTIONS[name].make(), need_weights=need_weights)
    for shapes, message in SHAPES.values():
        refuses(call, ValueError, message, *(array(normal(*shape)) for shape in shapes))
    for which in range(3):
        arrays = [array(x) for x in batch()]
        arrays[which] = array(np.ones(arrays[which].shape, np.int32))
        message = f"queries, keys, values must be floating point, got {kind(arrays[which])}"
        refuses(call, TypeError, message, *arrays)


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("which", ["queries", "keys"])
def test_vectors_of_another_dimension_are_refused(name, which):
    sizes = {"queries": D, "keys": D} | {which: D + 1}
    shapes = (B, N, sizes["queries"]), (B, M, sizes["keys"]), (B, M, 2)
    message = "queries and keys must have equal dimensions, got queries of dimension {} and keys of"
    message = message.format(sizes["queries"])
    if name.startswith(("additive", "bilinear")) and (name, which) != ("bilinear", "keys"):
        message = f"{which} must have dimension 3, got {shapes[which == 'keys']}"
    if (name, which) == ("bilinear", "keys"):
        message = "dimension 3"  # the size of keys may be known as such, or by the matrix alone
    for need_weights in (True, False):
        call = partial(ATTENTIONS[name].make(), need_weights=need_weights)
        refuses(call, ValueError, message, *(array(np.ones(shape)) for shape in shapes))


def test_a_shape_that_differs_is_named():
    x = array(np.zeros((2, 3)))
    ours.check_shape(x, (2, 3))
    refuses(ours.check_shape, ValueError, "must have shape (3, 2), got (2, 3)", x, (3, 2))


def test_heat_maps_whose_sizes_do_not_fit_are_refused():
    for shape in ((3,), (1, 1, 1, 2, 3)):
        refuses(as_panels, ValueError, "matrices must have shape", array(np.zeros(shape)))
    call = (array(np.zeros((1, 2, 3, 3))), "keys", "queries")
    refuses(show_heatmaps, ValueError, "titles must have length 2, got 1", *call, titles=["one"])
    call = [["a", "b"]], array(np.ones((1, 3)))
    refuses(show_sentences, ValueError, "weights must have shape (1, 2)", *call)
