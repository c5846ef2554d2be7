"""Names are PyTorch's; wrong input is refused with the argument, what came and what would fit."""

import ast
import inspect
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from d2l_attention import figures
from d2l_attention.checks import kind
from tests.contract.comparing import refuses
from tests.contract.framework import COMPLETE, NAME, adapter, array, ours
from tests.contract.samples import INF, LAYERS, NAN, SIZES, B, D, M, N, V, arrays_of, normal


def test_public_names_are_those_of_pytorch_and_documented():
    body = ast.parse(Path(ours.__file__).with_name("torch.py").read_text("utf-8")).body
    names = set(ast.literal_eval(next(node.value for node in body if isinstance(node, ast.Assign))))
    assert set(ours.__all__) ^ names <= ({"LiveBytes", "temporary_bytes"} if COMPLETE else names)
    assert all(getattr(ours, name).__doc__ for name in ours.__all__)


def ones(*shape: int, dtype: str = "float32"):
    return array(np.ones(shape, dtype))


WHOLE = ones(2, 4, 2, dtype="int32")
# for scores (2, 3, 4): two examples, three queries, four keys
SHAPE = "have shape (2,) or (2, 3), got "
BY_NAME = getattr(adapter, "NO_MASK", "; a mask goes by name")
LENGTHS = [
    (TypeError, f"hold integers, got {kind(ones(1))}", array([NAN, 2.5])),
    (TypeError, f"got {kind(array([True]))}{BY_NAME}", ones(2, 3, dtype="bool")),
    (TypeError, "hold numbers, got '1'", ["1", "2"]),
    (ValueError, f"{SHAPE}(2, 4){BY_NAME}", ones(2, 4, dtype="int32")),
    (ValueError, f"{SHAPE}(1,)", array([3])),
    (ValueError, "lie in 0..4, got 2..5", array([5, 2])),
    (ValueError, "lie in 0..4, got -5..4", [[1, 2, 3], [4, -5, 0]]),
    (ValueError, "be rectangular, got", [[1, 2], [3]]),
]
MASKS = [
    (TypeError, f"be boolean (True = may attend), got {kind(ones(1))}", ones(2, 3, 4)),
    (ValueError, "broadcast to (2, 3, ", ones(3, 5, dtype="bool")),
    (ValueError, "broadcast to (2, 3, ", ones(1, 2, 3, 4, dtype="bool")),
    (ValueError, "got (2, 4); for keys of each example, (b, 1, m)", ones(2, 4, dtype="bool")),
    (ValueError, "mask must be rectangular, got", [[True], [True, False]]),
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
    for error, message, mask in MASKS if adapter.MASKS_TAKEN else ():
        if NAME != "jax" or error is ValueError:  # it computes with other masks, as Flax does
            refuses(CALLS[name], error, message, mask=mask, valid_lens=[1, 2])


def test_a_mask_of_integers_is_no_lengths_where_they_can_be_told_apart():
    call = partial(ours.masked_softmax, array(normal(3, 3, 3)))
    message = f"must hold a length for each query, got a 0 or 1 for each key: {BY_NAME[2:]}"
    refuses(call, ValueError, message, array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    for lens in ([[1, 2, 3]] * 3, [[0, 1, 2], [1, 1, 1], [0, 0, 1]], np.eye(3, dtype=int), [1] * 3):
        call(array(np.array(lens)))
    CALLS["masked_softmax"]([[1, 1, 0], [1, 0, 1]])  # 3 queries and 4 keys


AGREE = "queries, keys, values must agree in batch and heads; got queries "
AXES = "queries, keys, values must have equally many axes, 2 or more; got queries "
SIZES_OF_ARRAYS = [
    (f"{AGREE}(1, 3, 3), keys (2, 4, 3), values (2, 4, 2)", (1, 3, D), (2, 4, D), (2, 4, V)),
    (AGREE, (2, 2, 3, D), (2, 2, 4, D), (2, 1, 4, V)),
    ("there must be one value for each key; got q", (2, 3, D), (2, 4, D), (2, 3, V)),
    (AXES, (D,), (D,), (D,)),
    (AXES, (2, 3, D), (2, 4, D), (2, 1, 4, V)),
]
EQUAL = "queries and keys must have equal dimensions, got queries of dimension"
every_layer = pytest.mark.parametrize("name", LAYERS)


@every_layer
def test_sizes_and_types_of_arrays(name):
    layer, rows = LAYERS[name].make(), list(SIZES_OF_ARRAYS)
    sized = SIZES.items() <= LAYERS[name].sizes.items()
    of_queries = "queries must have dimension 3, got (2, 3, 4)" if sized else f"{EQUAL} 4 and keys"
    of_keys = "keys must have dimension 3, got (2, 4, 5)" if sized else f"{EQUAL} 3 and keys of dim"
    of_keys = "dimension 3" if name == "bilinear" else of_keys  # known as such, or by the matrix
    rows += [(of_queries, (B, N, 4), (B, M, D), (B, M, V))]
    rows += [(of_keys, (B, N, D), (B, M, 5), (B, M, V))]
    if name == "heads":
        rows += [("values must have dimension 2, got (2, 4, 3)", (B, N, D), (B, M, D), (B, M, 3))]
    if name == "heads" and NAME != "jax":  # Flax takes any axes
        rows += [("3 axes (b, n, d), got (2, 2, 3, 3)", *[(B, 2, N, D)] * 3)]
    for message, *shapes in rows:
        refuses(layer, ValueError, message, *(ones(*shape) for shape in shapes))
    message = f"queries, keys, values must be floating point, got {kind(WHOLE)}"
    refuses(layer, TypeError, message, *arrays_of()[:2], WHOLE)


NUMBERS = {  # those of a wrong value, and of a wrong type
    "temperature": {ValueError: (0, NAN, INF), TypeError: ("1", True)},
    "dropout": {ValueError: (1.5, -1, NAN), TypeError: ("0", None, True)},
}
SIZES_OF_LAYERS = {ValueError: (0, -4), TypeError: (2.0, True, "2")}


@every_layer
def test_numbers_that_make_a_layer(name):
    kind, sizes = LAYERS[name].kind, LAYERS[name].sizes
    for argument in inspect.signature(getattr(ours, kind)).parameters.keys() & {"dropout", *sizes}:
        for error, numbers in NUMBERS.get(argument, SIZES_OF_LAYERS).items():
            for wrong in numbers:
                with pytest.raises(error, match=f"^{argument} must .*got '?{wrong}'?$"):
                    adapter.make(kind, **sizes | {argument: wrong})


POSITIONS = [(2, 3), (1, 1, 1, 3), (2, 1, 1), (3, 1, 3), ()]  # of other axes, or one more
PAIRS = [((3, 2), (4, 3)), ((1, 3, 2), (4, 2)), ((3, 2), (1, 4, 2)), ((), (4,)), ((3, 2), (4,))]
WITH_HEADS = "(3,) or broadcast to (2, 2, 3) with all axes, as (2, 1, 3) does, got "
OF_4_AXES = "(b, 1, n, m) or (1, H, n, m) for scores (2, 2, 3, 4), got (2, 1, 4)"
points, turn = ours.pairwise_distances, ours.rotate
distance, heads = adapter.make("DistanceAttention"), partial(adapter.make, "MultiHeadAttention")
FUNCTIONS = [
    (ours.check_shape, "must have shape (3, 2), got (2, 3)", ones(2, 3), (3, 2)),
    (ours.masked_softmax, "X must have 2 axes or more, got (4,)", ones(4)),
    (ours.masked_softmax, f"X must be floating point, got {kind(WHOLE)}", WHOLE),
    (ours.attention_mask, OF_4_AXES, (2, 2, 3, 4), None, ones(2, 1, 4, dtype="bool")),
    (turn, "must be even, as features go in pairs, got 3; 2 or 4 would fit", ones(2, 3)),
    (turn, "positions must be rectangular", ones(2, 4), [[1, 2], [3]]),
    *[(points, f"(n, d) and (m, d), got {q} and {k}", ones(*q), ones(*k)) for q, k in PAIRS],
    *((turn, f"{WITH_HEADS}{at}", ones(2, 2, 3, 4), ones(*at)) for at in POSITIONS),
    *((turn, f"must have shape (3,), got {at}", ones(3, 4), ones(*at)) for at in [(1, 3), (4,)]),
    (points, "keys must hold real numbers, got", ones(2), array([1j, 2])),
    (ours.nadaraya_watson, "must come in pairs, got 3 and 2", ones(3), ones(2), ones(1), len),
    (distance, "dimension of queries must be", ones(2, 3, 0), ones(2, 4, 0), ones(2, 4, 2)),
    (heads, "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 16", 8, 16),
    (partial(heads, num_kv_heads=3), "divide num_heads = 4: one of [1, 2, 4], got 3", 8, 4),
    (figures.as_panels, "matrices must have shape", ones(1, 1, 1, 2, 3)),
    (figures.as_panels, "matrices must be rectangular, got", [[1, 2], [3]]),
    (figures.as_labels, "titles must have length 2, got 1", "titles", ["one"], 2),
    (figures.as_hatched, "matrices (1, 2, 3, 3), got shape (2,)", [True, False], (1, 2, 3, 3)),
    (figures.show_sentences, "weights must have shape (1, 2)", [["a", "b"]], ones(1, 3)),
]


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row[1])
def test_arguments_of_functions(row):
    function, message, *arguments = row
    error = TypeError if "floating point" in message or "real numbers" in message else ValueError
    refuses(function, error, message, *arguments)
