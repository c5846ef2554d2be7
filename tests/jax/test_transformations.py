"""jit, grad, vmap and export see the same functions as a plain call, and leave no tracer behind."""

import copy

import jax
import numpy as np
import pytest
from flax import nnx
from jax import export
from jax import numpy as jnp
from jax.test_util import check_grads
from jax_cases import ATTENTIONS, MASKS, B, M, N, batch, close, layer_of, normal

from d2l_attention.jax import (
    MultiHeadAttention,
    additive_scores,
    blockwise_attention,
    fused_attention,
    linear_attention,
    masked_softmax,
    rotate,
    sink_softmax,
)

LENS = jnp.array([[2, 4], [0, 3], [1, 1]])  # three minibatches of two examples
every_score = pytest.mark.parametrize("name", ATTENTIONS)
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])


# ---- jit


def test_one_compiled_function_fits_all_lengths_and_masks():
    X, traced = normal(B, N, M), []

    @jax.jit
    def compiled(*arguments):
        traced.append(None)
        return masked_softmax(*arguments)

    for lens in LENS:
        for mask in (MASKS["(n, m)"], ~MASKS["(n, m)"]):
            close(compiled(X, lens, mask), masked_softmax(X, lens, mask), 1e-6)
    assert len(traced) == 1


@every_score
@with_or_without_weights
def test_a_layer_inside_a_compiled_function_gives_the_same_outputs(name, need_weights):
    layer, arrays = layer_of(name), batch()
    want = [layer(*arrays, lens, need_weights=need_weights) for lens in LENS]
    weights, traced = layer.attention_weights, []

    @jax.jit
    def call(lens, *arrays):
        traced.append(None)
        return layer(*arrays, lens, need_weights=need_weights)

    with jax.check_tracer_leaks():
        for lens, output in zip(LENS, want, strict=True):
            close(call(lens, *arrays), output)
    assert len(traced) == 1
    assert layer.attention_weights is weights  # what a caller sees stays as it was


@every_score
def test_a_layer_that_is_an_argument_keeps_its_weights(name):
    layer, arrays = layer_of(name), batch()
    layer(*arrays, LENS[0])
    want = layer.attention_weights
    layer(*arrays)
    with jax.check_tracer_leaks():
        nnx.jit(lambda layer, *arrays: layer(*arrays))(layer, *arrays, LENS[0])
    close(layer.attention_weights, want)


# ---- grad


@every_score
@with_or_without_weights
def test_gradients_of_a_layer_are_those_of_finite_differences(name, need_weights):
    with jax.enable_x64(True):
        layer, arrays = layer_of(name), batch(dtype="float64")
        graph, rest = nnx.split(layer, nnx.Param, ...)[0], nnx.state(layer, nnx.Not(nnx.Param))
        parameters = jax.tree.map(lambda p: p.astype("float64"), nnx.state(layer, nnx.Param))

        @jax.jit
        def call(parameters, *arrays):
            layer = nnx.merge(graph, parameters, rest)
            return layer(*arrays, [4, 2], need_weights=need_weights)

        # The fused function computes its softmax in single precision.
        exact = need_weights or name == "additive"
        slack = {} if exact else {"atol": 1e-2, "rtol": 1e-2, "eps": 1e-3}
        check_grads(call, (parameters, *arrays), order=1, modes=["rev"], **slack)


EMPTY = [[0, 2, 3], [4, 1, 0]]  # lengths
KEEP = MASKS["(b, 1, m)"]
SMOOTH = {  # function, and which arrays it takes
    "masked_softmax": (lambda X: masked_softmax(X, EMPTY), "X"),
    "sink_softmax": (lambda X: sink_softmax(X, EMPTY), "X"),
    "additive_scores": (lambda q, k, w: additive_scores(q, k, w, 24), "qkw"),
    "blockwise_attention": (lambda *qkv: blockwise_attention(*qkv, KEEP, block=3), "qkv"),
    "linear_attention": (lambda *qkv: linear_attention(*qkv, [4, 0]), "qkv"),
    "rotate": (lambda v: rotate(v, np.array([3, 0, 7, 1])), "v"),
}


@pytest.mark.parametrize(("function", "names"), SMOOTH.values(), ids=SMOOTH)
def test_first_and_second_derivatives_are_those_of_finite_differences(function, names):
    with jax.enable_x64(True):
        arrays = dict(zip("qkv", batch(dtype="float64"), strict=True))
        arrays |= {"X": normal(B, N, M, dtype="float64"), "w": normal(3, dtype="float64")}
        check_grads(jax.jit(function), [arrays[name] for name in names], order=2, modes=["rev"])


def test_a_gradient_that_is_not_owned_leaves_no_tracer_in_the_layer():
    layer, (queries, keys, values) = layer_of("dot"), batch()
    with jax.check_tracer_leaks():
        gradient = jax.grad(lambda q: layer(q, keys, values, [4, 2]).sum())(queries)
    assert layer.attention_weights is None
    assert gradient.shape == queries.shape
    layer(queries, keys, values)
    assert layer.attention_weights.shape == (B, N, M)


