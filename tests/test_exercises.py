"""The exercises of every chapter: no wrong answer passes, and each is told what is wrong."""

import importlib

import numpy as np
import pytest
import torch
from conftest import ROOT

from d2l_attention.practice import audit, check
from d2l_attention.practice.arrays import in_framework
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import exercises_in
from d2l_attention.torch import masked_softmax

MODULES = sorted((ROOT / "d2l_attention/practice").glob("chapter_*.py"))
EXERCISES = [
    exercise
    for path in MODULES
    for exercise in exercises_in(importlib.import_module(f"d2l_attention.practice.{path.stem}"))
]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_an_exercise_lets_no_wrong_answer_through(exercise):
    assert audit(exercise, "torch") == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_an_exercise_expects_four_mistakes_or_more(exercise):
    assert len(exercise.mistakes) >= 4


CALLED = pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.inputs], ids=lambda e: e.number
)


@CALLED
def test_a_right_function_passes(exercise):
    assert examine(
        exercise, as_answer(exercise.reference, "torch"), "torch", numbers_only=True
    ).passed


@CALLED
@pytest.mark.parametrize(
    "spoil",
    [
        lambda right: right.float() * torch.nan,
        lambda right: right[None],
        lambda right: right + 1e-3 * (right.float() + 1),
        lambda right: right.tolist()[:-1] if right.ndim else [],
        lambda right: right.no_such_method(),
    ],
    ids=["NaN", "an axis too many", "numbers a little off", "one short", "exception"],
)
def test_a_right_function_that_is_spoilt_does_not_pass(exercise, spoil):
    right = as_answer(exercise.reference, "torch")
    result = examine(exercise, lambda *inputs: spoil(right(*inputs)), "torch")
    assert not result.passed
    assert result.mistake


def gives_floats(exercise):
    target = np.asarray(exercise.reference(*exercise.cases()[0]))
    return target.ndim and target.dtype.kind == "f"


@pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.inputs and gives_floats(e)], ids=lambda e: e.number
)
def test_a_right_function_in_double_precision_does_not_pass(exercise):
    right = as_answer(exercise.reference, "torch")
    result = examine(exercise, lambda *inputs: right(*inputs).double(), "torch")
    assert result.status == "wrong"
    assert "the input is float32 and your answer float64" in result.message


@CALLED
def test_the_right_numbers_for_the_shown_inputs_do_not_pass(exercise):
    right = as_answer(exercise.reference, "torch")
    shown = [in_framework(value, "torch") for value in exercise.cases()[0]]
    result = examine(exercise, lambda *inputs: right(*shown), "torch")
    assert result.status == "wrong"


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
