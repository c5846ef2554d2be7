"""Pictures are compared as pictures: by a function, under nbval, and when the book is bound."""

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

from bookbinder.pictures import SVG, Tolerance, picture_difference
from bookbinder.publish import keep_equal_pictures
from d2l_attention.figures import STYLE

CURVE = "M 10 20 L 30.123456 40 L 50 60"
PICTURE = f"""<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     width="100pt" height="80pt" viewBox="0 0 100 80">
 <g id="axes_1">
  <g id="line2d_1"><path d="{CURVE}" style="fill: none; stroke: #0072b2; stroke-width: 2"/></g>
  <g id="QuadMesh_1">
   <path d="M 0 0 L 5 5" style="fill: #101010"/>
   <path d="M 5 0 L 10 5" style="fill: #202020; opacity: 0.5"/>
   <path d="M 10 0 L 15 5" style="fill: #303030"/>
  </g>
  <g id="text_1"><!-- weight --><g transform="translate(3 4) scale(0.09 -0.09)"/></g>
  <g id="text_2"><text x="1" y="2">0.25</text></g>
  <g id="face" clip-path="url(#p0123456789)"><use xlink:href="#mabcdef0123" x="7" y="8"/></g>
 </g>
 <defs>
  <path id="mabcdef0123" d="M 0 0 L 0 3.5"/>
  <clipPath id="p0123456789"><rect x="0" y="0" width="90" height="70"/></clipPath>
 </defs>
</svg>
"""
MESH = re.search(r'   <path d="M 0.*?(?=  </g>)', PICTURE, re.DOTALL)[0]
TEXTS = re.search(r'  <g id="text_1".*?(?=  <g id="face")', PICTURE, re.DOTALL)[0]
FIRST, SECOND, THIRD = MESH.splitlines(keepends=True)


def changed(old, new, text=PICTURE):
    """Return the picture with one string replaced, which must be in it once."""
    assert text.count(old) == 1
    return text.replace(old, new)


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


