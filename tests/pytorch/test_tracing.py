"""What records a function on one input gives a function that is right on others."""

import copy
import pickle
import warnings

import pytest
import torch
from cases import ATTENTIONS, batch, layer_of, normal
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from d2l_attention.torch import AdditiveAttention, masked_softmax

LENS = [torch.tensor(lens) for lens in ([4, 2], [4, 0], [1, 3])]  # all traced with the first
LONG = torch.tensor([512, 300]), torch.tensor([1, 0])
every_class = pytest.mark.parametrize("name", ATTENTIONS)
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])
# Compiling takes seconds: each kind of score once, and both ways where they differ.
each_kind = pytest.mark.parametrize(
    ("name", "need_weights"),
    [("dot", True), ("additive", True)]
    + [(name, False) for name in ("dot", "distance", "bilinear, lazy, rank 2", "cosine")],
)


def traced(function, *arguments):
    with warnings.catch_warnings():  # of shapes that become constants, as they should
        warnings.simplefilter("ignore")
        return torch.jit.trace(function, arguments, check_trace=False)


def made_fx(function, *arguments):
    return make_fx(function)(*arguments)


@pytest.mark.parametrize("record", [traced, made_fx])
def test_recorded_weights_are_right_for_other_lengths(record):
    X = normal(2, 3, 4)
    recorded = record(lambda X, lens: masked_softmax(X, lens), X, LENS[0])
    for lens in LENS:
        torch.testing.assert_close(recorded(X, lens), masked_softmax(X, lens))


@every_class
@with_or_without_weights
@pytest.mark.parametrize("record", [traced, made_fx])
def test_a_recorded_layer_is_right_for_other_lengths(name, need_weights, record):
    layer = layer_of(name).requires_grad_(False)

    def call(q, k, v, lens):
        return layer(q, k, v, lens, need_weights=need_weights)

    recorded = record(call, *batch(), LENS[0])
    for lens in LENS:
        torch.testing.assert_close(recorded(*batch(), lens), call(*batch(), lens))


@pytest.mark.parametrize("record", [traced, made_fx])
def test_a_recorded_layer_is_right_for_other_lengths_of_long_examples(record):
    layer = layer_of("dot")
    tensors = batch(n=512, m=512)

    def call(q, k, v, lens):
        return layer(q, k, v, lens, need_weights=False)

    recorded = record(call, *tensors, LONG[0])
    for lens in LONG:
        torch.testing.assert_close(recorded(*tensors, lens), call(*tensors, lens))


class Call(nn.Module):
    def __init__(self, layer, need_weights):
        super().__init__()
        self.layer, self.need_weights = layer, need_weights

    def forward(self, queries, keys, values, lens):
        return self.layer(queries, keys, values, lens, need_weights=self.need_weights)


@each_kind
@pytest.mark.filterwarnings("ignore:The tensor attribute self.layer.attention_weights")
def test_an_export_with_dynamic_sizes_is_right_for_other_sizes(name, need_weights):
    b, n, m = (torch.export.Dim(axis, min=2, max=4096) for axis in "bnm")
    call = Call(layer_of(name), need_weights)
    shapes = {0: b, 1: n}, {0: b, 1: m}, {0: b, 1: m}, {0: b}
    program = torch.export.export(call, (*batch(), LENS[0]), dynamic_shapes=shapes).module()
    for sizes in ((2, 3, 4), (3, 5, 7), (4, 300, 260)):
        tensors, lens = batch(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(program(*tensors, lens), call(*tensors, lens))


@each_kind
def test_one_graph_of_dynamic_sizes_is_right_for_all(name, need_weights):
    call = Call(layer_of(name), need_weights)
    torch._dynamo.reset()
    compiled = torch.compile(call, dynamic=True, fullgraph=True, backend="eager")
    for sizes in ((2, 3, 4), (3, 5, 7)):
        tensors, lens = batch(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(compiled(*tensors, lens), call(*tensors, lens))


@pytest.mark.parametrize("name", [name for name in ATTENTIONS if "lazy" not in name])
@with_or_without_weights
def test_fake_tensors_get_shapes_without_numbers(name, need_weights):
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        layer = ATTENTIONS[name].make()
        tensors = [torch.empty(t.shape) for t in batch()]
        out = layer(*tensors, mode.from_tensor(LENS[0]), need_weights=need_weights)
        assert out.shape == (2, 3, 2)


@every_class
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_layer_is_copied_without_its_weights_also_after_a_transformation(name, copied):
    layer, (queries, keys, values) = layer_of(name), batch()
    torch.func.vmap(lambda q: layer(q, keys, values))(torch.stack([queries, queries]))
    assert copied(layer).attention_weights is None
    torch.func.grad(lambda q: layer(q, keys, values).sum())(queries)
    twin = copied(layer)
    torch.testing.assert_close(twin(queries, keys, values), layer(queries, keys, values))
    assert layer.attention_weights.shape == (2, 3, 4)


def test_a_saved_layer_is_small(tmp_path):
    layer = layer_of("dot")
    layer(*batch(2, 512, 512))
    torch.save(layer, tmp_path / "layer.pt")
    assert (tmp_path / "layer.pt").stat().st_size < 10_000


def test_hooks_of_every_layer_inside_run():
    layer, called = layer_of("additive"), []
    for name in ("W_q", "W_k", "w_v"):
        layer.get_submodule(name).register_forward_hook(lambda *_, name=name: called.append(name))
    layer(*batch())
    assert called == ["W_q", "W_k", "w_v"]


def test_an_additive_layer_can_be_quantized():
    torch.manual_seed(0)
    layer = AdditiveAttention(64, query_size=3, key_size=3).eval()
    tensors = batch(dtype=torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = torch.ao.quantization.quantize_dynamic(layer, {nn.Linear}, torch.qint8)
    torch.testing.assert_close(small(*tensors), layer(*tensors), atol=0.05, rtol=0)
    assert isinstance(small.w_v, torch.ao.nn.quantized.dynamic.Linear)
