"""Every attention class against the oracle, and against what its docstring promises."""

import copy
import math
import pickle

import oracle
import pytest
import torch
from cases import ATTENTIONS, D, batch, laid_out, layer_of, lengths, masks, nested, normal
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from d2l_attention.torch import AdditiveAttention, DotProductAttention

every_class = pytest.mark.parametrize("name", ATTENTIONS)
fused_classes = pytest.mark.parametrize("name", [n for n in ATTENTIONS if "additive" not in n])
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])


def close(got, want, tolerance=1e-12):
    torch.testing.assert_close(got, want, atol=tolerance, rtol=tolerance)


@every_class
@with_or_without_weights
@settings(max_examples=40)
@given(st.data(), st.tuples(*[st.integers(0, 3)] * 4), st.sampled_from(["plain", "transposed"]))
def test_it_equals_the_loop_over_queries_and_keys(name, need_weights, data, sizes, layout):
    b, n, m, v = sizes
    layer = layer_of(name)
    tensors = [laid_out(t, layout) for t in batch(b, n, m, v)]
    lens, mask = data.draw(lengths(b, n, m)), data.draw(masks((b, n, m)))
    out = layer(*tensors, lens, mask, need_weights=need_weights)
    mask_shape = () if mask is None else mask.shape
    outputs, weights = oracle.attention(
        ATTENTIONS[name].score(layer), *map(nested, (*tensors, lens, mask)), mask_shape, v
    )
    close(out, torch.tensor(outputs, dtype=torch.float64).reshape(b, n, v))
    if need_weights:
        want = torch.tensor(weights, dtype=torch.float64).reshape(b, n, m)
        close(layer.attention_weights, want)
        assert torch.equal(layer.attention_weights == 0, want == 0)


@every_class
@with_or_without_weights
@pytest.mark.parametrize("lens", [None, [2, 0], [[1, 2, 0], [3, 4, 4]]])
def test_heads_are_computed_one_by_one(name, need_weights, lens):
    layer = layer_of(name)
    tensors = batch(heads=(3,))
    out = layer(*tensors, lens, need_weights=need_weights)
    assert out.shape == (2, 3, 3, 2)
    for head in range(3):
        close(out[:, head], layer(*(t[:, head] for t in tensors), lens))


@every_class
def test_without_weights_the_output_is_the_same_and_none_are_kept(name):
    layer = layer_of(name)
    for arguments in ({}, {"valid_lens": [1, 0]}, {"mask": normal(3, 4) > 0}):
        with_weights = layer(*batch(), **arguments)
        assert layer.attention_weights.shape == (2, 3, 4)
        close(layer(*batch(), **arguments, need_weights=False), with_weights)
        assert layer.attention_weights is None


@every_class
@with_or_without_weights
def test_permuting_the_key_value_pairs_changes_nothing(name, need_weights):
    layer = layer_of(name)
    queries, keys, values = batch()
    order = torch.tensor([2, 0, 3, 1])
    mask = normal(2, 3, 4) > -0.5
    out = layer(
        queries, keys[:, order], values[:, order], None, mask[..., order], need_weights=need_weights
    )
    close(out, layer(queries, keys, values, mask=mask, need_weights=need_weights))


@every_class
@with_or_without_weights
@pytest.mark.parametrize("fillings", [(0, 0), (1e30, -1e30), (math.nan, 0), (0, math.inf)])
@pytest.mark.parametrize("lens", [[4, 4], [0, 3], [[1, 2, 3], [2, 0, 1]]])
def test_padding_reaches_neither_output_nor_gradients(name, need_weights, fillings, lens):
    layer = layer_of(name)
    queries, keys, values = (t.requires_grad_() for t in batch())
    padded = [
        torch.cat([tensor, torch.full_like(tensor[:, :2], filling)], 1)
        for tensor, filling in zip((keys, values), fillings, strict=True)
    ]
    results = []
    for k, v in ((keys, values), padded):
        out = layer(queries, k, v, lens, need_weights=need_weights)
        layer.zero_grad()
        gradients = torch.autograd.grad(
            out.pow(2).sum(), [queries, keys, values, *layer.parameters()]
        )
        results.append([out, *gradients])
    for plain, with_padding in zip(*results, strict=True):
        close(with_padding, plain)


