"""Every layer of the JAX module: the loop over queries and keys, padding, dropout, weights."""

import re

import jax
import numpy as np
import oracle
import pytest
from flax import nnx
from jax import numpy as jnp
from jax_cases import (
    ATTENTIONS,
    LENS,
    MASKS,
    NAN,
    SINGLE_OR_LESS,
    TOLERANCE,
    B,
    D,
    M,
    N,
    V,
    as_lists,
    batch,
    close,
    layer_of,
    normal,
)

from d2l_attention.jax import (
    AdditiveAttention,
    Attention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
    MultiHeadAttention,
    additive_scores,
    fused_attention,
    unit_vectors,
    zero_padding,
)

every_score = pytest.mark.parametrize("name", ATTENTIONS)


def by_loops(layer, name, arrays, lens=None, mask=None):
    queries, keys, values = map(as_lists, arrays)
    score, shape = ATTENTIONS[name].score(layer), () if mask is None else mask.shape
    return oracle.attention(
        score, queries, keys, values, lens, as_lists(mask), shape, arrays[2].shape[-1]
    )


@every_score
@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
def test_outputs_and_weights_equal_the_loop(name, lens):
    layer, arrays = layer_of(name), batch()
    output, weights = by_loops(layer, name, arrays, lens, MASKS["(n, m)"])
    got, shown = layer(*arrays, lens, MASKS["(n, m)"], need_weights=True)
    close(got, output)
    close(shown, weights)
    assert shown.dtype == jnp.float32
    close(layer(*arrays, lens, MASKS["(n, m)"]), got, 0)


@every_score
def test_an_axis_of_heads_may_follow_the_batch(name):
    layer, arrays = layer_of(name), batch(heads=(2,))
    output = layer(*arrays, [4, 2])
    for head in range(2):
        close(output[:, head], layer(*(x[:, head] for x in arrays), [4, 2]))


@every_score
def test_nan_in_the_padding_reaches_neither_outputs_nor_gradients(name):
    layer, (queries, keys, values) = layer_of(name), batch()
    graph, state = nnx.split(layer)

    @jax.jit
    def loss(state, queries, keys, values):
        layer = nnx.merge(graph, state)
        return (layer(queries, keys, values, [0, 2]) ** 2).sum()

    gradients = jax.grad(loss, argnums=(0, 1, 2, 3), allow_int=True)
    clean = jax.tree.leaves(gradients(state, queries, keys, values))
    keys, values = (x.at[0].set(NAN).at[1, 2:].set(NAN) for x in (keys, values))
    spoilt = jax.tree.leaves(gradients(state, queries, keys, values))
    assert not np.asarray(layer(queries, keys, values, [0, 2]))[0].any()
    for got, want in zip(spoilt, clean, strict=True):
        if got.dtype == jnp.float32:  # the others count random draws
            close(got, want)


@every_score
@pytest.mark.parametrize("dtype", SINGLE_OR_LESS)
@pytest.mark.parametrize("of_parameters", ["float32", "as the inputs"])
def test_the_output_has_the_type_of_the_inputs_in_every_precision(name, dtype, of_parameters):
    options = {"param_dtype": jnp.dtype(dtype)} if of_parameters == "as the inputs" else {}
    try:
        layer, arrays = layer_of(name, **options), batch(dtype=dtype)
    except TypeError:  # a layer without parameters
        assert not parameters(layer_of(name))
        return
    kinds = {x.dtype for x in jax.tree.leaves(nnx.state(layer, nnx.Param))}
    assert kinds <= {jnp.dtype(options.get("param_dtype", "float32"))}
    output, weights = layer(*arrays, [4, 2], need_weights=True)
    assert output.dtype == layer(*arrays, [4, 2]).dtype == dtype
    assert weights.dtype == ("float32" if name == "distance" else dtype)  # norms overflow
    exact = [np.asarray(x, np.float32) for x in arrays]
    want, shown = by_loops(layer, name, exact, [4, 2])
    close(output, want, 4 * TOLERANCE[dtype])
    close(weights, shown, 4 * TOLERANCE[dtype])


@every_score
def test_a_layer_computes_in_its_dtype_if_it_has_one(name):
    layer, arrays = layer_of(name, dtype=jnp.bfloat16), batch()
    output = layer(*arrays, [4, 2])
    assert output.dtype == jnp.bfloat16
    close(output, layer_of(name)(*arrays, [4, 2]), 4 * TOLERANCE["bfloat16"])


