"""Side by side with d2l 1.0.3: equal where d2l is right, and one test for each of its defects."""

import contextlib
import copy
import math

import pytest
import torch
from cases import normal
from peer_d2l import d2l

from d2l_attention import torch as ours

LENS = {"(b,)": torch.tensor([2, 6]), "(b, n)": torch.tensor([[1, 10, 3], [10, 7, 2]]), "no": None}


def close(got, want, tolerance=1e-6):
    torch.testing.assert_close(got, want, atol=tolerance, rtol=tolerance)


def is_nan_or_refused(compute):
    """Say whether d2l's -1e6 spoils half precision: PyTorch writes -inf there, or an error."""
    try:
        return bool(compute().isnan().any())
    except RuntimeError as error:
        return "without overflow" in str(error)


def sizes(n=1, d=2, dtype=torch.float32):
    return [normal(*shape, dtype=dtype) for shape in ((2, n, d), (2, 10, 2), (2, 10, 4))]


def both_dot_product():
    return d2l.DotProductAttention(dropout=0.5).eval(), ours.DotProductAttention(dropout=0.5).eval()


def both_additive():
    """D2L's layer and ours with the same parameters."""
    torch.manual_seed(0)
    pair = [m.AdditiveAttention(num_hiddens=8, dropout=0.1).eval() for m in (d2l, ours)]
    for layer in pair:
        layer(*sizes(d=20), LENS["(b,)"])
    pair[1].load_state_dict(pair[0].state_dict())
    return pair


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


class CallsLikeD2L:
    """A decoder's two attentions with the arguments that D2L's chapter gives them.

    The package has no Transformer decoder: it stands in the text of the chapter. In training a
    length for each query keeps it off later tokens; after it, tokens come one by one, and the
    keys are all tokens so far.
    """

    def __init__(self, layer, training):
        self.layer, self.training = layer, training

    def __call__(self, X, encoded, encoded_lens):
        b, n, _ = X.shape
        if self.training:
            own = self.layer(X, X, X, torch.arange(1, n + 1).repeat(b, 1))
            return self.layer(own, encoded, encoded, encoded_lens)
        steps, read = [], X[:, :0]
        for token in X.split(1, dim=1):
            read = torch.cat((read, token), dim=1)
            own = self.layer(token, read, read, None)
            steps.append(self.layer(own, encoded, encoded, encoded_lens))
        return torch.cat(steps, dim=1)


