"""Wrong input is refused with an error that names the argument, what came and what would fit."""

import re

import pytest
import torch
from cases import ATTENTIONS, D, batch, layer_of, normal

from d2l_attention.torch import attention_mask, check_shape, length_mask, masked_softmax

NAN = float("nan")

# Scores are (2, 3, 4): two examples, three queries, four keys.
LENGTHS = {
    "floats": (torch.tensor([2.5, 4.0]), TypeError, "valid_lens must hold integers, got torch.fl"),
    "NaN": (torch.tensor([NAN, 1]), TypeError, "valid_lens must hold integers, got torch.float32"),
    "a list of floats": ([2.0, 3.0], TypeError, "valid_lens must hold integers, got torch.float"),
    "bool": (torch.tensor([True, False]), TypeError, "valid_lens must hold integers, got torch.b"),
    "a mask": (torch.ones(2, 3).bool(), TypeError, "valid_lens must hold integers, got torch.bool"),
    "negative": (torch.tensor([-1, 2]), ValueError, "valid_lens must lie in 0..4, got -1..2"),
    "too long": (torch.tensor([5, 2]), ValueError, "valid_lens must lie in 0..4, got 2..5"),
    "negative in a list": ([-3, -1], ValueError, "valid_lens must lie in 0..4, got -3..-1"),
    "too long for a query": ([[1, 2, 3], [4, 5, 0]], ValueError, "must lie in 0..4, got 0..5"),
    "negative for a query": ([[1, 2, 3], [4, -5, 0]], ValueError, "must lie in 0..4, got -5..4"),
    "per key": (torch.ones(2, 4).long(), ValueError, "must have shape (2,) or (2, 3), got (2, 4)"),
    "transposed": (
        torch.ones(3, 2).long(),
        ValueError,
        "must have shape (2,) or (2, 3), got (3, 2)",
    ),
    "flattened": (torch.ones(6).long(), ValueError, "must have shape (2,) or (2, 3), got (6,)"),
    "too many": ([1, 2, 3], ValueError, "must have shape (2,) or (2, 3), got (3,)"),
    "one for all": (torch.tensor([3]), ValueError, "must have shape (2,) or (2, 3), got (1,)"),
    "one number": (3, ValueError, "must have shape (2,) or (2, 3), got ()"),
    "a column": (torch.ones(2, 1).long(), ValueError, "must have shape (2,) or (2, 3), got (2, 1)"),
    "three axes": (torch.ones(2, 3, 1).long(), ValueError, "shape (2,) or (2, 3), got (2, 3, 1)"),
}
MASKS = {
    "floats": (
        torch.ones(2, 3, 4),
        TypeError,
        "mask must be boolean (True = may attend), got torch.float32",
    ),
    "integers": (
        torch.ones(3, 4).long(),
        TypeError,
        "mask must be boolean (True = may attend), got torch.int64",
    ),
    "other keys": (torch.ones(3, 5).bool(), ValueError, "broadcast to (2, 3, 4), got (3, 5)"),
    "other queries": (torch.ones(2, 4).bool(), ValueError, "broadcast to (2, 3, 4), got (2, 4)"),
    "other batch": (torch.ones(3, 1, 1).bool(), ValueError, "to (2, 3, 4), got (3, 1, 1)"),
    "too many axes": (torch.ones(1, 2, 3, 4).bool(), ValueError, "to (2, 3, 4), got (1, 2, 3, 4)"),
}
CALLS = {
    "masked_softmax": lambda **arguments: masked_softmax(normal(2, 3, 4), **arguments),
    "attention_mask": lambda **arguments: attention_mask((2, 3, 4), **arguments),
} | {
    f"{name}, need_weights={need}": lambda name=name, need=need, **arguments: layer_of(name)(
        *batch(), **arguments, need_weights=need
    )
    for name in ATTENTIONS
    for need in (True, False)
}


