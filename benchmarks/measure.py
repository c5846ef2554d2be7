"""Measures functions side by side: time in alternating rounds, whatever they compute with."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round
Functions = dict[str, Callable[[], object]]


@dataclass
class Measured:
    milliseconds: float  # median of the rounds
    spread: float  # half the range between the quartiles, as a share of the median
    ratio: float  # how many times as fast as the first function: median of the rounds


def measure(
    functions: Functions, on_cpu: bool, finish: Callable[[], object] = bool
) -> dict[str, Measured]:
    """Run all functions in turn, round by round, so that a busy machine slows all alike.

    On a CPU processor time counts. `finish` waits for what a function has only begun.
    """
    clock = time.process_time if on_cpu else time.perf_counter

    def seconds(function, times):
        finish()
        begun = clock()
        for _ in range(times):
            function()
        finish()
        return (clock() - begun) / times

    times = {}
    for name, function in functions.items():
        function()
        times[name] = max(1, round(SECONDS / max(seconds(function, 1), 1e-6)))
    rounds = [{name: seconds(f, times[name]) for name, f in functions.items()}
              for _ in range(ROUNDS)]  # fmt: skip
    first = next(iter(functions))
    measured = {}
    for name in functions:
        low, median, high = statistics.quantiles([r[name] for r in rounds], n=4)
        ratio = statistics.median(r[first] / r[name] for r in rounds)
        measured[name] = Measured(1000 * median, (high - low) / 2 / median, ratio)
    return measured
