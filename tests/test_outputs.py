"""Outputs are compared as a reader sees them: by a function, under nbval, and at binding."""

import base64
import re

import nbformat
import numpy as np
import pytest
from nbformat import v4
from nbval.plugin import IPyNbFile

from bookbinder.chapters import HTML, SVG
from bookbinder.compare import keep_equal_outputs

PICTURE = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="100pt" viewBox="0 0 100 80">
 <g id="line2d_1"><path d="M 10 20 L 30.123456 40" style="fill: none; stroke: #0072b2"/></g>
 <g id="text_1"><!-- weight --><g transform="translate(3 4) scale(0.09 -0.09)"/></g>
 <g id="text_2"><text x="1" y="2">0.25</text></g>
 <g id="face" clip-path="url(#p0123456789)"><use xlink:href="#mabcdef0123" x="7" y="8"/></g>
 <defs><path id="mabcdef0123" d="M 0 0 L 0 3.5"/><clipPath id="p0123456789"/></defs>
</svg>
"""
CHANGES = {  # what another CPU may draw, and what a reader could see: which part is named then
    ("30.123456", "30.13"): "",
    ("#0072b2", "#0274b0"): "",
    ("translate(3 4)", "translate(3.009 4)"): "",
    ("30.123456", "30.2"): "after #line2d_1: '30.2', stored '30.12'",
    ("#0072b2", "#0075b2"): "after #line2d_1: '#0075b2', stored '#0072b2'",
    ("#0072b2", "0"): "after #line2d_1: '0', stored '#0072b2'",
    (" weight ", " weights "): "after #text_1: .*<!-- weights -->.*, stored .*<!-- weight -->",
    (">0.25<", ">0.250001<"): "after #text_2: .*>0.250001<.*, stored .*>0.25<",
    ("L 30.123456 40", ""): "after #line2d_1: .*, stored ' L'",
    ("scale(0.09 -0.09)", "scale(0.091 -0.09)"): "stored .*scale\\(0.09 -0.09\\)",
    ("url(#p0123456789)", "url(#p0123456780)"): "stored",
}
RENAMED = re.sub("0123456789|abcdef0123", lambda found: found[0][::-1], PICTURE)


def pictures(*svgs):
    return [v4.new_output("display_data", {SVG: svg, "text/plain": "<Figure>"}) for svg in svgs]


def arcs(*models, said="animal 1.00"):
    texts = (np.asarray(model).astype("<f2").tobytes() for model in models)
    weights = " ".join(base64.b64encode(text).decode() for text in texts)
    html = f'<div class="d2l-arcs" data-weights="{weights}"><p>{said}</p></div>'
    return [v4.new_output("display_data", {HTML: html, "text/plain": said})]


def said(text, name="stdout"):
    return [v4.new_output("stream", name=name, text=text)]


VALUES = np.array([0.5, -1.25, 3e-7, 0.0, 100.0])
NEIGHBORS = np.nextafter(VALUES.astype(np.float16), np.float16(1000))
# New and stored, and why they are not the same, if so.
OUTPUTS = [(pictures(PICTURE.replace(*x)), pictures(PICTURE), why) for x, why in CHANGES.items()]
OUTPUTS += [
    (pictures(RENAMED), pictures(PICTURE), ""),
    (arcs(VALUES, NEIGHBORS), arcs(VALUES, VALUES), ""),
    (pictures(PICTURE, PICTURE[:-20]), pictures(PICTURE, PICTURE), "picture 2 of 2: "),
    (pictures(PICTURE), pictures(PICTURE, PICTURE), "the number of pictures is 1, stored 2"),
    (arcs(VALUES), arcs(VALUES - np.eye(5)[4]), "weights lie up to 1 from"),
    (arcs(VALUES), arcs(VALUES, VALUES), "another number of weights"),
    (arcs(VALUES * np.nan), arcs(VALUES), "nan"),
    (arcs(VALUES, said="animal 0.99"), arcs(VALUES), "animal 0.99"),
    (said("a warning", "stderr"), [], "a warning"),
    (said("0.1"), said("0.10"), "0.10"),
]


@pytest.mark.parametrize(("new", "stored", "reason"), OUTPUTS, ids=lambda value: value or None)
def test_nbval_names_what_differs_and_binding_takes_it(tmp_path, request, new, stored, reason):
    def notebook(outputs, **metadata):
        cell = v4.new_code_cell("f()", id="f", metadata=metadata, outputs=outputs)
        return v4.new_notebook(cells=[cell])

    nbformat.write(notebook([]), path := tmp_path / "book.ipynb")
    (cell,) = IPyNbFile.from_parent(request.session, path=path).collect()  # no kernel runs
    cell.ihook.pytest_itemcollected(item=cell)  # as pytest tells its plugins
    assert cell.compare_outputs(new, stored) is not bool(reason)
    assert re.search(reason, "\n".join(cell.comparison_traceback))
    keep_equal_outputs(bound := notebook(new), notebook(stored))
    assert bound == notebook(new if reason else stored)
    ignored = {"tags": ["nbval-ignore-output"]}  # it differs by nature
    keep_equal_outputs(bound := notebook(new, **ignored), notebook(stored, **ignored))
    assert bound == notebook(stored, **ignored)
