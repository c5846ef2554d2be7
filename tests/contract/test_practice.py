"""Checks: what a reader may hand in, and what is said about it."""

import subprocess
import sys

import numpy as np
import pytest

from d2l_attention import frameworks
from d2l_attention.arrays import as_array, dtype_of
from d2l_attention.practice import Exercise, check
from d2l_attention.practice.exercises import symptom
from tests.contract.comparing import HALF
from tests.contract.framework import adapter, array, framework, numpy, ours, xp
from tests.contract.samples import INF


def row_shares(x):
    return x / x.sum(-1, keepdims=True)


def two_inputs(rng):
    yield (rng.random((2, 3)) + 0.1,)
    yield (rng.random((4, 5)) + 0.1,)


SHARES = Exercise("0.1", row_shares, two_inputs)
SHAPE = Exercise("0.2", (2, 1, 4))


@SHARES.expects
class SharesMistakes:
    def wrong_axis(x):
        """Your columns sum to 1."""
        return x / x.sum(0)

    @symptom
    def negative(got, target, x):
        """Shares are positive."""
        return (got @ target.T).max() < 0  # which cannot be asked of most wrong shapes


@SHAPE.expects
class ShapeMistakes:
    def swapped():
        """Look
        again."""
        return 2, 4, 1


AXIS_LOST = "Did an axis get lost on the way? A sum or a maximum keeps its axis with "
AXIS_LOST += f"{framework.KEEP_AXIS}=True. The result has shape (2, 3)."
RIGHT = row_shares(SHARES.cases()[0][0].astype(float))


def stub(x):
    raise NotImplementedError


def not_theirs(x):
    return (2 * x).cholesky_that_is_not_there()


def shares(x):
    return x / xp.sum(x, -1, keepdims=True)


@pytest.mark.parametrize("answer", [None, ..., stub, lambda x: None, lambda *x: ..., lambda x: ...])
def test_an_empty_answer_is_not_attempted(answer, capsys):
    result = check(SHARES, answer)
    assert result.status == "not attempted"
    assert not result.passed
    assert "0.1 not attempted. Write your answer" in capsys.readouterr().out


def test_a_right_answer_passes_on_all_inputs(capsys):
    assert check(SHARES, shares).passed
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["target", "your", "answer"]
    assert out.splitlines()[-1] == "0.1 passed. Your answer is right on 2 inputs."


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (lambda x: x / xp.sum(x, 0), "wrong axis", "Your columns sum to 1"),
        (lambda x: -shares(x), "negative", "Shares are positive"),
        (lambda x: array(RIGHT), "hard-coded", "same values for every input"),
        (lambda x: shares(x) if len(x) == 2 else x, "hard-coded", "right on the first input"),
        (lambda x: x * float("nan"), "not a finite number", "NaN"),
        (lambda x: x, "rows that do not sum to 1", "each row must sum to 1"),
        (lambda x: xp.swapped(shares(x)), "wrong shape", "transposed"),
        (lambda x: shares(x)[None], "wrong shape", "axis of size 1 is missing or too many"),
        (
            lambda x: shares(x)[:, None] + 0 * x[:, :, None],
            "wrong shape",
            "no error has stopped you",
        ),
        (lambda x: xp.flip(shares(x), (1,)), "another order", "repeat_interleave"),
        (lambda x: x > 0.5, "rows that do not sum to 1", "each row"),
        (lambda x: shares(x) if len(x) == 2 else shares(x)[0], "wrong shape", "yours has (5,)"),
        (lambda x: shares(x) / (len(x) == 2), "not a finite number", "infinite"),
        (lambda x: xp.swapped(x) @ x, "wrong shape", "yours has (3, 3)"),
        (lambda x: (shares(x), x), "wrong shape", "a tuple or list of 2: the task asks for one"),
        (lambda x: "words", "not an array", "no array of real numbers, but a str"),
        (lambda x: array(RIGHT * 1j), "not an array", "no array of real numbers, but a"),
        (lambda x: xp.sum(x), "wrong shape", "yours has ()"),
        (lambda x: x[:0], "wrong shape", "yours has (0, 3)"),
        (not_theirs, "exception", "return (2 * x).cholesky_that_is_not_there())"),
        (lambda x: x / xp.sum(x, -1), "exception", AXIS_LOST),
        (lambda x: 1 / 0, "exception", "raises ZeroDivisionError: division by zero (line "),
        (lambda x: sys.exit(), "exception", "raises SystemExit"),
        (lambda: 1, "wrong arguments", "takes (), and the task calls it with (x)"),
        (array(RIGHT), "wrong arguments", "a function of (x), not of type "),
    ],
)
def test_a_wrong_answer_is_named(answer, mistake, says, capsys):
    result = check(SHARES, answer)
    assert not result.passed
    assert result.mistake == mistake
    assert says in result.message
    assert ("were broadcast" in result.message) == (says == "no error has stopped you")
    assert result.message in capsys.readouterr().out
    assert result.html().count("<table") in (0, 2)


def test_right_numbers_pass_whatever_holds_them_but_where_a_gradient_counts():
    half = lambda x: adapter.cast(shares(x), "float16")  # noqa: E731
    for answer in (lambda x: row_shares(numpy(x)), lambda x: list(shares(x)), half):
        lenient, strict = (
            check(Exercise("0.3", row_shares, two_inputs, tolerance=1e-2, gradient=g), answer)
            for g in (False, True)
        )
        assert lenient.passed
        assert strict.mistake == "another type"
        assert strict.message in lenient.message


