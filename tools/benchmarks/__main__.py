"""Measure attention beside d2l and the framework's own in D2L_FRAMEWORK; write RESULTS-*.md."""

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from timeit import timeit

import numpy as np

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load
from d2l_attention.machine import environment_report

ENVIRONMENT = kernel_environment()
NAME = ENVIRONMENT["D2L_FRAMEWORK"]
ENVIRONMENT |= load(NAME).CPU_SETTINGS["one-thread"]
# The allocator keeps freed memory, so that no call pays for new pages.
ENVIRONMENT |= {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
if ENVIRONMENT.items() - os.environ.items():  # the allocator reads it when Python starts
    os.execve(sys.executable, [sys.executable, "-m", __package__], os.environ | ENVIRONMENT)
SIDE = importlib.import_module(f"tools.benchmarks.{NAME}")
KINDS, SIZES = {"masked softmax": 0, "dot product": 64}, ((8, 512, 512), (4, 1024, 2048))
CASES = [(kind, *sizes, d) for kind, d in KINDS.items() for sizes in SIZES]  # b, n, m and d
CASES.append(("additive", 4, 256, 512, 128))
ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round
CLOCK = time.perf_counter if load(NAME).has_gpu() else time.process_time
HEAD = f"""\
<!-- Made by `D2L_FRAMEWORK={NAME} python -m tools.benchmarks`, not by hand. -->
# Attention side by side

```text
{environment_report(SIDE.ours.try_gpu())}
```
The clock is `{CLOCK.__name__}`. Lengths are uniform in 1..m, d2l 1.0.3 is 1.00, larger is faster.
The spread is half the range between the quartiles.

| case | pass | implementation | x d2l | ms | spread | {SIDE.MEMORY} |
|---|---|---|---:|---:|---:|---:|
"""


def rows() -> Iterator[tuple[str, ...]]:
    """Measure every case as it is written, and compiled."""
    rng = np.random.default_rng(0)
    for kind, b, n, m, d in CASES:
        shapes = [(b, n, d), (b, m, d), (b, m, d)] if d else [(b, n, m)]
        arrays = [rng.normal(size=shape).astype("float32") for shape in shapes]
        arrays.append(rng.integers(1, m + 1, b).astype("int32"))  # lengths
        inputs = tuple(map(SIDE.array, arrays))
        names, plain = zip(*SIDE.functions(kind, inputs).items(), strict=True)
        title = f"{kind} {(b, n, m)}" + (f", d={d}" if d else "")
        for ending, way in product(("", f", {SIDE.COMPILED}"), ("forward", "gradient")):
            print(title, way + ending, sep=": ", file=sys.stderr)
            calls = [partial(SIDE.gradient, f) for f in plain] if way == "gradient" else plain
            if ending:
                calls = [*map(SIDE.compiled, calls)]
            memory = [f"{SIDE.memory(call, *inputs) / 2**20:.3g}" for call in calls]
            times = measure([partial(call, *inputs) for call in calls])
            for name, held, measured in zip(names, memory, times, strict=True):
                yield title, way + ending, name, *measured, held


def measure(functions: list[Callable]) -> Iterator[tuple[str, str, str]]:
    """Yield speeds beside the first, milliseconds, spreads; a busy machine slows all alike."""

    def seconds(function: Callable, times: int = 1) -> float:
        return timeit(lambda: SIDE.finish(function()), timer=CLOCK, number=times) / times

    second = [(seconds(function), seconds(function))[1] for function in functions]
    times = [max(1, round(SECONDS / max(one, 1e-6))) for one in second]
    rounds = [[*map(seconds, functions, times)] for _ in range(ROUNDS)]
    for of_one in zip(*rounds, strict=True):
        low, middle, high = quantiles(of_one, n=4)
        ratio = median(first / own for (first, *_), own in zip(rounds, of_one, strict=True))
        yield f"{ratio:.2f}", f"{1000 * middle:.3g}", f"{(high - low) / 2 / middle:.0%}"


text = HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows())
Path(__file__).with_name(f"RESULTS-{NAME}.md").write_text(text, encoding="utf-8")
