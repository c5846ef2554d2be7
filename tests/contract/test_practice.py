"""Checks: what a reader may hand in, and what is said about it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from d2l_attention.practice import Exercise, check
from d2l_attention.practice.exercises import find, symptom
from tests.contract.framework import adapter, array, framework, numpy, ours, xp


def stub(x):
    raise NotImplementedError


def row_shares(x):
    return x / x.sum(-1, keepdims=True)


def inputs(*values):
    return lambda rng: ((np.array(x),) for x in values)


def two_inputs(rng):
    return ((rng.random(shape) + 0.1,) for shape in ((2, 3), (4, 5)))


SHARES = Exercise("0.1", row_shares, two_inputs)
SHAPE = Exercise("0.2", (2, 1, 4))
HALVES = Exercise("0.3", lambda x: x / 2, inputs([[1.0, -2, 4]], [[9.0, 3], [6, 5]]))
SIGNS = Exercise("0.4", lambda x: np.sign(x).astype(int), inputs([1.5, -2, 0], [1.0, 2]))
TOTAL = Exercise("0.5", lambda x: x.sum(), inputs([1.0, 2], [4.0, 5, 6]))
DEEP = Exercise("0.6", lambda x: x, inputs(np.zeros((2, 20, 30)), np.ones((2, 9, 30))))
STRICT = Exercise("0.7", row_shares, two_inputs, gradient=True)
ROUGH = Exercise("0.7", row_shares, two_inputs, tolerance=1e-2)
SMALL = Exercise("0.8", row_shares, two_inputs, most_elements=lambda x: x.size)
STREAM = Exercise("0.9", lambda x: x.sum(0), two_inputs, stream=True)


@SHARES.expects
class SharesMistakes:
    def wrong_axis(x):
        """Your columns
        sum to 1."""
        return x / x.sum(0)

    @symptom
    def negative(got, target, x):
        """Shares are positive."""
        return (got @ target.T).max() < 0  # which cannot be asked of most wrong shapes


RIGHT = row_shares(SHARES.cases()[0][0].astype(float))
ZEROS, ONES = "  ".join(["0.0000"] * 8), " ".join(["1.0000*"] * 8)
CUT = "part [1] of shape (2, 20, 30)\ntarget" + " " * 60 + "your answer\n"
CUT += f"{ZEROS}    {ONES}\n" * 8 + "0.6 wrong. 600 of 1200 entries differ; the first at [1, 0, 0]"


def shares(x):
    return x / xp.sum(x, -1, keepdims=True)


def by_products(x):  # which a map hides
    return xp.vmap(lambda row: row / xp.sum(xp.einsum("i,j->ij", row, row)) ** 0.5)(x)


NOT_ATTEMPTED = "0.1 not attempted. Write your answer, then check it again.$"
EMPTY = [None, ..., stub, lambda x: None, lambda *x: ..., lambda x: ...]
ANSWERS = [
    *((SHARES, empty, None, NOT_ATTEMPTED) for empty in EMPTY),
    (SHARES, lambda x: x / xp.sum(x, 0), "wrong axis", "Your columns sum to 1.$"),
    (SHARES, lambda x: -shares(x), "negative", "Shares are positive"),
    (SHARES, lambda x: array(RIGHT), "hard-coded", "same values for every input"),
    (SHARES, lambda x: shares(x) if len(x) == 2 else x, "hard-coded", "(shapes (4, 5))"),
    (SHARES, lambda x: x * float("nan"), "not a finite number", "entries are NaN"),
    (SHARES, lambda x: shares(x) / (len(x) == 2), "not a finite number", "log of 0: rows"),
    (SHARES, lambda x: x, "rows that do not sum to 1", "must sum to 1, and yours sum to 1."),
    (SHARES, lambda x: xp.flip(shares(x), (1,)), "another order", "repeat_interleave"),
    (SHARES, lambda x: xp.swapped(shares(x)), "wrong shape", "transposed"),
    (SHARES, lambda x: shares(x)[None], "wrong shape", "axis of size 1 is missing or too many"),
    (SHARES, lambda x: shares(x)[:, None] + 0 * x[:, :, None], "wrong shape", "broadcast"),
    (SHARES, lambda x: shares(x) if len(x) == 2 else shares(x)[0], "wrong shape", "has (5,).$"),
    (SHARES, lambda x: xp.swapped(x) @ x, "wrong shape", "yours has (3, 3).$"),
    (SHARES, lambda x: (shares(x), x), "wrong shape", "a tuple or list of 2: the task asks"),
    (SHARES, lambda x: xp.sum(x), "wrong shape", "yours has ().$"),
    (SHARES, lambda x: x[:0], "wrong shape", "yours has (0, 3).$"),
    (SHARES, lambda x: "words", "not an array", "no array of real numbers, but a str"),
    (SHARES, lambda x: array(RIGHT * 1j), "not an array", "no array of real numbers, but a"),
    (SHARES, lambda x: x.not_there(), "exception", " x.not_there()"),
    (SHARES, lambda x: x / xp.sum(x, -1), "exception", f"{framework.KEEP_AXIS}=True. The result"),
    (SHARES, lambda x: 1 / 0, "exception", "raises ZeroDivisionError: division by zero (line "),
    (SHARES, lambda x: sys.exit(), "exception", "raises SystemExit"),
    (STREAM, lambda x: sum(x) + sum(x), "exception", "it can be read only once"),
    (STREAM, lambda x: sum(list(x)), "exception", "you keep what has gone by"),
    (SHARES, lambda: 1, "wrong arguments", "takes (), and the task calls it with (x)"),
    (SHARES, array(RIGHT), "wrong arguments", "a function of (x), not of type "),
    (STRICT, lambda x: shares(adapter.constant(x)), "gradient", "respect to x is"),
    (STRICT, lambda x: xp.where(x > 0, shares(x), xp.log(0 * x)), "gradient", "x is not finite"),
    (STRICT, lambda x: shares(x) + x - adapter.constant(x), "gradient", "respect to x is wrong"),
    (SMALL, by_products, "an array too large", "makes an array of shape (2, 3, 3): the task al"),
    (find("1.3"), lambda x, t: ours.masked_softmax(x / t), "a ready-made function", "`softmax`"),
    (HALVES, lambda x: x, "a constant factor", "2 times the right ones"),
    (HALVES, lambda x: x / 2 + 0.25, "a constant offset", "by the same 0.25.$"),
    (HALVES, lambda x: x.shape and None, "nothing returned", "None. Is a `return` missing?"),
    (TOTAL, lambda x: x[0], "different numbers", "1 of 1 entries differ; the first should"),
    (SIGNS, lambda x: x / abs(x + 1e-9), "wrong data type", "integer, and yours is float32"),
    (DEEP, lambda x: x + array([[[0.0]], [[1]]]), "different numbers", CUT),
    (SIGNS, lambda x: x > 0, "different numbers", "the first at [1] should be -1 and is 0.$"),
    (SHAPE, (2, 1, 5), "different numbers", "1 of 3 numbers differ"),
    (SHAPE, (2, 1), "wrong shape", "must have shape (3,), and yours has (2,).$"),
]


@pytest.mark.parametrize(("exercise", "answer", "mistake", "says"), ANSWERS)
def test_what_is_not_right_is_named(exercise, answer, mistake, says, capsys):
    result = check(exercise, answer)
    assert not result.passed
    assert result.mistake == mistake
    assert says in f"{result.text()}$"
    assert not any(of_library in result.message for of_library in ("Traceback", ": )"))
    assert ("were broadcast" in result.message) == (says == "broadcast")
    assert capsys.readouterr().out == f"{result.text()}\n"


SIDE_BY_SIDE = """
target                       your answer
 0.5000  -1.0000   2.0000     1.0000* -2.0000*  4.0000*
