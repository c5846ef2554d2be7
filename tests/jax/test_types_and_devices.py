"""Types of parameters, of computing and of the cache; double precision; devices; what is held."""

import math
import re
from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp

from d2l_attention import jax as ours
from tests.contract.comparing import TOLERANCE, close, refuses
from tests.contract.samples import MASKS, NAN
from tests.contract.test_masked_softmax import by_rows
from tests.jax.adapter import parameters
from tests.jax.cases import LAYERS, B, D, M, N, batch, layer_of, normal

every_layer = pytest.mark.parametrize("name", LAYERS)
HALF = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])

# ---- types


@every_layer
@HALF
def test_parameters_in_single_precision_compute_in_that_of_the_inputs(name, dtype):
    layer = layer_of(name)
    assert {str(p.dtype) for p in parameters(layer).values()} <= {"float32"}
    output = layer(*batch(dtype=dtype), [4, 2])
    assert output.dtype == dtype
    close(output, layer(*batch(), [4, 2]), 8 * TOLERANCE[dtype])


@every_layer
def test_a_layer_computes_in_its_dtype_if_it_has_one(name):
    output = layer_of(name, computes_in=jnp.bfloat16)(*batch(), [4, 2])
    assert output.dtype == jnp.bfloat16
    close(output, layer_of(name)(*batch(), [4, 2]), 8 * TOLERANCE["bfloat16"])


def test_double_precision_is_kept_where_jax_has_it():
    with jax.enable_x64(True):
        X = normal(B, N, M, dtype="float64")
        weights = ours.masked_softmax(X, [0, 3])
        assert weights.dtype == "float64"
        close(weights, by_rows(X, [0, 3]), 1e-12)
        far = ours.rotate(normal(1, 2, dtype="float64"), np.array([100_000]))
        assert far.dtype == "float64"


def test_a_norm_is_taken_in_single_precision_or_wider():
    half = ours.unit_vectors(jnp.array([[300.0, 400.0]], jnp.float16))  # squares overflow there
    assert half.dtype == jnp.float16
    close(half, [[0.6, 0.8]], 1e-3)


@pytest.mark.parametrize("of_cache", ["float32", "bfloat16"])
def test_a_cache_of_any_type_keeps_the_type_of_the_inputs(of_cache):
    layer, x = ours.MultiHeadAttention(8, 4, rngs=nnx.Rngs(0)), normal(B, 4, 8, dtype="bfloat16")
    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 4, 4, 2, jnp.dtype(of_cache))
    for i in range(4):
        output = layer(*[x[:, i : i + 1]] * 3, causal=True, cache=cache)
        assert output.dtype == jnp.bfloat16
        close(output[:, 0], want[:, i], 4 * TOLERANCE["bfloat16"])
    assert cache.keys.dtype == of_cache


def test_half_precision_under_lengths_is_as_exact_as_flax():
    arrays, lens = [normal(B, 64, 16, seed=i, dtype="bfloat16") for i in range(3)], [60, 64]
    layer, apart = ours.DotProductAttention(), [x[:, :, None] for x in (6 * arrays[0], *arrays[1:])]
    want = layer(*(x[:, :, 0].astype("float32") for x in apart), lens)
    keep = ours.attention_mask((B, 1, 64, 64), lens)
    theirs = nnx.dot_product_attention(*apart, mask=keep)[:, :, 0]
    own = layer(*(x[:, :, 0] for x in apart), lens)
    assert jnp.linalg.norm(own - want) < 1.2 * jnp.linalg.norm(theirs - want)


@every_layer
def test_numpy_arrays_and_strict_ranks_are_taken_without_a_warning(name, recwarn):
    queries, keys, values = (np.asarray(x, "float64") for x in batch())
    with jax.numpy_rank_promotion("raise"):
        layer_of(name)(queries, keys, values, [4, 2])
        ours.rotate(queries[..., :2])
    assert not recwarn.list


# ---- as layers of Flax


@every_layer
def test_without_dropout_a_layer_holds_numbers_to_learn_and_no_random_state(name):
    layer = layer_of(name)
    assert not jax.tree.leaves(nnx.state(layer, nnx.RngState))
    jax.grad(lambda layer: layer(*batch()).sum())(layer)


