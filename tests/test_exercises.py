"""The exercises of every chapter: no wrong answer passes, and each is told what is wrong."""

import contextlib
import importlib
import os
import pkgutil
import re
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from inspect import isfunction, signature
from multiprocessing import get_context

import numpy as np
import pytest

import d2l_attention
from bookbinder.grading import sandbox
from d2l_attention.frameworks import code_of_others
from d2l_attention.practice import audit
from d2l_attention.practice.audit import as_answer
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import exercises_in, find
from tests.conftest import ROOT

FRAMEWORK = os.environ["D2L_FRAMEWORK"]
CHAPTERS = sorted(x.stem for x in (ROOT / "d2l_attention/practice").glob("chapter_*.py"))
MODULES = [importlib.import_module(f"d2l_attention.practice.{name}") for name in CHAPTERS]
EXERCISES = [exercise for module in MODULES for exercise in exercises_in(module)]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.number)


@each
def test_an_exercise_names_four_mistakes_and_lets_no_wrong_answer_through(exercise):
    assert audit(exercise) == []
    assert len(exercise.mistakes) >= 4
    assert find(exercise.number) is exercise  # so numbers are those of chapters, each only once
    if exercise.inputs:
        off = lambda *inputs: 1.001 * np.asarray(exercise.reference(*inputs), float) + 0.001  # noqa: E731
        assert not examine(exercise, as_answer(off), FRAMEWORK).passed


def test_the_audit_tells_of_inputs_on_which_a_mistake_cannot_be_seen():
    blind = copy(find("3.1"))
    blind.reference = blind.mistakes[0].wrong
    assert any("give the same numbers" in told for told in audit(blind))


@pytest.mark.slow
@each
def test_a_teachers_seed_gives_inputs_of_its_own_with_which_no_named_mistake_passes(exercise):
    seeded = [exercise.with_seed(seed) for seed in (1, 2, 1)]
    first, *others = (repr(one.cases()) for one in (exercise, *seeded))
    assert not exercise.inputs or first != others[0] == others[2] != others[1] != first
    assert {*audit(seeded[0])} <= {"a target holds one number many times"}


def numbers_in(text: str) -> set[float]:
    whole = re.sub(r"(?<=\d)[,\u2009\u202f\xa0](?=\d{3})", "", text)
    return {float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", whole)}


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if not e.inputs], ids=lambda e: e.number)
def test_nobody_is_told_the_value_that_is_asked_for(exercise):
    right = np.asarray(exercise.reference, float)
    one_off = np.append(right.ravel()[:-1], 3 * right.ravel()[-1] + 1)
    names = {mistake.name for mistake in exercise.mistakes}
    known = {*range(right.size + 1), exercise.tolerance, float(exercise.number)}
    for guess in (right * 0, right * 3, one_off, right[None] * 2):
        result = examine(exercise, guess, FRAMEWORK)
        assert not result.passed
        shown = re.sub(r"<style>.*?</style>|<[^>]+>", " ", result.html()) + repr(result)
        own = numbers_in(" ".join(f"{x:.4f} {x:.0f}" for x in guess.ravel()))
        told = numbers_in(f"{shown} {result.text()} {result.message}")
        assert told <= {*known, *own, *guess.shape} or result.mistake in names
    secret = {abs(float(x)) for x in right.ravel()} - set(range(10))
    for mistake in exercise.mistakes:
        assert not {abs(n) for n in numbers_in(mistake.say)} & secret


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
        first, quick = one.cases()[0], copy(one)
        quick.inputs, quick.mistakes = lambda rng, first=first: [first], []
        for name, takes in ours.items():
            with contextlib.suppress(TypeError):
                takes.bind(*first)
                for f in (found[name], as_answer(found[name])):
                    right = examine(quick, f, FRAMEWORK, numbers_only=True).passed
                    passed += [(one.number, name)] * (right and examine(one, f, FRAMEWORK).passed)
    return passed


@pytest.mark.slow
def test_nothing_that_a_student_can_import_is_an_answer_as_it_stands():
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        assert apart.submit(answers_to_import).result() == []
