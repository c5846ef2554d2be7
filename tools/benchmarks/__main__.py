"""Measures attention side by side with d2l and the framework's own; writes RESULTS-<framework>.md.

D2L_FRAMEWORK says in which framework; tools/benchmarks/<framework>.py says how the cases run there.
The memory allocator keeps freed memory, so that no call pays for new pages.
"""

import importlib
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load
from d2l_attention.machine import version_of
from tools.benchmarks.cases import cases

ENVIRONMENT = kernel_environment()
NAME = ENVIRONMENT["D2L_FRAMEWORK"]
FRAMEWORK = load(NAME)
ENVIRONMENT |= FRAMEWORK.CPU_SETTINGS["one-thread"]
ENVIRONMENT |= {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round


def main() -> None:
    if ENVIRONMENT.items() - os.environ.items():  # the allocator reads it when Python starts
        command = [sys.executable, "-m", "tools.benchmarks"]
        os.execve(sys.executable, command, os.environ | ENVIRONMENT)
    side = importlib.import_module(f"tools.benchmarks.{NAME}")
    machine = FRAMEWORK.facts(side.ours.try_gpu())["device"]
    machine += "" if FRAMEWORK.has_gpu() else ", processor time"
    versions = [f"{name} {version_of(name)}" for name in side.PACKAGES]
    lines = [
        f"<!-- Made by `D2L_FRAMEWORK={NAME} python -m tools.benchmarks`, not by hand. -->",
        "# Attention side by side",
        "",
        f"{', '.join([machine, *versions])}, Python {platform.python_version()}. "
        "Lengths are uniform in 1..m, d2l is 1.00, larger is faster.",
        "The spread is half the range between the quartiles.",
        "",
        f"| case | pass | implementation | x d2l | ms | spread | {side.MEMORY} |",
        "|---|---|---|---:|---:|---:|---:|",
        *rows(side),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name(f"RESULTS-{NAME}.md").write_text(text, encoding="utf-8")


def rows(side) -> Iterator[str]:
    """Measure every case as it is written, and compiled."""
    for title, kind, arrays in cases():
        inputs = tuple(map(side.array, arrays))
        written = side.functions(kind, inputs)
        slopes = {name: partial(side.gradient, function) for name, function in written.items()}
        for ending, made in (
            ("", lambda function: function),
            (f", {side.COMPILED}", side.compiled),
        ):
            for way, functions in (("forward", written), ("gradient", slopes)):
                calls = {name: made(function) for name, function in functions.items()}
                print(title, way + ending, sep=": ", file=sys.stderr)
                held = {name: side.memory(call, *inputs) for name, call in calls.items()}
                times = measure({n: partial(f, *inputs) for n, f in calls.items()}, side.finish)
                for name in calls:
                    numbers = *times[name], f"{held[name] / 2**20:.3g}"
                    yield f"| {' | '.join([title, way + ending, name, *numbers])} |"


def measure(functions: dict[str, Callable], finish: Callable) -> dict[str, tuple[str, str, str]]:
    """Return how fast each is beside the first, its milliseconds and their spread.

    All run in turn, round by round, so that a busy machine slows all alike; on a CPU processor
    time counts. `finish` waits for a result.
    """
    clock = time.perf_counter if FRAMEWORK.has_gpu() else time.process_time

    def seconds(function: Callable, times: int) -> float:
        begun = clock()
        for _ in range(times):
            finish(function())
        return (clock() - begun) / times

    times = {}
    for name, function in functions.items():
        finish(function())
        times[name] = max(1, round(SECONDS / max(seconds(function, 1), 1e-6)))
    rounds = [{name: seconds(f, times[name]) for name, f in functions.items()}
              for _ in range(ROUNDS)]  # fmt: skip
    first, measured = next(iter(functions)), {}
    for name in functions:
        low, median, high = statistics.quantiles([r[name] for r in rounds], n=4)
        ratio = statistics.median(r[first] / r[name] for r in rounds)
        spread = (high - low) / 2 / median
        measured[name] = f"{ratio:.2f}", f"{1000 * median:.3g}", f"{spread:.0%}"
    return measured


if __name__ == "__main__":
    main()
