"""What a user of Gluon expects: D2L's calls, parameters in files, float16, late errors."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

from d2l_attention import mxnet as ours
from d2l_attention.practice import check
from tests.contract.comparing import close, refuses
from tests.contract.framework import array
from tests.contract.samples import ATTENTIONS, B, M, N, array_of, arrays_of


@pytest.mark.parametrize("lens", [[4, 2], [[1, 2, 3], [4, 3, 1]]])
def test_code_for_d2l_runs_as_it_is_and_gives_the_same_numbers(lens, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", ModuleType("pandas"))  # not needed here
    d2l, file, lens = import_module("d2l.mxnet"), f"{tmp_path}/parameters", array(np.float32(lens))
    layers = {"DotProductAttention": {}, "AdditiveAttention": {"num_hiddens": 8}}
    assert {*ours.__all__} >= {"masked_softmax", "check_shape", "show_heatmaps", *layers}
    X, inputs = array_of(B, N, M), arrays_of()
    close(ours.masked_softmax(X, lens), d2l.masked_softmax(X, lens))
    for kind, options in layers.items():
        theirs, own = (getattr(package, kind)(dropout=0.5, **options) for package in (d2l, ours))
        theirs.initialize()
        want = theirs(*inputs, lens)
        theirs.save_parameters(file)
        own.load_parameters(file)
        close(own(*inputs, lens), want)
        close(own.attention_weights, theirs.attention_weights)
        ours.show_heatmaps(own.attention_weights.reshape((1, B, N, M)), "Keys", "Queries")


def test_the_softmax_of_float16_adds_in_float32_and_layers_refuse_what_mxnet_cannot_multiply():
    weights = ours.masked_softmax(array(np.zeros((1, 1, 5000)), "float16"), [4096])
    assert weights.dtype == np.float16
    close(weights.asnumpy()[..., :4096] * 4096, np.ones((1, 1, 4096)), 0)
    message = "queries must be float32 or float64, as MXNet multiplies no others, got float16"
    refuses(layer := ATTENTIONS["dot"].make(), TypeError, message, *arrays_of(dtype="float16"))
    refuses(layer, TypeError, "one type, got", *arrays_of()[:2], arrays_of(dtype="float64")[2])
    refuses(ours.masked_softmax, TypeError, "mxnet.np, got numpy.ndarray", np.ones((2, 3)))
    assert np.isnan(ours.masked_softmax(array([[1.0, np.nan]])).asnumpy()).all()


def test_errors_that_come_when_an_answer_is_read_are_shown():
    late = check("12.3", lambda padding, hidden: ~padding[:, None, None] & ~hidden)
    assert late.message.endswith("Error: Operator _npi_bitwise_and does not support boolean type")