@every_class
@with_or_without_weights
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_huge_numbers_in_the_padding_do_no_harm(name, need_weights, dtype):
    """They are finite, and so is their sum; their products with a query are not."""
    layer = layer_of(name, dtype)
    queries, keys, values = batch(dtype=dtype)
    huge = torch.full((2, 2, D), torch.finfo(dtype).max / 64, dtype=dtype)
    padded = torch.cat([keys, huge], 1), torch.cat([values, -huge[..., :2]], 1)
    assert all(t.sum().isfinite() for t in padded)
    want = layer(100 * queries, keys, values, [4, 2], need_weights=need_weights)
    got = layer(100 * queries, *padded, [4, 2], need_weights=need_weights)
    close(got, want, 1e-5 if dtype == torch.float32 else 1e-12)


@every_class
@with_or_without_weights
@pytest.mark.parametrize("which", ["keys", "values"])
def test_nan_in_a_key_value_pair_that_is_looked_at_stays_visible(name, need_weights, which):
    tensors = dict(zip(("queries", "keys", "values"), batch(), strict=True))
    tensors[which][0, 1, 0] = math.nan
    out = layer_of(name)(**tensors, valid_lens=[2, 2], need_weights=need_weights)
    assert out[0].isnan().any()
    assert out[1].isfinite().all()


@every_class
def test_a_mask_that_hides_a_key_from_every_query_also_hides_its_nan(name):
    layer = layer_of(name)
    queries, keys, values = batch()
    mask = torch.tensor([True, True, False, True])
    want = layer(queries, keys, values, mask=mask)
    keys[:, 2] = values[:, 2] = math.nan
    for need_weights in (True, False):
        close(layer(queries, keys, values, mask=mask, need_weights=need_weights), want)


@every_class
@with_or_without_weights
def test_gradients_equal_finite_differences(name, need_weights):
    layer = layer_of(name)
    tensors = [t.requires_grad_() for t in batch()]
    for lens in ([2, 4], [0, 3]):
        assert torch.autograd.gradcheck(
            lambda *t, lens=lens: layer(*t, lens, need_weights=need_weights),
            tensors,
            fast_mode=True,
        )


@every_class
def test_second_derivatives_equal_finite_differences(name):
    layer = layer_of(name)
    tensors = [t.requires_grad_() for t in batch(n=2, m=3)]
    assert torch.autograd.gradgradcheck(lambda *t: layer(*t, [0, 2]), tensors, fast_mode=True)


@every_class
@with_or_without_weights
def test_training_and_evaluation_agree_without_dropout(name, need_weights):
    layer = layer_of(name)
    want = layer(*batch(), [0, 3], need_weights=need_weights)
    with torch.no_grad():
        close(layer(*batch(), [0, 3], need_weights=need_weights), want)
    close(layer.train()(*batch(), [0, 3], need_weights=need_weights), want)


@every_class
@with_or_without_weights
def test_dropout_acts_in_training_only(name, need_weights):
    layer = layer_of(name, dropout=0.5)
    tensors = batch(n=20, m=20)
    first, second = (layer(*tensors, need_weights=need_weights) for _ in range(2))
    assert torch.equal(first, second)
    layer.train()
    first, second = (layer(*tensors, need_weights=need_weights) for _ in range(2))
    assert not torch.equal(first, second)


@every_class
@with_or_without_weights
def test_dropout_keeps_the_mean_of_the_output(name, need_weights):
    layer = layer_of(name, dropout=0.25)
    queries, keys, values = batch(n=1, m=5)
    tensors = (queries.expand(2, 4000, D), keys, values.abs())
    want = layer(*tensors, need_weights=need_weights).mean(1)
    out = layer.train()(*tensors, need_weights=need_weights)
    torch.testing.assert_close(out.mean(1), want, rtol=0.05, atol=0)


