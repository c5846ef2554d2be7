"""Wrong input is refused with an error that names the argument, what came and what would fit."""

import inspect
from functools import partial

import numpy as np
import pytest

from d2l_attention import figures
from d2l_attention.checks import kind
from tests.contract.comparing import refuses
from tests.contract.framework import adapter, array, numpy, ours
from tests.contract.samples import INF, LAYERS, NAN, SIZES, B, D, M, N, V, arrays_of, normal

every_layer = pytest.mark.parametrize("name", LAYERS)
MASKS_TAKEN = getattr(adapter, "MASKS_TAKEN", ())  # types of masks, beside the boolean one


def ones(*shape: int, dtype: str = "float32"):
    return array(np.ones(shape, dtype))


# ---- lengths and masks; scores are (2, 3, 4): two examples, three queries, four keys

SHAPE, BOOLEAN = "have shape (2,) or (2, 3), got ", "be boolean (True = may attend), got "
LENGTHS = [
    (TypeError, f"hold integers, got {kind(ones(1))}", array([NAN, 2.5])),
    (TypeError, "hold integers, got ", [2.0, 3.0]),
    (TypeError, f"got {kind(array([True]))}; a mask goes by name", ones(2, 3, dtype="bool")),
    (TypeError, "hold numbers, got '1'", ["1", "2"]),
    (TypeError, "hold numbers, got None", [1, None]),
    (ValueError, f"{SHAPE}(2, 4); a mask goes by name", ones(2, 4, dtype="int32")),
    (ValueError, f"{SHAPE}(1,)", array([3])),
    (ValueError, f"{SHAPE}()", 3),
    (ValueError, f"{SHAPE}(2, 1)", [[1], [2]]),
    (ValueError, "lie in 0..4, got -1..2", array([-1, 2])),
    (ValueError, "lie in 0..4, got 2..5", array([5, 2])),
    (ValueError, "lie in 0..4, got -5..4", [[1, 2, 3], [4, -5, 0]]),
    (ValueError, "be rectangular, got", [[1, 2], [3]]),
]
MASKS = [
    (TypeError, BOOLEAN, np.ones((2, 3, 4))),
    (TypeError, BOOLEAN, np.ones((3, 4), np.int32)),
    (ValueError, "broadcast to (2, 3, ", np.ones((3, 5), bool)),
    (ValueError, "broadcast to (2, 3, ", np.ones((3, 1, 1), bool)),
    (ValueError, "broadcast to (2, 3, ", np.ones((1, 2, 3, 4), bool)),
    (ValueError, "got (2, 4); for keys of each example, (b, 1, m)", np.ones((2, 4), bool)),
]
CALLS = {
    "attention_mask": partial(ours.attention_mask, (B, N, M)),
    "masked_softmax": partial(ours.masked_softmax, array(normal(B, N, M))),
    **{name: partial(layer.make(), *arrays_of()) for name, layer in LAYERS.items()},
}


@pytest.mark.parametrize("name", CALLS)
def test_lengths_and_masks(name):
    for error, message, lens in LENGTHS:
        refuses(CALLS[name], error, message, valid_lens=lens)
    for error, message, mask in MASKS:
        message += kind(array(mask)) if message == BOOLEAN else ""
        if mask.dtype.name not in MASKS_TAKEN:
            refuses(CALLS[name], error, message, mask=array(mask), valid_lens=[1, 2])
    message = "mask must be rectangular, got"
    refuses(CALLS[name], ValueError, message, mask=[[True], [True, False]])


def test_a_mask_of_integers_is_no_lengths_where_they_can_be_told_apart():
    call = partial(ours.masked_softmax, array(normal(3, 3, 3)))
    message = "valid_lens must hold a length for each query, got a 0 or 1 for each key: a mask goes"
    for rows in ([1, 1, 1], [1, 0, 0], [1, 1, 0]), ([0, 1, 1], [0, 0, 1], [0, 0, 0]):
        refuses(call, ValueError, message, array(np.array(rows)))
    for lens in ([[1, 2, 3]] * 3, [[0, 1, 2], [1, 1, 1], [0, 0, 1]], np.eye(3, dtype=int), [1] * 3):
        call(array(np.array(lens)))
    ours.masked_softmax(array(normal(B, N, M)), [[1, 1, 0], [1, 0, 1]])  # 3 queries and 4 keys


