"""Wrong input is refused with an error that names the argument, what came and what would fit."""

import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import ATTENTIONS, NAN, B, D, M, N, V, batch, layer_of, normal

from d2l_attention.jax import (
    MultiHeadAttention,
    attention_mask,
    attention_without_padding,
    blockwise_attention,
    check_shape,
    linear_attention,
    masked_softmax,
    sink_softmax,
    sparsemax,
)

FLOATS = "valid_lens must hold integers, got float"
# Scores are (2, 3, 4): two examples, three queries, four keys.
LENGTHS = {
    "floats": (np.array([2.5, 4.0]), TypeError, FLOATS),
    "NaN": (jnp.array([NAN, 1]), TypeError, FLOATS + "32"),
    "a list of floats": ([2.0, 3.0], TypeError, FLOATS),
    "bool": (np.array([True, False]), TypeError, "valid_lens must hold integers, got bool"),
    "a mask": (jnp.ones((2, 3), bool), TypeError, "valid_lens must hold integers, got bool"),
    "negative": (jnp.array([-1, 2]), ValueError, "valid_lens must lie in 0..4, got -1..2"),
    "too long": (np.array([5, 2]), ValueError, "valid_lens must lie in 0..4, got 2..5"),
    "too long in a list": ([5, 2], ValueError, "valid_lens must lie in 0..4, got 2..5"),
    "for a query": ([[1, 2, 3], [4, -5, 0]], ValueError, "must lie in 0..4, got -5..4"),
    "per key": (jnp.ones((2, 4), int), ValueError, "must have shape (2,) or (2, 3), got (2, 4)"),
    "transposed": ([[1, 1]] * 3, ValueError, "must have shape (2,) or (2, 3), got (3, 2)"),
    "too many": ([1, 2, 3], ValueError, "must have shape (2,) or (2, 3), got (3,)"),
    "one for all": (np.array([3]), ValueError, "must have shape (2,) or (2, 3), got (1,)"),
    "one number": (3, ValueError, "must have shape (2,) or (2, 3), got ()"),
    "a column": ([[1], [2]], ValueError, "must have shape (2,) or (2, 3), got (2, 1)"),
}
BOOLEAN = "mask must be boolean (True = may attend), got "
MASKS = {
    "floats": (jnp.ones((2, 3, 4)), TypeError, BOOLEAN + "float32"),
    "integers": (np.ones((3, 4), np.int32), TypeError, BOOLEAN + "int32"),
    "other keys": (np.ones((3, 5), bool), ValueError, "broadcast to (2, 3, 4), got (3, 5)"),
    "other queries": (np.ones((2, 4), bool), ValueError, "broadcast to (2, 3, 4), got (2, 4)"),
    "other batch": (np.ones((3, 1, 1), bool), ValueError, "to (2, 3, 4), got (3, 1, 1)"),
    "more axes": (np.ones((1, 2, 3, 4), bool), ValueError, "to (2, 3, 4), got (1, 2, 3, 4)"),
}
CALLS = {
    "attention_mask": lambda **arguments: attention_mask((B, N, M), **arguments),
    "masked_softmax": lambda **arguments: masked_softmax(normal(B, N, M), **arguments),
    "sink_softmax": lambda **arguments: sink_softmax(normal(B, N, M), **arguments),
    "sparsemax": lambda **arguments: sparsemax(normal(B, N, M), **arguments),
} | {
    name: lambda name=name, **arguments: layer_of(name)(*batch(), **arguments)
    for name in ATTENTIONS
}


def refuses(call, error, message, *arguments, **keywords):
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments, **keywords)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_wrong_lengths_and_masks_are_refused(call):
    for lens, error, message in LENGTHS.values():
        refuses(call, error, message, valid_lens=lens)
    for mask, error, message in MASKS.values():
        refuses(call, error, message, mask=mask)
        refuses(call, error, message, mask=mask, valid_lens=[1, 2])


def test_inside_a_transformation_the_range_of_lengths_is_not_checked_but_their_shape_is():
    X = normal(B, N, M)
    assert jax.jit(masked_softmax)(X, jnp.array([9, 2])).shape == X.shape
    refuses(jax.jit(masked_softmax), ValueError, "must have shape (2,)", X, jnp.array([1, 2, 3]))
    refuses(jax.jit(masked_softmax), TypeError, FLOATS, X, jnp.array([1.0, 2.0]))


@pytest.mark.parametrize(("name", "value"), {
    "devices": lambda lens: [SimpleNamespace(platform="gpu")],
    "is_fully_addressable": property(lambda lens: False),
}.items())  # fmt: skip
def test_lengths_on_another_device_or_host_are_not_read(monkeypatch, name, value):
    X, lens = normal(B, N, M), jnp.array([9, 2])
    refuses(masked_softmax, ValueError, "must lie in 0..4, got 2..9", X, lens)
    monkeypatch.setattr(type(lens), name, value)
    assert masked_softmax(X, lens).shape == X.shape


@pytest.mark.parametrize("function", [masked_softmax, sink_softmax, sparsemax])
def test_scores_of_too_few_axes_or_of_integers_are_refused(function):
    refuses(function, ValueError, "X must have 3 axes or more, got (3, 4)", normal(3, 4))
    X = jnp.ones((B, N, M), int)
    refuses(function, TypeError, "X must be floating point, got int32", X)


