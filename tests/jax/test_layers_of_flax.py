"""What a user of Flax expects of layers: types, copies, masks, random keys, sharding."""

import copy
from functools import partial

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp

from d2l_attention import jax as ours
from tests.contract.comparing import TOLERANCE, close, refuses
from tests.contract.samples import LAYERS, MASKS, D, M, N, array_of, arrays_of

every_layer = pytest.mark.parametrize("name", LAYERS)


@every_layer
def test_parameters_in_single_precision_compute_in_that_of_the_inputs_or_of_the_layer(name):
    layer, told = (LAYERS[name].make(computes_in=kind) for kind in (None, jnp.bfloat16))
    for output in (layer(*arrays_of(dtype="bfloat16"), [4, 2]), told(*arrays_of(), [4, 2])):
        assert output.dtype == "bfloat16"
        close(output, layer(*arrays_of(), [4, 2]), 8 * TOLERANCE["bfloat16"])


@every_layer
def test_strict_promotion_is_kept_to_and_double_precision_where_jax_has_it(name):
    layer, half, single = LAYERS[name].make(), arrays_of(dtype="bfloat16"), arrays_of()
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        nnx.grad(lambda layer: layer(*half, [4, 2], mask=np.ones((N, M))).sum())(layer)
        message = "queries, keys, values must have one type, got bfloat16 and float32 and float32"
        refuses(layer, TypeError, message, half[0], *single[1:])
    with jax.enable_x64(True):
        assert layer(*(np.asarray(x, "float64") for x in single)).dtype == "float64"


@every_layer
def test_a_copy_holds_the_same_numbers_and_no_random_state(name):
    layer, start = LAYERS[name].make(), {"temperature": 2.0} if name == "cosine" else {}
    assert not jax.tree.leaves(nnx.state(layer, nnx.RngState))
    graph, state = nnx.split(layer)
    other = getattr(ours, LAYERS[name].kind)(**LAYERS[name].sizes | start, rngs=nnx.Rngs(1))
    nnx.update(other, state)
    for twin in (copy.deepcopy(layer), nnx.merge(graph, state), other):
        close(twin(*arrays_of(), [4, 2]), layer(*arrays_of(), [4, 2]), 0)


def test_batches_and_masks_may_have_the_axes_that_flax_takes():
    layer, x, lens = LAYERS["heads"].make(), array_of(4, M, D), jnp.array([[4, 1], [2, 3]])
    given = x, x, x[..., :2]
    want, grid = layer(*given, lens.ravel()), [y.reshape(2, 2, *y.shape[1:]) for y in given]
    close(layer(*grid, lens).reshape(want.shape), want)
    refuses(layer, ValueError, "must have shape (2, 2) or (2, 2, 4), got (2,)", *grid, lens[0])
    own = MASKS["(b, 1, m)"][:1, None] & (np.arange(3) > 0)[:, None, None]
    for call in (partial(layer, *given), jax.jit(partial(layer, *given))):
        close(call(mask=nnx.make_causal_mask(x[..., 0])), layer(*given, causal=True))
    _, weights = layer(*given, mask=own, need_weights=True)
    assert ((weights > 0) == jnp.broadcast_to(own, weights.shape)).all()


@pytest.mark.parametrize("name", ["dot", "heads"])
def test_a_call_may_decide_about_dropout_and_bring_its_own_keys(name):
    layer = LAYERS[name].make(dropout=0.5)
    calm = layer(*arrays_of())
    layer.train()
    close(layer(*arrays_of(), deterministic=True), calm, 0)
    first, again, other = (layer(*arrays_of(), rngs=nnx.Rngs(seed)) for seed in (1, 1, 2))
    close(first, again, 0)
    assert (first != other).any()


@every_layer
def test_lists_may_be_traced_and_a_mask_of_other_numbers_makes_nan_where_it_is(name):
    call, keep = partial(LAYERS[name].make(), *arrays_of(), need_weights=True), MASKS["(n, m)"]
    want, wrong = call([4, 2], mask=keep), jnp.log(keep)  # 0 and -inf
    jax.tree.map(close, jax.jit(lambda n: call([n, 2], mask=keep.tolist()))(4), want)
    for known in (call, jax.jit(lambda mask: call(mask=wrong))):
        refuses(known, TypeError, "mask must be boolean", mask=wrong)
    assert all(np.isnan(x).all() for x in jax.jit(call)(mask=wrong))


def test_additive_scores_may_be_sharded_over_all_but_the_queries():
    mesh = jax.sharding.AbstractMesh((2,), ("x",), (jax.sharding.AxisType.Explicit,))
    for b, h, m in (("x", None, None), (None, "x", None), (None, None, "x")):
        axes = jax.P(b, h, None, None), jax.P(b, h, m, None), jax.P(None)
        sharded = [jax.NamedSharding(mesh, of_each) for of_each in axes]
        given = [jax.ShapeDtypeStruct((4,) * len(x.spec), jnp.float32, sharding=x) for x in sharded]
        with jax.sharding.use_abstract_mesh(mesh):
            found = jax.eval_shape(ours.additive_scores, *given)
        assert found.sharding.spec == jax.P(b, h, None, m)
