"""Heat maps of a framework's arrays: what the pictures in the chapters do not show."""

import numpy as np
import pytest

from d2l_attention.figures import as_panels, show_heatmaps, show_sentences
from tests.contract.comparing import refuses
from tests.contract.framework import array


@pytest.mark.parametrize("shape", [(3,), (1, 1, 1, 2, 3)])
def test_matrices_of_other_axes_are_refused(shape):
    refuses(as_panels, ValueError, "matrices must have shape", array(np.zeros(shape)))


def test_titles_that_do_not_fit_the_panels_are_refused():
    call = (array(np.zeros((1, 2, 3, 3))), "keys", "queries")
    refuses(show_heatmaps, ValueError, "titles must have length 2, got 1", *call, titles=["one"])


def test_weights_that_do_not_fit_the_sentences_are_refused():
    weights = array(np.ones((1, 3)))
    refuses(show_sentences, ValueError, "weights must have shape (1, 2)", [["a", "b"]], weights)
