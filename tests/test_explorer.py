"""Explorers, heat maps and widgets are what is stored of them; mistakes in their making say why."""

import re
from functools import partial
from html import unescape

import numpy as np
import pytest
from IPython.core.pylabtools import print_figure
from matplotlib.figure import Figure
from nbformat.v4 import new_output

from bookbinder.compare import HTML, SVG, apart, difference
from d2l_attention.practice import explore
from d2l_attention.practice.arcs import draw_arcs
from d2l_attention.practice.explorer import Explorer
from tests.replay import CELLS, code_cells, held_by, replayed, unpacked

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
            data, metadata = value._repr_mimebundle_()
            assert_alike(data, cell.outputs[-1].data)
            assert any(text in unescape(data[HTML]) for text in metadata["composed"])
        elif isinstance(value, Figure):
            svg = print_figure(value, "svg", metadata={"Date": None, "Creator": None})
            assert_alike({SVG: svg, "text/plain": repr(value)}, cell.outputs[-1].data)


@pytest.mark.parametrize("number", ["00", "15"])
def test_a_widget_of_a_model_is_made_of_what_it_holds(number):
    outputs = [output for cell in code_cells(number) for output in cell.outputs]
    (data,) = (o.data for o in outputs if "d2l-arcs" in o.get("data", {}).get(HTML, ""))
    held, (question, caption) = held_by(data[HTML]), TOLD.findall(data[HTML])
    rows = re.findall(r"<tr>(.*?)</tr>", data[HTML].partition("<tbody>")[2])
    shown = [[float(value or 0) for value in VALUES.findall(row)] for row in rows]
    given = ["kind", "text", "reads", "writes", "asks", "pattern", "choices"]
    made = draw_arcs(
        **{name: held[name] for name in given if name in held},
        snapshots=dict(unpacked(data[HTML])),
        weights=shown * (held["asks"] + 1),  # of all that ask
        result=data["text/plain"].rpartition(": ")[2],
        question=unescape(question),
        caption=unescape(caption),
    )
    assert_alike(made._repr_mimebundle_()[0], data)


def test_every_number_of_the_drawing_is_printed_by_its_chapter():
    outputs = [output for cell in code_cells("07") for output in cell.outputs]
    (html,) = (o.data[HTML] for o in outputs if "d2l-traced" in o.get("data", {}).get(HTML, ""))
    printed = re.findall(r"-?\b\d+(?:\.\d+)?", "".join(o.get("text", "") for o in outputs))
    said = re.findall(r"\b[a-z](\d\d)\b", re.search('data-frames="[^"]*', html)[0])
    words = re.sub("<[^>]*>", " ", html.partition("hidden=")[2].partition("<script")[0])
    shown = [*re.findall(r"-?\d\.\d+|\d{2,}", words), *(f"0.{p}" for p in said)]
    assert [len(said), len(html) > 16_384, {*shown} - {*printed}] == [16 * 5, False, set()]


ARRAYS = [np.ones(shape) for shape in ((4, 2), (4, 2), (4, 4))]
SHOWN = {"weights": [[0, 0.9, 0, 0.1]], "result": "b", "reads": [*"abcd"], "asks": -1}
arcs = partial(draw_arcs, "sentence", text="a b c d", **SHOWN)
MISTAKES = {  # what is said -> what cannot be made
    "returns {'': (1, 2)} and {'': (2, 2)}": partial(explore, lambda a: np.ones((a, 2)), a=[1, 2]),
    "cannot reshape": partial(explore, lambda a: np.ones((2, 2, 2)), a=[1, 2]),
    "columns must name 2, got 1": partial(explore, lambda a: np.eye(2), a=[1, 2], columns=["x"]),
    "'3' is not in list": partial(explore, lambda a: a, a=[1, 2], start={"a": 3}),
    "may weigh 60000 bytes": partial(explore, lambda a: np.random.rand(60, 60), a=range(5)),
    "not finite as float16": partial(arcs, {0: [array * 1e6 for array in ARRAYS]}),
    "may weigh 600000 bytes": partial(arcs, {i: [np.ones((300, 300))] * 3 for i in range(3)}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_an_explorer_or_a_widget_of_a_model_that_cannot_be_made_says_why(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MISTAKES[message](**WORDS)