def test_weights_are_dropped_in_training_only():
    layer = DotProductAttention(dropout=0.5, rngs=nnx.Rngs(0))
    ones = jnp.ones((64, 1, D)), jnp.ones((64, 2, D)), jnp.ones((64, 2, 1))
    layer.train()
    output, weights = layer(*ones, need_weights=True)
    output = np.asarray(output).ravel()
    assert set(output.tolist()) == {0.0, 1.0, 2.0}  # none, one or both of two weights, doubled
    assert (np.asarray(layer(*ones)).ravel() != output).any()
    close(weights, np.full((64, 1, 2), 0.5))
    layer.eval()
    close(layer(*ones), np.ones((64, 1, 1)))


@pytest.mark.parametrize("layer", [
    DotProductAttention(0.5),
    MultiHeadAttention(D, 1, dropout=0.5, value_size=V, rngs=nnx.Rngs(0)),
], ids=["one head", "heads"])  # fmt: skip
def test_a_call_may_decide_about_dropout_and_bring_its_own_keys(layer):
    calm = layer(*batch(), deterministic=True)
    close(layer(*batch(), deterministic=True), calm, 0)
    first, again = (layer(*batch(), rngs=nnx.Rngs(1)) for _ in range(2))
    close(first, again, 0)
    assert (np.asarray(first) != np.asarray(layer(*batch(), rngs=nnx.Rngs(2)))).any()


def test_a_layer_without_dropout_needs_no_keys():
    layer = DotProductAttention()
    assert layer(*batch(), [4, 2]).shape == (B, N, V)


@every_score
def test_a_call_changes_nothing_in_the_layer(name):
    layer = layer_of(name)
    before = nnx.split(layer)
    layer(*batch(), [4, 2], need_weights=True)
    graph, state = nnx.split(layer)
    assert graph == before[0]
    for got, want in zip(jax.tree.leaves(state), jax.tree.leaves(before[1]), strict=True):
        assert got is want


def test_weights_are_differentiated_like_any_output():
    queries, keys, values = batch()

    def loss(queries):
        return (DotProductAttention()(queries, keys, values, need_weights=True)[1] ** 2).sum()

    def by_hand(queries):
        return (jax.nn.softmax(queries @ keys.mT / D**0.5) ** 2).sum()

    close(jax.grad(loss)(queries), jax.grad(by_hand)(queries))


def test_a_new_score_needs_no_more_than_its_features():
    class Nameless(Attention):
        pass

    with pytest.raises(NotImplementedError, match="Nameless defines no features"):
        Nameless()(*batch())


# ---- parameters


def parameters(layer) -> dict:
    state = nnx.to_flat_state(nnx.state(layer, nnx.Param))
    return {".".join(map(str, path)): value.shape for path, value in state}


def test_parameters_have_the_sizes_that_are_given():
    made = {"query_size": 7, "key_size": 2, "rngs": nnx.Rngs(0)}
    assert parameters(AdditiveAttention(5, **made)) == {
        "W_q.kernel": (7, 5),
        "W_k.kernel": (2, 5),
        "w_v.kernel": (5, 1),
    }
    assert parameters(BilinearAttention(**made)) == {"W_q.kernel": (7, 2)}
    low_rank = {"W_q.kernel": (7, 3), "W_k.kernel": (2, 3)}
    assert parameters(BilinearAttention(3, **made)) == low_rank
    assert parameters(DotProductAttention()) == {}


def test_a_temperature_is_learned_where_it_may_be():
    layer = CosineAttention(temperature=2)
    assert float(layer.temperature) == pytest.approx(2)
    assert parameters(layer) == {"log_ratio": ()}
    layer.log_ratio[...] = jnp.log(3.0)
    assert float(layer.temperature) == pytest.approx(6)
    fixed = CosineAttention(learnable=False)
    assert float(fixed.temperature) == pytest.approx(0.1)
    assert parameters(fixed) == {}


@pytest.mark.parametrize("temperature", [0, -1, NAN])
def test_a_temperature_is_positive(temperature):
    with pytest.raises(ValueError, match=f"temperature must be positive, got {temperature}"):
        CosineAttention(temperature=temperature)


# ---- the functions inside


@pytest.mark.parametrize("block", [1, 30, 2**18])
def test_additive_scores_are_the_same_in_blocks_of_any_size(block):
    q, k, w = normal(B, N, 5), normal(B, M, 5, seed=1), normal(5, seed=2)
    want = np.tanh(np.asarray(q)[:, :, None] + np.asarray(k)[:, None]) @ np.asarray(w)
    close(additive_scores(q, k, w, block), want)
    heads = additive_scores(q[:, None], k[:, None], w, block)
    close(heads[:, 0], want)

    def loss(q, k, w, block):
        return (additive_scores(q, k, w, block) ** 2).sum()

    gradient = jax.grad(loss, argnums=(0, 1, 2))
    for got, whole in zip(gradient(q, k, w, block), gradient(q, k, w, 2**18), strict=True):
        close(got, whole)


