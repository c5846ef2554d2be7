"""The exercises of every chapter: no wrong answer passes, and each is told what is wrong."""

import contextlib
import importlib
import os
import pkgutil
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from inspect import isfunction, signature
from multiprocessing import get_context

import numpy as np
import pytest

import d2l_attention
from bookbinder.classroom import sandbox
from d2l_attention.frameworks import code_of_others, load, to_numpy
from d2l_attention.practice import audit
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import exercises_in, find
from tests.conftest import ROOT

FRAMEWORK = os.environ["D2L_FRAMEWORK"]
MODULES = sorted((ROOT / "d2l_attention/practice").glob("chapter_*.py"))
EXERCISES = [
    exercise
    for path in MODULES
    for exercise in exercises_in(importlib.import_module(f"d2l_attention.practice.{path.stem}"))
]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)
def test_an_exercise_names_four_mistakes_and_lets_no_wrong_answer_through(exercise):
    assert audit(exercise, FRAMEWORK) == []
    assert len(exercise.mistakes) >= 4


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.inputs], ids=lambda e: e.number)
def test_a_right_function_whose_numbers_are_a_little_off_does_not_pass(exercise):
    right = as_answer(exercise.reference, FRAMEWORK)

    def off(*inputs):
        numbers = np.asarray(to_numpy(right(*inputs)), np.float64)
        return load(FRAMEWORK).make_array(numbers + 1e-3 * (numbers + 1))

    assert not examine(exercise, off, FRAMEWORK).passed


def test_what_the_task_forbids_is_seen_wherever_it_is_called():
    nn = importlib.import_module(load(FRAMEWORK).PACKAGE).nn
    ready = getattr(nn, "functional", nn)
    for way in (partial(ready.softmax), lambda *a, log=ready.log_softmax: np.e ** log(*a)):
        found = examine(find("1.3"), lambda scores, t, way=way: way(scores / t, -1), FRAMEWORK)
        assert found.mistake == "a ready-made function"


VALUES = pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if not e.inputs], ids=lambda e: e.number
)
GUESSES = {
    "zero": lambda right: right * 0,
    "a factor": lambda right: right * 3,
    "one number off": lambda right: np.append(right.ravel()[:-1], 3 * right.ravel()[-1] + 1),
    "an axis too many": lambda right: right[None] * 2,
}


def numbers_in(text: str) -> set[float]:
    whole = re.sub(r"(?<=\d)[,\u2009\u202f\xa0](?=\d{3})", "", text)
    return {float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", whole)}


@VALUES
@pytest.mark.parametrize("guess", GUESSES.values(), ids=GUESSES)
def test_no_wrong_guess_at_a_value_is_told_the_value(exercise, guess):
    right = np.asarray(exercise.reference, float)
    guessed = guess(right)
    result = examine(exercise, guessed, FRAMEWORK)
    assert not result.passed
    if result.mistake in {mistake.name for mistake in exercise.mistakes}:
        return  # the next test reads these
    shown = re.sub(r"<style>.*?</style>|<[^>]+>", " ", result.html()) + repr(result)
    of_the_guess = numbers_in(" ".join(f"{x:.4f} {x:.0f}" for x in guessed.ravel()))
    sizes = {*range(right.size + 1), *guessed.shape, exercise.tolerance, float(exercise.number)}
    assert numbers_in(f"{shown} {result.text()} {result.message}") <= of_the_guess | sizes


@VALUES
def test_no_named_mistake_tells_the_value_or_a_factor_of_it(exercise):
    for mistake in exercise.mistakes:
        told = {abs(n) for n in numbers_in(mistake.say)}
        secret = {abs(float(x)) for x in np.ravel(exercise.reference)} - set(range(10))
        assert not told & secret
        assert not re.search(r"(half|quarter|twice) of it|[Dd]ivide by a", mistake.say)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_exercises_are_numbered_by_chapter_and_only_once(path):
    numbers = [e.number for e in EXERCISES if e.number.startswith(f"{int(path.stem[-2:])}.")]
    assert len(numbers) == len(set(numbers)) >= 1


def answers_to_import():
    """Return which functions that a sandbox leaves pass a check; called, they do all sorts."""
    found, passed = {}, []
    hidden = {f"d2l_attention.practice.{path.stem}" for path in sandbox.SECRET}
    for module in pkgutil.walk_packages(d2l_attention.__path__, "d2l_attention."):
        source = module.module_finder.find_spec(module.name).loader.get_source(module.name)
        if module.name not in hidden and not re.search(code_of_others(FRAMEWORK), source):
            names = vars(importlib.import_module(module.name))
            found |= {f"{f.__module__}.{f.__name__}": f for f in filter(isfunction, names.values())}
    ours = {name: signature(f) for name, f in found.items() if name.startswith("d2l_attention")}
    assert len(ours) > 100
    for one in (one for one in EXERCISES if one.inputs):
        for name, takes in ours.items():
            with contextlib.suppress(TypeError):
                takes.bind(*one.cases()[0])
                ways = found[name], as_answer(found[name], FRAMEWORK)
                passed += [(one.number, name) for f in ways if examine(one, f, FRAMEWORK).passed]
    return passed


@pytest.mark.slow
def test_nothing_that_a_student_can_import_is_an_answer_as_it_stands():
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        assert apart.submit(answers_to_import).result() == []