def test_masks_of_0_and_1_are_taken_where_the_framework_makes_such():
    X, keep = array(normal(B, N, M)), np.array([0, 1, 1, 0]) * np.ones((N, M))
    want = numpy(ours.masked_softmax(X, mask=array(keep > 0)))
    for taken in MASKS_TAKEN:
        assert (numpy(ours.masked_softmax(X, mask=array(keep.astype(taken)))) == want).all()


# ---- layers

AGREE = "queries, keys, values must agree in batch and heads; got queries "
AXES = "queries, keys, values must have equally many axes, 2 or more; got queries "
SIZES_OF_ARRAYS = [
    (f"{AGREE}(1, 3, 3), keys (2, 4, 3), values (2, 4, 2)", (1, 3, D), (2, 4, D), (2, 4, V)),
    (AGREE, (2, 3, D), (2, 4, D), (1, 4, V)),
    (AGREE, (2, 2, 3, D), (2, 1, 4, D), (2, 1, 4, V)),
    ("there must be one value for each key; got q", (2, 3, D), (2, 4, D), (2, 3, V)),
    (AXES, (D,), (D,), (D,)),
    (AXES, (2, 3, D), (2, 4, D), (2, 1, 4, V)),
]
EQUAL = "queries and keys must have equal dimensions, got queries of dimension"


@every_layer
def test_sizes_and_types_of_arrays(name):
    layer, sized = LAYERS[name].make(), SIZES.items() <= LAYERS[name].sizes.items()
    for message, *shapes in SIZES_OF_ARRAYS:
        refuses(layer, ValueError, message, *(ones(*shape) for shape in shapes))
    for which in range(3):
        arrays = arrays_of()
        arrays[which] = whole = ones(*arrays[which].shape, dtype="int32")
        message = f"queries, keys, values must be floating point, got {kind(whole)}"
        refuses(layer, TypeError, message, *arrays)
    queries, keys, values = arrays_of()
    message = "queries must have dimension 3, got (2, 3, 4)" if sized else f"{EQUAL} 4 and keys of"
    refuses(layer, ValueError, message, ones(B, N, 4), keys, values)
    message = "keys must have dimension 3, got (2, 4, 5)" if sized else f"{EQUAL} 3 and keys of dim"
    message = "dimension 3" if name == "bilinear" else message  # known as such, or by the matrix
    refuses(layer, ValueError, message, queries, ones(B, M, 5), values)
    if name == "heads":
        message = "values must have dimension 2, got (2, 4, 3)"
        refuses(layer, ValueError, message, queries, keys, ones(B, M, 3))
    if name == "heads" and not getattr(adapter, "LIKE_FLAX", False):
        message = "queries must have 3 axes (b, n, d), got (2, 2, 3, 3)"
        refuses(layer, ValueError, message, *arrays_of(heads=(2,)))


NUMBERS = {  # wrong ones, and those of a wrong type
    "temperature": ((0, -1, NAN, INF), ("1", True)),
    "dropout": ((1.5, -1, NAN), ("0", None, True)),
}
SIZE_OF_LAYER = (0, -4), (2.0, True, "2", NAN)


@every_layer
def test_numbers_that_make_a_layer(name):
    kind, sizes = LAYERS[name].kind, LAYERS[name].sizes
    known = inspect.signature(getattr(ours, kind)).parameters
    for argument in known.keys() & {"dropout", *sizes}:
        numbers = NUMBERS.get(argument, SIZE_OF_LAYER)
        for error, wrongs in zip((ValueError, TypeError), numbers, strict=True):
            for wrong in wrongs:
                with pytest.raises(error, match=f"^{argument} must .*got '?{wrong}'?$"):
                    adapter.make(kind, **sizes | {argument: wrong})


# ---- functions, and the number of heads

