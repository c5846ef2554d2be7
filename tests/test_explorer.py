"""Explorers, heat maps and widgets are what is stored of them; mistakes in their making say why."""

import re
from html import unescape

import numpy as np
import pytest
from IPython.core.pylabtools import print_figure
from matplotlib.figure import Figure
from nbformat.v4 import new_output

from bookbinder.compare import HTML, SVG, apart, difference
from d2l_attention.practice import Bars, Line, Live, Plot, Points, Score, Toggles, explore
from d2l_attention.practice.arcs import draw_arcs, held_by, unpacked
from d2l_attention.practice.explorer import Explorer
from tests.replay import CELLS, code_cells, replayed

TOLD, VALUES = re.compile(r'<p class="(?:q|cap)">(.*?)</p>'), re.compile(r'">([\d.]*)</td>')
WORDS = {"caption": "Weights of <keys> & a sum.", "question": "Where do two keys tie?"}


def assert_alike(data, stored):
    (near, new), (wanted, old) = (apart([new_output("display_data", d)]) for d in (data, stored))
    assert new == old
    assert difference(near, wanted) is None


@pytest.mark.parametrize("number", CELLS)
def test_cells_of_a_notebook_draw_what_it_stores(number):
    for cell, value in replayed(number):
        if isinstance(value, Explorer):
            assert_alike(value._repr_mimebundle_(), cell.outputs[-1].data)
        elif isinstance(value, Figure):
            svg = print_figure(value, "svg", metadata={"Date": None, "Creator": None})
            assert_alike({SVG: svg, "text/plain": repr(value)}, cell.outputs[-1].data)


@pytest.mark.parametrize("number", ["00", "06", "15"])
def test_a_widget_of_a_model_is_made_of_what_it_holds(number):
    outputs = [output for cell in code_cells(number) for output in cell.outputs]
    (data,) = (o.data for o in outputs if "d2l-arcs" in o.get("data", {}).get(HTML, ""))
    held, (question, caption) = held_by(data[HTML]), TOLD.findall(data[HTML])
    rows = re.findall(r"<tr>(.*?)</tr>", data[HTML].partition("<tbody>")[2])
    shown = [[float(value or 0) for value in VALUES.findall(row)] for row in rows]
    given = ["kind", "text", "reads", "writes", "asks", "pattern", "choices", "chosen"]
    made = draw_arcs(
        **{name: held[name] for name in given if name in held},
        snapshots=dict(unpacked(data[HTML])),
        weights=np.repeat(np.array(shown)[:, None], held["asks"] + 1, 1),  # of all that ask
        result=data["text/plain"].rpartition(": ")[2],
        question=unescape(question),
        caption=unescape(caption),
    )
    assert_alike(made._repr_mimebundle_(), data)


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
    with pytest.raises(TypeError, match="a Score stores float64"):
        Score(c=np.ones((5, 2)), b=np.ones((5, 2), np.float32)).held()


ARRAYS = [np.ones(shape) for shape in ((4, 2), (4, 2), (4, 4))]
REFUSED = {  # arrays of a model of four tokens, by step -> the message
    "a sentence has 3 arrays .* at step 0 there are 2": {0: ARRAYS[:2]},
    "at step 9": {0: ARRAYS, 9: [array[:2] for array in ARRAYS]},
    "the first array must have a row for each of 4": {0: [array[:2] for array in ARRAYS]},
    "not finite as float16": {0: [array * 1e6 for array in ARRAYS]},
    "may weigh 600000 bytes": {i: [*ARRAYS[:2], np.ones((300, 300))] for i in range(3)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_widget_of_a_model_that_cannot_be_made_says_why(message):
    shown = {"weights": [[0, 0.9, 0, 0.1]], "result": "b", "reads": [*"abcd"], "asks": -1}
    with pytest.raises(ValueError, match=message):
        draw_arcs("sentence", REFUSED[message], text="a b c d", **shown, **WORDS)
