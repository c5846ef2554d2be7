"""Heat maps of a framework's arrays: what the pictures in the chapters do not show."""

from itertools import pairwise

import numpy as np
import pytest

from d2l_attention.figures import as_panels, show_heatmaps, show_sentences
from tests.contract.comparing import refuses
from tests.contract.framework import array


@pytest.fixture(autouse=True)
def without_screen():
    import matplotlib

    matplotlib.use("agg")


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (5, 4, 2, 3)])
def test_matrices_become_rows_and_columns_of_panels(shape):
    assert as_panels(array(np.zeros(shape))).shape == (1, 1, 2, 3)[: 4 - len(shape)] + shape


@pytest.mark.parametrize("shape", [(3,), (1, 1, 1, 2, 3)])
def test_matrices_of_other_axes_are_refused(shape):
    refuses(as_panels, ValueError, "matrices must have shape", array(np.zeros(shape)))


def test_heat_maps_hatch_exact_zeros_of_masked_weights():
    weights = array([[0.0, 0.5, 1e-9], [0.25, 0.75, 0.0]])
    assert not show_heatmaps(weights, "keys", "queries").axes[0].patches
    (hatched,) = show_heatmaps(weights, "keys", "queries", masked=True).axes[0].patches
    assert hatched.get_hatch()
    corners = hatched.get_path().vertices.reshape(-1, 5, 2)[:, 0].tolist()
    assert corners == [[-0.5, -0.5], [1.5, 0.5]]  # x and y; tiny weights are not masked


def test_titles_that_do_not_fit_the_panels_are_refused():
    call = (array(np.zeros((1, 2, 3, 3))), "keys", "queries")
    refuses(show_heatmaps, ValueError, "titles must have length 2, got 1", *call, titles=["one"])


def test_labels_of_many_keys_do_not_run_into_each_other():
    weights = array(np.random.default_rng(0).random((5, 6, 40)))
    figure = show_heatmaps(weights, "keys", "queries", figsize=(7.6, 2.2))
    figure.canvas.draw()
    for panel in figure.axes[:5]:
        names = [name for name in panel.get_xticklabels() if -0.5 <= name.get_position()[0] <= 39.5]
        assert len(names) >= 2
        assert all(name.get_text().isdecimal() for name in names)
        boxes = [name.get_window_extent() for name in names]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_weights_that_do_not_fit_the_sentences_are_refused():
    weights = array(np.ones((1, 3)))
    refuses(show_sentences, ValueError, "weights must have shape (1, 2)", [["a", "b"]], weights)