def test_a_value_is_compared_as_it_is():
    assert check(SHAPE, (2, 1, 4)).passed
    assert check(SHAPE, array(np.ones((2, 1, 4))).shape).passed
    assert check(SHAPE, (2, 1, 5)).mistake == "different numbers"


@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_compared_in_double(dtype):
    exercise = Exercise("0.5", row_shares, two_inputs, tolerance=1e-2)
    assert check(exercise, lambda x: adapter.cast(shares(adapter.cast(x, dtype)), "float32")).passed
    assert dtype_of(array(RIGHT, dtype)) == dtype
    assert as_array([array([1.0, 1], dtype), [1, 2]]).dtype == np.float64


def test_long_and_deep_answers_are_cut():
    def inputs(rng):
        yield from ((rng.normal(size=(2, 20, 30)),), (rng.normal(size=(3, 20, 30)),))

    exercise = Exercise("0.6", lambda x: x, inputs)

    def one_off(x):
        one = np.zeros(x.shape)
        one[1, 2, 3] = 1
        return x + array(one)

    lines = check(exercise, one_off).text().splitlines()
    assert lines[0] == "part [1] of shape (2, 20, 30)"
    assert len(lines) == 11
    assert lines[4].count("*") == 1
    assert "1 of 1200 entries differ; the first at [1, 2, 3]" in lines[-1]


def logs_of_positive(x):
    return np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0).sum(-1)


def some_zeros(rng):
    for shape in ((2, 3), (1, 4)):
        x = rng.random(shape) + 0.5
        x[0, 1] = -1
        yield (x,)


def test_a_right_value_with_a_wrong_gradient_does_not_pass():
    exercise = Exercise("0.9", logs_of_positive, some_zeros, gradient=True)

    def right(x):
        return xp.sum(xp.where(x > 0, xp.log(xp.where(x > 0, x, 1)), 0), -1)

    def detached(x):
        return right(adapter.constant(x))

    def doubled(x):
        value = right(x)
        return 2 * value - adapter.constant(value)

    assert check(exercise, right).passed
    assert check(exercise, detached).mistake == "gradient"
    assert "gradient with respect to x is wrong" in check(exercise, doubled).message


# ---- answers as students write them to exercises of the book


def entropy_by_nansum(scores, keep):
    weights = ours.masked_softmax(scores, mask=keep)
    return -xp.nansum(weights * xp.log(weights), -1)


def additive_one_by_one(queries, keys, W_q, W_k, w_v):  # too large, behind a map
    q, k = queries @ xp.swapped(W_q), keys @ xp.swapped(W_k)
    return xp.vmap(lambda q, k: xp.einsum("nmh,h->nm", xp.tanh(q[:, None] + k), w_v))(q, k)


def entropies(blocks):  # with the state in one array (n, 3)
    state = None
    for a in blocks:
        c, s, o = (-INF, 0.0, 0.0) if state is None else (state[:, i : i + 1] for i in range(3))
        new = xp.maximum(xp.asarray(c), xp.amax(a, -1)[..., None])
        shrink, e = xp.exp(c - new), xp.exp(a - new)
        s = shrink * s + xp.sum(e, -1)[..., None]
        o = shrink * o + xp.sum(e * a, -1)[..., None]
        state = xp.concatenate([new, s, o], -1)
    return (new + xp.log(s) - o / s)[:, 0]


def entropies_of_a_list(blocks):
    return entropies([xp.concatenate(list(blocks), -1)])


def entropies_in_two_passes(blocks):
    largest = -INF
    for block in blocks:
        largest = xp.maximum(xp.asarray(largest), xp.amax(block, -1))
    return largest + xp.log(sum(xp.sum(xp.exp(block - largest[:, None]), -1) for block in blocks))


def latent_scores(q, z, U, turned_q, turned_k):  # as one product of both parts
    absorbed = xp.concatenate([q @ U, turned_q], -1)
    scores = xp.einsum("bhnr,bmr->bhnm", absorbed, xp.concatenate([z, turned_k], -1))
    return scores / (q.shape[-1] + turned_q.shape[-1]) ** 0.5


def latent_scores_by_keys(q, z, U, *turned):  # of one head at least
    return latent_scores(q, z, U, *turned) + 0 * xp.sum(z @ xp.swapped(U)[0])


@pytest.mark.parametrize(
    ("number", "answer", "mistake", "says"),
    [
        ("10.2", entropy_by_nansum, "gradient", "not finite"),
        ("13.2", additive_one_by_one, "an array too large", "makes an array of shape"),
        ("17.1", entropies, None, "passed"),
        ("18.2", latent_scores, None, "passed"),
        ("18.2", latent_scores_by_keys, "an array too large", "(1, 19, 17)"),
        ("17.1", entropies_of_a_list, "exception", "you keep what has gone by"),
        ("17.1", entropies_in_two_passes, "exception", "it can be read only once"),
    ],
)
def test_answers_of_students(number, answer, mistake, says):
    result = check(number, answer)
    assert result.mistake == mistake
    assert says in result.text()


@pytest.mark.parametrize(("number", "others"), [("3.9", "3.1"), ("words", "none")])
def test_an_unknown_exercise_is_named(number, others):
    message = f"no check for exercise '{number}'; with a check: {others}"
    with pytest.raises(ValueError, match=message):
        check(number, stub)


def test_checks_load_no_framework():
    heavy = ["matplotlib", "IPython", *(frameworks.load(n).PACKAGE for n in frameworks.known())]
    code = "import sys; from d2l_attention.practice import check; "
    code += 'check("3.1", lambda n, m, width: None); '
    code += f"print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
