"""Multi-head attention: a loop over heads, shared keys, the cache, and input that does not fit."""

import copy
import pickle
import re
import warnings
from functools import partial

import oracle
import pytest
import torch
from cases import ATTENTIONS, DTYPES, TOLERANCE, nested, normal
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from d2l_attention.torch import DistanceAttention, KeyValueCache, MultiHeadAttention

B, N, M, SIZES = 2, 3, 5, (4, 7, 6)  # examples, queries, keys; dimensions of the inputs
LENS = {"no": None, "(b,)": torch.tensor([5, 2]), "(b, n)": torch.tensor([[1, 5, 3], [0, 2, 4]])}
MASKS = {
    "no": None,
    "(n, m)": normal(N, M) > -0.5,
    "(b, n, m)": normal(B, N, M) > -0.5,
    "(b, 1, m)": normal(B, 1, M) > -0.5,
}


def inputs(b=B, n=N, m=M, dtype=torch.float64):
    shapes = zip((n, m, m), SIZES, strict=True)
    return [normal(b, k, d, seed=i, dtype=dtype) for i, (k, d) in enumerate(shapes)]


def layer_of(num_hiddens=8, num_heads=4, dtype=torch.float64, **options):
    """Return a layer for `inputs`, with its parameters, in eval mode."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(num_hiddens, num_heads, **options).to(dtype).eval()
    layer(*inputs(dtype=dtype))
    return layer


def self_attending(num_hiddens=8, num_heads=4, **options):
    torch.manual_seed(0)
    layer = MultiHeadAttention(num_hiddens, num_heads, **options).double().eval()
    layer(*[normal(1, 1, 8)] * 3)
    return layer


def reference(layer, queries, keys, values, lens=None, mask=None):
    """One head at a time, each attending by plain loops: outputs and weights (b, H, n, m)."""
    outputs, weights = [], []
    shared, d = layer.num_heads // layer.num_kv_heads, layer.W_q.out_features // layer.num_heads
    mask_shape = () if mask is None else tuple(mask.shape)
    for head in range(layer.num_heads):
        own = slice(head * d, (head + 1) * d)
        group = slice(head // shared * d, (head // shared + 1) * d)
        q, k, v = (
            nested(t @ W.weight[rows].T + (0 if W.bias is None else W.bias[rows]))
            for t, W, rows in (
                (queries, layer.W_q, own),
                (keys, layer.W_k, group),
                (values, layer.W_v, group),
            )
        )
        out, w = oracle.attention(
            oracle.scaled_dot_score, q, k, v, nested(lens), nested(mask), mask_shape, d
        )
        outputs.append(torch.tensor(out, dtype=torch.float64))
        weights.append(torch.tensor(w, dtype=torch.float64))
    return layer.W_o(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 2}, {"num_kv_heads": 1, "bias": True}])
@pytest.mark.parametrize("lens", LENS.values(), ids=LENS)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_a_loop_over_heads(options, lens, mask):
    layer = layer_of(**options)
    want, weights = reference(layer, *inputs(), lens, mask)
    torch.testing.assert_close(layer(*inputs(), lens, mask=mask), want)
    torch.testing.assert_close(layer.attention_weights, weights)
    lean = layer(*inputs(), lens, mask=mask, need_weights=False)
    torch.testing.assert_close(lean, want)
    assert layer.attention_weights is None


@pytest.mark.parametrize("bias", [False, True])
def test_it_agrees_with_pytorch(bias):
    ours = self_attending(bias=bias)
    theirs = nn.MultiheadAttention(8, 4, bias=bias, batch_first=True, dtype=torch.float64).eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
            theirs.out_proj.bias.copy_(ours.W_o.bias)
    x = normal(2, 5, 8)
    want, weights = theirs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(ours(x, x, x), want)
    torch.testing.assert_close(ours.attention_weights, weights)


@pytest.mark.parametrize(
    "name", [name for name in ATTENTIONS if name not in ("additive", "bilinear")]
)
def test_any_score_of_the_book_fits_inside(name):
    layer = layer_of(attention=ATTENTIONS[name].make)
    output = layer(*inputs(), [5, 2])
    parts = (layer.W_q, layer.W_k, layer.W_v)
    q, k, v = (W(t).reshape(B, -1, 4, 2) for W, t in zip(parts, inputs(), strict=True))
    heads = [layer.attention(q[:, :, i], k[:, :, i], v[:, :, i], [5, 2]) for i in range(4)]
    torch.testing.assert_close(output, layer.W_o(torch.cat(heads, dim=-1)))


def test_the_call_is_that_of_d2l():
    layer = MultiHeadAttention(100, 5, 0.5, False).eval()  # num_hiddens, num_heads, dropout, bias
    queries, keys = torch.ones(2, 4, 100), torch.ones(2, 6, 100)
    assert layer(queries, keys, keys, torch.tensor([3, 2])).shape == (2, 4, 100)
    assert layer.attention.dropout.p == 0.5
    assert [name for name, _ in layer.named_parameters()] == [f"W_{x}.weight" for x in "qkvo"]


def test_a_keyword_that_it_does_not_know_is_an_error():
    with pytest.raises(TypeError, match="num_kv_head"):
        MultiHeadAttention(8, 4, 0.0, num_kv_head=2)


# ---- causal order and the cache


def test_a_causal_layer_does_not_see_the_future():
    layer, x = self_attending(), normal(2, 6, 8)
    want = layer(x, x, x, causal=True)
    for i in range(6):
        changed = x.clone()
        changed[:, i:] += 1
        output = layer(changed, changed, changed, causal=True)
        torch.testing.assert_close(output[:, :i], want[:, :i])
        assert not torch.allclose(output[:, i:], want[:, i:])


@pytest.mark.parametrize("n", [0, 1, 3, 5, 7])
def test_the_queries_are_the_last_of_the_places(n):
    layer = layer_of()
    layer(*inputs(n=n), causal=True)
    seen = torch.tensor([[j <= M - n + i for j in range(M)] for i in range(n)]).reshape(n, M)
    assert torch.equal(layer.attention_weights > 0, seen.expand(B, 4, n, M))


@pytest.mark.parametrize("lens", [[4, 2], [[1, 3, 5], [2, 0, 4]]])
def test_causal_order_lengths_and_mask_are_joined_with_and(lens):
    layer, mask = layer_of(), normal(B, N, M) > -0.5
    order = torch.ones(N, M).bool().tril(M - N)
    together = layer(*inputs(), lens, mask=mask & order)
    torch.testing.assert_close(layer(*inputs(), lens, mask=mask, causal=True), together)
    together = layer(*inputs(), lens, mask=order)
    torch.testing.assert_close(layer(*inputs(), lens, causal=True), together)


@pytest.mark.parametrize("parts", [[6], [1] * 6, [4, 2], [2, 1, 3], [6, 0]])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 2}, {"attention": DistanceAttention}])
def test_with_a_cache_the_outputs_are_the_same(parts, need_weights, options):
    layer, x = self_attending(**options), normal(2, 6, 8)
    lens, keep = [6, 4], {"causal": True, "need_weights": need_weights}
    want, cache, got = layer(x, x, x, lens, **keep), KeyValueCache(), []
    for part in x.split(parts, dim=1):
        seen = len(cache) + part.shape[1]
        valid = [min(length, seen) for length in lens]
        got.append(layer(part, part, part, valid, cache=cache, **keep))
        assert len(cache) == seen
    torch.testing.assert_close(torch.cat(got, dim=1), want)
    assert cache.keys.shape == cache.values.shape == (2, layer.num_kv_heads, 6, 2)


def test_a_cache_keeps_nan_of_the_padding_out():
    layer, x = self_attending(), normal(2, 4, 8)
    x[1, 3] = torch.nan
    cache = KeyValueCache()
    layer(x, x, x, [4, 3], cache=cache)
    assert cache.keys.isfinite().all()
    assert cache.values.isfinite().all()


def test_with_a_cache_only_new_keys_that_no_query_may_see_are_zeroed_out():
    layer, x, cache = self_attending(), normal(1, 4, 8), KeyValueCache()
    mask = torch.tensor([False, True, True, True]).expand(4, 4)  # an earlier key is padding
    want = layer(x, x, x, mask=mask, causal=True)[:, 3:]
    layer(*[x[:, :3]] * 3, mask=mask[:3, :3], causal=True, cache=cache)
    torch.testing.assert_close(layer(*[x[:, 3:]] * 3, mask=mask[3:], cache=cache), want)


def step_by_step(layer, x, mask, parts, **options):
    """Return the outputs of all parts, each with its rows of the mask and one cache."""
    cache, outputs, read = KeyValueCache(), [], 0
    for part in x.split(parts, dim=1):
        rows, read = slice(read, read + part.shape[1]), read + part.shape[1]
        outputs.append(layer(part, part, part, mask=mask[rows, :read], cache=cache, **options))
    return torch.cat(outputs, dim=1)


@pytest.mark.parametrize("parts", [[1] * 6, [2, 1, 3], [5, 1]])
@pytest.mark.parametrize("need_weights", [True, False])
def test_with_a_cache_a_key_that_no_present_query_may_see_is_kept_for_later_ones(
    parts, need_weights
):
    layer, x, order = self_attending(bias=True, num_kv_heads=2), normal(2, 6, 8), torch.ones(6, 6)
    earlier = order.tril(-1).bool()  # strict: no query sees its own place
    at_random = order.tril().bool() & (normal(6, 6, seed=3) > 0)
    for mask in (earlier, at_random):
        assert not mask.diagonal().all()  # a step with one token hides its own key
        want = layer(x, x, x, mask=mask)
        got = step_by_step(layer, x, mask, parts, need_weights=need_weights)
        torch.testing.assert_close(got, want)


def test_with_a_cache_lengths_per_query_hide_a_key_from_present_queries_only():
    layer, x, lens = self_attending(), normal(2, 4, 8), torch.tensor([[0, 1, 1, 3], [0, 0, 2, 4]])
    want, cache, got = layer(x, x, x, lens), KeyValueCache(), []
    for i, part in enumerate(x.split(1, dim=1)):
        got.append(layer(part, part, part, lens[:, i : i + 1], cache=cache))
    torch.testing.assert_close(torch.cat(got, dim=1), want)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("need_weights", [True, False])
def test_nan_behind_the_lengths_is_harmless_with_a_cache_and_without(cached, need_weights):
    layer, x = self_attending(bias=True, num_kv_heads=2), normal(2, 5, 8)
    options, queries = {"causal": True, "need_weights": need_weights}, normal(2, 1, 8)
    want = layer(queries, x, x, [5, 3], **options)
    x[1, 3:] = torch.nan
    x.requires_grad_()
    if cached:
        cache = KeyValueCache()
        layer(queries, x[:, :4], x[:, :4], [4, 3], cache=cache, **options)
        assert cache.keys.isfinite().all()
        assert cache.values.isfinite().all()
        output = layer(queries, x[:, 4:], x[:, 4:], [5, 3], cache=cache, **options)
    else:
        output = layer(queries, x, x, [5, 3], **options)
    torch.testing.assert_close(output, want)
    output.square().sum().backward()
    for tensor in (x, *layer.parameters()):
        assert tensor.grad.isfinite().all()


@pytest.mark.parametrize(
    ("keys", "values", "message"),
    [
        ((2, 4, 1, 3), (2, 4, 1, 7), "cache must have values of shape (b, heads, any, d) = (2, 4"),
        ((2, 4, 1, 7), (2, 4, 1, 5), "cache must have keys of shape (b, heads, any, d) = (2, 4, "),
        (
            (2, 4, 3, 3),
            (2, 4, 2, 5),
            "there must be one value for each key; got keys (2, 4, 3, 3), v",
        ),
        ((2, 4, 1, 3), (2, 2, 1, 5), "there must be one value for each key; got"),
        ((2, 4, 1, 3), (1, 4, 1, 5), "there must be one value for each key; got"),
    ],
)
def test_keys_and_values_that_do_not_continue_the_cache_are_refused(keys, values, message):
    cache = KeyValueCache()
    cache.append(torch.ones(2, 4, 3, 3), torch.ones(2, 4, 3, 5))
    held = cache.keys, cache.values
    with pytest.raises(ValueError, match=re.escape(message)):
        cache.append(torch.ones(keys), torch.ones(values))
    assert cache.keys is held[0]
    assert cache.values is held[1]


def test_an_empty_cache_refuses_keys_without_values():
    cache = KeyValueCache()
    with pytest.raises(ValueError, match="one value for each key"):
        cache.append(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 2, 4))
    assert len(cache) == 0


@pytest.mark.parametrize(
    ("options", "b", "want"), [({}, 3, (3, 4, 2)), ({"num_kv_heads": 2}, 2, (2, 2, 2))]
)
def test_a_cache_of_another_batch_or_layer_is_refused_and_left_alone(options, b, want):
    cache, x = KeyValueCache(), normal(2, 5, 8)
    self_attending()(x, x, x, cache=cache)
    keys, new = cache.keys, normal(b, 1, 8)
    message = (
        "cache must have keys of shape (b, heads, any, d) = ({}, {}, any, {}), got (2, 4, 5, 2)"
    )
    with pytest.raises(ValueError, match=re.escape(message.format(*want))):
        self_attending(**options)(new, new, new, cache=cache)
    assert cache.keys is keys


def test_a_call_that_fails_adds_nothing_to_the_cache():
    layer, cache, x = self_attending(), KeyValueCache(), normal(2, 5, 8)
    layer(x, x, x, cache=cache)
    for wrong in ({"valid_lens": [11, 3]}, {"mask": torch.ones(5, 5).bool()}):
        with pytest.raises(ValueError, match=r"valid_lens|mask"):
            layer(x, x, x, cache=cache, **wrong)
    assert len(cache) == 5


# ---- numbers of every kind


@pytest.mark.parametrize("lens", [[3, 1], [[3, 3, 3], [1, 1, 1]]])
@pytest.mark.parametrize("need_weights", [True, False])
def test_nan_in_the_padding_reaches_neither_outputs_nor_gradients(lens, need_weights):
    layer = layer_of(bias=True, num_kv_heads=2)
    queries, keys, values = inputs()
    want = layer(queries, keys, values, lens)
    for i, length in enumerate((3, 1)):
        keys[i, length:] = values[i, length:] = torch.nan
    tensors = [t.requires_grad_() for t in (queries, keys, values)]
    output = layer(*tensors, lens, need_weights=need_weights)
    torch.testing.assert_close(output, want)
    output.square().sum().backward()
    for tensor in (*tensors, *layer.parameters()):
        assert tensor.grad.isfinite().all()


def test_a_fully_masked_row_is_zero_with_zero_gradient():
    layer, tensors = layer_of(), [t.requires_grad_() for t in inputs()]
    for need_weights in (True, False):
        output = layer(*tensors, [0, 2], need_weights=need_weights)
        assert output[0].abs().max() == 0
        grads = torch.autograd.grad(output[0].sum(), tensors)
        assert all(grad.abs().max() == 0 for grad in grads)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_data_type_stays(dtype):
    layer = layer_of(dtype=dtype, num_kv_heads=2)
    want = copy.deepcopy(layer).double()(*(t.double() for t in inputs(dtype=dtype)), [5, 2])
    output = layer(*inputs(dtype=dtype), [5, 2], causal=True, cache=KeyValueCache())
    assert output.dtype == dtype
    output = layer(*inputs(dtype=dtype), [5, 2])
    tolerance = 4 * TOLERANCE[dtype]
    torch.testing.assert_close(output.double(), want, atol=tolerance, rtol=tolerance)


def test_gradients_are_right_also_the_second():
    layer = layer_of(num_kv_heads=2)
    tensors = [t.requires_grad_() for t in inputs(1, 2, 3)]
    call = partial(layer, valid_lens=[2], causal=True)
    assert torch.autograd.gradcheck(call, tensors)
    assert torch.autograd.gradgradcheck(call, tensors)


@pytest.mark.parametrize(("b", "n", "m"), [(0, 3, 5), (2, 0, 5), (2, 3, 0)])
@pytest.mark.parametrize("causal", [False, True])
def test_nothing_in_gives_nothing_out(b, n, m, causal):
    output = layer_of(num_kv_heads=2)(*inputs(b, n, m), causal=causal)
    assert output.shape == (b, n, 8)
    assert output.abs().sum() == 0 or m > 0


def test_weights_are_dropped_in_training_only():
    layer = layer_of(dropout=0.5)
    assert torch.equal(layer(*inputs()), layer(*inputs()))
    layer.train()
    assert not torch.equal(layer(*inputs()), layer(*inputs()))
    torch.testing.assert_close(layer.attention_weights.sum(-1), torch.ones(B, 4, N).double())


# ---- what records, maps and copies


def test_it_can_be_mapped_over_many_inputs():
    layer, lens = layer_of(), torch.tensor([[5, 2], [1, 4]])
    queries, keys, values = (torch.stack([t, -t]) for t in inputs())
    call = partial(layer, causal=True)
    loop = [call(*each) for each in zip(queries, keys, values, lens, strict=True)]
    got = torch.func.vmap(call)(queries, keys, values, lens)
    torch.testing.assert_close(got, torch.stack(loop))


@pytest.mark.parametrize("record", ["jit", "fx"])
def test_a_recorded_layer_is_right_for_other_lengths(record):
    layer = layer_of(num_kv_heads=2).requires_grad_(False)

    def call(q, k, v, lens):
        return layer(q, k, v, lens, causal=True)

    first = (*inputs(), torch.tensor([5, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded = (
            torch.jit.trace(call, first, check_trace=False)
            if record == "jit"
            else make_fx(call)(*first)
        )
    for lens in (torch.tensor([1, 4]), torch.tensor([0, 5])):
        torch.testing.assert_close(recorded(*inputs(), lens), call(*inputs(), lens))


class Call(nn.Module):
    def __init__(self, layer, need_weights):
        super().__init__()
        self.layer, self.need_weights = layer, need_weights

    def forward(self, q, k, v, lens):
        return self.layer(q, k, v, lens, causal=True, need_weights=self.need_weights)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.filterwarnings("ignore:The tensor attribute self.layer.attention")
def test_an_export_with_dynamic_sizes_is_right_for_other_sizes(need_weights):
    b, n, m = (torch.export.Dim(axis, min=2, max=4096) for axis in "bnm")
    call = Call(layer_of(num_kv_heads=2), need_weights)
    shapes = {0: b, 1: n}, {0: b, 1: m}, {0: b, 1: m}, {0: b}
    first = (*inputs(), torch.tensor([5, 2]))
    program = torch.export.export(call, first, dynamic_shapes=shapes).module()
    for sizes in ((2, 3, 4), (3, 5, 7), (4, 9, 6)):
        tensors, lens = inputs(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(program(*tensors, lens), call(*tensors, lens))


@pytest.mark.parametrize("need_weights", [True, False])
def test_one_graph_of_dynamic_sizes_is_right_for_all(need_weights):
    call = Call(layer_of(num_kv_heads=2), need_weights)
    torch._dynamo.reset()
    compiled = torch.compile(call, dynamic=True, fullgraph=True, backend="eager")
    for sizes in ((2, 3, 4), (3, 5, 7)):
        tensors, lens = inputs(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(compiled(*tensors, lens), call(*tensors, lens))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_layer_is_copied_without_its_weights(copied):
    layer = layer_of()
    twin = copied(layer)
    assert twin.attention_weights is None
    torch.testing.assert_close(twin(*inputs()), layer(*inputs()))


# ---- input that does not fit


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 3), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 3"),
        ((8, 0), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 0"),
        ((8, -2), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got -2"),
        ((8, 16), "num_heads must divide num_hiddens = 8: one of [1, 2, 4, 8], got 16"),
        ((8, 4, 3), "num_kv_heads must divide num_heads = 4: one of [1, 2, 4], got 3"),
        ((8, 4, 0), "num_kv_heads must divide num_heads = 4: one of [1, 2, 4], got 0"),
        ((8, 4, 8), "num_kv_heads must divide num_heads = 4: one of [1, 2, 4], got 8"),
    ],
)
def test_heads_must_divide(arguments, message):
    num_hiddens, num_heads, *kv = arguments
    with pytest.raises(ValueError, match=re.escape(message)):
        MultiHeadAttention(num_hiddens, num_heads, num_kv_heads=kv[0] if kv else None)


def replaced(at, tensor):
    tensors = inputs()
    tensors[at] = tensor
    return tensors


@pytest.mark.parametrize(
    ("tensors", "error", "message"),
    [
        (replaced(0, normal(B, N, 5)), ValueError, "queries must have dimension 4, got (2, 3, 5)"),
        (replaced(1, normal(B, M, 6)), ValueError, "keys must have dimension 7, got (2, 5, 6)"),
        (replaced(2, normal(B, M, 7)), ValueError, "values must have dimension 6, got (2, 5, 7)"),
        (replaced(2, normal(B, 4, 6)), ValueError, "there must be one value for each key; got"),
        (replaced(0, normal(1, N, 4)), ValueError, "must agree in batch and heads; got"),
        (replaced(0, torch.ones(B, N, 4).long()), TypeError, "floating point, got torch.int64"),
        ([normal(2, 1, 3, 4)] * 3, ValueError, "queries must have 3 axes (b, n, d), got (2, 1, 3"),
        ([normal(3, 4)] * 3, ValueError, "must have 3 axes"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(tensors, error, message):
    with pytest.raises(error, match=re.escape(message)):
        layer_of()(*tensors)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"valid_lens": [5, 6]}, ValueError, "valid_lens must lie in 0..5, got 5..6"),
        ({"mask": torch.ones(N, M)}, TypeError, "mask must be boolean (True = may attend)"),
        ({"mask": torch.ones(B, 4, N, M).bool()}, ValueError, "mask must broadcast to (2, 3, 5)"),
        ({"mask": torch.ones(4, N, M).bool()}, ValueError, "mask must broadcast to (2, 3, 5)"),
    ],
)
@pytest.mark.parametrize("causal", [False, True])
def test_lengths_and_masks_that_do_not_fit_are_refused(wrong, error, message, causal):
    with pytest.raises(error, match=re.escape(message)):
        layer_of()(*inputs(), causal=causal, **wrong)


def test_nothing_is_dropped_by_default_and_a_new_cache_is_empty():
    assert MultiHeadAttention(8, 2).attention.dropout.p == 0.0
    cache = KeyValueCache()
    assert (cache.keys, cache.values, len(cache)) == (None, None, 0)


def test_masks_are_made_where_the_queries_are():
    """Checked on the device "meta", which every machine has, beside lengths on the CPU."""
    layer = self_attending().to("meta")
    x = torch.empty(2, 3, 8, dtype=torch.float64, device="meta")
    assert layer(x, x, x, valid_lens=[3, 2], causal=True).device.type == "meta"
