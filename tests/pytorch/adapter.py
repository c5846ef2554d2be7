"""PyTorch, as `tests/contract/framework.py` asks for it."""

from types import SimpleNamespace

import torch

from d2l_attention import torch as ours

DTYPES = ("float16", "bfloat16", "float32", "float64")
MASKS_TAKEN = ("bool",)
xp = SimpleNamespace(**vars(torch) | {"swapped": torch.Tensor.mT.__get__})
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


def slopes(layer, arrays, *lens, **options):
    leaves = [*(x.requires_grad_() for x in arrays), *layer.parameters()]
    squares = layer(*arrays, *lens, **options).square().sum()
    return torch.autograd.grad(squares, leaves, allow_unused=True, materialize_grads=True)


def additive_scores(q, k, w, **options):
    return ours.additive_scores(q, k, lambda hidden: hidden @ w[:, None], **options)


def devices(monkeypatch, gpus: int) -> list:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    return [torch.device("cpu"), *(torch.device("cuda", i) for i in range(gpus))]
