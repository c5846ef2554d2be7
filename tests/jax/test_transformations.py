"""jit, grad, vmap and export see the same functions as a plain call, and leave no tracer behind."""

import copy
from functools import partial

import jax
import numpy as np
import pytest
from flax import nnx
from jax import export
from jax import numpy as jnp
from jax.test_util import check_grads

from d2l_attention.jax import (
    KeyValueCache,
    MultiHeadAttention,
    additive_scores,
    fused_attention,
    masked_softmax,
    rotate,
)
from tests.contract.comparing import close
from tests.contract.samples import MASKS
from tests.jax.cases import LAYERS, B, D, M, N, batch, layer_of, normal

LENS = jnp.array([[2, 4], [0, 3], [1, 1]])  # three minibatches of two examples
every_layer = pytest.mark.parametrize("name", LAYERS)


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


@every_layer
@pytest.mark.parametrize("jit", [jax.jit, nnx.jit])
def test_a_layer_inside_a_compiled_function_gives_the_same_outputs_and_weights(name, jit):
    layer, arrays, traced = layer_of(name), batch(), []
    want = [layer(*arrays, lens, need_weights=True) for lens in LENS]

    @jit
    def call(lens, *arrays):
        traced.append(None)
        return layer(*arrays, lens, need_weights=True)

    with jax.check_tracer_leaks():
        for lens, pair in zip(LENS, want, strict=True):
            for got, eager in zip(call(lens, *arrays), pair, strict=True):
                close(got, eager)
    assert len(traced) == 1


def test_a_layer_that_is_an_argument_is_compiled_once_for_each_shape():
    layer, traced = layer_of("additive"), []

    @nnx.jit
    def call(layer, *arrays):
        traced.append(None)
        return layer(*arrays, need_weights=True)

    for arrays in (batch(), batch(), batch(n=1), batch()):
        close(call(layer, *arrays)[0], layer(*arrays))
    assert len(traced) == 2


# ---- grad


@every_layer
def test_gradients_of_a_layer_are_those_of_finite_differences(name):
    with jax.enable_x64(True):
        layer, arrays = layer_of(name), batch(dtype="float64")
        graph, rest = nnx.split(layer, nnx.Param, ...)[0], nnx.state(layer, nnx.Not(nnx.Param))
        parameters = jax.tree.map(lambda p: p.astype("float64"), nnx.state(layer, nnx.Param))

        @jax.jit
        def call(parameters, *arrays):
            layer = nnx.merge(graph, parameters, rest)
            return layer(*arrays, [4, 2])

        check_grads(call, (parameters, *arrays), order=1, modes=["rev"])


EMPTY = [[0, 2, 3], [4, 1, 0]]  # lengths
SMOOTH = {  # function, and which arrays it takes
    "masked_softmax": (lambda X: masked_softmax(X, EMPTY), "X"),
    "additive_scores": (lambda q, k, w: additive_scores(q, k, w, 24), "qkw"),
    "rotate": (lambda v: rotate(v, np.array([3, 0, 7, 1])), "v"),
}


@pytest.mark.parametrize(("function", "names"), SMOOTH.values(), ids=SMOOTH)
def test_first_and_second_derivatives_are_those_of_finite_differences(function, names):
    with jax.enable_x64(True):
        arrays = dict(zip("qkv", batch(dtype="float64"), strict=True))
        arrays |= {"X": normal(B, N, M, dtype="float64"), "w": normal(3, dtype="float64")}
        check_grads(jax.jit(function), [arrays[name] for name in names], order=2, modes=["rev"])


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


@every_layer
def test_vmap_over_a_layer_equals_a_loop(name):
    layer = layer_of(name)
    many = [jnp.stack([x, x + 1, x * 2]) for x in batch()]
    outputs, weights = jax.vmap(partial(layer, need_weights=True))(*many, LENS)
    for i in range(3):
        output, shown = layer(*(x[i] for x in many), LENS[i], need_weights=True)
        close(outputs[i], output, 1e-4)
        close(weights[i], shown, 1e-4)


@every_layer
def test_one_example_needs_no_batch_also_under_vmap(name):
    layer, arrays, lens = layer_of(name), batch(), jnp.array([[1, 2, 4], [0, 3, 1]])
    for given in (None, LENS[0], lens):
        want = layer(*arrays, given)
        close(layer(*(x[0] for x in arrays), None if given is None else given[0]), want[0])
        close(jax.vmap(layer)(*arrays, *([] if given is None else [given])), want)


