"""The weights that an output holds are compared nearly, and the text around them exactly."""

import base64

import nbformat
import numpy as np
import pytest
from nbformat import v4
from nbval.plugin import IPyNbFile

from bookbinder.publish import keep_equal_pictures
from bookbinder.stored_weights import weights_apart, weights_difference

VALUES = np.array([0.5, -1.25, 3e-7, 0.0, 100.0])


def as_text(*models):
    packed = (np.asarray(model).astype("<f2").tobytes() for model in models)
    return " ".join(base64.b64encode(text).decode() for text in packed)


def shown(*models, said="animal 1.00"):
    html = f'<div class="d2l-arcs" data-weights="{as_text(*models)}"><p>{said}</p></div>'
    return [v4.new_output("display_data", {"text/html": html, "text/plain": said})]


def neighbors(values):
    """Return each number moved to the next float16."""
    return np.nextafter(np.asarray(values).astype(np.float16), np.float16(1000))


def test_neighbors_are_equal_and_what_is_farther_is_named():
    stored = [as_text(VALUES, VALUES)]
    assert weights_difference([as_text(VALUES, neighbors(VALUES))], stored) is None
    moved = np.add(VALUES, [0, 0, 0, 0, 1])
    reason = weights_difference([as_text(VALUES, moved)], stored)
    assert reason == "weight 9 of 10 is 101, stored 100"
    for other in ([], [as_text(VALUES)], stored * 2):
        assert "other numbers of weights" in weights_difference(other, stored)
    assert "nan" in weights_difference([as_text(VALUES, VALUES * np.nan)], stored)


def test_the_weights_are_taken_out_of_a_copy():
    outputs = shown(VALUES)
    found, rest = weights_apart(outputs)
    assert found == [as_text(VALUES)]
    assert 'data-weights=""><p>' in rest[0]["data"]["text/html"]
    assert outputs == shown(VALUES)


@pytest.fixture
def cell(tmp_path, request):
    """Return a cell of a notebook as nbval collects it; no kernel runs."""
    path = tmp_path / "book.ipynb"
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell("x", outputs=shown(VALUES))]), path)
    (cell,) = IPyNbFile.from_parent(request.session, path=path).collect()
    cell.ihook.pytest_itemcollected(item=cell)  # as pytest tells its plugins
    return cell


def test_nbval_lets_neighbors_pass_and_nothing_else(cell):
    assert cell.compare_outputs(shown(neighbors(VALUES)), shown(VALUES))
    assert not cell.compare_outputs(shown(VALUES * 1.01), shown(VALUES))
    assert "stored 100" in "\n".join(cell.comparison_traceback)
    assert not cell.compare_outputs(shown(VALUES, said="animal 0.99"), shown(VALUES))


def test_binding_keeps_stored_weights_that_are_nearly_the_same_and_takes_all_else():
    def notebook(outputs):
        return v4.new_notebook(cells=[v4.new_code_cell("x", id="a", outputs=outputs)])

    old = notebook(shown(VALUES))
    new = notebook(shown(neighbors(VALUES)))
    keep_equal_pictures(new, old)
    assert new == old
    for other in (shown(VALUES * 1.01), shown(neighbors(VALUES), said="animal 0.99")):
        new, wanted = notebook(other), notebook(other)
        keep_equal_pictures(new, old)
        assert new == wanted