def test_a_picture_equals_itself():
    assert picture_difference(PICTURE, PICTURE) is None
    assert picture_difference(drawn(), drawn()) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("30.123456", "30.12345"),
        ("M 10 20", "M 10 20.01"),
        ("#0072b2", "#0274b0"),
        ("stroke-width: 2", "stroke-width: 2.001"),
        ("opacity: 0.5", "opacity: 0.5000001"),
        ("translate(3 4)", "translate(3.009 4)"),
        ('x="7"', 'x="7.00001"'),
        ("0 0 100 80", "0 0 100.000001 80"),
        ("L 0 3.5", "L 0 3.500001"),
    ],
)
def test_what_another_cpu_draws_is_equal(old, new):
    assert picture_difference(changed(old, new), PICTURE) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "30.123456",
            "30.223456",
            "svg/g[1]#axes_1/g[1]#line2d_1/path[1]: d: number 3 of 6 is 30.223456, stored "
            "30.123456: 0.1 apart, 0.01 is allowed",
        ),
        (
            "#202020",
            "#202320",
            "svg/g[1]#axes_1/g[2]#QuadMesh_1/path[2]: style: fill: #202320, stored #202020: "
            "a channel is 3 of 255 apart",
        ),
        (
            "<!-- weight -->",
            "<!-- weights -->",
            "svg/g[1]#axes_1/g[3]#text_1/comment[1]: text 'weights', stored 'weight'",
        ),
        (
            ">0.25<",
            ">0.26<",
            "svg/g[1]#axes_1/g[4]#text_2/text[1]: text '0.26', stored '0.25'",
        ),
        (
            FIRST + SECOND,
            SECOND + FIRST,
            "svg/g[1]#axes_1/g[2]#QuadMesh_1/path[1]: d: number 1 of 4 is 5, stored 0: 5 apart",
        ),
        (
            TEXTS,
            "".join(reversed(TEXTS.splitlines(keepends=True))),
            "svg/g[1]#axes_1/g[3]#text_2: id 'text_2', stored 'text_1'",
        ),
        (
            SECOND,
            "",
            "svg/g[1]#axes_1/g[2]#QuadMesh_1: 2 elements, stored 3; "
            "the first that differs is path[2] of the stored ones",
        ),
        (
            THIRD,
            "",
            "svg/g[1]#axes_1/g[2]#QuadMesh_1: 2 elements, stored 3; "
            "the first that differs is path[3] of the stored ones",
        ),
        (
            FIRST,
            '<rect width="1"/>' + FIRST,
            "svg/g[1]#axes_1/g[2]#QuadMesh_1: 4 elements, stored 3; "
            "the first that differs is rect[1] of the new ones",
        ),
        ('id="face"', 'id="faces"', "svg/g[1]#axes_1/g[5]#faces: id 'faces', stored 'face'"),
        ('id="face" ', "", "svg/g[1]#axes_1/g[5]: id None, stored 'face'"),
        (
            '<rect x="0" y="0"',
            '<path x="0" y="0"',
            "/clipPath[1]#p-1/path[1]: <path>, stored <rect>",
        ),
        ("0.25</text>", "0.25</text>%", "/text[1]: tail '%', stored ''"),
        (' y="2"', "", "text[1]: attributes ['x'], stored ['x', 'y']"),
        ("L 50 60", "", "path[1]: d: 4 numbers, stored 6"),
        ("M 10 20 L", "M 10 20 M", "path[1]: d: 'M 10 20 M 30.123456 40"),
        ("scale(0.09 -0.09)", "scale(0.1 -0.1)", "transform: scale: '0.1 -0.1', stored '0.09"),
        ("translate(3 4) ", "", "transform: ['scale'], stored ['translate', 'scale']"),
        ("fill: none", "fill: #ffffff", "style: fill: '#ffffff', stored 'none'"),
        ("opacity: 0.5", "opacity: 0.51", "opacity: number 1 of 1 is 0.51, stored 0.5: 0.01 apart"),
        ("url(#p0123456789)", "url(#p0123456780)", "clip-path: 'url(#p0123456780)', stored"),
        ('width="90"', 'width="91"', "rect[1]: width: number 1 of 1 is 91, stored 90: 1 apart"),
    ],
)
def test_what_a_reader_could_see_is_named(old, new, reason):
    assert reason in picture_difference(changed(old, new), PICTURE)


def test_ids_that_are_hashes_are_compared_through_what_they_refer_to():
    other = changed("mabcdef0123", "m9999999999", PICTURE.replace('id="mabcdef0123"', 'id="!"'))
    other = other.replace('id="!"', 'id="m9999999999"')
    assert picture_difference(other, PICTURE) is None
    assert "'#m-1'" in picture_difference(changed("#mabcdef0123", "#face"), PICTURE)


def test_another_cpu_gives_the_hashes_of_matplotlib_other_digits():
    stored, other = drawn(), drawn(size=1 + 1e-6, curve=1 + 1e-6, bright=1 - 1e-2)
    hashed = re.compile(r'id="(\w+[0-9a-f]{10})"')
    changed_kinds = {
        name[:-10][:1] for name in {*hashed.findall(stored)} - {*hashed.findall(other)}
    }
    assert changed_kinds == {"m", "p", "C", "i"}
    assert picture_difference(other, stored) is None


def test_a_curve_that_matplotlib_draws_elsewhere_is_named():
    reason = picture_difference(drawn(curve=1.01), drawn())
    assert re.match(r"svg/g\[1\]#figure_1/g\[2\]#axes_1/g\[\d\]#line2d_\d+/path\[1\]: d: ", reason)


def test_a_bitmap_is_compared_by_its_pixels():
    assert "has a channel 3 of 255 apart" in picture_difference(drawn(bright=0.988), drawn())


