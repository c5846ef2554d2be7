"""vmap, torch.func, tracing, torch.compile and torch.export see the functions of a plain call.

What records a function on one input gives a function that is right on others.
"""

import warnings
from functools import partial

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from d2l_attention.torch import additive_scores, masked_softmax, rotate
from tests.pytorch.cases import LAYERS, batch, layer_of, normal

LENS = torch.tensor([[2, 4], [0, 3], [1, 1]])  # three minibatches of two examples
every_layer = pytest.mark.parametrize("name", LAYERS)
with_or_without_weights = pytest.mark.parametrize("need_weights", [True, False])
# Compiling takes seconds: each kind of layer once, and both ways where they differ.
each_kind = pytest.mark.parametrize(
    ("name", "need_weights"),
    [("dot", True), ("additive", True), ("heads", True)]
    + [(n, False) for n in ("dot", "distance", "bilinear, lazy, rank 2", "cosine", "heads")],
)


class Call(nn.Module):
    """A layer, or masked_softmax, that takes tensors alone."""

    def __init__(self, layer, **options):
        super().__init__()
        self.layer, self.options = layer, options

    def forward(self, *tensors):
        return self.layer(*tensors, **self.options)


# ---- vmap and torch.func


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_vmap_over_scores_and_lengths_equals_a_loop(axes):
    X = normal(3, 2, 3, 4)
    given = [x if axis == 0 else x[0] for x, axis in zip((X, LENS), axes, strict=True)]
    weights = vmap(masked_softmax, in_dims=axes)(*given)
    for i in range(3):
        row = [x if axis is None else x[i] for x, axis in zip(given, axes, strict=True)]
        torch.testing.assert_close(weights[i], masked_softmax(*row))


def test_vmap_over_masks_and_gradients_equals_a_loop():
    def loss(X, lens, mask):
        return masked_softmax(X, lens, mask).pow(2).sum()

    X, masks = normal(3, 2, 3, 4), normal(3, 3, 4, seed=1) > 0
    gradients = vmap(grad(loss))(X, LENS, masks)
    for i in range(3):
        torch.testing.assert_close(gradients[i], grad(loss)(X[i], LENS[i], masks[i]))


@every_layer
@with_or_without_weights
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_vmap_over_a_layer_equals_a_loop(name, need_weights):
    call = partial(layer_of(name), need_weights=need_weights)
    many = [torch.stack([t, t + 1, t * 2]) for t in batch()]
    out = vmap(call)(*many, LENS)
    for i in range(3):
        torch.testing.assert_close(out[i], call(*(t[i] for t in many), LENS[i]))


def test_blocks_and_rotations_can_be_mapped_over():
    q, k, w = normal(3, 40, 33), normal(256, 33), normal(33)
    got = vmap(lambda q: additive_scores(q, k, lambda hidden: hidden @ w[:, None]))(q)
    torch.testing.assert_close(got, torch.tanh(q[:, :, None] + k) @ w)
    x, at = normal(3, 2, 4), torch.tensor([[0, 1], [4, 2], [9, 9]])
    each = [rotate(*pair) for pair in zip(x, at, strict=True)]
    torch.testing.assert_close(vmap(rotate)(x, at), torch.stack(each))


@every_layer
def test_functional_gradients_of_a_layer_equal_backward(name):
    layer, (queries, keys, values) = layer_of(name), batch()

    def loss(parameters, queries):
        return functional_call(layer, parameters, (queries, keys, values, LENS[1])).pow(2).sum()

    parameters = {n: p.detach() for n, p in layer.named_parameters()}
    of_layer, of_queries = grad(loss, argnums=(0, 1))(parameters, queries)
    queries.requires_grad_()
    layer(queries, keys, values, LENS[1]).pow(2).sum().backward()
    torch.testing.assert_close(of_queries, queries.grad)
    for n, p in layer.named_parameters():
        torch.testing.assert_close(of_layer[n], p.grad)


# ---- tracing


def traced(function, *arguments):
    with warnings.catch_warnings():  # of shapes that become constants, as they should
        warnings.simplefilter("ignore")
        return torch.jit.trace(function, arguments, check_trace=False)


