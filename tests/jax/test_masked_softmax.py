"""masked_softmax in JAX against its contract, line by line."""

import jax
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import numpy as jnp
from jax_cases import LENS, MASKS, NAN, SINGLE_OR_LESS, TOLERANCE, B, M, N, as_lists, close, normal

from d2l_attention.jax import attention_mask, masked_softmax

softmax = jax.jit(masked_softmax)
lengths = st.one_of(
    st.lists(st.integers(0, M), min_size=B, max_size=B),
    st.lists(st.lists(st.integers(0, M), min_size=N, max_size=N), min_size=B, max_size=B),
)


def by_loops(X, lens=None, mask=None):
    shape = () if mask is None else mask.shape
    weights = oracle.masked_softmax(as_lists(X), X.shape, lens, as_lists(mask), shape)
    return np.array([weights[index] for index in np.ndindex(X.shape)]).reshape(X.shape)


@pytest.mark.parametrize("shape", [(B, N, M), (B, 2, N, M)])
@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_equals_the_loop_over_rows(shape, lens, mask):
    X = normal(*shape)
    if mask is not None and mask.ndim == 3 and len(shape) == 4:
        mask = mask[:, None]
    weights, want = masked_softmax(X, lens, mask), by_loops(X, lens, mask)
    assert weights.dtype == X.dtype
    close(weights, want)
    assert ((np.asarray(weights) == 0) == (want == 0)).all()


@given(lens=lengths, bits=st.integers(0, 2 ** (N * M) - 1), scale=st.sampled_from([1, 100]))
def test_any_lengths_and_mask_equal_the_loop(lens, bits, scale):
    mask = np.array([bool(bits >> i & 1) for i in range(N * M)]).reshape(N, M)
    X = scale * normal(B, N, M)
    close(softmax(X, np.array(lens), mask), by_loops(X, lens, mask))


def test_lengths_hide_the_keys_behind_them():
    X = jnp.zeros((2, 2, 4))
    per_example = masked_softmax(X, [2, 4])
    assert per_example.tolist() == [[[0.5, 0.5, 0, 0]] * 2, [[0.25] * 4] * 2]
    per_query = masked_softmax(X, [[1, 2], [0, 4]])
    assert per_query.tolist() == [[[1, 0, 0, 0], [0.5, 0.5, 0, 0]], [[0] * 4, [0.25] * 4]]


def test_true_in_a_mask_means_may_attend_and_lengths_hold_too():
    mask = jnp.array([False, True, True, True])
    weights = masked_softmax(jnp.zeros((1, 1, 4)), jnp.array([2]), mask)
    assert weights.tolist() == [[[0, 1, 0, 0]]]


@pytest.mark.parametrize("kind", [np.array, jnp.array, tuple, lambda x: np.array(x, np.uint8)])
def test_lengths_may_be_lists_or_arrays_of_any_integers(kind):
    X = normal(B, N, M)
    close(masked_softmax(X, kind([4, 2])), masked_softmax(X, [4, 2]), 0)


@pytest.mark.parametrize("arguments", [{"valid_lens": [0, 3]}, {"valid_lens": LENS["(b, n)"]}])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_a_row_without_keys_is_zero_and_has_gradient_zero(arguments, transform):
    def loss(X):
        return (masked_softmax(X, **arguments) * normal(B, N, M, seed=1)).sum()

    X = normal(B, N, M)
    empty = np.asarray(masked_softmax(X, **arguments)).sum(-1) == 0
    gradient = np.asarray(transform(jax.grad(loss))(X))
    assert empty.any()
    assert (gradient[empty] == 0).all()
    assert np.isfinite(gradient).all()
    assert (gradient[~empty] != 0).any()