def test_gradients_of_parameters_are_those_of_the_functional_form():
    layer, arrays = layer_of("additive"), batch()

    def loss(layer):
        return (layer(*arrays, [4, 2]) ** 2).sum()

    graph, state, rest = nnx.split(layer, nnx.Param, ...)
    want = jax.grad(lambda state: loss(nnx.merge(graph, state, rest)))(state)
    got = nnx.grad(loss)(layer)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        close(a, b)
        assert np.asarray(a).any()


# ---- vmap


@pytest.mark.parametrize("mapped", ["scores", "lengths", "both"])
def test_vmap_over_minibatches_equals_a_loop(mapped):
    X = normal(3, B, N, M)
    axes = (None if mapped == "lengths" else 0, None if mapped == "scores" else 0)
    arguments = (X[0] if axes[0] is None else X, LENS[0] if axes[1] is None else LENS)
    weights = jax.vmap(masked_softmax, in_axes=axes)(*arguments)
    for i in range(3):
        each = (a if axis is None else a[i] for a, axis in zip(arguments, axes, strict=True))
        close(weights[i], masked_softmax(*each))


def test_gradients_for_each_minibatch_equal_a_loop():
    def loss(X, lens):
        return (masked_softmax(X, lens) ** 2).sum()

    X = normal(3, B, N, M)
    gradients = jax.vmap(jax.grad(loss))(X, LENS)
    for i in range(3):
        close(gradients[i], jax.grad(loss)(X[i], LENS[i]))


@every_score
@with_or_without_weights
def test_vmap_over_a_layer_equals_a_loop(name, need_weights):
    layer = layer_of(name)
    many = [jnp.stack([x, x + 1, x * 2]) for x in batch()]

    def call(*arguments):
        return layer(*arguments, need_weights=need_weights)

    output = jax.vmap(call)(*many, LENS)
    for i in range(3):
        close(output[i], call(*(x[i] for x in many), LENS[i]), 1e-4)


# ---- export


@every_score
@with_or_without_weights
def test_an_exported_layer_is_right_for_other_lengths(name, need_weights):
    layer, arrays = layer_of(name), batch()

    @jax.jit
    def call(lens, *arrays):
        return layer(*arrays, lens, need_weights=need_weights)

    program = export.export(call)(LENS[0], *arrays)
    for lens in LENS[:2]:
        close(program.call(lens, *arrays), layer(*arrays, lens, need_weights=need_weights))


def test_exported_functions_give_the_same_numbers():
    arrays, keep = batch(), jnp.asarray(MASKS["(b, 1, m)"])
    for function in (fused_attention, blockwise_attention):
        program = export.export(jax.jit(function))(*arrays, keep)
        close(program.call(*arrays, keep), function(*arrays, keep))


# ---- copies


@every_score
def test_a_layer_is_copied_with_its_parameters(name):
    layer, arrays = layer_of(name), batch()
    want = layer(*arrays, [4, 2])
    for twin in (copy.deepcopy(layer), nnx.clone(layer), nnx.merge(*nnx.split(layer))):
        close(twin(*arrays, [4, 2]), want, 0)


def test_multi_head_attention_is_mapped_and_compiled_like_its_loop():
    layer = MultiHeadAttention(6, 3, query_size=3, key_size=3, value_size=2, rngs=nnx.Rngs(0))
    many = [jnp.stack([x, x + 1, x * 2]) for x in batch()]
    loop = [layer(*(x[i] for x in many), LENS[i]) for i in range(3)]
    close(jax.jit(jax.vmap(layer))(*many, LENS), np.stack(loop))


# ---- sharding


@pytest.mark.parametrize("axis", ["batch", "heads", "keys", "queries"])
def test_additive_scores_may_be_sharded_over_all_but_the_queries(axis):
    mesh = jax.sharding.AbstractMesh((2,), ("x",), (jax.sharding.AxisType.Explicit,))

    def shape(*sizes):
        parts = jax.sharding.PartitionSpec(*("x" if name == axis else None for name in sizes))
        sharding = jax.sharding.NamedSharding(mesh, parts)
        return jax.ShapeDtypeStruct((4,) * len(sizes), jnp.float32, sharding=sharding)

    arrays = (
        shape("batch", "heads", "queries", "units"),
        shape("batch", "heads", "keys", "units"),
        shape("units"),
    )
    with jax.sharding.use_abstract_mesh(mesh):
        if axis == "queries":  # the loop goes over them
            with pytest.raises(ValueError, match="should be replicated"):
                jax.eval_shape(additive_scores, *arrays)
        else:
            got = jax.eval_shape(additive_scores, *arrays).sharding.spec
            want = ("x" if name == axis else None for name in ("batch", "heads", "queries", "keys"))
            assert got == jax.sharding.PartitionSpec(*want)
