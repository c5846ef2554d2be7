"""Layers as nn.Module: lazy sizes, copies, devices, autocast, kept weights, the fused function."""

import copy
import pickle

import pytest
import torch
from torch import nn

from d2l_attention.torch import (
    AdditiveAttention,
    BilinearAttention,
    CosineAttention,
    DistanceAttention,
    DotProductAttention,
    MultiHeadAttention,
    fused_attention,
    masked_softmax,
    try_gpu,
)
from tests.contract.comparing import refuses
from tests.pytorch.adapter import additive_scores
from tests.pytorch.cases import LAYERS, D, batch, layer_of, normal

every_layer = pytest.mark.parametrize("name", LAYERS)
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])
fused_layers = pytest.mark.parametrize("name", [n for n in LAYERS if "additive" not in n])


def shapes(layer) -> dict:
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


# ---- lazy sizes


@pytest.mark.parametrize("sizes", [{}, {"query_size": D}, {"key_size": D}])
def test_the_first_call_makes_the_matrices_whose_size_was_not_given(sizes):
    layer = AdditiveAttention(5, **sizes).double()
    assert isinstance(layer.W_q, nn.LazyLinear) == ("query_size" not in sizes)
    assert isinstance(layer.W_k, nn.LazyLinear) == ("key_size" not in sizes)
    layer(*batch())
    assert shapes(layer) == {"W_q.weight": (5, D), "W_k.weight": (5, D), "w_v.weight": (1, 5)}


def test_a_full_bilinear_form_takes_the_size_of_the_queries_from_the_first_call():
    layer = BilinearAttention(key_size=2)
    layer(torch.ones(1, 1, 5), torch.ones(1, 4, 2), torch.ones(1, 4, 2))
    assert shapes(layer) == {"W_q.weight": (2, 5)}
    for sizes in ({}, {"query_size": 3}):
        message = "give a rank, or key_size for a full matrix"
        refuses(BilinearAttention, ValueError, message, **sizes)


def test_a_lazy_layer_refuses_another_dimension_after_its_first_call():
    queries, _, values = batch()
    message = "keys must have dimension 3, got (2, 4, 2)"
    refuses(layer_of("additive, lazy"), ValueError, message, queries, values, values)


def test_the_call_is_that_of_d2l():
    layer = MultiHeadAttention(100, 5, 0.5, False).eval()  # num_hiddens, num_heads, dropout, bias
    queries, keys = torch.ones(2, 4, 100), torch.ones(2, 6, 100)
    assert layer(queries, keys, keys, torch.tensor([3, 2])).shape == (2, 4, 100)
    assert layer.attention.dropout.p == 0.5
    assert list(shapes(layer)) == [f"W_{x}.weight" for x in "qkvo"]
    with pytest.raises(TypeError, match="num_kv_head"):
        MultiHeadAttention(8, 4, 0.0, num_kv_head=2)


def test_a_temperature_may_be_fixed_and_weight_decay_pulls_it_back_to_where_it_began():
    assert not CosineAttention(learnable=False).log_ratio.requires_grad
    layer = CosineAttention(temperature=0.1)
    nn.init.ones_(layer.log_ratio)
    decay = torch.optim.SGD(layer.parameters(), lr=1.0, weight_decay=0.5)
    for _ in range(20):
        layer.log_ratio.grad = torch.zeros(())
        decay.step()
    assert layer.temperature.item() == pytest.approx(0.1, rel=1e-4)


# ---- copies, files, devices, types