def test_additive_scores_of_a_small_batch_are_one_block():
    q, k, w = normal(B, N, 5), normal(B, M, 5), normal(5)
    text = str(jax.make_jaxpr(additive_scores)(q, k, w))
    assert re.findall(r"\blength=(\d+)", text) == ["1"]  # steps of the loop over blocks


def test_additive_scores_hold_a_block_at_a_time():
    q, k, w = jnp.zeros((1, 256, 8)), jnp.zeros((1, 256, 8)), jnp.zeros(8)

    def held(block):
        function = jax.value_and_grad(lambda q: additive_scores(q, k, w, block).sum())
        return jax.jit(function).lower(q).compile().memory_analysis().temp_size_in_bytes

    table = 256 * 256 * 8 * 4
    assert held(2**14) < table / 2 < held(2**30)


def test_unit_vectors_have_length_1_or_0_and_finite_gradients():
    x = jnp.array([[3.0, 4.0], [0, 0], [-0.5, 0]])
    close(unit_vectors(x), [[0.6, 0.8], [0, 0], [-1, 0]])
    gradient = jax.grad(lambda x: unit_vectors(x).sum())(x)
    close(gradient, [[0.032, -0.024], [1, 1], [0, 2]])
    half = unit_vectors(jnp.array([[300.0, 400.0]], jnp.float16))  # squares overflow in float16
    assert half.dtype == jnp.float16
    close(half, [[0.6, 0.8]], 1e-3)


def test_padding_is_cleared_only_where_no_query_looks():
    keep = jnp.array([[[True, False, False], [False, False, True]]])
    array = normal(1, 3, 2)
    (cleared,) = zero_padding(keep, array)
    assert cleared.tolist() == [[array[0, 0].tolist(), [0, 0], array[0, 2].tolist()]]
    assert zero_padding(None, array)[0] is array


@pytest.mark.parametrize("v", [2, D, 5])
@pytest.mark.parametrize("heads", [(), (2,)])
def test_the_fused_function_equals_the_loop_for_values_of_any_size(v, heads):
    arrays = batch(v=v, heads=heads)
    keep = np.broadcast_to(MASKS["(n, m)"] & (np.arange(N) > 0)[:, None], (B, *heads, N, M))
    got = fused_attention(*arrays, jnp.asarray(keep))
    first = [x[:, 0] if heads else x for x in arrays]
    mask = keep[:, 0] if heads else keep
    want, _ = by_loops(DotProductAttention(), "dot", first, None, mask)
    close(got[:, 0] if heads else got, want)
    assert not np.asarray(got)[..., 0, :].any()


def test_the_fused_function_equals_that_of_jax_without_a_mask():
    queries, keys, values = batch(v=D, heads=(2,))
    q, k, v = (x.swapaxes(1, 2) for x in (queries, keys, values))  # (b, n, heads, d)
    for scale in (None, 1.0):
        want = jax.nn.dot_product_attention(q, k, v, scale=scale).swapaxes(1, 2)
        close(fused_attention(queries, keys, values, scale=scale), want)
    close(DotProductAttention()(queries, keys, values), fused_attention(queries, keys, values))


# ---- distances in half precision

in_half_precision = pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])


@in_half_precision
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("lens", [None, [2], [1]])
def test_distances_of_long_vectors_do_not_overflow_in_half_precision(dtype, need_weights, lens):
    keys = jnp.array([[[300.0, 0], [301, 0]]], dtype)  # in bfloat16, 301 rounds to 300
    query, values = jnp.zeros((1, 1, 2), dtype), jnp.eye(2, dtype=dtype)[None]
    result = DistanceAttention()(query, keys, values, lens, need_weights=need_weights)
    output = result[0] if need_weights else result
    assert output.dtype == dtype
    want = [0.5, 0.5] if dtype == jnp.bfloat16 and lens != [1] else [1.0, 0.0]
    assert output[0, 0].tolist() == want


@in_half_precision
def test_distances_in_half_precision_are_not_lost_between_large_products(dtype):
    query, keys = (jnp.array([x], dtype) for x in ([[64.0]], [[64.0], [64.5]]))
    output = DistanceAttention()(query, keys, jnp.eye(2, dtype=dtype)[None])
    want = jax.nn.softmax(jnp.array([0, -0.125]))
    close(output[0, 0].astype(jnp.float32), want, jnp.finfo(dtype).eps)
