"""Measures attention side by side with d2l and the framework's own; writes RESULTS-<framework>.md.

D2L_FRAMEWORK says in which framework; tools/benchmarks/<framework>.py says how the cases run there.
"""

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from timeit import timeit

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load
from d2l_attention.machine import environment_report
from tools.benchmarks import cases

ENVIRONMENT = kernel_environment()
NAME = ENVIRONMENT["D2L_FRAMEWORK"]
ENVIRONMENT |= load(NAME).CPU_SETTINGS["one-thread"]
# The allocator keeps freed memory, so that no call pays for new pages.
ENVIRONMENT |= {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round
CLOCK = time.perf_counter if load(NAME).has_gpu() else time.process_time
RESULTS = """\
<!-- Made by `D2L_FRAMEWORK={name} python -m tools.benchmarks`, not by hand. -->
# Attention side by side

```text
{report}
```
The clock is `{clock}`. Lengths are uniform in 1..m, d2l 1.0.3 is 1.00, larger is faster.
The spread is half the range between the quartiles.

| case | pass | implementation | x d2l | ms | spread | {memory} |
|---|---|---|---:|---:|---:|---:|
"""


def main() -> None:
    if ENVIRONMENT.items() - os.environ.items():  # the allocator reads it when Python starts
        command = [sys.executable, "-m", "tools.benchmarks"]
        os.execve(sys.executable, command, os.environ | ENVIRONMENT)
    side = importlib.import_module(f"tools.benchmarks.{NAME}")
    report, clock = environment_report(side.ours.try_gpu()), CLOCK.__name__
    text = RESULTS.format(name=NAME, report=report, clock=clock, memory=side.MEMORY)
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows(side))
    print(text)
    Path(__file__).with_name(f"RESULTS-{NAME}.md").write_text(text, encoding="utf-8")


def rows(side) -> Iterator[tuple[str, ...]]:
    """Measure every case as it is written, and compiled."""
    for title, kind, arrays in cases():
        inputs = tuple(map(side.array, arrays))
        functions = side.functions(kind, inputs)
        for ending, way in product(("", f", {side.COMPILED}"), ("forward", "gradient")):
            print(title, way + ending, sep=": ", file=sys.stderr)
            calls = dict(functions)
            if way == "gradient":
                calls = {name: partial(side.gradient, call) for name, call in calls.items()}
            if ending:
                calls = {name: side.compiled(call) for name, call in calls.items()}
            memory = {name: side.memory(call, *inputs) for name, call in calls.items()}
            times = measure({n: partial(call, *inputs) for n, call in calls.items()}, side.finish)
            for name in calls:
                yield title, way + ending, name, *times[name], f"{memory[name] / 2**20:.3g}"


def measure(functions: dict[str, Callable], finish: Callable) -> dict[str, tuple[str, str, str]]:
    """Return how fast each is beside the first, its milliseconds and their spread.

    All run in turn, round by round, so that a busy machine slows all alike; `finish` waits for a
    result.
    """

    def seconds(function: Callable, times: int) -> float:
        return timeit(lambda: finish(function()), timer=CLOCK, number=times) / times

    times = {}
    for name, function in functions.items():
        finish(function())
        times[name] = max(1, round(SECONDS / max(seconds(function, 1), 1e-6)))
    rounds = [{n: seconds(f, times[n]) for n, f in functions.items()} for _ in range(ROUNDS)]
    first, measured = next(iter(functions)), {}
    for name in functions:
        low, median, high = statistics.quantiles([r[name] for r in rounds], n=4)
        ratio = statistics.median(r[first] / r[name] for r in rounds)
        measured[name] = f"{ratio:.2f}", f"{1000 * median:.3g}", f"{(high - low) / 2 / median:.0%}"
    return measured


if __name__ == "__main__":
    main()