@pytest.mark.parametrize("hidden", [NAN, np.inf, -np.inf, 3e38])
def test_what_stands_in_hidden_scores_does_no_harm(hidden):
    def loss(X):
        return (masked_softmax(X, [2, 0]) ** 2).sum()

    X = normal(B, N, M)
    spoilt = X.at[0, :, 2:].set(hidden).at[1].set(hidden)
    close(masked_softmax(spoilt, [2, 0]), masked_softmax(X, [2, 0]), 0)
    close(jax.grad(loss)(spoilt), jax.grad(loss)(X), 1e-7)


@pytest.mark.parametrize("spoilt", [NAN, np.inf])
def test_what_is_wrong_in_a_valid_score_shows_in_its_row_alone(spoilt):
    weights = masked_softmax(normal(B, N, M).at[0, 1, 1].set(spoilt), [2, 3])
    seen = np.isnan(weights).any(-1)  # (b, n)
    assert seen[0, 1]
    assert seen.sum() == 1


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", -2e6), ("float32", 3e38), ("float16", 6e4), ("float16", -6e4)]
)
def test_scores_of_any_size_have_finite_weights(dtype, size):
    X = jnp.full((1, 1, M), size, dtype)
    assert masked_softmax(X, [2]).tolist() == [[[0.5, 0.5, 0, 0]]]
    assert masked_softmax(X).tolist() == [[[0.25] * 4]]


@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
@pytest.mark.parametrize("lens", [None, [0, 3]])
def test_the_dtype_is_kept_in_every_precision(dtype, lens):
    X = normal(B, N, M, dtype=dtype)
    weights = masked_softmax(X, lens)
    assert weights.dtype == dtype
    close(weights, by_loops(X, lens), TOLERANCE[dtype])


def test_double_precision_is_kept_where_jax_has_it():
    with jax.enable_x64(True):
        X = normal(B, N, M, dtype="float64")
        weights = masked_softmax(X, [0, 3])
        assert weights.dtype == "float64"
        close(weights, by_loops(X, [0, 3]), TOLERANCE["float64"])


@pytest.mark.parametrize("shape", [(0, N, M), (B, 0, M), (B, N, 0)])
def test_nothing_in_gives_nothing_out(shape):
    assert masked_softmax(jnp.zeros(shape), [0] * shape[0]).shape == shape


def test_it_equals_the_softmax_of_jax_where_a_row_has_keys():
    X = normal(B, N, M)
    keep = attention_mask(X.shape, [4, 2], MASKS["(n, m)"])

    def theirs(X):
        return jax.nn.softmax(X, where=keep)

    def ours(X):
        return masked_softmax(X, [4, 2], MASKS["(n, m)"])

    some = np.asarray(keep.any(-1))
    assert some.all()
    close(ours(X), theirs(X))
    upstream = normal(B, N, M, seed=1)
    gradients = [jax.grad(lambda X, f=f: (f(X) * upstream).sum())(X) for f in (ours, theirs)]
    close(*gradients)


def test_the_joined_mask_has_the_axes_of_the_scores():
    assert attention_mask((B, N, M)) is None
    assert attention_mask((B, 2, N, M), [4, 2]).shape == (B, 1, 1, M)
    assert attention_mask((B, 2, N, M), LENS["(b, n)"]).shape == (B, 1, N, M)
    assert attention_mask((B, N, M), mask=MASKS["(n, m)"]).shape == (1, N, M)
    joined = attention_mask((B, N, M), [4, 2], MASKS["(n, m)"])
    want = (np.arange(M) < np.array([4, 2])[:, None, None]) & MASKS["(n, m)"]
    assert (np.asarray(joined) == want).all()


def test_scores_that_are_all_minus_infinity_are_no_mask_and_stay_visible():
    X = jnp.full((1, 2, 3), -jnp.inf).at[0, 1, jnp.array([0, 2])].set(0)
    weights = np.asarray(masked_softmax(X, [2]))
    assert np.isnan(weights[0, 0, :2]).all()
    assert weights[0, 1].tolist() == [1, 0, 0]
    assert not np.asarray(masked_softmax(X, [0])).any()  # masked: no NaN
