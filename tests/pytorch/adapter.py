"""PyTorch, as `tests/contract/framework.py` asks for it."""

from types import SimpleNamespace

import torch
from torch.func import functional_call

from d2l_attention import torch as ours

DTYPES = ("float16", "bfloat16", "float32", "float64")
xp = SimpleNamespace(**vars(torch) | {"swapped": torch.Tensor.mT.__get__, "grad": torch.func.grad})
constant = torch.Tensor.detach
in_training = torch.nn.Module.train


def cast(tensor, dtype: str):
    return tensor.to(getattr(torch, dtype))


def make(kind: str, *sizes, dtype: str = "float32", **options):
    torch.default_generator.manual_seed(0)  # torch.manual_seed notes each caller's stack, slowly
    if kind == "MultiHeadAttention":
        width = sizes[0] if sizes else options["num_hiddens"]
        options = dict.fromkeys(("query_size", "key_size", "value_size"), width) | options
    return cast(getattr(ours, kind)(*sizes, **options), dtype).eval()


def call(layer, *inputs, need_weights: bool, **options):
    return layer(*inputs, need_weights=need_weights, **options), layer.attention_weights


def parameters(layer) -> dict:
    return {name.removesuffix(".weight"): p.detach() for name, p in layer.named_parameters()}


def with_parameters(layer, values: dict):
    given = {name: values[name.removesuffix(".weight")] for name, _ in layer.named_parameters()}
    return lambda *inputs, **options: functional_call(layer, given, inputs, options)


def compiled(function):
    traced = []

    def backend(graph, inputs):
        traced.append(graph)
        return graph.forward

    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend=backend), traced


def additive_scores(q, k, w, **options):
    return ours.additive_scores(q, k, lambda hidden: hidden @ w[:, None], **options)


def devices(monkeypatch, gpus: int) -> list:
    """Return the CPU and the GPUs of a machine that seems to have so many."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    return [torch.device("cpu"), *(torch.device("cuda", i) for i in range(gpus))]