@every_class
@with_or_without_weights
def test_dropout_drops_whole_weights_and_scales_up_the_others(name, need_weights):
    layer = layer_of(name, dropout=0.25)
    queries, keys, _ = batch(n=1, m=1)
    tensors = (queries.expand(2, 4000, D), keys, torch.ones(2, 1, 2).double())  # all weights are 1
    dropped = (out := layer.train()(*tensors, need_weights=need_weights)) == 0
    assert torch.equal(dropped[..., 0], dropped[..., 1])
    close(out, (~dropped).double() / 0.75)
    assert 0.23 < dropped.double().mean() < 0.27


@every_class
def test_the_kept_weights_are_those_before_dropout(name):
    layer = layer_of(name, dropout=0.5)
    layer(*batch())
    want = layer.attention_weights
    layer.train()(*batch())
    assert torch.equal(layer.attention_weights, want)
    close(layer.attention_weights.sum(-1), torch.ones(2, 3, dtype=torch.float64))


@every_class
def test_the_kept_weights_have_no_graph(name):
    layer = layer_of(name)
    assert layer(*(t.requires_grad_() for t in batch())).requires_grad
    assert not layer.attention_weights.requires_grad


@every_class
def test_before_the_first_call_there_are_no_weights(name):
    assert ATTENTIONS[name].make().attention_weights is None


@every_class
@with_or_without_weights
@pytest.mark.parametrize("lens", [None, [2, 0], [[1, 2, 0], [3, 4, 4]]])
def test_lengths_and_masks_follow_the_tensors_to_their_device(name, need_weights, lens):
    layer = layer_of(name).to("meta")  # a device that every machine has
    mask = torch.ones(3, 4).bool()
    out = layer(*(t.to("meta") for t in batch()), lens, mask, need_weights=need_weights)
    assert out.device.type == "meta"
    assert out.shape == (2, 3, 2)


@every_class
@pytest.mark.parametrize("called", [False, True])
def test_a_layer_can_be_copied_pickled_and_moved_at_any_time(name, called):
    layer = ATTENTIONS[name].make()
    tensors = batch(dtype=torch.float32)
    if called:
        layer(*(t.requires_grad_() for t in tensors)).sum().backward()
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), layer.to("cpu")):
        assert other(*tensors).shape == (2, 3, 2)
        assert other.attention_weights.shape == (2, 3, 4)


@every_class
@pytest.mark.parametrize("called", [False, True])
def test_the_dtype_of_a_layer_can_be_changed_at_any_time(name, called):
    layer = ATTENTIONS[name].make()
    if called:
        layer(*batch(dtype=torch.float32))
    assert layer.to(torch.float64)(*batch()).dtype == torch.float64


@every_class
@pytest.mark.parametrize("called", [False, True])
def test_a_state_dict_carries_the_whole_layer(name, called):
    layer, other = layer_of(name, seed=0), ATTENTIONS[name].make().double().eval()
    if called:
        other(*batch())
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(*batch()), layer(*batch()))


@every_class
@with_or_without_weights
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lower_precision_gives_the_same_up_to_rounding(name, need_weights, dtype):
    layer = layer_of(name, dtype=dtype)
    tensors = batch(dtype=dtype)
    out = layer(*tensors, [0, 3], need_weights=need_weights)
    assert out.dtype == dtype
    want = copy.deepcopy(layer).double()(*(t.double() for t in tensors), [0, 3])
    tolerance = {torch.float16: 5e-3, torch.bfloat16: 4e-2, torch.float32: 1e-6}[dtype]
    torch.testing.assert_close(out.double(), want, atol=tolerance, rtol=tolerance)


@every_class
@with_or_without_weights
def test_autocast_computes_in_half_precision(name, need_weights):
    layer = layer_of(name, dtype=torch.float32)
    tensors = batch(dtype=torch.float32)
    want = layer(*tensors, [0, 3])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(*tensors, [0, 3], need_weights=need_weights)
    torch.testing.assert_close(out.float(), want, atol=3e-2, rtol=3e-2)


