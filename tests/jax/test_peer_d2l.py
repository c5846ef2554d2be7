"""Side by side with d2l 1.0.3 in JAX: equal where it is right, and its defects."""

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import NAN, close, normal
from peer_d2l import d2l

from d2l_attention import jax as ours

LENS = {"(b,)": jnp.array([2, 6]), "(b, n)": jnp.array([[1, 10, 3], [10, 7, 2]]), "no": None}
every_length = pytest.mark.parametrize("lens", LENS.values(), ids=LENS)


def arrays(n=3, d=2):
    return normal(2, n, d), normal(2, 10, 2, seed=1), normal(2, 10, 4, seed=2)


def both_additive():
    """D2L's function and our layer with the same parameters."""
    theirs = d2l.AdditiveAttention(num_hiddens=8, dropout=0.1)
    variables = theirs.init(jax.random.key(0), *arrays(d=5), None)
    own = ours.AdditiveAttention(8, query_size=5, key_size=2, rngs=nnx.Rngs(0))
    for name, parameters in variables["params"].items():
        getattr(own, name).kernel[...] = parameters["kernel"]
    own.eval()
    return lambda *inputs: theirs.apply(variables, *inputs), own


@every_length
def test_masked_softmax_is_equal(lens):
    X = normal(2, 3, 10)
    close(ours.masked_softmax(X, lens), d2l.masked_softmax(X, lens))


@every_length
def test_dot_product_attention_is_equal(lens):
    own = ours.DotProductAttention()
    output, weights = d2l.DotProductAttention(0.5).apply({}, *arrays(), lens)
    for found, want in zip(own(*arrays(), lens, need_weights=True), (output, weights), strict=True):
        close(found, want)
    close(own(*arrays(), lens), output)


@every_length
def test_additive_attention_with_the_same_parameters_is_equal(lens):
    theirs, own = both_additive()
    output, weights = theirs(*arrays(d=5), lens)
    for found, want in zip(
        own(*arrays(d=5), lens, need_weights=True), (output, weights), strict=True
    ):
        close(found, want)
    close(own(*arrays(d=5), lens), output)


def test_gradients_flow_through_the_weights_as_in_d2l():
    queries, keys, values = arrays()

    def theirs(keys):
        weights = d2l.DotProductAttention(0.5).apply({}, queries, keys, values, LENS["(b,)"])[1]
        return (weights**2).sum()

    def own(keys):
        layer = ours.DotProductAttention()
        return (layer(queries, keys, values, LENS["(b,)"], need_weights=True)[1] ** 2).sum()

    close(jax.grad(own)(keys), jax.grad(theirs)(keys))
    assert np.abs(jax.grad(own)(keys)).max() > 0.01


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])  # both hold the constant
def test_an_empty_sequence_averages_its_padding_in_d2l(dtype):
    X, lens = jnp.zeros((1, 1, 2), dtype), jnp.array([0])
    assert d2l.masked_softmax(X, lens).tolist() == [[[0.5, 0.5]]]
    assert ours.masked_softmax(X, lens).tolist() == [[[0.0, 0.0]]]


def test_an_empty_sequence_has_no_weights_in_float16_in_d2l():
    X, lens = jnp.zeros((1, 1, 2), jnp.float16), jnp.array([0])
    assert np.isnan(d2l.masked_softmax(X, lens)).all()
    assert ours.masked_softmax(X, lens).tolist() == [[[0.0, 0.0]]]


def test_padding_wins_over_very_low_scores_in_d2l():
    X, lens = jnp.array([[[-2e6, -2e6, 5.0]]]), jnp.array([2])
    assert d2l.masked_softmax(X, lens).tolist() == [[[0.0, 0.0, 1.0]]]
    assert ours.masked_softmax(X, lens).tolist() == [[[0.5, 0.5, 0.0]]]


def test_nan_in_a_padded_value_spreads_in_d2l():
    queries, keys, values = arrays()
    values, lens = values.at[0, 5].set(NAN), LENS["(b,)"]
    assert np.isnan(d2l.DotProductAttention(0.5).apply({}, queries, keys, values, lens)[0]).any()
    assert np.isfinite(ours.DotProductAttention()(queries, keys, values, lens)).all()


@pytest.mark.parametrize("lens", [[2.5, 5.0], [-1, 3], [11, 3]])
def test_wrong_lengths_are_taken_without_a_word_by_d2l(lens):
    X, lens = normal(2, 3, 10), jnp.array(lens)
    assert np.isfinite(d2l.masked_softmax(X, lens)).all()
    with pytest.raises((TypeError, ValueError), match="valid_lens"):
        ours.masked_softmax(X, lens)
