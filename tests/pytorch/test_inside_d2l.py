"""d2l.torch 1.0.3 around our layers and in PyTorch's own ways; tests/contract compares numbers."""

import copy

import pytest
import torch

from d2l_attention import torch as ours
from tests.pytorch.cases import normal
from tests.pytorch.peer_d2l import d2l

LENS = {"(b,)": torch.tensor([2, 6]), "(b, n)": torch.tensor([[1, 10, 3], [10, 7, 2]]), "no": None}


def close(got, want, tolerance=1e-6):
    torch.testing.assert_close(got, want, atol=tolerance, rtol=tolerance)


def both_multi_head(bias=False):
    """D2L's layer and ours from the same seed: the parameters are equal, too."""
    x, pair = normal(1, 1, 8, dtype=torch.float32), []
    for module in (d2l, ours):
        torch.manual_seed(0)
        pair.append(module.MultiHeadAttention(8, 4, 0.5, bias).eval())
        pair[-1](x, x, x, None)
    assert all(map(torch.equal, *(layer.state_dict().values() for layer in pair)))
    return pair


def transformer_encoders(monkeypatch, X):
    """D2L's Transformer encoder with its own attention, and with ours in its place."""
    make = lambda: d2l.TransformerEncoder(20, 8, 16, 4, 2, 0.5).eval()  # noqa: E731
    theirs = make()
    theirs(X, None)
    monkeypatch.setattr(d2l, "MultiHeadAttention", ours.MultiHeadAttention)
    own = make()
    own(X, None)
    own.load_state_dict(theirs.state_dict())
    return theirs, own


@pytest.mark.parametrize("lens", [*LENS.values(), "causal"], ids=[*LENS, "causal"])
@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention_with_the_same_parameters(lens, bias):
    theirs, own = both_multi_head(bias)
    queries, keys = normal(2, 3, 8, dtype=torch.float32), normal(2, 10, 8, dtype=torch.float32)
    if isinstance(lens, str):
        lens = torch.tensor([[8, 9, 10]] * 2)
        close(own(queries, keys, keys, causal=True), theirs(queries, keys, keys, lens))
    close(own(queries, keys, keys, lens), theirs(queries, keys, keys, lens))
    weights = theirs.attention.attention_weights.reshape(2, 4, 3, 10)
    close(own.attention_weights, weights)


@pytest.mark.parametrize("lens", [None, torch.tensor([5, 2])])
def test_the_transformer_encoder_of_d2l_runs_with_our_layer(lens, monkeypatch):
    X = torch.tensor([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]])
    theirs, own = transformer_encoders(monkeypatch, X)
    close(own(X, lens), theirs(X, lens))
    assert own.blks[0].attention.__class__ is ours.MultiHeadAttention
    # the chapter joins the weights of all blocks and looks at each head
    for encoder in (theirs, own):
        encoder.joined = torch.cat(encoder.attention_weights, 0).reshape(2, 2, 4, 5, 5)
    close(own.joined, theirs.joined)


def test_the_callers_scores_are_overwritten():
    X, lens = normal(1, 2, 3), torch.tensor([1])
    for module, harmed in ((d2l, True), (ours, False)):
        scores = X.clone()
        module.masked_softmax(scores, lens)
        assert torch.equal(scores, X) != harmed


def test_scores_that_require_a_gradient_are_an_error():
    X, lens = normal(1, 2, 3).requires_grad_(), torch.tensor([1])
    with pytest.raises(RuntimeError, match="in-place"):
        d2l.masked_softmax(X, lens)
    ours.masked_softmax(X, lens).pow(2).sum().backward()
    assert X.grad.isfinite().all()


def test_one_query_is_broadcast_over_a_batch_of_keys():
    query, keys, lens = torch.ones(1, 1, 20), torch.ones(2, 10, 2), LENS["(b,)"]
    theirs, own = (module.AdditiveAttention(8, dropout=0.1) for module in (d2l, ours))
    assert theirs(query, keys, keys, lens).shape == (2, 1, 2)
    with pytest.raises(ValueError, match="batch"):
        own(query, keys, keys, lens)


def test_several_heads_are_an_error():
    X, lens = normal(2, 3, 4, 10), LENS["(b,)"]
    with pytest.raises(IndexError):
        d2l.masked_softmax(X.clone(), lens)
    close(ours.masked_softmax(X, lens)[:, 1], ours.masked_softmax(X[:, 1], lens))


def test_a_layer_cannot_be_copied_after_training():
    theirs, own = (module.DotProductAttention(dropout=0.5).eval() for module in (d2l, ours))
    tensors = [torch.ones(2, 3, 4, requires_grad=True)] * 3
    for layer in (theirs, own):
        layer(*tensors, torch.tensor([1, 3]))
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(theirs)
    torch.testing.assert_close(copy.deepcopy(own)(*tensors), own(*tensors))
