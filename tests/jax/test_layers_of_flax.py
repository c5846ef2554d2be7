"""Layers as modules of Flax: types, copies, keys, scans, sharding, devices, what is held."""

import copy
from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from flax import nnx
from jax import numpy as jnp
from jax.test_util import check_grads

from d2l_attention import jax as ours
from tests.contract import oracle
from tests.contract.comparing import HALF, TOLERANCE, close, refuses
from tests.contract.framework import array
from tests.contract.samples import LAYERS, MASKS, B, D, M, N, array_of, arrays_of
from tests.jax.adapter import parameters

every_layer = pytest.mark.parametrize("name", LAYERS)
heads_of = partial(ours.MultiHeadAttention, rngs=nnx.Rngs(0))

# ---- types


@every_layer
def test_parameters_in_single_precision_compute_in_that_of_the_inputs_or_of_the_layer(name):
    layer = LAYERS[name].make()
    assert {str(p.dtype) for p in parameters(layer).values()} <= {"float32"}
    want, told = layer(*arrays_of(), [4, 2]), LAYERS[name].make(computes_in=jnp.bfloat16)
    for output in (layer(*arrays_of(dtype="bfloat16"), [4, 2]), told(*arrays_of(), [4, 2])):
        assert output.dtype == "bfloat16"
        close(output, want, 8 * TOLERANCE["bfloat16"])


def test_double_precision_is_kept_where_jax_has_it():
    with jax.enable_x64(True):
        X = array_of(B, N, M, dtype="float64")
        weights = ours.masked_softmax(X, [0, 3])
        assert weights.dtype == "float64"
        close(weights, oracle.masked_softmax(X, [0, 3]), 1e-12)
        assert ours.rotate(X, np.array([100_000, 0, 1])).dtype == "float64"


@every_layer
def test_numpy_arrays_and_strict_promotion_are_taken_without_a_warning(name, recwarn):
    layer, half, lens = LAYERS[name].make(), arrays_of(dtype="bfloat16"), np.array([4, 2], "int8")
    queries, keys, values = (np.asarray(x, "float64") for x in arrays_of())
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        layer(queries, keys, values, lens)
        nnx.grad(lambda layer: layer(*half, lens, mask=np.ones((N, M))).sum())(layer)
        message = "queries, keys, values must have one type, got bfloat16 and float32 and float32"
        refuses(layer, TypeError, message, half[0], keys, values)
        ours.rotate(half[0][..., :2])
        ours.nadaraya_watson(keys[0], lens[[0, 1, 0, 1]], queries[0], ours.gaussian)
    assert not recwarn.list


@pytest.mark.parametrize("dtype", HALF)
def test_scores_of_half_inputs_have_the_digits_of_single_precision(dtype):
    q, k = (array_of(B, N, 50, seed=seed, dtype=dtype) for seed in (0, 1))
    cosine = ours.CosineAttention(temperature=0.07)
    for layer in (ours.DotProductAttention(), cosine, ours.DistanceAttention()):
        close(layer.score(q, k), layer.score(*(x.astype("float32") for x in (q, k))))


# ---- as layers of Flax


@every_layer
def test_a_call_changes_nothing_and_a_copy_holds_the_same_numbers_and_no_random_state(name):
    layer, arrays = LAYERS[name].make(), arrays_of()
    assert not jax.tree.leaves(nnx.state(layer, nnx.RngState))
    graph, state = nnx.split(layer)
    want, _ = layer(*arrays, [4, 2], need_weights=True)
    assert nnx.split(layer)[0] == graph
    for got, held in zip(*map(jax.tree.leaves, (nnx.split(layer)[1], state)), strict=True):
        assert got is held
    start = {"temperature": 2.0} if name == "cosine" else {}
    other = getattr(ours, LAYERS[name].kind)(**LAYERS[name].sizes | start, rngs=nnx.Rngs(1))
    nnx.update(other, state)
    for twin in (copy.deepcopy(layer), nnx.clone(layer), nnx.merge(graph, state), other):
        close(twin(*arrays, [4, 2]), want, 0)


def test_a_w_v_that_was_exchanged_is_the_one_that_scores():
    layer, arrays = LAYERS["additive"].make(), arrays_of()
    known, before = layer.w_v.kernel[:, 0], layer(*arrays)
    layer.w_v = nnx.LoRALinear(5, 1, lora_rank=2, rngs=nnx.Rngs(1))
    layer.w_v.kernel[...], layer.w_v.bias[...] = known[:, None], jnp.ones(1)
    close(layer(*arrays), before)  # B of B A starts as 0, and a bias shifts all scores alike
    layer.w_v.lora.lora_b[...] = jnp.ones((2, 1))
    changed = known + layer.w_v.lora.lora_a.sum(-1)
    scores = ours.additive_scores(layer.W_q(arrays[0]), layer.W_k(arrays[1]), changed)
    close(layer(*arrays), jax.nn.softmax(scores) @ arrays[2])


def test_batches_and_masks_may_have_the_axes_that_flax_takes():
    layer, x, lens = LAYERS["heads"].make(), array_of(4, M, D), jnp.array([[4, 1], [2, 3]])
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


