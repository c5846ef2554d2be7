"""Answers that only tensors can give: in place, with a graph, as views, on another device."""

import numpy as np
import pytest
import torch

from d2l_attention.practice import Exercise, check
from tests.contract.test_practice import SHARES, row_shares, shares, stub, two_inputs


def written_over(x):
    x /= x.sum(-1, keepdim=True)
    return x


@pytest.mark.parametrize(
    "answer", [lambda x: shares(x.requires_grad_()), lambda x: shares(x.double())]
)
def test_a_right_answer_passes_with_a_graph_or_by_way_of_another_precision(answer):
    assert check(SHARES, answer).passed


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (written_over, "argument changed in place", "writes into its argument x"),
        (lambda x: written_over(x) * 2, "rows that do not sum to 1", "It also writes into its arg"),
        (lambda x: x.to("meta"), "not an array", "no array of real numbers, but a Tensor"),
    ],
)
def test_a_wrong_answer_is_named(answer, mistake, says):
    result = check(SHARES, answer)
    assert result.mistake == mistake
    assert says in result.message


def test_a_deep_not_implemented_error_is_an_error_and_no_empty_answer():
    assert check(SHARES, lambda x: np.ndarray.dot(x, stub(x))).status == "not attempted"

    def calls_the_library(x):
        return torch.utils.data.Sampler().__iter__() or torch.utils.data.Dataset()[0]

    assert check(SHARES, calls_the_library).status == "error"


def test_an_expanded_view_is_no_array_too_large():
    exercise = Exercise("0.10", row_shares, two_inputs, most_elements=lambda x: x.size)
    assert check(exercise, lambda x: shares(x[:, None].expand(-1, 9, -1)[:, 0])).passed