def refuses(call, error, message, *arguments, **keywords):
    with pytest.raises(error, match=re.escape(message)):
        call(*arguments, **keywords)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("lens", "error", "message"), LENGTHS.values(), ids=LENGTHS)
def test_wrong_lengths_are_refused(call, lens, error, message):
    refuses(call, error, message, valid_lens=lens)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("mask", "error", "message"), MASKS.values(), ids=MASKS)
def test_wrong_masks_are_refused(call, mask, error, message):
    refuses(call, error, message, mask=mask)
    refuses(call, error, message, mask=mask, valid_lens=[1, 2])


def test_the_smallest_and_largest_lengths_are_taken():
    for lens in ([0, 4], [[0, 4, 0], [4, 4, 0]]):
        assert length_mask((2, 3, 4), lens).sum() in (4, 12)


@pytest.mark.parametrize("shape", [(), (4,), (3, 4)])
def test_scores_of_too_few_axes_are_refused(shape):
    refuses(masked_softmax, ValueError, f"X must have 3 axes or more, got {shape}", normal(*shape))


def test_integer_scores_are_refused():
    X = torch.ones(2, 3, 4).long()
    refuses(masked_softmax, TypeError, "X must be floating point, got torch.int64", X)


SIZES = {
    "batch of one query": (
        ((1, 3, D), (2, 4, D), (2, 4, 2)),
        "must agree in batch and heads; got queries (1, 3, 3), keys (2, 4, 3), values (2, 4, 2)",
    ),
    "batch of one key": (((2, 3, D), (1, 4, D), (2, 4, 2)), "must agree in batch and heads"),
    "batch of one value": (((2, 3, D), (2, 4, D), (1, 4, 2)), "must agree in batch and heads"),
    "other heads": (
        ((2, 2, 3, D), (2, 1, 4, D), (2, 1, 4, 2)),
        "must agree in batch and heads; got queries (2, 2, 3, 3)",
    ),
    "too few values": (
        ((2, 3, D), (2, 4, D), (2, 3, 2)),
        "there must be one value for each key; got queries (2, 3, 3), keys (2, 4, 3), values (2, 3",
    ),
    "too many values": (((2, 3, D), (2, 4, D), (2, 5, 2)), "there must be one value for each key"),
    "one value for all keys": (
        ((2, 3, D), (2, 4, D), (2, 1, 2)),
        "there must be one value for each key",
    ),
    "too few axes": (((3, D), (4, D), (4, 2)), "must have 3 axes, or 4 with heads; got queries"),
    "too many axes": (((1, 1, 2, 3, D),) * 3, "must have 3 axes, or 4 with heads"),
    "other axes of keys": (((2, 3, D), (2, 1, 4, D), (2, 4, 2)), "must have 3 axes"),
    "other axes of values": (((2, 3, D), (2, 4, D), (2, 1, 4, 2)), "must have 3 axes"),
    "other features": (((2, 3, D + 1), (2, 4, D), (2, 4, 2)), "queries"),
}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize(("shapes", "message"), SIZES.values(), ids=SIZES)
def test_sizes_that_do_not_fit_are_refused(name, need_weights, shapes, message):
    tensors = [normal(*shape) for shape in shapes]
    refuses(layer_of(name), ValueError, message, *tensors, need_weights=need_weights)


def test_additive_attention_refuses_keys_of_another_dimension():
    queries, _, values = batch()
    for name in ("additive", "additive, lazy"):
        refuses(
            layer_of(name),
            ValueError,
            "keys must have dimension 3, got (2, 4, 2)",
            queries,
            values,
            values,
        )


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_integer_tensors_are_refused(name, which):
    tensors = list(batch())
    tensors[which] = tensors[which].long()
    refuses(
        layer_of(name),
        TypeError,
        "queries, keys, values must be floating point, got torch.",
        *tensors,
    )


def test_a_shape_that_differs_is_named():
    check_shape(torch.zeros(2, 3), (2, 3))
    refuses(check_shape, ValueError, "have shape (3, 2), got (2, 3)", torch.zeros(2, 3), (3, 2))
