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

    def test_an_empty_sequence_averages_its_padding(self):
        X, lens = torch.zeros(1, 1, 2), torch.tensor([0])
        assert d2l.masked_softmax(X.clone(), lens).tolist() == [[[0.5, 0.5]]]
        assert ours.masked_softmax(X, lens).tolist() == [[[0.0, 0.0]]]

    def test_an_empty_sequence_has_no_weights_in_half_precision(self):
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