@every_layer
@pytest.mark.parametrize("when", ["before a call", "after a backward pass", "after vmap and grad"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_layer_is_copied_without_its_weights_at_any_time(name, when, copied):
    layer, (queries, keys, values) = LAYERS[name](), batch(dtype=torch.float32)
    if when != "before a call":
        layer(queries.clone().requires_grad_(), keys, values).sum().backward()
    if when == "after vmap and grad":
        torch.func.vmap(lambda q: layer(q, keys, values))(torch.stack([queries, queries]))
        torch.func.grad(lambda q: layer(q, keys, values).sum())(queries)
    twin = copied(layer)
    assert twin.attention_weights is None
    assert twin(queries, keys, values).shape == layer(queries, keys, values).shape
    if when != "before a call":
        torch.testing.assert_close(twin(queries, keys, values), layer(queries, keys, values))


@every_layer
@pytest.mark.parametrize("called", [False, True])
def test_a_state_dict_carries_the_whole_layer_and_its_type_can_be_changed(name, called):
    layer, other = layer_of(name), LAYERS[name]()
    if called:
        other(*batch(dtype=torch.float32))
    other = other.double().eval()
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(*batch()), layer(*batch()))


@every_layer
@with_or_without_weights
@pytest.mark.parametrize("lens", [None, [2, 0], [[1, 2, 0], [3, 4, 4]]])
def test_lengths_and_masks_follow_the_tensors_to_their_device(name, need_weights, lens):
    layer, causal = layer_of(name).to("meta"), {"causal": True} if name == "heads" else {}
    tensors = (t.to("meta") for t in batch())  # a device that every machine has
    options = causal | {"mask": torch.ones(3, 4).bool(), "need_weights": need_weights}
    out = layer(*tensors, lens, **options)
    assert out.device.type == "meta"
    weights = masked_softmax(normal(2, 3, 4).to("meta"), lens, torch.eye(3, 4) > 0)
    assert weights.device.type == "meta"


def test_hooks_of_every_layer_inside_run():
    layer, called = layer_of("additive"), []
    for name in ("W_q", "W_k", "w_v"):
        layer.get_submodule(name).register_forward_hook(lambda *_, name=name: called.append(name))
    layer(*batch())
    assert called == ["W_q", "W_k", "w_v"]


@every_layer
@with_or_without_weights
def test_autocast_computes_in_half_precision(name, need_weights):
    layer, tensors = layer_of(name, torch.float32), batch(dtype=torch.float32)
    want = layer(*tensors, [0, 3])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(*tensors, [0, 3], need_weights=need_weights)
    torch.testing.assert_close(out.float(), want, atol=3e-2, rtol=3e-2)


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("lens", [None, [2, 4], [0, 3]])
def test_autocast_changes_neither_dtype_nor_weights_of_masked_softmax(half, lens):
    X = normal(2, 3, 4, dtype=torch.float32)
    want = masked_softmax(X, lens)
    with torch.autocast("cpu", dtype=half):
        for scores in (X.clone(), X.to(half)):
            for needs_gradient in (False, True):
                weights = masked_softmax(scores.requires_grad_(needs_gradient), lens)
                assert weights.dtype == scores.dtype
                torch.testing.assert_close(weights.float(), want, atol=1e-2, rtol=0)


@pytest.mark.parametrize("lens", [None, [1, 3]])
def test_scores_that_are_expanded_or_transposed_stay_as_they_are(lens):
    for X in (normal(1, 1, 4).expand(2, 3, 4), normal(2, 4, 3).mT):
        before = X.clone()
        assert torch.equal(masked_softmax(X, lens), masked_softmax(before, lens))
        assert torch.equal(X, before)
    layer, tensors = layer_of("dot"), [t.mT.contiguous().mT for t in batch()]
    torch.testing.assert_close(layer(*tensors, lens), layer(*batch(), lens))


@pytest.mark.parametrize(("i", "count", "want"), [(0, 0, "cpu"), (0, 1, "cuda:0"), (1, 1, "cpu")])
def test_a_gpu_is_taken_where_there_is_one_unless_a_device_is_forced(monkeypatch, i, count, want):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.delenv("D2L_DEVICE", raising=False)
    assert try_gpu(i) == torch.device(want)
    monkeypatch.setenv("D2L_DEVICE", "meta")
    assert try_gpu(i) == torch.device("meta")


# ---- the weights that a layer keeps, and the fused function without them


@every_layer
def test_the_kept_weights_have_no_graph_and_are_none_before_a_call_or_unless_asked_for(name):
    assert LAYERS[name]().attention_weights is None
    layer = layer_of(name)
    assert layer(*(t.requires_grad_() for t in batch())).requires_grad
    assert not layer.attention_weights.requires_grad
    layer(*batch(), need_weights=False)
    assert layer.attention_weights is None


def test_the_fused_function_is_that_of_pytorch_and_drops_what_it_is_told_to():
    tensors = [normal(2, 3, 4, seed=i) for i in range(3)]
    want = nn.functional.scaled_dot_product_attention(*tensors)
    torch.testing.assert_close(fused_attention(*tensors), want)
    assert not fused_attention(*tensors, dropout=1.0).any()
    heads, layer = batch(heads=(2,), dtype=torch.float32), DotProductAttention()
    for lens in ([4, 1], [0, 3]):
        keep = torch.arange(4) < torch.tensor(lens)[:, None, None, None]
        want = nn.functional.scaled_dot_product_attention(*heads, attn_mask=keep)
        for need_weights in (True, False):
            torch.testing.assert_close(layer(*heads, lens, need_weights=need_weights), want)


@pytest.mark.parametrize("bias", [False, True])
def test_many_heads_agree_with_pytorchs_layer(bias):
    torch.manual_seed(0)
    x, ours = normal(2, 5, 8), MultiHeadAttention(8, 4, bias=bias).double().eval()
    ours(x, x, x)
    theirs = nn.MultiheadAttention(8, 4, bias=bias, batch_first=True, dtype=torch.float64).eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
            theirs.out_proj.bias.copy_(ours.W_o.bias)
    want, weights = theirs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(ours(x, x, x), want)
    torch.testing.assert_close(ours.attention_weights, weights)


@fused_layers
@pytest.mark.parametrize("lens", [[300, 1], [0, 257], [[5] * 256, [300] * 256]])
def test_long_examples_without_weights_give_the_same(name, lens):
    layer, tensors = layer_of(name), [t.requires_grad_() for t in batch(n=256, m=300)]
    results = []
    for need_weights in (True, False):
        out = layer(*tensors, lens, need_weights=need_weights)
        results.append([out, *torch.autograd.grad(out.pow(2).sum(), tensors)])
    for with_weights, without in zip(*results, strict=True):
        torch.testing.assert_close(without, with_weights, atol=1e-9, rtol=1e-9)


# ---- what they hold


def largest_bytes(function, *arguments, **options) -> int:
    with torch.profiler.profile(profile_memory=True) as record:
        function(*arguments, **options)
    return max(event.self_cpu_memory_usage for event in record.events())


def test_long_examples_without_weights_keep_no_matrix_of_scores():
    tensors = batch(n=1024, m=1024, v=D, dtype=torch.float32)
    scores, layer = 2 * 1024 * 1024 * 4, layer_of("dot")
    assert largest_bytes(layer, *tensors, [1024, 300], need_weights=True) >= scores
    assert largest_bytes(layer, *tensors, [1024, 300], need_weights=False) < scores / 4


@pytest.mark.parametrize(("block", "most"), [({}, 2**20), ({"block": 2 * 128 * 64}, 2**16)])
def test_additive_scores_hold_a_block_at_a_time(block, most):
    tensors = [normal(*s, dtype=torch.float32) for s in ((2, 128, 64), (2, 128, 64), (64,))]
    if block:  # the scores themselves are larger than a block
        tensors[0] = tensors[0][:, :8]
    assert largest_bytes(additive_scores, *tensors, **block) == most


def test_under_autocast_the_output_has_the_type_of_the_values_with_weights_or_without():
    x = torch.randn(2, 3, 4)
    for layer in (DotProductAttention(), AdditiveAttention(5, 0.0, 4, 4)):
        with torch.autocast("cpu", torch.bfloat16):
            for need_weights in (True, False):
                assert layer(x, x, x, need_weights=need_weights).dtype == torch.float32


def test_a_score_of_one_layer_alone_counts_without_weights_too():
    x, layer = torch.randn(2, 3, 4), DotProductAttention()
    layer.score = lambda queries, keys: torch.zeros(2, 3, 3)
    torch.testing.assert_close(layer(x, x, x, need_weights=False), layer(x, x, x))


def test_the_two_corners_where_the_fused_function_differs_are_those_of_its_docstring():
    x, layer = torch.randn(1, 2, 3), DotProductAttention()
    bad, none = x.clone(), torch.zeros(2, 2, dtype=torch.bool)
    bad[0, 0] = torch.nan
    assert (layer(bad, x, x, mask=none) == 0).all()
    assert layer(bad, x, x, mask=none, need_weights=False)[0, 0].isnan().all()
    keep, low = torch.tensor([True, False]), torch.tensor([[[-torch.inf], [0.0]]])
    layer.features = lambda queries, keys: (torch.ones(1, 2, 1), low)  # the allowed score is -inf
    assert (layer(x, x, x, mask=keep, need_weights=False) == 0).all()
    assert layer(x, x, x, mask=keep).isnan().all()


def test_distances_run_on_a_fused_kernel_though_their_features_are_longer_than_the_values():
    x = torch.randn(1, 64, 16)
    with torch.no_grad(), torch.autograd.profiler.profile() as seen:
        DistanceAttention()(x, x, x, need_weights=False)
    assert any("flash" in event.name for event in seen.function_events)