@pytest.mark.parametrize("name", ["dot", "heads"])
def test_a_call_may_decide_about_dropout_and_bring_its_own_keys(name):
    layer = LAYERS[name].make(dropout=0.5)
    layer.train()
    calm = layer(*arrays_of(), deterministic=True)
    close(layer(*arrays_of(), deterministic=True), calm, 0)
    first, again, other = (layer(*arrays_of(), rngs=nnx.Rngs(seed)) for seed in (1, 1, 2))
    close(first, again, 0)
    assert (np.asarray(first) != np.asarray(other)).any()


@every_layer
def test_lists_may_be_traced_and_a_mask_of_other_numbers_makes_nan_where_it_is(name):
    call, keep = partial(LAYERS[name].make(), *arrays_of(), need_weights=True), MASKS["(n, m)"]
    want, wrong = call([4, 2], mask=keep), jnp.log(keep)  # 0 and -inf
    for got in (
        jax.jit(call)([4, 2], mask=keep.tolist()),
        jax.jit(lambda n: call([n, 2], mask=keep))(4),
    ):
        jax.tree.map(close, got, want)
    for known in (call, jax.jit(lambda mask: call(mask=wrong))):
        refuses(known, TypeError, "mask must be boolean", mask=wrong)
    assert all(np.isnan(x).all() for x in jax.jit(call)(mask=wrong))
    assert np.isnan(jax.jit(ours.masked_softmax)(want[1], mask=wrong)).all()


# ---- transformations that other frameworks lack


def test_second_derivatives_are_those_of_finite_differences():
    with jax.enable_x64(True):
        X, (q, k, _) = array_of(B, N, M, dtype="float64"), arrays_of(dtype="float64")
        w, lens = array_of(3, dtype="float64"), [[0, 2, 3], [4, 1, 0]]
        for function, arrays in (
            (lambda X: ours.masked_softmax(X, lens), [X]),
            (lambda q, k, w: ours.additive_scores(q, k, w, 24), [q, k, w]),
        ):
            check_grads(jax.jit(function), arrays, order=2, modes=["rev"])


@pytest.mark.parametrize("axis", ["batch", "heads", "keys", "queries"])
def test_additive_scores_may_be_sharded_over_all_but_the_queries(axis):
    mesh = jax.sharding.AbstractMesh((2,), ("x",), (jax.sharding.AxisType.Explicit,))

    def shape(*sizes):
        parts = jax.P(*("x" if name == axis else None for name in sizes))
        sharding = jax.NamedSharding(mesh, parts)
        return jax.ShapeDtypeStruct((4,) * len(sizes), jnp.float32, sharding=sharding)

    rows = shape("batch", "heads", "queries", "units"), shape("batch", "heads", "keys", "units")
    with jax.sharding.use_abstract_mesh(mesh):
        if axis == "queries":  # the loop goes over them
            with pytest.raises(ValueError, match="should be replicated"):
                jax.eval_shape(ours.additive_scores, *rows, shape("units"))
        else:
            got = jax.eval_shape(ours.additive_scores, *rows, shape("units")).sharding
            assert got == shape("batch", "heads", "queries", "keys").sharding


# ---- devices


@pytest.mark.parametrize(("name", "value"), {
    "devices": lambda lens: [SimpleNamespace(platform="gpu")],
    "is_fully_addressable": property(lambda lens: False),
}.items())  # fmt: skip
def test_lengths_on_another_device_or_host_are_not_read(monkeypatch, name, value):
    X, lens = array_of(B, N, M), array([9, 2])  # on the CPU
    refuses(ours.masked_softmax, ValueError, "must lie in 0..4, got 2..9", X, lens)
    monkeypatch.setattr(type(lens), name, value)
    assert ours.masked_softmax(X, lens).shape == X.shape


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_a_device_is_a_gpu_or_tpu_where_there_is_one_unless_one_is_forced(monkeypatch, platform):
    found, cpu = SimpleNamespace(platform=platform), SimpleNamespace(platform="cpu")
    monkeypatch.setenv("D2L_DEVICE", "cpu:0")
    assert ours.try_gpu() == jax.devices("cpu")[0]
    monkeypatch.setenv("D2L_DEVICE", "")
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu] if name else [found])
    assert (ours.try_gpu(), ours.try_gpu(1)) == (found, cpu)
    monkeypatch.setattr(jax, "devices", lambda *name: [cpu])
    assert (ours.try_gpu(), ours.try_gpu(1)) == (cpu, cpu)


# ---- what is held


def test_shared_keys_are_not_copied_for_each_head_and_each_head_drops_weights_of_its_own():
    layer = heads_of(256, 8, 0.5, num_kv_heads=1)
    x, cache = array_of(1, 1, 256), ours.KeyValueCache(1, 1, 2**12, 32)
    first, again = (layer(*[array_of(1, 8, 256)] * 3) for _ in range(2))
    assert (first != again).any()
    layer.eval()
    held = ours.temporary_bytes(lambda x: layer(x, x, x, cache=nnx.clone(cache)), x)
    assert held < 8 * cache.keys[...].nbytes
