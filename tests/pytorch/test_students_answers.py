"""Answers as students write them in PyTorch: the check names the mistake of each."""

import pytest
import torch

from d2l_attention.practice import check
from d2l_attention.torch import masked_softmax


def window_mask(n, m, width):
    ages = torch.arange(n)[:, None] - torch.arange(m)
    return (ages >= 0) & (ages < width)


def masked_weights(scores, keep):
    exponentials = torch.where(keep, scores.exp(), 0)
    totals = exponentials.sum(-1, keepdim=True)
    return exponentials / torch.where(totals == 0, 1, totals)


def plogp(weights):
    return -weights * weights.log()


def entropy_of(weights):
    return -(weights * torch.where(weights > 0, weights, 1).log()).sum(-1)


def entropy(scores, keep):
    return entropy_of(masked_softmax(scores, mask=keep))


@pytest.mark.parametrize(
    ("number", "answer", "mistake"),
    [
        ("4.1", window_mask, None),
        ("4.1", lambda n, m, width: window_mask(n, m, width).float(), "wrong data type"),
        ("4.1", lambda n, m, width: torch.ones(n, m).tril().bool(), "everything before"),
        ("4.1", lambda n, m, width: ~window_mask(n, m, width), "mask inverted"),
        ("4.1", lambda n, m, width: window_mask(m, n, width), "queries and keys swapped"),
        ("4.1", lambda n, m, width: window_mask(4, 6, 2), "hard-coded"),
        ("4.2", masked_weights, None),
        ("4.2", lambda s, keep: s.softmax(-1) * keep, "mask after the softmax"),
        ("4.2", lambda s, keep: torch.where(keep, s, -1e9).softmax(1), "softmax over the queries"),
        ("4.2", lambda s, keep: torch.where(keep, s, -1e9).softmax(-1), "uniform weights in a f"),
        ("4.2", lambda s, keep: s.masked_fill(~keep, -torch.inf).softmax(-1), "nan in a fully"),
        ("4.2", lambda s, keep: masked_weights(s / 2, keep), "different numbers"),
        ("4.3", entropy, None),
        ("4.3", lambda s, keep: plogp(masked_softmax(s, mask=keep)).sum(-1), "zero times"),
        ("4.3", lambda s, keep: plogp(masked_softmax(s, mask=keep)).nansum(-1), "gradient"),
        (
            "4.3",
            lambda s, keep: torch.special.entr(masked_softmax(s, mask=keep)).sum(-1),
            "gradient",
        ),
        ("4.3", lambda s, keep: entropy_of(s.softmax(-1)), "no mask"),
        ("4.3", lambda s, keep: entropy(s, keep).mean(), "wrong shape"),
        ("4.3", lambda s, keep: entropy(s, keep)[..., None], "wrong shape"),
        ("4.3", lambda s, keep: entropy(s, keep) / 0.6931472, "bits"),
        ("7.2", lambda queries, keys: queries, "not every pair"),
        ("8.4", 119, None),
        ("8.4", 299, "one matrix only"),
        ("8.4", 1, "sizes multiplied"),
        ("8.4", 150, "both of one size"),
        ("8.4", 118, "different numbers"),
        ("9.4", 129, None),
        ("9.4", 97, "without the output"),
        ("9.4", 257, "one matrix"),
        ("9.4", 33, "one input"),
        ("9.4", 130, "different numbers"),
    ],
)
def test_answers_of_students(number, answer, mistake):
    result = check(number, answer)
    assert result.passed is (mistake is None)
    assert mistake is None or result.mistake.startswith(mistake)
