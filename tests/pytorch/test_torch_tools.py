"""vmap, torch.func, torch.compile and torch.export see the same functions as a plain call."""

import pytest
import torch
from cases import ATTENTIONS, batch, layer_of, normal
from torch import nn
from torch.func import functional_call, grad, vmap

from d2l_attention.torch import masked_softmax

LENS = torch.tensor([[2, 4], [0, 3], [1, 1]])  # three minibatches of two examples


@pytest.mark.parametrize("randomised", ["scores", "lengths", "both"])
def test_vmap_over_minibatches_equals_a_loop(randomised):
    X = normal(3, 2, 3, 4)
    in_dims = (0 if randomised != "lengths" else None, 0 if randomised != "scores" else None)
    arguments = (X if in_dims[0] == 0 else X[0], LENS if in_dims[1] == 0 else LENS[0])
    weights = vmap(masked_softmax, in_dims=in_dims)(*arguments)
    for i in range(3):
        row = [a[i] if d == 0 else a for a, d in zip(arguments, in_dims, strict=True)]
        torch.testing.assert_close(weights[i], masked_softmax(*row))


def test_vmap_over_masks_equals_a_loop():
    X, masks = normal(3, 2, 3, 4), normal(3, 3, 4, seed=1) > 0
    weights = vmap(lambda X, mask: masked_softmax(X, mask=mask))(X, masks)
    for i in range(3):
        torch.testing.assert_close(weights[i], masked_softmax(X[i], mask=masks[i]))


def test_gradients_per_minibatch_equal_a_loop():
    def loss(X, lens):
        return masked_softmax(X, lens).pow(2).sum()

    X = normal(3, 2, 3, 4)
    gradients = vmap(grad(loss))(X, LENS)
    for i in range(3):
        torch.testing.assert_close(gradients[i], grad(loss)(X[i], LENS[i]))


@pytest.mark.parametrize("name", ATTENTIONS)
def test_vmap_over_a_layer_equals_a_loop(name):
    layer = layer_of(name)
    many = [torch.stack([t, t + 1, t * 2]) for t in batch(n=3)]
    out = vmap(lambda q, k, v, lens: layer(q, k, v, lens))(*many, LENS)
    for i in range(3):
        torch.testing.assert_close(out[i], layer(*(t[i] for t in many), LENS[i]))


@pytest.mark.parametrize("name", ATTENTIONS)
def test_functional_gradients_of_a_layer_equal_backward(name):
    layer = layer_of(name)
    queries, keys, values = batch()

    def loss(parameters, queries):
        return functional_call(layer, parameters, (queries, keys, values, LENS[1])).pow(2).sum()

    parameters = {n: p.detach() for n, p in layer.named_parameters()}
    by_function = grad(loss, argnums=1)(parameters, queries)
    queries.requires_grad_()
    layer(queries, keys, values, LENS[1]).pow(2).sum().backward()
    torch.testing.assert_close(by_function, queries.grad)


class Weights(nn.Module):
    def forward(self, X, lens):
        return masked_softmax(X, lens)


def export(function, *arguments):
    return torch.export.export(function, arguments).module()


def compiled(function, backend="eager"):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend=backend)


@pytest.mark.parametrize("lens", [LENS[0], LENS[1]])
def test_one_compiled_graph_gives_the_same_weights(lens):
    X = normal(2, 3, 4)
    torch.testing.assert_close(compiled(masked_softmax)(X, lens), masked_softmax(X, lens))


def test_a_compiled_backward_pass_gives_the_same_gradients():
    X = normal(2, 3, 4).requires_grad_()
    weights = compiled(masked_softmax, backend="aot_eager")(X, LENS[1])
    torch.testing.assert_close(
        torch.autograd.grad(weights.pow(2).sum(), X)[0],
        torch.autograd.grad(masked_softmax(X, LENS[1]).pow(2).sum(), X)[0],
    )


@pytest.mark.parametrize("lens", [LENS[0], LENS[1]])
def test_an_exported_program_gives_the_same_weights(lens):
    X = normal(2, 3, 4)
    program = export(Weights(), X, LENS[0])
    torch.testing.assert_close(program(X, lens), masked_softmax(X, lens))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_one_compiled_graph_of_a_layer_gives_the_same_output(name, need_weights):
    layer = layer_of(name)
    tensors = batch()
    want = layer(*tensors, LENS[1], need_weights=need_weights)
    out = compiled(layer)(*tensors, LENS[1], need_weights=need_weights)
    torch.testing.assert_close(out, want)
    assert (layer.attention_weights is not None) == need_weights


class WithoutWeights(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, *arguments):
        return self.layer(*arguments, need_weights=False)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_an_exported_layer_gives_the_same_output(name):
    layer = WithoutWeights(layer_of(name))
    layer(*batch())
    program = export(layer, *batch(), LENS[0])
    torch.testing.assert_close(program(*batch(), LENS[1]), layer(*batch(), LENS[1]))