OTHERS = "(3,) or broadcast to {} with all axes, as {} does".format
POSITIONS = [  # vectors, what fits, and positions that might belong to other axes, or add some
    ((2, 2, 3, 4), OTHERS((2, 2, 3), (2, 1, 3)), (2, 3), (1, 3), (1, 1, 1, 3), (2, 1, 1), ()),
    ((2, 2, 3, 4), OTHERS((2, 2, 3), (2, 1, 3)), (3, 1, 3), (2, 3, 1)),
    ((1, 3, 4), OTHERS((1, 3), (1, 3)), (2, 3)),
    ((3, 4), "(3,)", (1, 3), (4,), ()),
]
PAIRS = [((3, 2), (4, 3)), ((1, 3, 2), (4, 2)), ((3, 2), (1, 4, 2)), ((), (4,)), ((3, 2), (4,))]
WHOLE, MAPS, RAGGED = ones(2, 3, 4, dtype="int32"), (ones(1, 2, 3, 3), "k", "q"), [[1, 2], [3]]
OF_4_AXES = "(b, 1, n, m) or (1, H, n, m) for scores (2, 2, 3, 4), got (2, 1, 4)"
points, turn = ours.pairwise_distances, ours.rotate
distance, heads = adapter.make("DistanceAttention"), partial(adapter.make, "MultiHeadAttention")
heat, heat_masked = figures.show_heatmaps, partial(figures.show_heatmaps, masked=[True, False])
FUNCTIONS = [
    (ours.check_shape, "must have shape (3, 2), got (2, 3)", ones(2, 3), (3, 2)),
    (ours.masked_softmax, "X must have 2 axes or more, got (4,)", ones(4)),
    (ours.masked_softmax, f"X must be floating point, got {kind(WHOLE)}", WHOLE),
    (ours.attention_mask, OF_4_AXES, (2, 2, 3, 4), None, ones(2, 1, 4, dtype="bool")),
    (turn, "must be even, as features go in pairs, got 3; 2 or 4 would fit", ones(2, 3)),
    (turn, f"x must be floating point, got {kind(WHOLE)}", WHOLE),
    (turn, "x must have 2 axes or more", ones(4)),
    (turn, "positions must be rectangular", ones(2, 4), RAGGED),
    *[(points, f"(n, d) and (m, d), got {q} and {k}", ones(*q), ones(*k)) for q, k in PAIRS],
    *((turn, f"{fits}, got {at}", ones(*x), ones(*at)) for x, fits, *w in POSITIONS for at in w),
    (points, "keys must hold real numbers, got", ones(2), array([1j, 2])),
    (ours.nadaraya_watson, "must come in pairs, got 3 and 2", ones(3), ones(2), ones(1), len),
    (distance, "dimension of queries must be", ones(2, 3, 0), ones(2, 4, 0), ones(2, 4, 2)),
    (heads, "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 16", 8, 16),
    (partial(heads, num_kv_heads=3), "divide num_heads = 4: one of [1, 2, 4], got 3", 8, 4),
    (figures.as_panels, "matrices must have shape", ones(1, 1, 1, 2, 3)),
    (heat, "matrices must be rectangular, got", RAGGED, "keys", "queries"),
    (heat, "titles must have length 2, got 1", *MAPS, ["one"]),
    (heat_masked, "shape of the matrices (1, 2, 3, 3), got shape (2,)", *MAPS),
    (figures.show_sentences, "weights must have shape (1, 2)", [["a", "b"]], ones(1, 3)),
]


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row[1])
def test_arguments_of_functions(row):
    function, message, *arguments = row
    error = TypeError if "floating point" in message or "real numbers" in message else ValueError
    refuses(function, error, message, *arguments)


def test_the_limits_of_a_heat_map_are_those_of_the_entries_that_it_shows():
    matrix, masked = np.array([[5, NAN, 90], [7, -INF, 8]]), [[0, 0, 1], [0, 0, 0]]
    figure = figures.show_heatmaps(matrix, "k", "q", masked=masked, vmin=None, vmax=None)
    figure.draw_without_rendering()
    assert figure.axes[0].collections[0].get_clim() == (5, 8)