def made_fx(function, *arguments):
    return make_fx(function)(*arguments)


each_recorder = pytest.mark.parametrize("record", [traced, made_fx])


@each_recorder
def test_recorded_weights_are_right_for_other_lengths(record):
    X = normal(2, 3, 4)
    recorded = record(lambda X, lens: masked_softmax(X, lens), X, LENS[0])
    for lens in LENS:
        torch.testing.assert_close(recorded(X, lens), masked_softmax(X, lens))


@every_layer
@with_or_without_weights
@each_recorder
def test_a_recorded_layer_is_right_for_other_lengths(name, need_weights, record):
    layer = layer_of(name).requires_grad_(False)

    def call(q, k, v, lens):
        return layer(q, k, v, lens, need_weights=need_weights)

    recorded = record(call, *batch(), LENS[0])
    for lens in LENS:
        torch.testing.assert_close(recorded(*batch(), lens), call(*batch(), lens))


# ---- compiling and exporting


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, **{"backend": "eager"} | options)


def test_compiled_weights_and_their_gradients_are_the_same():
    X = normal(2, 3, 4).requires_grad_()
    for lens in LENS[:2]:
        got = compiled(masked_softmax, backend="aot_eager")(X, lens)
        want = masked_softmax(X, lens)
        torch.testing.assert_close(got, want)
        gradients = [torch.autograd.grad(w.pow(2).sum(), X)[0] for w in (got, want)]
        torch.testing.assert_close(*gradients)


@every_layer
@with_or_without_weights
def test_one_compiled_graph_of_a_layer_gives_the_same_output(name, need_weights):
    layer = layer_of(name)
    want = layer(*batch(), LENS[1], need_weights=need_weights)
    out = compiled(layer)(*batch(), LENS[1], need_weights=need_weights)
    torch.testing.assert_close(out, want)
    assert (layer.attention_weights is not None) == need_weights


@each_kind
def test_one_graph_of_dynamic_sizes_is_right_for_all(name, need_weights):
    call = Call(layer_of(name), need_weights=need_weights)
    program = compiled(call, dynamic=True)
    for sizes in ((2, 3, 4), (3, 5, 7)):
        tensors, lens = batch(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(program(*tensors, lens), call(*tensors, lens))


@each_kind
@pytest.mark.filterwarnings("ignore:The tensor attribute self.layer.attention")
def test_an_export_with_dynamic_sizes_is_right_for_other_sizes(name, need_weights):
    b, n, m = (torch.export.Dim(axis, min=2, max=4096) for axis in "bnm")
    call = Call(layer_of(name), need_weights=need_weights)
    shapes = {"tensors": ({0: b, 1: n}, {0: b, 1: m}, {0: b, 1: m}, {0: b})}
    program = torch.export.export(call, (*batch(), LENS[0]), dynamic_shapes=shapes).module()
    for sizes in ((2, 3, 4), (3, 5, 7), (4, 300, 260)):
        tensors, lens = batch(*sizes), torch.arange(sizes[0])
        torch.testing.assert_close(program(*tensors, lens), call(*tensors, lens))


def test_weights_and_rotations_are_exported_and_compiled_for_other_lengths():
    X = normal(2, 3, 4)
    program = torch.export.export(Call(masked_softmax), (X, LENS[0])).module()
    for lens in LENS:
        torch.testing.assert_close(program(X, lens), masked_softmax(X, lens))
    dynamic = compiled(rotate, dynamic=True)
    for n in (5, 7):
        torch.testing.assert_close(dynamic(normal(2, n, 4)), rotate(normal(2, n, 4)))


@pytest.mark.parametrize("name", [n for n in LAYERS if "lazy" not in n and n != "heads"])
@with_or_without_weights
def test_fake_tensors_get_shapes_without_numbers(name, need_weights):
    shapes, lens = [t.shape for t in batch()], torch.tensor([4, 2])
    with FakeTensorMode() as mode:
        tensors = map(torch.empty, shapes)
        out = LAYERS[name]()(*tensors, mode.from_tensor(lens), need_weights=need_weights)
        assert out.shape == (2, 3, 2)