class TestEqual:
    @pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
    def test_masked_softmax(self, lens):
        X = normal(2, 3, 10, dtype=torch.float32)
        close(ours.masked_softmax(X, lens), d2l.masked_softmax(X.clone(), lens))

    @pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_dot_product_attention(self, lens, need_weights):
        theirs, own = both_dot_product()
        tensors = sizes(n=3)
        close(own(*tensors, lens, need_weights=need_weights), theirs(*tensors, lens))
        if need_weights:
            close(own.attention_weights, theirs.attention_weights)

    @pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
    def test_additive_attention_with_the_same_parameters(self, lens):
        theirs, own = both_additive()
        tensors = sizes(n=3, d=20)
        close(own(*tensors, lens), theirs(*tensors, lens))
        close(own.attention_weights, theirs.attention_weights)

    @pytest.mark.parametrize("pair", [both_dot_product, both_additive])
    def test_gradients(self, pair):
        gradients = []
        for layer in pair():
            tensors = [t.requires_grad_() for t in sizes(d=20 if pair is both_additive else 2)]
            layer(*tensors, LENS["(b,)"]).pow(2).sum().backward()
            named = dict(enumerate(tensors)) | dict(layer.named_parameters())
            gradients.append({name: tensor.grad for name, tensor in named.items()})
        theirs, own = gradients
        assert own.keys() == theirs.keys()
        for name, gradient in own.items():
            close(gradient, theirs[name])

    def test_our_attention_inside_d2l_multi_head_attention(self):
        torch.manual_seed(0)
        layer = d2l.MultiHeadAttention(num_hiddens=8, num_heads=2, dropout=0.5).eval()
        tensors = [normal(2, n, 8, dtype=torch.float32) for n in (3, 5, 5)]
        lens = torch.tensor([5, 2])
        want = layer(*tensors, lens)
        layer.attention = ours.DotProductAttention(dropout=0.5).eval()
        close(layer(*tensors, lens), want)

    @pytest.mark.parametrize("lens", [*LENS.values(), "causal"], ids=[*LENS, "causal"])
    @pytest.mark.parametrize("bias", [False, True])
    def test_multi_head_attention_with_the_same_parameters(self, lens, bias):
        theirs, own = both_multi_head(bias)
        queries, keys = normal(2, 3, 8, dtype=torch.float32), normal(2, 10, 8, dtype=torch.float32)
        if isinstance(lens, str):
            lens = torch.tensor([[8, 9, 10]] * 2)
            close(own(queries, keys, keys, causal=True), theirs(queries, keys, keys, lens))
        close(own(queries, keys, keys, lens), theirs(queries, keys, keys, lens))
        weights = theirs.attention.attention_weights.reshape(2, 4, 3, 10)
        close(own.attention_weights, weights)

    @pytest.mark.parametrize("lens", [None, torch.tensor([5, 2])])
    def test_the_transformer_encoder_of_d2l_runs_with_our_layer(self, lens, monkeypatch):
        X = torch.tensor([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]])
        theirs, own = transformer_encoders(monkeypatch, X)
        close(own(X, lens), theirs(X, lens))
        assert own.blks[0].attention.__class__ is ours.MultiHeadAttention
        # the chapter joins the weights of all blocks and looks at each head
        for encoder in (theirs, own):
            encoder.joined = torch.cat(encoder.attention_weights, 0).reshape(2, 2, 4, 5, 5)
        close(own.joined, theirs.joined)

    def test_a_transformer_encoder_of_d2l_trains_with_our_layer(self, monkeypatch):
        X, gradients = torch.tensor([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]]), []
        for encoder in transformer_encoders(monkeypatch, X):
            encoder(X, torch.tensor([5, 2])).pow(2).sum().backward()
            gradients.append({name: p.grad for name, p in encoder.named_parameters()})
        theirs, own = gradients
        assert own.keys() == theirs.keys()
        for name, gradient in own.items():
            close(gradient, theirs[name], 1e-4)

    @pytest.mark.parametrize("training", [True, False])
    def test_a_decoder_that_calls_the_layer_as_that_of_d2l_does(self, training):
        theirs, own = (CallsLikeD2L(layer, training) for layer in both_multi_head())
        X, encoded = normal(2, 4, 8, dtype=torch.float32), normal(2, 5, 8, dtype=torch.float32)
        close(own(X, encoded, torch.tensor([5, 2])), theirs(X, encoded, torch.tensor([5, 2])))