AGREE, EACH, AXES = (
    "must agree in batch and heads",
    "there must be one value for each key",
    "must have 3 axes, or 4 with heads",
)
SHAPES = {
    "batch of one query": (
        ((1, 3, D), (2, 4, D), (2, 4, 2)),
        f"{AGREE}; got queries (1, 3, 3), keys (2, 4, 3), values (2, 4, 2)",
    ),
    "batch of one key": (((2, 3, D), (1, 4, D), (2, 4, 2)), AGREE),
    "batch of one value": (((2, 3, D), (2, 4, D), (1, 4, 2)), AGREE),
    "other heads": (((2, 2, 3, D), (2, 1, 4, D), (2, 1, 4, 2)), AGREE),
    "too few values": (((2, 3, D), (2, 4, D), (2, 3, 2)), EACH),
    "one value for all keys": (((2, 3, D), (2, 4, D), (2, 1, 2)), EACH),
    "too few axes": (((3, D), (4, D), (4, 2)), AXES),
    "too many axes": (((1, 1, 2, 3, D),) * 3, AXES),
    "other axes of values": (((2, 3, D), (2, 4, D), (2, 1, 4, 2)), AXES),
}


@pytest.mark.parametrize(
    "call",
    [*(layer_of(name) for name in ATTENTIONS), blockwise_attention, linear_attention],
    ids=[*ATTENTIONS, "blockwise", "linear"],
)
def test_sizes_and_types_that_do_not_fit_are_refused(call):
    for shapes, message in SHAPES.values():
        refuses(call, ValueError, message, *(normal(*shape) for shape in shapes))
    for which in range(3):
        arrays = batch()
        arrays[which] = arrays[which].astype(int)
        message = "queries, keys, values must be floating point, got int32"
        refuses(call, TypeError, message, *arrays)


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("which", ["queries", "keys"])
def test_vectors_of_another_dimension_are_refused(name, which):
    queries, keys, values = batch()
    if which == "queries":
        queries = normal(B, N, D + 1)
    else:
        keys = normal(B, M, D + 1)
    learned = name.startswith(("additive", "bilinear"))
    sizes = {"queries": D, "keys": D} | {which: D + 1}
    message = f"got queries of dimension {sizes['queries']} and keys of dimension {sizes['keys']}"
    if learned:
        message = f"{which} must have dimension 3"
    for need_weights in (True, False):
        refuses(
            layer_of(name), ValueError, message, queries, keys, values, need_weights=need_weights
        )


def test_a_shape_that_differs_is_named():
    check_shape(jnp.zeros((2, 3)), (2, 3))
    refuses(check_shape, ValueError, "have shape (3, 2), got (2, 3)", jnp.zeros((2, 3)), (3, 2))


def test_blocks_hold_at_least_one_key():
    refuses(blockwise_attention, ValueError, "block must be at least 1, got 0", *batch(), block=0)


def test_linear_attention_needs_a_query_for_each_key_in_causal_order():
    message = "causal: one query for each key, got 3 queries and 4 keys"
    refuses(linear_attention, ValueError, message, *batch(), causal=True)


@pytest.mark.parametrize(
    ("lens", "error", "message"),
    [
        (np.array([1, 2]), TypeError, "lens must be a sequence of integers, got array([1, 2])"),
        (jnp.array([1, 2]), TypeError, "lens must be a sequence of integers, got Array([1, 2]"),
        ([jnp.array(1), 2], TypeError, "lens must be a sequence of integers, got [Array(1"),
        ((1.0, 2), TypeError, "lens must be a sequence of integers, got (1.0, 2)"),
        ([True, 2], TypeError, "lens must be a sequence of integers, got [True, 2]"),
        ("12", TypeError, "lens must be a sequence of integers, got '12'"),
        (3, TypeError, "lens must be a sequence of integers, got 3"),
        ([1], ValueError, "lens must be 2 lengths in 0..4, got [1]"),
        ([1, 5], ValueError, "lens must be 2 lengths in 0..4, got [1, 5]"),
        ([-1, 3], ValueError, "lens must be 2 lengths in 0..4, got [-1, 3]"),
    ],
)
def test_lengths_to_cut_at_are_as_many_integers_as_examples_and_fit_the_keys(lens, error, message):
    refuses(attention_without_padding, error, message, *batch(), lens)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 3), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 3"),
        ((8, 0), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 0"),
    ],
)
def test_heads_divide_the_hidden_units(arguments, message):
    refuses(MultiHeadAttention, ValueError, message, *arguments, rngs=nnx.Rngs(0))


def test_groups_of_heads_are_equal():
    message = "num_kv_heads must divide num_heads = 4: one of [1, 2, 4], got 3"
    refuses(MultiHeadAttention, ValueError, message, 8, 4, num_kv_heads=3, rngs=nnx.Rngs(0))


def test_multi_head_attention_refuses_inputs_of_other_sizes():
    layer = MultiHeadAttention(8, 2, query_size=D, key_size=D, value_size=V, rngs=nnx.Rngs(0))
    queries, keys, values = batch()
    heads = batch(heads=(2,))
    refuses(layer, ValueError, "queries must have 3 axes (b, n, d), got (2, 2, 3, 3)", *heads)
    refuses(layer, ValueError, "queries must have dimension 3", keys[..., :2], keys, values)
    refuses(layer, ValueError, "keys must have dimension 3", queries, values, values)
    refuses(layer, ValueError, "values must have dimension 2", queries, keys, keys)
    refuses(layer, ValueError, EACH, queries, keys, values[:, :3])
