"""The exercises of every chapter: no wrong answer passes, and each is told what is wrong."""

import importlib

import pytest
import torch
from conftest import ROOT

from d2l_attention.practice import audit, check

MODULES = sorted((ROOT / "d2l_attention/practice").glob("chapter_*.py"))
EXERCISES = [
    exercise
    for path in MODULES
    for exercise in importlib.import_module(f"d2l_attention.practice.{path.stem}").EXERCISES
]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_an_exercise_lets_no_wrong_answer_through(exercise):
    assert audit(exercise, "torch") == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_an_exercise_expects_four_mistakes_or_more(exercise):
    assert len(exercise.mistakes) >= 4


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_exercises_are_numbered_by_chapter_and_only_once(path):
    numbers = [e.number for e in EXERCISES if e.number.startswith(f"{int(path.stem[-2:])}.")]
    assert len(numbers) == len(set(numbers)) >= 1


def window_mask(n, m, width):
    ages = torch.arange(n)[:, None] - torch.arange(m)
    return (ages >= 0) & (ages < width)


def masked_weights(scores, keep):
    exponentials = torch.where(keep, scores.exp(), 0)
    totals = exponentials.sum(-1, keepdim=True)
    return exponentials / torch.where(totals == 0, 1, totals)


def entropy(weights):
    return -(weights * torch.where(weights > 0, weights, 1).log()).sum(-1)


@pytest.mark.parametrize(
    ("number", "answer", "mistake"),
    [
        ("4.1", window_mask, None),
        ("4.1", lambda n, m, width: window_mask(n, m, width).float(), "wrong data type"),
        ("4.1", lambda n, m, width: torch.ones(n, m).tril().bool(), "everything before, no window"),
        ("4.1", lambda n, m, width: ~window_mask(n, m, width), "True for what is hidden"),
        ("4.1", lambda n, m, width: window_mask(m, n, width), "queries and keys swapped"),
        ("4.1", lambda n, m, width: window_mask(4, 6, 2), "hard-coded"),
        ("4.2", masked_weights, None),
        ("4.2", lambda s, keep: s.softmax(-1) * keep, "mask after the softmax"),
        ("4.2", lambda s, keep: torch.where(keep, s, -1e9).softmax(1), "softmax over the queries"),
        ("4.2", lambda s, keep: torch.where(keep, s, -1e9).softmax(-1), "uniform weights in an"),
        ("4.2", lambda s, keep: s.masked_fill(~keep, -torch.inf).softmax(-1), "NaN in an empty"),
        ("4.2", lambda s, keep: masked_weights(s / 2, keep), "different numbers"),
        ("4.3", entropy, None),
        ("4.3", lambda weights: -(weights * weights.log()).sum(-1), "0 times minus infinity"),
        ("4.3", lambda weights: entropy(weights).mean(), "wrong shape"),
        ("4.3", lambda weights: entropy(weights)[..., None], "wrong shape"),
        ("4.3", lambda weights: -(weights * torch.log2(weights)).nansum(-1), "bits"),
    ],
)
def test_answers_of_students_to_chapter_4(number, answer, mistake):
    result = check(number, answer)
    assert result.passed is (mistake is None)
    assert mistake is None or result.mistake.startswith(mistake)
