"""How the cases run in PyTorch."""

import math
from functools import partial
from itertools import accumulate

import torch
from torch import nn
from torch.nn import functional as F

from d2l_attention import torch as ours
from tools.benchmarks import d2l_of

d2l = d2l_of("torch.py", torch=torch, nn=nn, math=math, Module=nn.Module)
COMPILED, MEMORY, array = "compiled", "peak MiB", torch.as_tensor
DEVICE = ours.try_gpu()
torch.set_default_device(DEVICE)


def functions(kind: str, inputs: tuple) -> dict:
    if kind == "masked softmax":
        of = {"d2l": lambda x, lens: d2l.masked_softmax(x * 1, lens)}  # it overwrites its argument
        of["ours"] = lambda x, lens: ours.masked_softmax(x * 1, lens)
        return of | {"no mask": lambda x, _: (x * 1).softmax(-1)}
    if kind == "dot product":
        theirs, own = (module.DotProductAttention(0.0).eval() for module in (d2l, ours))
        of = {"d2l": theirs, "ours, weights kept": own}
        return of | {"ours, not kept": partial(own, need_weights=False), "PyTorch, fused": fused}
    theirs, own = d2l.AdditiveAttention(128, 0.0), ours.AdditiveAttention(128, 0.0, 128, 128)
    theirs(*inputs)  # makes its parameters
    return {"d2l": theirs.eval(), "ours": own.eval()}


def fused(queries, keys, values, lens):
    keep = torch.arange(keys.shape[1]) < lens[:, None, None, None]
    heads = (x.unsqueeze(1) for x in (queries, keys, values))
    return F.scaled_dot_product_attention(*heads, attn_mask=keep).squeeze(1)


def gradient(function, *inputs):
    leaves = [x.detach().requires_grad_() for x in inputs[:-1]]
    return torch.autograd.grad(function(*leaves, inputs[-1]).sum(), leaves)


def compiled(function):
    if isinstance(function, partial) and function.func is gradient:
        return partial(gradient, *map(compiled, function.args))
    return torch.compile(function, dynamic=False)


def finish(result) -> None:
    torch.get_device_module(DEVICE).synchronize()


def memory(function, *inputs) -> int:
    """Return the largest sum of the tensors that live at once during a second call."""
    function(*inputs)
    with torch.profiler.profile(profile_memory=True) as record:
        function(*inputs)
    events = [e for e in record.profiler.kineto_results.events() if e.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return max(accumulate(event.nbytes() for event in events), default=0)