@pytest.mark.parametrize(
    "broken",
    ["", "no XML", PICTURE[:-8], PICTURE.replace("<svg", "<html").replace("</svg", "</html")],
)
def test_what_is_no_svg_is_never_equal(broken):
    assert picture_difference(broken, PICTURE).startswith("the new picture is no SVG: ")
    assert picture_difference(PICTURE, broken).startswith("the stored picture is no SVG: ")
    assert picture_difference(broken, broken).startswith("the new picture is no SVG: ")


@pytest.mark.parametrize("value", [-0.01, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["points", "channels"])
def test_a_tolerance_is_a_number_of_at_least_0(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a number of at least 0, got {value}"):
        Tolerance(**{name: value})


def test_a_tolerance_of_0_is_exact():
    almost = changed("30.123456", "30.123457")
    assert "1e-06 apart, 0 is allowed" in picture_difference(almost, PICTURE, Tolerance(points=0))
    assert picture_difference(PICTURE, PICTURE, Tolerance(0, 0)) is None


def test_entities_are_refused():
    laughs = '<!DOCTYPE svg [<!ENTITY a "aaa">]>' + PICTURE.partition("?>")[2]
    assert "it declares entities of its own" in picture_difference(laughs, PICTURE)


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


def report(cell, new, stored):
    assert not cell.compare_outputs(new, stored)
    return "\n".join(cell.comparison_traceback)


def test_nbval_compares_pictures_as_pictures(cell):
    near, far = changed("30.123456", "30.12345"), changed("30.123456", "30.2")
    assert cell.compare_outputs(shown(near, PICTURE), shown(PICTURE, near))
    assert "picture 2 of 2: svg/g[1]#axes_1/g[1]#line2d_1/path[1]: d: number 3 of 6 is 30.2" in (
        report(cell, shown(PICTURE, far), shown(PICTURE, PICTURE))
    )


def test_nbval_compares_the_rest_to_the_digit(cell):
    new, stored = (v4.new_output("stream", name="stdout", text=text) for text in ("0.1", "0.10"))
    assert "0.10" in report(cell, [new, *shown(PICTURE)], [stored, *shown(PICTURE)])


@pytest.mark.parametrize(
    ("new", "stored", "reason"),
    [
        ([], [PICTURE], "the number of pictures is 0, stored 1"),
        ([PICTURE], [], "the number of pictures is 1, stored 0"),
        ([PICTURE] * 2, [PICTURE] * 3, "the number of pictures is 2, stored 3"),
        ([PICTURE], ["<svg"], "the stored picture is no SVG: "),
        (["<svg"], [PICTURE], "the new picture is no SVG: "),
        (["<svg"], ["<svg"], "the new picture is no SVG: "),
    ],
)
def test_nbval_fails_where_a_picture_is_broken_or_missing(cell, new, stored, reason):
    assert reason in report(cell, shown(*new), shown(*stored))


def test_nbval_names_what_was_a_picture_and_is_none(cell):
    text = [v4.new_output("display_data", {"text/plain": "<Figure>"})]
    assert "the number of pictures is 0, stored 1" in report(cell, text, shown(PICTURE))
    assert "the number of pictures is 1, stored 0" in report(cell, shown(PICTURE), text)


def test_binding_keeps_a_stored_picture_that_is_equal():
    new, old = notebook(*shown(changed("30.123456", "30.12345"))), notebook(*shown(PICTURE))
    keep_equal_pictures(new, old)
    assert new == old


@pytest.mark.parametrize(
    "old",
    [
        notebook(*shown(changed("30.123456", "30.2"))),
        notebook(*shown("<svg")),
        notebook(*shown(PICTURE), v4.new_output("stream", name="stdout", text="other text")),
        notebook(),
        v4.new_notebook(),
    ],
    ids=["another picture", "a broken one", "another text", "no picture", "no such cell"],
)
def test_binding_takes_every_other_new_output(old):
    new = notebook(*shown(changed("30.123456", "30.12345")))
    expected = copy.deepcopy(new)
    keep_equal_pictures(new, old)
    assert new == expected
