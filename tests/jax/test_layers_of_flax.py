"""What a user of Flax expects of layers: types, axes, masks, random keys, traced lists."""

from functools import partial

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp

from tests.contract.comparing import TOLERANCE, close, refuses
from tests.contract.samples import LAYERS, MASKS, D, M, array_of, arrays_of

every_layer = pytest.mark.parametrize("name", LAYERS)


@every_layer
def test_a_layer_computes_in_the_type_of_its_inputs_or_in_its_own_and_strictly_if_asked(name):
    layer, told = (LAYERS[name].make(computes_in=kind) for kind in (None, jnp.bfloat16))
    half, single = arrays_of(dtype="bfloat16"), arrays_of()
    for output in (layer(*half, [4, 2]), told(*single, [4, 2])):
        assert output.dtype == "bfloat16"
        close(output, layer(*single, [4, 2]), 8 * TOLERANCE["bfloat16"])
    with jax.numpy_dtype_promotion("strict"):
        message = "queries, keys, values must have one type, got bfloat16 and float32 and float32"
        refuses(layer, TypeError, message, half[0], *single[1:])


def test_batches_and_masks_may_have_the_axes_that_flax_takes():
    layer, x, lens = LAYERS["heads"].make(), array_of(4, M, D), jnp.array([[4, 1], [2, 3]])
    given = x, x, x[..., :2]
    want, grid = layer(*given, lens.ravel()), [y.reshape(2, 2, *y.shape[1:]) for y in given]
    close(layer(*grid, lens).reshape(want.shape), want)
    refuses(layer, ValueError, "must have shape (2, 2) or (2, 2, 4), got (2,)", *grid, lens[0])
    for call in (partial(layer, *given), jax.jit(partial(layer, *given))):
        close(call(mask=nnx.make_causal_mask(x[..., 0])), layer(*given, causal=True))


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