class TestDefect:
    """Each test shows d2l wrong first, then ours right; so d2l's repair would be noticed."""

    def test_the_callers_scores_are_overwritten(self):
        X, lens = normal(1, 2, 3), torch.tensor([1])
        for module, harmed in ((d2l, True), (ours, False)):
            scores = X.clone()
            module.masked_softmax(scores, lens)
            assert torch.equal(scores, X) != harmed

    def test_scores_that_require_a_gradient_are_an_error(self):
        X, lens = normal(1, 2, 3).requires_grad_(), torch.tensor([1])
        with pytest.raises(RuntimeError, match="in-place"):
            d2l.masked_softmax(X, lens)
        ours.masked_softmax(X, lens).pow(2).sum().backward()
        assert X.grad.isfinite().all()

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])  # both hold the constant
    def test_an_empty_sequence_averages_its_padding(self, dtype):
        X, lens = torch.zeros(1, 1, 2, dtype=dtype), torch.tensor([0])
        assert d2l.masked_softmax(X.clone(), lens).tolist() == [[[0.5, 0.5]]]
        assert ours.masked_softmax(X, lens).tolist() == [[[0.0, 0.0]]]

    def test_an_empty_sequence_has_no_weights_in_float16(self):
        X, lens = torch.zeros(1, 1, 2).half(), torch.tensor([0])
        assert is_nan_or_refused(lambda: d2l.masked_softmax(X.clone(), lens))
        assert ours.masked_softmax(X, lens).tolist() == [[[0.0, 0.0]]]

    def test_padding_wins_over_very_low_scores(self):
        X, lens = torch.tensor([[[-2e6, -2e6, 5.0]]]), torch.tensor([2])
        assert d2l.masked_softmax(X.clone(), lens).tolist() == [[[0.0, 0.0, 1.0]]]
        assert ours.masked_softmax(X, lens).tolist() == [[[0.5, 0.5, 0.0]]]

    def test_nan_in_a_padded_value_spreads(self):
        queries, keys, values = sizes()
        values[0, 5] = math.nan
        theirs, own = both_dot_product()
        assert theirs(queries, keys, values, LENS["(b,)"])[0].isnan().any()
        assert own(queries, keys, values, LENS["(b,)"]).isfinite().all()

    def test_scores_beyond_half_precision_have_no_weights(self):
        tensors = [t * 300 for t in sizes(dtype=torch.float16)]
        theirs, own = both_dot_product()
        assert is_nan_or_refused(lambda: theirs(*tensors, LENS["(b,)"]))
        want = own(*(t.double() for t in tensors), LENS["(b,)"])
        out = own(*tensors, LENS["(b,)"], need_weights=False)
        torch.testing.assert_close(out.double(), want, atol=1, rtol=1e-3)

    @pytest.mark.parametrize(
        "lens",
        [[2.5, 5.0], [-1, 3], [11, 3], [[True] * 10] * 2, [[1, 2], [3, 4], [5, 6]]],
        ids=["fractions", "negative", "too long", "a boolean mask", "transposed"],
    )
    def test_wrong_lengths_are_taken_without_a_word(self, lens):
        lens = torch.tensor(lens)
        X = normal(2, lens[0].numel() if lens.dtype == torch.bool else 3, 10)
        assert d2l.masked_softmax(X.clone(), lens).isfinite().all()
        with pytest.raises((TypeError, ValueError), match="valid_lens"):
            ours.masked_softmax(X, lens)

    def test_one_query_is_broadcast_over_a_batch_of_keys(self):
        queries, keys, values = sizes(d=20)
        theirs, own = both_additive()
        assert theirs(queries[:1], keys, values, LENS["(b,)"]).shape == (2, 1, 4)
        with pytest.raises(ValueError, match="batch"):
            own(queries[:1], keys, values, LENS["(b,)"])

    def test_several_heads_are_an_error(self):
        X, lens = normal(2, 3, 4, 10), LENS["(b,)"]
        with pytest.raises(IndexError):
            d2l.masked_softmax(X.clone(), lens)
        close(ours.masked_softmax(X, lens)[:, 1], ours.masked_softmax(X[:, 1], lens))

    def test_a_layer_cannot_be_copied_after_training(self):
        theirs, own = both_dot_product()
        tensors = [t.requires_grad_() for t in sizes()]
        for layer in (theirs, own):
            layer(*tensors, LENS["(b,)"])
        with pytest.raises(RuntimeError, match="deepcopy"):
            copy.deepcopy(theirs)
        torch.testing.assert_close(copy.deepcopy(own)(*tensors), own(*tensors))

    def test_vmap_is_an_error_in_older_versions_of_pytorch(self):
        X, lens = normal(3, 2, 3, 10), torch.tensor([[1, 2], [3, 4], [5, 6]])
        loop = torch.stack([ours.masked_softmax(x, n) for x, n in zip(X, lens, strict=True)])
        close(torch.func.vmap(ours.masked_softmax)(X, lens), loop)
        with contextlib.suppress(RuntimeError):  # where vmap knows no boolean masks
            close(torch.func.vmap(d2l.masked_softmax)(X.clone(), lens), loop)
