"""Side by side with d2l 1.0.3: equal where it is right, and one test for each of its defects.

Each test of a defect shows d2l wrong first, then ours right; so d2l's repair would be noticed.
"""

import contextlib
import importlib

import numpy as np
import pytest

from tests.contract.comparing import attend, close
from tests.contract.framework import NAME, adapter, array, numpy, ours
from tests.contract.samples import NAN, normal

d2l = importlib.import_module(f"tests.{NAME}.peer_d2l")
LENS = {"(b,)": [2, 6], "(b, n)": [[1, 10, 3], [10, 7, 2]], "no": None}
every_length = pytest.mark.parametrize("lens", LENS.values(), ids=LENS)


def arrays(d=2):
    return [normal(2, 3, d), normal(2, 10, 2), normal(2, 10, 4)]


def of_d2l(layer, kind, inputs, lens) -> list[np.ndarray]:
    given = [array(x) for x in inputs]
    return list(map(numpy, d2l.attention(kind, given, array(lens), adapter.parameters(layer))))


@every_length
def test_masked_softmax_is_equal(lens):
    X = normal(2, 3, 10)
    close(ours.masked_softmax(array(X), lens), d2l.masked_softmax(array(X), array(lens)))


@every_length
@pytest.mark.parametrize(
    ("kind", "sizes"), [("DotProductAttention", ()), ("AdditiveAttention", (8,))]
)
def test_layers_with_the_same_parameters_are_equal(kind, sizes, lens):
    inputs = arrays(d=5 if sizes else 2)
    layer = adapter.make(kind, *sizes, query_size=5, key_size=2)
    results = attend(layer, *inputs, lens), of_d2l(layer, kind, inputs, lens)
    for got, want in zip(*results, strict=True):
        close(got, want)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])  # both hold the constant
def test_an_empty_sequence_averages_its_padding_in_d2l(dtype):
    X = array(np.zeros((1, 1, 2)), dtype)
    assert numpy(ours.masked_softmax(X, [0])).tolist() == [[[0, 0]]]
    assert numpy(d2l.masked_softmax(X, array([0]))).tolist() == [[[0.5, 0.5]]]


def test_an_empty_sequence_has_no_weights_in_float16_in_d2l():
    X = array(np.zeros((1, 1, 2)), "float16")
    assert numpy(ours.masked_softmax(X, [0])).tolist() == [[[0, 0]]]
    weights = np.array([NAN])
    with contextlib.suppress(RuntimeError):  # -1e6 is -inf there, or an error "without overflow"
        weights = numpy(d2l.masked_softmax(X, array([0])))
    assert np.isnan(weights).all()


def test_padding_wins_over_very_low_scores_in_d2l():
    X = array([[[-2e6, -2e6, 5.0]]])
    assert numpy(ours.masked_softmax(X, [2])).tolist() == [[[0.5, 0.5, 0]]]
    assert numpy(d2l.masked_softmax(X, array([2]))).tolist() == [[[0, 0, 1]]]


def test_nan_in_a_padded_value_spreads_in_d2l():
    inputs, layer = arrays(), adapter.make("DotProductAttention")
    inputs[2][0, 5] = NAN
    assert np.isnan(of_d2l(layer, "DotProductAttention", inputs, [2, 6])[0]).any()
    assert np.isfinite(numpy(attend(layer, *inputs, [2, 6])[0])).all()


@pytest.mark.parametrize("lens", [[2.5, 5.0], [-1, 3], [11, 3]])
def test_wrong_lengths_are_taken_without_a_word_by_d2l(lens):
    X = normal(2, 3, 10)
    with pytest.raises((TypeError, ValueError), match="valid_lens"):
        ours.masked_softmax(array(X), array(lens))
    assert np.isfinite(numpy(d2l.masked_softmax(array(X), array(lens)))).all()