target, shape (1, 3)         your answer, shape ()
 0.5000  -1.0000   2.0000    3.0000
target        your answer
 1  -1   0     1  -2*  0
target                       your answer
 1.0000  -1.0000   0.0000     1.5000* -2.0000*  0.0000
your answer
2  1  5*
target     your answer
2  1  4    2  1  4
target    your answer
3.0000    1.0000*
"""


def test_target_and_answer_stand_side_by_side():
    answers = [(HALVES, lambda x: x), (HALVES, xp.sum), (SIGNS, lambda x: adapter.cast(x, "int32"))]
    answers += [(SIGNS, lambda x: x), (SHAPE, (2, 1, 5)), (SHAPE, array(np.ones((2, 1, 4))).shape)]
    answers += [(TOTAL, lambda x: x[0])]
    results = [check(*answer) for answer in answers]
    shown = [line for result in results for line in result.text().splitlines()[:-1]]
    assert shown == SIDE_BY_SIDE.strip("\n").splitlines()
    html = [result.html() for result in results]
    assert [text.count("outline:2px solid #d") for text in html] == [3, 0, 1, 2, 1, 0, 1]
    assert [text.count("<table") for text in html] == [2, 2, 2, 2, 1, 2, 2]
    assert "background-color" in check(SHARES, shares).html()


def test_right_numbers_pass_whatever_holds_them_but_where_a_gradient_counts():
    half = lambda x: adapter.cast(shares(x), "float16")  # noqa: E731
    for answer in (lambda x: row_shares(numpy(x)), lambda x: list(shares(x)), half):
        lenient, strict = check(ROUGH, answer), check(STRICT, answer)
        assert (lenient.passed, strict.mistake) == (True, "another type")
        assert strict.message in lenient.message


def test_what_is_displayed_names_its_messages_and_their_fields(monkeypatch):
    displayed = []
    display = SimpleNamespace(display=lambda data, raw, metadata: displayed.append(metadata))
    notebook = SimpleNamespace(get_ipython=lambda: True, display=display)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    message = check(HALVES, lambda x: x / 0).message
    (text, (_, fields)), verdict = displayed.pop()["composed"].items()
    assert (text, fields) == (message, {"what": "infinite"})
    assert verdict == ("0.3 wrong.", ["{number} wrong.", {"number": "0.3"}])


def test_an_unknown_exercise_is_named():
    for number, others in (("3.9", "3.1"), ("words", "none")):
        with pytest.raises(ValueError, match=f"for exercise '{number}'; with a check: {others}$"):
            check(number, None)
