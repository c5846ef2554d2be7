"""Explorers and widgets: they show what functions give, and what cannot be made says why."""

import json
import re
from html import unescape

import numpy as np
import pytest

from d2l_attention.practice import Bars, Line, Live, Plot, Points, Score, Toggles, explore
from d2l_attention.practice.arcs import draw_arcs
from tests.explorer_examples import WORDS


def attribute(html, name):
    return json.loads(unescape(re.search(f'data-{name}="([^"]*)"', html)[1]))


def values_of(html, frame):
    """Return all numbers of a frame, as the script sees them."""
    pool = attribute(html, "curves")
    frames = attribute(html, "frames")
    return [
        v for held in frames[frame] for v in (pool[held[0]] if isinstance(held, list) else [held])
    ]


def test_words_and_values_that_are_not_finite_are_shown_and_survive():
    shown = explore(lambda a: [[a * np.nan, np.inf, -np.inf, -1e-5]], **WORDS, a=[0.0, 1.0])
    assert repr(shown).endswith("(sliders at a = 0)")
    cells = re.findall(r'<td class="v[^>]*>([^<]*)</td>', shown.html)
    assert cells == ["nan", "inf", "-inf", "0.0000"]
    assert values_of(shown.html, 0) == [None, float("inf"), float("-inf"), -1e-5]
    words = explore(lambda a: {"is": "NaN", "or": a, "part": a / 3}, **WORDS, a=[1, 2_000_000])
    assert attribute(words.html, "frames")[1] == ["NaN", 2_000_000, 666666.6667]


def test_scores_are_stored_in_double_precision():
    with pytest.raises(TypeError, match="a Score stores float64"):
        Score(c=np.ones((5, 2)), b=np.ones((5, 2), np.float32)).held()


def kinds(a, kernel):
    return {"w": [[0.1, 0.9]], "kind": "words", "lost": [1, 2, 3]}


def marked(mark) -> dict:
    return {"draw": [Plot(mark)], "a": [1, 2], "kernel": ["box", "bell"]}


MISTAKES = {  # what explore says -> a function and options
    "one to 4 sliders, got 0": (int, {}),
    "two or more different values": (int, {"a": [1]}),
    "at {'a': 2} the function returns": (lambda a: np.ones((a, 2)), {"a": [1, 2]}),
    "matrices, got shape": (lambda a: np.ones((2, 2, 2)), {"a": [1, 2]}),
    "rows must name 2 rows, got 1": (lambda a: np.ones((2, 2)), {"a": [1, 2], "rows": ["x"]}),
    "columns must name 2, got 1": (lambda a: np.ones((2, 2)), {"a": [1, 2], "columns": ["x"]}),
    "a has no value 3, only 1, 2": (lambda a: a, {"a": [1, 2], "start": {"a": 3}}),
    "may weigh 60000 bytes and 5 fr": (lambda a: np.random.rand(60, 60), {"a": range(5)}),
    "b and a must": (lambda a, b: 1, {"a": [1, 2], "b": [1, 2], "live": Live("", "ba", list)}),
    "there is no slider 'b', only a": (lambda a: 1, {"a": [1, 2], "steps": "b"}),
    "needs a title": (lambda a: 1, {"a": [1, 2], "large": "of", "draw": [Plot(Line("a"))]}),
    "returns no part 'sum'": (lambda a: 1, {"a": [1, 2], "folded": ["sum"]}),
    "shows 'wieghts', which is no part of": (kinds, marked(Bars(range(4), "wieghts"))),
    "'kind', which is no part of numbers, only 'w', 'l": (kinds, marked(Points("kind", 1))),
    "no plot shows lost": (kinds, marked(Line("a"))),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_an_explorer_that_cannot_be_made_says_why(message):
    function, options = MISTAKES[message]
    with pytest.raises(ValueError, match=re.escape(message)):
        explore(function, **WORDS, **options)
    with pytest.raises(ValueError, match=r"different words, got \['tea', 'tea'\]"):
        Toggles(["tea", "tea"])


MATRICES = [np.ones(shape) for shape in ((4, 2), (4, 2), (4, 4))]


@pytest.mark.parametrize(
    ("snapshots", "message"),
    [
        ({0: MATRICES[:2]}, "a sentence has 3 arrays .* at step 0 there are 2"),
        ({0: MATRICES, 9: [m[:2] for m in MATRICES]}, "at step 9"),
        ({0: [m[:2] for m in MATRICES]}, "the first array must have a row for each of 4 tokens"),
        ({0: [m * 1e6 for m in MATRICES]}, "not finite as float16"),
        ({i: [*MATRICES[:2], np.ones((300, 300))] for i in range(3)}, "may weigh 600000 bytes"),
    ],
)
def test_a_widget_of_a_model_that_cannot_be_made_says_why(snapshots, message):
    shown = {"weights": [[0, 0.9, 0, 0.1]], "result": "b", "reads": [*"abcd"], "asks": -1}
    with pytest.raises(ValueError, match=message):
        draw_arcs("sentence", snapshots, text="a b c d", **shown, **WORDS)
