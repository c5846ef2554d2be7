"""Measures functions side by side: time in alternating rounds, and the peak of live memory."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

ROUNDS, SECONDS = 9, 0.05  # rounds, and what one function gets in a round
Functions = dict[str, Callable[[], object]]


@dataclass
class Measured:
    milliseconds: float  # median of the rounds
    spread: float  # half the range between the quartiles, as a share of the median
    ratio: float  # how many times as fast as the first function: median of the rounds
    mebibytes: float  # peak of live memory during one call


def measure(functions: Functions, device: torch.device) -> dict[str, Measured]:
    """Run all functions in turn, round by round, so that a busy machine slows all alike."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter

    def seconds(function, times):
        synchronise(device)
        begun = clock()
        for _ in range(times):
            function()
        synchronise(device)
        return (clock() - begun) / times

    peaks, times = {}, {}
    for name, function in functions.items():
        function()
        peaks[name] = peak(function, device)
        times[name] = max(1, round(SECONDS / max(seconds(function, 1), 1e-6)))
    rounds = [{name: seconds(f, times[name]) for name, f in functions.items()}
              for _ in range(ROUNDS)]  # fmt: skip
    first = next(iter(functions))
    return {
        name: Measured(*middle([r[name] for r in rounds]),
                       statistics.median(r[first] / r[name] for r in rounds), peaks[name])
        for name in functions
    }  # fmt: skip


def middle(seconds: list[float]) -> tuple[float, float]:
    median = statistics.median(seconds)
    low, _, high = statistics.quantiles(seconds, n=4)
    return 1000 * median, (high - low) / 2 / median


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak(function: Callable, device: torch.device) -> float:
    """Return the largest sum of the tensors that live at once during a call, in MiB."""
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
    took = measure({"copy": lambda: target.copy_(source)}, device)["copy"].milliseconds
    return 2 * source.nbytes / (took / 1000)
