"""Outputs are compared as a reader sees them: by a function, under nbval, and at binding."""

import base64
import copy
import io
import re

import nbformat
import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from nbformat import v4
from nbval.plugin import IPyNbFile

from bookbinder.outputs import SVG, difference, keep_equal_outputs, picture_difference
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
        (
            "30.123456",
            "30.2",
            "after #line2d_1: .*: 30.2, stored 30.123456: 0.076544 apart, 0.01 i",
        ),
        ("#0072b2", "#0075b2", "#0075b2, stored #0072b2: 3 apart, 2 is allowed"),
        (" weight ", " weights ", "after #text_1: .*<!-- weights -->.*, stored .*<!-- weight -->"),
        (">0.25<", ">0.250001<", "after #text_2: .*>0.250001<.*, stored .*>0.25<"),
        (' y="2"', "", 'x="1">0.25.*, stored .*x="1" y="2">0.25'),
        ("0.25</text>", "0.25</text>%", "stored"),
        ("L 30.123456 40", "", "stored .* L 30.123456 40"),
        ("M 10 20 L", "M 10 20 M", "M 10 20 M 30.123456 40.*, stored .*M 10 20 L"),
        ("scale(0.09 -0.09)", "scale(0.091 -0.09)", "stored .*scale\\(0.09 -0.09\\)"),
        ("none", "#ffffff", "fill: #ffffff; .*, stored .*fill: none"),
        ("url(#p0123456789)", "url(#p0123456780)", "stored"),
        ("#mabcdef0123", "#face", "stored"),
        ('id="face" ', "", "stored .*face"),
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
    assert "3 apart, 2 is allowed" in picture_difference(drawn(bright=0.988), drawn())


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


def test_nbval_compares_pictures_as_pictures(cell):
    assert cell.compare_outputs(shown(NEAR, PICTURE), shown(PICTURE, NEAR))
    for new, reason in (
        (shown(PICTURE, FAR), "picture 2 of 2: after #line2d_1: "),
        (shown(PICTURE), "the number of pictures is 1, stored 2"),
        ([v4.new_output("display_data", {"text/plain": "<Figure>"})], "is 0, stored 2"),
    ):
        assert not cell.compare_outputs(new, shown(PICTURE, PICTURE))
        assert reason in "\n".join(cell.comparison_traceback)


def test_nbval_compares_the_rest_to_the_digit(cell):
    new, stored = (v4.new_output("stream", name="stdout", text=text) for text in ("0.1", "0.10"))
    assert not cell.compare_outputs([new, *shown(PICTURE)], [stored, *shown(PICTURE)])
    assert "0.10" in "\n".join(cell.comparison_traceback)


def test_binding_keeps_a_stored_picture_that_is_equal_and_takes_every_other_new_output():
    new, old = notebook(*shown(NEAR)), notebook(*shown(PICTURE))
    keep_equal_outputs(new, old)
    assert new == old
    text = v4.new_output("stream", name="stdout", text="other text")
    for old in (
        notebook(*shown(FAR)),
        notebook(*shown(PICTURE), text),
        notebook(),
        v4.new_notebook(),
    ):
        new = notebook(*shown(NEAR))
        expected = copy.deepcopy(new)
        keep_equal_outputs(new, old)
        assert new == expected


VALUES = np.array([0.5, -1.25, 3e-7, 0.0, 100.0])


def packed(*models):
    texts = (np.asarray(model).astype("<f2").tobytes() for model in models)
    return " ".join(base64.b64encode(text).decode() for text in texts)


def arcs(*models, said="animal 1.00"):
    html = f'<div class="d2l-arcs" data-weights="{packed(*models)}"><p>{said}</p></div>'
    return [v4.new_output("display_data", {"text/html": html, "text/plain": said})]


def neighbors(values):
    """Return each number moved to the next float16."""
    return np.nextafter(np.asarray(values).astype(np.float16), np.float16(1000))


def test_neighbors_are_equal_and_weights_that_are_farther_apart_are_named():
    stored = [packed(VALUES, VALUES)]
    assert difference([packed(VALUES, neighbors(VALUES))], stored) is None
    moved = np.add(VALUES, [0, 0, 0, 0, 1])
    assert difference([packed(VALUES, moved)], stored) == "weight 9 of 10 is 101, stored 100"
    assert "another number of weights" in difference([packed(VALUES)], stored)
    assert "nan" in difference([packed(VALUES, VALUES * np.nan)], stored)


def test_nbval_lets_neighbors_pass_and_nothing_else(cell):
    assert cell.compare_outputs(arcs(neighbors(VALUES)), arcs(VALUES))
    assert not cell.compare_outputs(arcs(VALUES * 1.01), arcs(VALUES))
    assert "stored 100" in "\n".join(cell.comparison_traceback)
    assert not cell.compare_outputs(arcs(VALUES, said="animal 0.99"), arcs(VALUES))


def test_binding_keeps_stored_weights_that_are_nearly_the_same_and_takes_all_else():
    new, old = notebook(*arcs(neighbors(VALUES))), notebook(*arcs(VALUES))
    keep_equal_outputs(new, old)
    assert new == old
    for other in (arcs(VALUES * 1.01), arcs(neighbors(VALUES), said="animal 0.99")):
        new, wanted = notebook(*other), notebook(*other)
        keep_equal_outputs(new, old)
        assert new == wanted
