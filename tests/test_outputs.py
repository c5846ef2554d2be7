"""Outputs are compared as a reader sees them: by a function, under nbval, and at binding."""

import base64
import io
import re

import nbformat
import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from nbformat import v4
from nbval.plugin import IPyNbFile

from bookbinder.outputs import SVG, keep_equal_outputs, picture_difference
from d2l_attention.figures import STYLE

PICTURE = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     width="100pt" height="80pt" viewBox="0 0 100 80">
 <g id="line2d_1"><path d="M 10 20 L 30.123456 40" style="fill: none; stroke: #0072b2"/></g>
 <g id="text_1"><!-- weight --><g transform="translate(3 4) scale(0.09 -0.09)"/></g>
 <g id="text_2"><text x="1" y="2">0.25</text></g>
 <g id="face" clip-path="url(#p0123456789)"><use xlink:href="#mabcdef0123" x="7" y="8"/></g>
 <defs><path id="mabcdef0123" d="M 0 0 L 0 3.5"/><clipPath id="p0123456789"/></defs>
</svg>
"""


def changed(old, new):
    """Return the picture with one string replaced, which must be in it once."""
    assert PICTURE.count(old) == 1
    return PICTURE.replace(old, new)


def drawn(size=1.0, curve=1.0, bright=1.0):
    """Return a picture as matplotlib draws it, with all kinds of ids that are hashes."""
    with rc_context(STYLE):
        figure = Figure(figsize=(3 * size, 2))
        left, right = figure.subplots(1, 2)
        left.plot([1, 2, 3], [curve, 2, 1], marker="o", markersize=5 * size)
        left.scatter(range(20), range(20), s=20 * size, c=range(20))
        left.bar([1], [2], hatch="/")
        right.imshow(np.linspace(0, 1, 6).reshape(2, 3) * bright, vmin=0, vmax=1, cmap="gray")
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("30.123456", "30.12345"),
        ("M 10 20", "M 10 20.01"),
        ("#0072b2", "#0274b0"),
        ("translate(3 4)", "translate(3.009 4)"),
        ("0 0 100 80", "0 0 100.000001 80"),
    ],
)
def test_what_another_cpu_draws_is_equal(old, new):
    assert picture_difference(changed(old, new), PICTURE) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("30.123456", "30.2", "after #line2d_1: '30.2', stored '30.123456'"),
        ("#0072b2", "#0075b2", "after #line2d_1: '#0075b2', stored '#0072b2'"),
        (" weight ", " weights ", "after #text_1: .*<!-- weights -->.*, stored .*<!-- weight -->"),
        (">0.25<", ">0.250001<", "after #text_2: .*>0.250001<.*, stored .*>0.25<"),
        ("L 30.123456 40", "", "after #line2d_1: .*, stored ' L '"),
        ("M 10 20 L", "M 10 20 M", "after #line2d_1: ' M ', stored ' L '"),
        ("scale(0.09 -0.09)", "scale(0.091 -0.09)", "stored .*scale\\(0.09 -0.09\\)"),
        ("none", "#ffffff", "after #line2d_1: .*fill: ', stored .*fill: none"),
        ("url(#p0123456789)", "url(#p0123456780)", "stored"),
        ("</svg>", "", "stored"),
    ],
)
def test_what_a_reader_could_see_is_named(old, new, reason):
    assert re.search(reason, picture_difference(changed(old, new), PICTURE))
    assert picture_difference(PICTURE, changed(old, new))


def test_another_cpu_gives_the_hashes_of_matplotlib_other_digits():
    stored, other = drawn(), drawn(size=1 + 1e-6, curve=1 + 1e-6, bright=1 - 1e-2)
    hashed = re.compile(r'id="(\w+[0-9a-f]{10})"')
    kinds = {name[:-10][:1] for name in {*hashed.findall(stored)} - {*hashed.findall(other)}}
    assert kinds == {"m", "p", "C", "i"}
    assert picture_difference(other, stored) is None


def test_a_curve_and_a_bitmap_that_matplotlib_draws_otherwise_are_named():
    assert re.match(r"after #line2d_\d+: ", picture_difference(drawn(curve=1.01), drawn()))
    assert re.match(r"after #\w+: ", picture_difference(drawn(bright=0.988), drawn()))


def shown(*pictures):
    return [v4.new_output("display_data", {SVG: p, "text/plain": "<Figure>"}) for p in pictures]


def notebook(*outputs):
    cell = v4.new_code_cell("plt.show()", id="plot", execution_count=1, outputs=list(outputs))
    return v4.new_notebook(cells=[cell])


@pytest.fixture
def cell(tmp_path, request):
    """Return a cell of a notebook as nbval collects it; no kernel runs."""
    path = tmp_path / "book.ipynb"
    nbformat.write(notebook(), path)
    (cell,) = IPyNbFile.from_parent(request.session, path=path).collect()
    cell.ihook.pytest_itemcollected(item=cell)  # as pytest tells its plugins
    return cell


NEAR, FAR = changed("30.123456", "30.12345"), changed("30.123456", "30.2")


VALUES = np.array([0.5, -1.25, 3e-7, 0.0, 100.0])
NEIGHBORS = np.nextafter(VALUES.astype(np.float16), np.float16(1000))


def packed(*models):
    texts = (np.asarray(model).astype("<f2").tobytes() for model in models)
    return " ".join(base64.b64encode(text).decode() for text in texts)


def arcs(*models, said="animal 1.00"):
    html = f'<div class="d2l-arcs" data-weights="{packed(*models)}"><p>{said}</p></div>'
    return [v4.new_output("display_data", {"text/html": html, "text/plain": said})]


TEXTS = [v4.new_output("stream", name="stdout", text=text) for text in ("0.1", "0.10")]
SAME = [(shown(NEAR), shown(PICTURE)), (arcs(VALUES, NEIGHBORS), arcs(VALUES, VALUES))]
OTHER = {  # why not -> new and stored outputs
    "after #line2d_1: ": (shown(FAR), shown(PICTURE)),
    "picture 2 of 2: ": (shown(PICTURE, FAR), shown(PICTURE, PICTURE)),
    "the number of pictures is 1, stored 2": (shown(PICTURE), shown(PICTURE, PICTURE)),
    "weights lie up to 1 from": (arcs(VALUES, VALUES), arcs(VALUES, VALUES - np.eye(5)[4])),
    "another number of weights": (arcs(VALUES), arcs(VALUES, VALUES)),
    "a warning": ([v4.new_output("stream", name="stderr", text="a warning")], []),
    "nan": (arcs(VALUES * np.nan), arcs(VALUES)),
    "animal 0.99": (arcs(VALUES, said="animal 0.99"), arcs(VALUES)),
    "0.10": ([*shown(NEAR), TEXTS[0]], [*shown(PICTURE), TEXTS[1]]),
}


@pytest.mark.parametrize(("new", "stored"), SAME)
def test_nbval_and_binding_take_nearly_the_same_for_the_same(cell, new, stored):
    assert cell.compare_outputs(new, stored)
    bound, old = notebook(*new), notebook(*stored)
    keep_equal_outputs(bound, old)
    assert bound == old


@pytest.mark.parametrize("reason", OTHER)
def test_nbval_names_what_differs_and_binding_takes_it(cell, reason):
    new, stored = OTHER[reason]
    assert not cell.compare_outputs(new, stored)
    assert reason in "\n".join(cell.comparison_traceback)
    bound = notebook(*new)
    for old in (notebook(*stored), notebook(), v4.new_notebook()):
        keep_equal_outputs(bound, old)
        assert bound == notebook(*new)


def test_binding_keeps_an_output_that_differs_by_nature():
    new, old = notebook(TEXTS[0]), notebook(TEXTS[1])
    for tagged in (new, old):
        tagged.cells[0].metadata["tags"] = ["nbval-ignore-output"]
    keep_equal_outputs(new, old)
    assert new == old
