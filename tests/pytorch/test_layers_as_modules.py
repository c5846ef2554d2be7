"""Layers as nn.Module: lazy sizes, copies, devices, autocast, kept weights, the fused function."""

import copy
import pickle
from functools import partial

import pytest
import torch
from torch import func, nn
from torch.autograd import gradcheck, gradgradcheck

from d2l_attention.torch import (
    AdditiveAttention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
    KeyValueCache,
    MultiHeadAttention,
    masked_softmax,
    try_gpu,
)
from tests.contract.comparing import refuses
from tests.contract.samples import LAYERS, D, array_of, arrays_of

double = partial(array_of, dtype="float64")
every_layer = pytest.mark.parametrize("name", LAYERS)
from_torch = pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")  # its own import
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])


def shapes(layer) -> dict:
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


# ---- lazy sizes


LAZY = {
    "additive": lambda: AdditiveAttention(5),
    "bilinear": lambda: BilinearAttention(rank=2, key_size=D),
    "heads": lambda: MultiHeadAttention(6, 3, bias=True),
}
TRANSFORMS = {
    "grad": lambda layer, x: func.grad(lambda x: layer(x, x, x).sum())(x),
    "jvp": lambda layer, x: func.jvp(lambda x: layer(x, x, x), (x,), (x,)),
    "vmap": lambda layer, x: func.vmap(lambda x: layer(x, x, x))(x[None]),
    "of parameters": lambda layer, x: func.grad(
        lambda lent: func.functional_call(layer, lent, (x, x, x)).sum()
    )(dict(layer.named_parameters())),
}
every_lazy_layer = pytest.mark.parametrize("name", LAZY)


@every_lazy_layer
@pytest.mark.parametrize("place", [torch.inference_mode, torch.no_grad])
@pytest.mark.parametrize("compiled", [False, True])
def test_parameters_train_wherever_the_first_call_makes_them(name, place, compiled):
    layer, x = LAZY[name](), array_of(2, 3, D)
    with place():
        program = torch.compile(layer, backend="eager", dynamic=True) if compiled else layer
        program(x, x, x)
    layer(x, x, x).square().sum().backward()
    assert all(parameter.grad.any() for parameter in layer.parameters() if parameter.dim() > 1)
    assert type(layer.W_q) is nn.Linear


@every_lazy_layer
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@from_torch
def test_inside_a_transform_the_first_call_is_refused_and_the_layer_stays_lazy(name, transform):
    layer, made, x = LAZY[name](), LAZY[name](), array_of(2, 3, D)
    message = "the first call makes the parameters: make it before, or give the sizes"
    refuses(transform, RuntimeError, message, layer, x)
    want = made(x, x, x)
    assert torch.equal(func.functional_call(layer, made.state_dict(), (x, x, x)), want)
    assert layer(x, x, x).shape == want.shape


@every_layer
def test_types_that_do_not_agree_are_refused_before_any_product(name):
    layer, (queries, keys, values) = LAYERS[name].make(), arrays_of()
    message = "queries, keys must have one type, got float32 and float16"
    refuses(layer, TypeError, message, queries, keys.half(), values)
    if hasattr(layer, "W_q"):
        message = "queries must have the type of W_q, torch.float32, got torch.float64"
        refuses(layer, TypeError, message, *arrays_of(dtype="float64"))
    refuses(layer, TypeError, "keys must be a tensor, got list", queries, keys.tolist(), values)
    for ragged in (torch.nested.nested_tensor([*keys], layout=torch.jagged), keys.to_sparse()):
        refuses(layer, TypeError, "values must be dense (padded, ", queries, keys, ragged)


def test_a_cache_follows_the_type_of_new_keys_and_is_true_though_it_is_empty():
    cache, layer, x = KeyValueCache(), LAYERS["heads"].make(), arrays_of()
    assert cache
    layer(*x, cache=cache)
    layer.bfloat16()(*(tensor.bfloat16() for tensor in x), cache=cache, causal=True)
    assert cache.keys.dtype == cache.values.dtype == torch.bfloat16
    assert len(cache) == 8


def test_the_temperature_that_was_learned_is_in_the_state():
    layer, other = CosineAttention(temperature=0.5), CosineAttention()
    layer.log_ratio.data.fill_(0.25)
    other.load_state_dict(layer.state_dict())
    assert other.temperature == layer.temperature
    older = {"log_ratio": layer.log_ratio}
    refuses(other.load_state_dict, RuntimeError, 'Missing key(s) in state_dict: "start"', older)