def test_a_w_v_that_was_exchanged_is_the_one_that_scores():
    layer, arrays = layer_of("additive"), batch()
    known, before = layer.w_v.kernel[:, 0], layer(*arrays)
    layer.w_v = nnx.LoRALinear(5, 1, lora_rank=2, rngs=nnx.Rngs(1))
    layer.w_v.kernel[...], layer.w_v.bias[...] = known[:, None], jnp.ones(1)
    close(layer(*arrays), before)  # B of B A starts as 0, and a bias shifts all scores alike
    layer.w_v.lora.lora_b[...] = jnp.ones((2, 1))
    changed = known + layer.w_v.lora.lora_a.sum(-1)
    scores = ours.additive_scores(layer.W_q(arrays[0]), layer.W_k(arrays[1]), changed)
    close(layer(*arrays), jax.nn.softmax(scores) @ arrays[2])


def test_batches_and_masks_may_have_the_axes_that_flax_takes():
    layer, x, lens = layer_of("heads"), normal(4, M, D), jnp.array([[4, 1], [2, 3]])
    x, v = x, x[..., :2]
    want, grid = layer(x, x, v, lens.ravel()), [y.reshape(2, 2, *y.shape[1:]) for y in (x, x, v)]
    close(layer(*grid, lens).reshape(want.shape), want)
    refuses(layer, ValueError, "must have shape (2, 2) or (2, 2, 4), got (2,)", *grid, lens[0])
    causal, own = (
        nnx.make_causal_mask(x[..., 0]),
        MASKS["(b, 1, m)"][:1, None] & (np.arange(3) > 0)[:, None, None],
    )
    for jit in (lambda f: f, jax.jit):
        close(jit(layer)(x, x, v, mask=causal), layer(x, x, v, causal=True))
        _, weights = jit(partial(layer, need_weights=True))(x, x, v, mask=own)
        assert ((weights > 0) == jnp.broadcast_to(own, weights.shape)).all()
    refuses(layer, TypeError, "mask must be boolean", x, x, v, mask=jnp.log(causal))


def test_shared_keys_are_not_copied_for_each_head_and_each_head_drops_weights_of_its_own():
    layer = ours.MultiHeadAttention(256, 8, 0.5, num_kv_heads=1, rngs=nnx.Rngs(0))
    x, cache = normal(1, 1, 256), ours.KeyValueCache(1, 1, 2**12, 32)
    first, again = (layer(*[normal(1, 8, 256)] * 3) for _ in range(2))
    assert (first != again).any()
    layer.eval()
    held = ours.temporary_bytes(lambda x: layer(x, x, x, cache=nnx.clone(cache)), x)
    assert held < 8 * cache.keys[...].nbytes


# ---- the cache of fixed size


def test_one_compiled_step_fits_every_length_of_the_cache():
    layer, x, traced = ours.MultiHeadAttention(8, 4, rngs=nnx.Rngs(0)), normal(B, 6, 8), []

    @nnx.jit
    def step(layer, cache, token):
        traced.append(None)
        return layer(token, token, token, causal=True, cache=cache)

    want, cache = layer(x, x, x, causal=True), ours.KeyValueCache(B, 4, 6, 2)
    for i in range(6):
        close(step(layer, cache, x[:, i : i + 1])[:, 0], want[:, i])
    assert len(traced) == 1


def test_a_cache_without_room_is_refused_and_left_alone():
    layer, x = ours.MultiHeadAttention(8, 4, rngs=nnx.Rngs(0)), normal(B, 4, 8)
    cache = ours.KeyValueCache(B, 4, 5, 2)
    layer(x, x, x, cache=cache)
    keys = cache.keys[...]
    message = "cache has 5 places, 4 taken: no room for 4 more tokens"
    refuses(layer, ValueError, message, x, x, x, cache=cache)
    assert cache.keys[...] is keys
    assert cache.length[...] == 4
    small, message = ours.KeyValueCache(B, 4, 2, 2), "cache has 2 places: no room for 4 more tokens"
    refuses(nnx.jit(lambda layer, cache: layer(x, x, x, cache=cache)), ValueError, message, layer,
            small)  # fmt: skip


# ---- calls


