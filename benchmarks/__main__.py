"""Measures attention in PyTorch beside d2l and the framework's own; writes RESULTS-pytorch.md.

The memory allocator keeps freed memory, so that no call pays for new pages. All functions run in
turn, round by round, so that a busy machine slows all alike; on a CPU processor time counts.
"""

import ast
import importlib.util
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from timeit import Timer
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

from bookbinder.execution import kernel_environment
from d2l_attention import torch as ours
from d2l_attention.frameworks import load
from d2l_attention.machine import version_of

FRAMEWORK = load("pytorch")
ENVIRONMENT = kernel_environment("pytorch") | FRAMEWORK.CPU_SETTINGS["one-thread"]
ENVIRONMENT |= {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
DEVICE = ours.try_gpu()
RESULTS = Path(__file__).with_name("RESULTS-pytorch.md")
ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round
SIZES = [(8, 512, 512), (4, 1024, 2048)]
D2L = ("masked_softmax", "DotProductAttention", "AdditiveAttention")


def main() -> None:
    if ENVIRONMENT.items() - os.environ.items():  # the allocator reads it when Python starts
        command = [sys.executable, "-m", "benchmarks"]
        os.execve(sys.executable, command, os.environ | ENVIRONMENT)
    torch.set_default_device(DEVICE)
    torch.set_num_threads(1)
    machine = FRAMEWORK.facts(DEVICE)["device"] + ", processor time" * (DEVICE.type == "cpu")
    versions = [f"{name} {version_of(name)}" for name in ("torch", "d2l")]
    lines = [
        "<!-- Made by `python -m benchmarks`, not by hand. -->",
        "# Attention side by side",
        "",
        f"{', '.join([machine, *versions])}, Python {platform.python_version()}. "
        "Lengths are uniform in 1..m, d2l is 1.00, larger is faster.",
        "The spread is half the range between the quartiles.",
        "",
        "| case | pass | implementation | x d2l | ms | spread | peak MiB |",
        "|---|---|---|---:|---:|---:|---:|",
        *rows(),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


def d2l_functions() -> SimpleNamespace:
    """Return functions and layers of d2l, word for word, without what its module imports."""
    path = Path(importlib.util.find_spec("d2l").origin).with_name("torch.py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in D2L]
    names = {"torch": torch, "nn": nn, "math": math}
    d2l = names["d2l"] = SimpleNamespace(Module=nn.Module)
    exec(compile(tree, path, "exec"), names)
    vars(d2l).update({name: names[name] for name in D2L})
    return d2l


def cases() -> Iterator[tuple[str, tuple, dict[str, Callable]]]:
    """Yield the title of each case, its inputs, of which lengths are last, and its functions."""
    d2l = d2l_functions()
    for b, n, m in SIZES:
        yield (
            f"masked softmax {(b, n, m)}, lengths (b,)",
            inputs(m, (b, n, m)),
            {
                "d2l": lambda x, lens: d2l.masked_softmax(
                    x * 1, lens
                ),  # it overwrites its argument
                "ours": lambda x, lens: ours.masked_softmax(x * 1, lens),
                "no mask": lambda x, _: (x * 1).softmax(-1),
            },
        )
    theirs, own = (module.DotProductAttention(0.0).eval() for module in (d2l, ours))
    layers = {"d2l": theirs, "ours, weights kept": own}
    layers |= {"ours, not kept": partial(own, need_weights=False), "PyTorch, fused": fused}
    for b, n, m in SIZES:
        arrays = inputs(m, (b, n, 64), (b, m, 64), (b, m, 64))
        yield f"dot product {(b, n, m)}, d=64", arrays, layers
    b, n, m, h = 4, 256, 512, 128
    arrays = inputs(m, (b, n, h), (b, m, h), (b, m, h))
    theirs, own = d2l.AdditiveAttention(h, 0.0), ours.AdditiveAttention(h, 0.0, h, h)
    theirs(*arrays)  # makes its parameters
    yield f"additive {(b, n, m)}, h={h}", arrays, {"d2l": theirs.eval(), "ours": own.eval()}


def inputs(m: int, *shapes: tuple[int, ...]) -> tuple:
    torch.manual_seed(0)
    return *map(torch.randn, shapes), torch.randint(1, m + 1, shapes[0][:1])


def fused(queries, keys, values, lens):
    keep = torch.arange(keys.shape[1], device=keys.device) < lens[:, None, None, None]
    heads = (x.unsqueeze(1) for x in (queries, keys, values))
    return F.scaled_dot_product_attention(*heads, attn_mask=keep).squeeze(1)


def gradient(function, *inputs):
    leaves = [x.detach().requires_grad_() for x in inputs[:-1]]
    return torch.autograd.grad(function(*leaves, inputs[-1]).sum(), leaves)


def compiled(function):
    return torch.compile(function, dynamic=False)


def rows() -> Iterator[str]:
    """Measure every case as it is written, and compiled."""
    for title, arrays, written in cases():
        for ending, made in (("", lambda function: function), (", compiled", compiled)):
            functions = {name: made(function) for name, function in written.items()}
            slopes = {name: partial(gradient, function) for name, function in functions.items()}
            for way, calls in (("forward", functions), ("gradient", slopes)):
                print(title, way + ending, sep=": ", file=sys.stderr)
                calls = {name: partial(call, *arrays) for name, call in calls.items()}
                peaks = {name: f"{peak_bytes(call) / 2**20:.3g}" for name, call in calls.items()}
                for name, times in measure(calls).items():
                    yield f"| {' | '.join([title, way + ending, name, *times, peaks[name]])} |"


def measure(calls: dict[str, Callable]) -> dict[str, tuple[str, str, str]]:
    """Return how fast each is beside the first, its milliseconds and their spread."""
    on_gpu = DEVICE.type == "cuda"

    def finished(call: Callable) -> None:
        call()
        if on_gpu:
            torch.cuda.synchronize(DEVICE)

    clock = time.perf_counter if on_gpu else time.process_time
    timers = {name: Timer(partial(finished, call), timer=clock) for name, call in calls.items()}
    times = {n: max(1, round(SECONDS / max(t.timeit(1), 1e-6))) for n, t in timers.items()}
    rounds = [
        {name: timer.timeit(times[name]) / times[name] for name, timer in timers.items()}
        for _ in range(ROUNDS)
    ]
    first, measured = next(iter(calls)), {}
    for name in calls:
        low, median, high = statistics.quantiles([r[name] for r in rounds], n=4)
        ratio = statistics.median(r[first] / r[name] for r in rounds)
        spread = (high - low) / 2 / median
        measured[name] = f"{ratio:.2f}", f"{1000 * median:.3g}", f"{spread:.0%}"
    return measured


def peak_bytes(call: Callable) -> int:
    """Return the largest sum of the tensors that live at once during a second call."""
    call()
    with torch.profiler.profile(profile_memory=True) as record:
        call()
    events = [e for e in record.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


if __name__ == "__main__":
    main()
