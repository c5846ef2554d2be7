"""Measures d2l, this book's functions and PyTorch's own in PyTorch, by the same calls."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.d2l_source import d2l_of
from benchmarks.measure import Functions, Measured, measure
from d2l_attention import torch as ours

d2l = d2l_of("torch.py", torch=torch, nn=nn, math=math, Module=nn.Module)
PACKAGES = ("torch", "d2l")
SMALL, MIDDLE, LARGE = (2, 1, 10), (32, 128, 128), (4, 1024, 2048)
LONG = [(8, 4096, 4096), (2, 16384, 16384)]  # on a GPU
ADDITIVE = [(2, 1, 10, 8), (128, 1, 9, 256), (32, 64, 64, 64), (8, 128, 128, 128)]
ADDITIVE += [(4, 256, 512, 128)]


def gpu_name() -> str:
    """Return the name of the GPU that computes, or nothing."""
    device = ours.try_gpu()
    return torch.cuda.get_device_name(device) if device.type == "cuda" else ""


def rows() -> Iterator[dict]:
    """Measure every case, forward, and forward with backward."""
    torch.set_num_threads(1)
    device = ours.try_gpu()
    speed = copy_bandwidth(device)
    for dtype in (torch.float32,) if device.type == "cpu" else (torch.float32, torch.bfloat16):
        for case in cases(device, dtype):
            title = case.title if dtype == torch.float32 else f"{case.title}, bfloat16"
            for name, functions in case.passes().items():
                peaks = {each: peak(function, device) for each, function in functions.items()}
                for function, measured in measured_on(device, functions).items():
                    share = case.bytes_moved / (measured.milliseconds / 1000) / speed
                    shown = f"{share:.0%}" if share and name == "forward" else ""
                    more = {"peak MiB": f"{peaks[function]:.3g}", "share of copy speed": shown}
                    yield {"titles": (title, name, function), "measured": measured, "more": more}


def measured_on(device: torch.device, functions: Functions) -> dict[str, Measured]:
    def finish():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return measure(functions, device.type == "cpu", finish)


def peak(function: Callable, device: torch.device) -> float:
    """Return the largest sum of the tensors that live at once during a second call, in MiB."""
    function()
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        function()
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20
    with torch.profiler.profile(profile_memory=True) as record:
        function()
    events = [e for e in record.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most / 2**20


def copy_bandwidth(device: torch.device) -> float:
    """Return the bytes read and written per second by a copy of 1 GiB (256 MiB on a CPU)."""
    source = torch.ones(2**28 if device.type == "cuda" else 2**26, device=device)
    target = torch.empty_like(source)
    took = measured_on(device, {"copy": lambda: target.copy_(source)})["copy"].milliseconds
    return 2 * source.nbytes / (took / 1000)


@dataclass
class Case:
    """Functions of the same inputs; the first one is what the others are compared with."""

    title: str
    functions: dict[str, Callable]  # of the inputs
    inputs: list[torch.Tensor]
    parameters: list[torch.Tensor] = field(default_factory=list)
    bytes_moved: int = 0  # the least that must be read and written

    def passes(self) -> dict[str, Functions]:
        leaves = [tensor.detach().requires_grad_() for tensor in self.inputs]

        def forward(function):
            with torch.no_grad():
                return function(*self.inputs)

        def backward(function):
            out = function(*leaves)
            for tensor in leaves + self.parameters:
                tensor.grad = None
            out.backward(torch.ones_like(out))

        return {
            title: {name: partial(call, f) for name, f in self.functions.items()}
            for title, call in (("forward", forward), ("and backward", backward))
        }


class Data:
    """Random inputs on a device; lengths are uniform in 1..m."""

    def __init__(self, device: torch.device, dtype: torch.dtype):
        self.device, self.dtype = device, dtype
        self.generator = torch.Generator().manual_seed(0)

    def normal(self, *shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator).to(self.device, self.dtype)

    def lengths(self, m: int, *shape: int) -> torch.Tensor:
        return torch.randint(1, m + 1, shape, generator=self.generator).to(self.device)


def cases(device: torch.device, dtype: torch.dtype) -> Iterator[Case]:
    data = Data(device, dtype)
    sizes = [SMALL, MIDDLE, LARGE]
    for b, n, m in sizes:
        yield softmax_case(data, (b, n, m), data.lengths(m, b), "(b,)")
        yield softmax_case(data, (b, n, m), data.lengths(m, b, n), "(b, n)")
    for b, n, m in sizes + (LONG if device.type == "cuda" else []):
        yield dot_product_case(data, b, n, m, 2 if (b, n, m) == SMALL else 64)
    for b, n, m, h in ADDITIVE:
        yield additive_case(data, b, n, m, h)
    yield multi_head_case(data, 8, 512, 256, 8)


def compiled(function: Callable) -> Callable:
    """Compile for each size by itself, as for a program whose sizes are known."""
    torch.compiler.reset()  # the programs of the case before
    return torch.compile(function, dynamic=False)


def softmax_case(data: Data, shape, lens, kind: str) -> Case:
    scores = data.normal(*shape)
    return Case(
        f"masked softmax {shape}, lengths {kind}",
        {
            "d2l": lambda X: d2l.masked_softmax(X * 1, lens),  # it overwrites what it is given
            "ours": lambda X: ours.masked_softmax(X * 1, lens),
            "ours, compiled": compiled(lambda X: ours.masked_softmax(X * 1, lens)),
            "no mask": lambda X: (X * 1).softmax(-1),
        },
        [scores],
        bytes_moved=4 * scores.nbytes,
    )


def dot_product_case(data: Data, b: int, n: int, m: int, d: int) -> Case:
    lens = data.lengths(m, b)
    theirs, own = (module.DotProductAttention(0.0).eval() for module in (d2l, ours))

    def fused(queries, keys, values):
        keep = torch.arange(m, device=lens.device) < lens[:, None, None, None]
        heads = (tensor.unsqueeze(1) for tensor in (queries, keys, values))
        return F.scaled_dot_product_attention(*heads, attn_mask=keep).squeeze(1)

    return Case(
        f"dot product {(b, n, m)}, d={d}",
        {
            "d2l": lambda q, k, v: theirs(q, k, v, lens),
            "ours, weights kept": lambda q, k, v: own(q, k, v, lens),
            "ours, compiled": compiled(lambda q, k, v: own(q, k, v, lens)),
            "ours, not kept": lambda q, k, v: own(q, k, v, lens, need_weights=False),
            "PyTorch, fused": fused,
        },
        [data.normal(b, n, d), data.normal(b, m, d), data.normal(b, m, d)],
    )


def additive_case(data: Data, b: int, n: int, m: int, h: int) -> Case:
    inputs = [data.normal(b, n, h), data.normal(b, m, h), data.normal(b, m, h)]
    lens = data.lengths(m, b)
    theirs, own = d2l.AdditiveAttention(h, 0.0), ours.AdditiveAttention(h, 0.0, h, h)
    for layer in (theirs, own):
        layer.to(data.device, data.dtype).eval()(*inputs, lens)
    own.load_state_dict(theirs.state_dict())
    return Case(
        f"additive {(b, n, m)}, h={h}",
        {
            "d2l": lambda q, k, v: theirs(q, k, v, lens),
            "ours": lambda q, k, v: own(q, k, v, lens),
            "ours, compiled": compiled(lambda q, k, v: own(q, k, v, lens)),
        },
        inputs,
        [*theirs.parameters(), *own.parameters()],
    )


def multi_head_case(data: Data, b: int, n: int, width: int, heads: int) -> Case:
    lens, X = data.lengths(n, b), data.normal(b, n, width)
    hidden = torch.arange(n, device=lens.device) >= lens[:, None]
    theirs, with_ours = (d2l.MultiHeadAttention(width, heads, 0.0) for _ in range(2))
    builtin = nn.MultiheadAttention(width, heads, batch_first=True)
    for layer in (theirs, with_ours, builtin):
        layer.to(data.device, data.dtype).eval()
    with_ours.attention = ours.DotProductAttention(0.0).eval()
    for layer in (theirs, with_ours):
        layer(X, X, X, lens)  # makes its lazy parameters

    def pytorch(X, **options):
        return builtin(X, X, X, key_padding_mask=hidden, **options)[0]

    return Case(
        f"multi-head ({b}, {n}, {n}), {heads} heads of {width // heads}",
        {
            "d2l": lambda X: theirs(X, X, X, lens),
            "d2l's with our attention": lambda X: with_ours(X, X, X, lens),
            "PyTorch, weights kept": pytorch,
            "PyTorch, not kept": partial(pytorch, need_weights=False),
        },
        [X],
        [p for layer in (theirs, with_ours, builtin) for p in layer.parameters()],
    )