@pytest.mark.parametrize("name", ["dot", "heads"])
def test_a_call_may_decide_about_dropout_and_bring_its_own_keys(name):
    layer = layer_of(name, dropout=0.5)
    layer.train()
    calm = layer(*batch(), deterministic=True)
    close(layer(*batch(), deterministic=True), calm, 0)
    first, again, other = (layer(*batch(), rngs=nnx.Rngs(seed)) for seed in (1, 1, 2))
    close(first, again, 0)
    assert (np.asarray(first) != np.asarray(other)).any()


def test_a_layer_without_dropout_needs_no_keys_also_in_training():
    layer = ours.DotProductAttention()
    layer.train()
    assert layer(*batch(), [4, 2]).shape == (B, N, 2)


@every_layer
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
        return (ours.DotProductAttention()(queries, keys, values, need_weights=True)[1] ** 2).sum()

    def by_hand(queries):
        return (jax.nn.softmax(queries @ keys.mT / D**0.5) ** 2).sum()

    close(jax.grad(loss)(queries), jax.grad(by_hand)(queries))


# ---- lengths that cannot be read


def test_inside_a_transformation_the_range_of_lengths_is_not_checked_but_their_shape_is():
    X, softmax = normal(B, N, M), jax.jit(ours.masked_softmax)
    assert softmax(X, jnp.array([9, 2])).shape == X.shape
    refuses(softmax, ValueError, "must have shape (2,)", X, jnp.array([1, 2, 3]))
    message = "valid_lens must hold integers, got float32"
    refuses(softmax, TypeError, message, X, jnp.array([1.0, NAN]))


@pytest.mark.parametrize(("name", "value"), {
    "devices": lambda lens: [SimpleNamespace(platform="gpu")],
    "is_fully_addressable": property(lambda lens: False),
}.items())  # fmt: skip
def test_lengths_on_another_device_or_host_are_not_read(monkeypatch, name, value):
    X, lens = normal(B, N, M), jnp.array([9, 2])
    refuses(ours.masked_softmax, ValueError, "must lie in 0..4, got 2..9", X, lens)
    monkeypatch.setattr(type(lens), name, value)
    assert ours.masked_softmax(X, lens).shape == X.shape


# ---- devices and the report


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_a_device_is_a_gpu_or_tpu_where_there_is_one(monkeypatch, platform):
    found, cpu = SimpleNamespace(platform=platform), SimpleNamespace(platform="cpu")
    monkeypatch.setenv("D2L_DEVICE", "")
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu] if name else [found])
    assert (ours.try_gpu(), ours.try_gpu(1)) == (found, cpu)
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu])
    assert (ours.try_gpu(), ours.try_gpu(1)) == (cpu, cpu)


def test_a_device_can_be_forced(monkeypatch):
    monkeypatch.setenv("D2L_DEVICE", "cpu:0")
    assert ours.try_gpu() == jax.devices("cpu")[0]


def test_the_report_names_versions_and_device():
    report = ours.environment_report(ours.try_gpu())
    names = [line.split("  ")[0] for line in report.splitlines()]
    assert {"Python", "jax", "flax", "device", "free memory"} <= set(names)
    assert "torch" not in names


# ---- what is held


def test_temporary_bytes_are_those_between_arguments_and_results():
    x = jnp.ones((64, 64))
    assert ours.temporary_bytes(lambda x: x + 1, x) == 0
    products = ours.temporary_bytes(lambda x: (x @ x) @ (x @ x.T), x)
    assert x.nbytes <= products <= 4 * x.nbytes


def test_additive_scores_hold_a_block_at_a_time_and_a_small_batch_is_one_block():
    arrays = jnp.zeros((1, 256, 8)), jnp.zeros((1, 256, 8)), jnp.zeros(8)

    def training(block):
        return jax.value_and_grad(lambda *a: ours.additive_scores(*a, block).sum())

    table = math.prod((256, 256, 8)) * 4
    small, large = (ours.temporary_bytes(training(block), *arrays) for block in (2**14, 2**30))
    assert small < table / 2 < large
    text = str(jax.make_jaxpr(ours.additive_scores)(normal(B, N, 5), normal(B, M, 5), normal(5)))
    assert re.findall(r"\blength=(\d+)", text) == ["1"]  # steps of the loop over blocks
