"""Measures d2l, this book's functions and PyTorch's own in PyTorch."""

from collections.abc import Callable, Iterator

import torch

from benchmarks.measure import Functions, Measured, measure
from benchmarks.pytorch_cases import cases
from d2l_attention.torch import try_gpu

PACKAGES = ("torch", "d2l")


def gpu_name() -> str:
    """Return the name of the GPU that computes, or nothing."""
    device = try_gpu()
    return torch.cuda.get_device_name(device) if device.type == "cuda" else ""


def rows() -> Iterator[dict]:
    """Measure every case, forward, and forward with backward."""
    torch.set_num_threads(1)
    device = try_gpu()
    speed = copy_bandwidth(device)
    for dtype in (torch.float32,) if device.type == "cpu" else (torch.float32, torch.bfloat16):
        for case in cases(device, dtype):
            title = case.title if dtype == torch.float32 else f"{case.title}, bfloat16"
            passes = {"forward": case.forward(), "and backward": case.forward_and_backward()}
            for name, functions in passes.items():
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