def test_a_full_bilinear_form_takes_the_size_of_the_queries_from_the_first_call():
    layer = BilinearAttention(key_size=2)
    layer(torch.ones(1, 1, 5), torch.ones(1, 4, 2), torch.ones(1, 4, 2))
    assert shapes(layer) == {"W_q.weight": (2, 5)}
    for sizes in ({}, {"query_size": 3}):
        message = "give a rank, or key_size for a full matrix"
        refuses(BilinearAttention, ValueError, message, **sizes)
    assert not CosineAttention(learnable=False).log_ratio.requires_grad


# ---- copies, devices, types


@every_layer
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_layer_is_copied_without_its_weights_also_after_training_and_vmap(name, copied):
    layer, (queries, keys, values) = LAYERS[name].make(), arrays_of()
    torch.func.vmap(lambda q: layer(q, keys, values))(torch.stack([queries, queries]))
    layer(queries.requires_grad_(), keys, values).sum().backward()
    twin = copied(layer)
    assert twin.attention_weights is None
    assert torch.equal(twin(queries, keys, values), layer(queries, keys, values))


def test_a_lazy_layer_is_copied_and_loaded_before_its_first_call():
    layer = LAYERS["additive"].make()
    lazy = AdditiveAttention(5)
    for other in (copy.deepcopy(lazy), lazy):
        other.load_state_dict(layer.state_dict())
        assert torch.equal(other.eval()(*arrays_of()), layer(*arrays_of()))


@every_layer
@with_or_without_weights
@pytest.mark.parametrize("lens", [None, [2, 0], [[1, 2, 0], [3, 4, 4]]])
def test_lengths_and_masks_follow_the_tensors_to_their_device(name, need_weights, lens):
    layer = LAYERS[name].make().to("meta")  # a device that every machine has
    options = {"causal": True} if name == "heads" else {}
    options |= {"mask": torch.ones(3, 4).bool(), "need_weights": need_weights}
    assert layer(*(t.to("meta") for t in arrays_of()), lens, **options).device.type == "meta"
    weights = masked_softmax(array_of(2, 3, 4).to("meta"), lens, torch.eye(3, 4) > 0)
    assert weights.device.type == "meta"


def test_hooks_of_every_layer_inside_run():
    layer, called = LAYERS["additive"].make(), []
    for name in ("W_q", "W_k", "w_v"):
        layer.get_submodule(name).register_forward_hook(lambda *_, name=name: called.append(name))
    layer(*arrays_of())
    assert called == ["W_q", "W_k", "w_v"]


@every_layer
@with_or_without_weights
def test_autocast_computes_in_half_precision_and_keeps_the_type_of_the_values(name, need_weights):
    layer = LAYERS[name].make()
    want = layer(*arrays_of(), [0, 3])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(*arrays_of(), [0, 3], need_weights=need_weights)
    assert name == "heads" or out.dtype == torch.float32
    torch.testing.assert_close(out.float(), want, atol=3e-2, rtol=3e-2)


@pytest.mark.parametrize(("i", "count", "want"), [(0, 0, "cpu"), (0, 1, "cuda:0"), (1, 1, "cpu")])
def test_a_gpu_is_taken_where_there_is_one_unless_a_device_is_forced(monkeypatch, i, count, want):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    assert try_gpu(i) == torch.device(want)
    monkeypatch.setenv("D2L_DEVICE", "meta")
    assert try_gpu(i) == torch.device("meta")


# ---- derivatives and records of the operations


@from_torch
@pytest.mark.parametrize("lens", [None, [[3, 0, 1], [4, 2, 4]]])
def test_weights_have_second_and_forward_derivatives(lens):
    X = double(2, 3, 4).requires_grad_()
    assert gradcheck(lambda X: masked_softmax(X, lens), X, check_forward_ad=True)
    assert gradgradcheck(lambda X: masked_softmax(X, lens), X)


# ---- the weights that a layer keeps, and the fused function without them


@every_layer
def test_the_kept_weights_have_no_graph_and_are_none_before_a_call_or_unless_asked_for(name):
    assert DotProductAttention().attention_weights is None
    layer = LAYERS[name].make()
    assert layer(*(t.requires_grad_() for t in arrays_of())).requires_grad
    assert not layer.attention_weights.requires_grad
    layer(*arrays_of(), need_weights=False)
    assert layer.attention_weights is None


def test_a_score_of_one_layer_alone_counts_without_weights_too():
    x, layer = torch.randn(2, 3, 4), DotProductAttention()
    layer.score = lambda queries, keys: torch.zeros(2, 3, 3)
    torch.testing.assert_close(layer(x, x, x, need_weights=False), layer(x, x, x))


def test_distances_run_on_a_fused_kernel_though_their_features_are_longer_than_the_values():
    x = torch.randn(1, 64, 16)
    with torch.no_grad(), torch.autograd.profiler.profile() as seen:
        DistanceAttention()(x, x, x, need_weights=False)
    assert any("flash" in event.name for event in seen.function_events)
