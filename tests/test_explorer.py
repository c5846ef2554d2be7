"""Explorers, heat maps and widgets are what is stored of them; mistakes in their making say why."""

import ast
import re
from html import unescape

import matplotlib
import numpy as np
import pytest
from IPython.core.pylabtools import print_figure
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from nbformat.v4 import new_output

from bookbinder.outputs import HTML, SVG, apart, difference
from bookbinder.solutions import read_bound
from d2l_attention.practice import Bars, Line, Live, Plot, Points, Score, Toggles, explore
from d2l_attention.practice.arcs import draw_arcs, held_by, unpacked
from d2l_attention.practice.explorer import Explorer
from tests import explorer_examples as examples
from tests.conftest import DATA
from tests.explorer_examples import WORDS
from tests.this_book import BOOK

STORED = DATA / "explorers.html"
TOLD, VALUES = re.compile(r'<p class="(?:q|cap)">(.*?)</p>'), re.compile(r'">([\d.]*)</td>')
SAME_IN_ALL = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)


def code_cells(number):
    (path,) = BOOK.editions[0].notebooks.glob(f"{number}_*.ipynb")
    return [cell for cell in read_bound(path).cells if cell.cell_type == "code"]


def value_of(source, known):
    """Run a cell and return the value of its last line, which Jupyter would show."""
    *body, last = ast.parse(source).body
    exec(compile(ast.Module(body, []), "a cell", "exec"), known)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "a cell", "eval"), known)
    return exec(compile(ast.Module([last], []), "a cell", "exec"), known)


def assert_alike(data, stored):
    (near, new), (wanted, old) = (apart([new_output("display_data", d)]) for d in (data, stored))
    assert new == old
    assert difference(near, wanted) is None


def test_explorers_are_as_stored(tmp_path):
    made = [examples.heat_map(), examples.plots(), examples.planes(), examples.film()]
    text = "\n\n".join(repr(shown) + SAME_IN_ALL.sub("", shown.html) for shown in made)
    (new := tmp_path / STORED.name).write_text(text, "utf-8")
    assert text == STORED.read_text("utf-8"), f"where {new} is right, store it"


@pytest.mark.parametrize(("number", "count"), [("00", 3), ("01", 29), ("08", 17), ("10", 9)])
def test_the_first_cells_of_a_notebook_draw_what_it_stores(number, count):
    known, kinds = {"__name__": number}, set()
    with matplotlib.rc_context(), np.printoptions():
        for cell in code_cells(number)[:count]:
            if "raises-exception" in cell.metadata.get("tags", []):
                continue
            value = value_of(cell.source, known)
            if isinstance(value, Explorer):
                assert_alike(value._repr_mimebundle_(), cell.outputs[-1].data)
            elif isinstance(value, Figure):
                svg = print_figure(value, "svg", metadata={"Date": None, "Creator": None})
                assert_alike({SVG: svg, "text/plain": repr(value)}, cell.outputs[-1].data)
            kinds.add(type(value))
        plt.close("all")
    assert Figure in kinds


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