# ---- loops, stacks of layers, and computing anew


def stacked(depth=3):
    """The same kind of layer `depth` times, with parameters of their own, along a first axis."""

    @nnx.vmap(in_axes=0, out_axes=0)
    def made(key):
        return MultiHeadAttention(D, 1, rngs=nnx.Rngs(key))

    return made(jax.random.split(jax.random.key(0), depth))


def one_by_one(layers, x, depth=3):
    graph, state = nnx.split(layers)
    outputs = [x]
    for i in range(depth):
        layer = nnx.merge(graph, jax.tree.map(lambda p, i=i: p[i], state))
        outputs.append(layer(*[outputs[-1]] * 3, LENS[0]))
    return outputs


def test_a_stack_of_layers_runs_under_nnx_scan():
    x, layers = batch(n=M)[0], stacked()

    @nnx.scan(in_axes=(0, nnx.Carry), out_axes=(nnx.Carry, 0))
    def through(layer, x):
        output, weights = layer(x, x, x, LENS[0], need_weights=True)
        return output, weights

    output, weights = through(layers, x)
    close(output, one_by_one(layers, x)[-1])
    assert weights.shape == (3, B, 1, M, M)


@every_layer
def test_gradients_are_the_same_under_nnx_remat(name):
    layer, arrays = layer_of(name), batch()

    def loss(layer, queries, keys, values):
        return (layer(queries, keys, values, [4, 2]) ** 2).sum()

    plain, anew = (nnx.grad(f, argnums=(0, 1, 2, 3)) for f in (loss, nnx.remat(loss)))
    for got, want in zip(
        jax.tree.leaves(anew(layer, *arrays)), jax.tree.leaves(plain(layer, *arrays)), strict=True
    ):
        close(got, want)


@pytest.mark.parametrize("name", ["dot", "additive"])
def test_a_layer_runs_in_a_loop_of_lax(name):
    layer, (queries, keys, _) = layer_of(name), batch()
    values = batch(v=D)[2]
    got = jax.lax.fori_loop(0, 3, lambda i, q: layer(q, keys, values, LENS[i]), queries)
    want = queries
    for lens in LENS:
        want = layer(want, keys, values, lens)
    close(got, want)


def test_a_cache_is_filled_under_nnx_scan():
    layer, x = MultiHeadAttention(6, 3, rngs=nnx.Rngs(0)), normal(B, 5, 6)
    cache = KeyValueCache(B, 3, 5, 2)

    @nnx.scan(in_axes=(None, nnx.Carry, 1), out_axes=(nnx.Carry, 1))
    def read(layer, cache, token):
        token = token[:, None]  # (b, D) -> (b, 1, D)
        output = layer(token, token, token, causal=True, cache=cache)
        return cache, output[:, 0]

    cache, outputs = read(layer, cache, x)
    close(outputs, layer(x, x, x, causal=True))
    assert int(cache.length[...]) == 5


# ---- export


@every_layer
def test_an_exported_layer_is_right_for_other_lengths(name):
    layer, arrays = layer_of(name), batch()
    program = export.export(jax.jit(lambda lens, *arrays: layer(*arrays, lens)))(LENS[0], *arrays)
    for lens in LENS[:2]:
        close(program.call(lens, *arrays), layer(*arrays, lens))


def test_the_exported_fused_function_gives_the_same_numbers():
    arrays, keep = batch(), jnp.asarray(MASKS["(b, 1, m)"])
    program = export.export(jax.jit(fused_attention))(*arrays, keep)
    close(program.call(*arrays, keep), fused_attention(*arrays, keep))


@every_layer
def test_a_layer_is_exported_for_all_sizes(name):
    layer, sizes = layer_of(name), dict(zip("bnm", export.symbolic_shape("b, n, m"), strict=True))
    arrays = batch()
    shapes = [(sizes["b"], sizes["n" if i == 0 else "m"], x.shape[2]) for i, x in enumerate(arrays)]
    shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    close(export.export(jax.jit(layer))(*shapes).call(*arrays), layer(*arrays))


# ---- copies


@every_layer
def test_a_layer_is_copied_with_its_parameters(name):
    layer, arrays = layer_of(name), batch()
    want = layer(*arrays, [4, 2])
    for twin in (copy.deepcopy(layer), nnx.clone(layer), nnx.merge(*nnx.split(layer))):
        close(twin(*arrays, [4, 2]), want, 0)


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