def test_dot_product_attention_is_what_the_framework_computes():
    layer = DotProductAttention()
    queries, keys, values = batch(dtype=torch.float32, heads=(2,))
    for lens in ([4, 1], [0, 3]):
        keep = torch.arange(4) < torch.tensor(lens)[:, None, None, None]
        want = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=keep)
        for need_weights in (True, False):
            close(layer(queries, keys, values, lens, need_weights=need_weights), want, 1e-6)


@fused_classes
@pytest.mark.parametrize("lens", [[300, 1], [0, 257], [0, 0], [[5] * 256, [300] * 256]])
@pytest.mark.parametrize("heads", [(), (2,)])
def test_long_examples_without_weights_give_the_same(name, lens, heads):
    layer = layer_of(name)
    tensors = [t.requires_grad_() for t in batch(n=256, m=300, heads=heads)]
    results = []
    for need_weights in (True, False):
        out = layer(*tensors, lens, need_weights=need_weights)
        results.append([out, *torch.autograd.grad(out.pow(2).sum(), tensors)])
    for with_weights, without in zip(*results, strict=True):
        close(without, with_weights, 1e-9)


@fused_classes
def test_dropout_acts_on_long_examples_too(name):
    layer = layer_of(name, dropout=1.0).train()
    out = layer(*batch(n=256, m=256), [256, 3], need_weights=False)
    assert torch.equal(out, torch.zeros_like(out))


def test_long_examples_can_be_mapped_over():
    layer = DotProductAttention()
    tensors = [t.float() for t in batch(n=256, m=256)]
    lens = torch.tensor([[256, 3], [0, 200]])

    def without_weights(lens):
        return layer(*tensors, lens, need_weights=False)

    out = torch.func.vmap(without_weights)(lens)
    for i in range(2):
        close(out[i], without_weights(lens[i]), 1e-5)


def test_long_examples_without_weights_keep_no_matrix_of_scores():
    layer = DotProductAttention().eval()
    tensors = batch(n=1024, m=1024, v=D, dtype=torch.float32)
    largest = {}
    for need_weights in (True, False):
        with torch.profiler.profile(profile_memory=True) as record:
            layer(*tensors, [1024, 300], need_weights=need_weights)
        largest[need_weights] = max(event.self_cpu_memory_usage for event in record.events())
    assert largest[True] >= 2 * 1024 * 1024 * 4
    assert largest[False] < 2 * 1024 * 1024


@pytest.mark.parametrize("sizes", [{}, {"query_size": D}, {"key_size": D}])
def test_the_first_call_makes_the_matrices_whose_size_was_not_given(sizes):
    layer = AdditiveAttention(5, **sizes).double()
    assert isinstance(layer.W_q, nn.LazyLinear) == ("query_size" not in sizes)
    assert isinstance(layer.W_k, nn.LazyLinear) == ("key_size" not in sizes)
    layer(*batch())
    assert [tuple(p.shape) for p in layer.parameters()] == [(5, D), (5, D), (1, 5)]


def test_additive_attention_with_sizes_has_its_parameters_at_once():
    layer = AdditiveAttention(5, query_size=7, key_size=2)
    assert [tuple(p.shape) for p in layer.parameters()] == [(5, 7), (5, 2), (1, 5)]


def test_additive_attention_takes_queries_and_keys_of_different_sizes():
    layer = AdditiveAttention(num_hiddens=8, dropout=0.1).eval()
    queries, keys = torch.ones(2, 1, 20), torch.ones(2, 10, 2)
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    out = layer(queries, keys, values, torch.tensor([2, 6]))
    close(out, torch.tensor([[[2.0, 3, 4, 5]], [[10.0, 11, 12, 13]]]), 1e-5)


def test_identical_keys_get_equal_weights():
    layer = DotProductAttention()
    layer(normal(2, 1, D), torch.ones(2, 10, D).double(), normal(2, 10, 4), torch.tensor([2, 6]))
    want = torch.zeros(2, 1, 10).double()
    want[0, 0, :2], want[1, 0, :6] = 1 / 2, 1 / 6
    close(layer.attention_weights, want)
