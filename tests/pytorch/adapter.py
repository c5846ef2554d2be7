"""What the contract must know of PyTorch: how layers are made, called, and given parameters."""

import inspect
from types import SimpleNamespace

import torch
from torch.func import functional_call

from d2l_attention import torch as ours

DTYPES = ("float16", "bfloat16", "float32", "float64")
OWN_NAMES = {"LiveBytes"}  # beside those that every module has
CALL = "forward"
OWN_ARGUMENTS = {"device", "tensor", "tensors"}
OWN_ARGUMENTS_OF = {
    "fused_attention": {"dropout"},
    "MultiHeadAttention": {"query_size", "key_size", "value_size"},
}
NAMES = ("where", "exp", "log", "tanh", "flip", "einsum", "nansum")
NAMES += ("amax", "asarray", "concatenate", "maximum", "sum")
xp = SimpleNamespace(
    vmap=torch.vmap,
    swapped=torch.Tensor.mT.__get__,
    **{name: getattr(torch, name) for name in NAMES},
)


def cast(tensor, dtype: str):
    return tensor.to(getattr(torch, dtype))


def constant(tensor):
    """Return the same numbers without a gradient."""
    return tensor.detach()


def make(kind: str, *sizes, dtype: str = "float32", **options):
    """Return a layer in evaluation, with the same parameters at each call."""
    known = inspect.signature(getattr(ours, kind).__init__).parameters
    torch.default_generator.manual_seed(0)  # torch.manual_seed notes each caller's stack, slowly
    given = {name: value for name, value in options.items() if name in known}
    if kind == "MultiHeadAttention":
        width = sizes[0] if sizes else options["num_hiddens"]
        given = {"query_size": width, "key_size": width, "value_size": width} | given
    return cast(getattr(ours, kind)(*sizes, **given), dtype).eval()


def call(layer, *inputs, need_weights: bool, **options):
    """Return outputs and weights, None where they were not asked for."""
    output = layer(*inputs, need_weights=need_weights, **options)
    return output, layer.attention_weights


def full_names(layer) -> dict[str, str]:
    return {name.removesuffix(".weight"): name for name, _ in layer.named_parameters()}


def parameters(layer) -> dict:
    """Return the parameters: W_q is a matrix (outputs, inputs), W_q.bias its bias."""
    return {short: layer.get_parameter(name).detach() for short, name in full_names(layer).items()}


def with_parameters(layer, values: dict):
    """Return a function that calls the layer with other parameters, named as above."""
    names = full_names(layer)
    given = {names[short]: value for short, value in values.items()}
    return lambda *inputs, **options: functional_call(layer, given, inputs, options)


def in_training(layer):
    return layer.train()


def compiled(function):
    """Return a function as one program, and a list with an entry for each time it was traced."""
    traced = []

    def backend(graph, inputs):
        traced.append(graph)
        return graph.forward

    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend=backend), traced


class Call(torch.nn.Module):
    """A layer as torch.export takes it: it keeps no weights."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, *tensors):
        return self.layer(*tensors, need_weights=False)


def for_all_sizes(layer, *example):
    """Return a program of (queries, keys, values, lens) for any number of each."""
    b, n, m = (torch.export.Dim(axis, min=2, max=4096) for axis in "bnm")
    shapes = {"tensors": ({0: b, 1: n}, {0: b, 1: m}, {0: b, 1: m}, {0: b})}
    return torch.export.export(Call(layer), example, dynamic_shapes=shapes).module()


def additive_scores(q, k, w, **options):
    return ours.additive_scores(q, k, lambda hidden: hidden @ w[:, None], **options)
