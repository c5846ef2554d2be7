"""Measures attention side by side with d2l and PyTorch; writes benchmarks/RESULTS.md.

On a CPU everything is measured twice, in processes of their own: as the memory allocator comes,
and "warm", where it keeps freed memory, so that a call does not pay for new pages. Ratios of the
two differ by more than most code does.
"""

import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

import torch

from benchmarks.cases import cases
from benchmarks.measure import copy_bandwidth, measure
from d2l_attention.torch import try_gpu

RESULTS = Path(__file__).with_name("RESULTS.md")
WARM = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
HEAD = ("case", "pass", "implementation", "x d2l", "x d2l, allocator as it comes", "ms", "spread",
        "peak MiB", "share of copy speed")  # fmt: skip


def main() -> None:
    if sys.argv[1:] == ["--rows"]:
        print(json.dumps(rows(try_gpu())))
        return
    device = try_gpu()
    warm = rows_of_a_process(WARM)
    default = rows_of_a_process({}) if device.type == "cpu" else [{}] * len(warm)
    text = report(device, warm, default)
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


def rows_of_a_process(environment: dict[str, str]) -> list[dict]:
    command = [sys.executable, "-m", "benchmarks", "--rows"]
    done = subprocess.run(
        command, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def rows(device: torch.device) -> list[dict]:
    """Measure every case, forward, and forward with backward."""
    torch.set_num_threads(1)
    speed, result = copy_bandwidth(device), []
    for dtype in (torch.float32,) if device.type == "cpu" else (torch.float32, torch.bfloat16):
        for case in cases(device, dtype):
            print(case.title, file=sys.stderr)
            passes = {"forward": case.forward(), "and backward": case.forward_and_backward()}
            for name, functions in passes.items():
                for function, measured in measure(functions, device).items():
                    share = case.bytes_moved / (measured.milliseconds / 1000) / speed
                    title = case.title if dtype == torch.float32 else f"{case.title}, bfloat16"
                    result.append(
                        {"case": title, "pass": name, "function": function, **asdict(measured)}
                        | {"share": share if name == "forward" else 0}
                    )
    return result


def report(device: torch.device, warm: list[dict], default: list[dict]) -> str:
    lines = [
        "<!-- Made by `make benchmark`: run it again, do not change it. -->",
        "# Attention side by side",
        "",
        f"{describe(device)}. Lengths are uniform in 1..m, d2l is 1.00, larger is faster.",
        "Times and spread (half the quartile range) are those of the warm allocator.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---|---|---|" + "---:|" * (len(HEAD) - 3),
    ]
    for a, b in zip(warm, default, strict=True):
        share = f"{a['share']:.0%}" if a["share"] else ""
        numbers = [f"{a['ratio']:.2f}", f"{b['ratio']:.2f}" if b else "",
                   f"{a['milliseconds']:.3g}", f"{a['spread']:.0%}",
                   f"{a['mebibytes']:.3g}", share]  # fmt: skip
        lines.append("| " + " | ".join([a["case"], a["pass"], a["function"], *numbers]) + " |")
    return "\n".join(lines) + "\n"


def describe(device: torch.device) -> str:
    if device.type == "cuda":
        machine = torch.cuda.get_device_name(device)
    else:
        machine = f"{cpu_name()}, one thread, processor time"
    versions = [f"{name} {metadata.version(name)}" for name in ("torch", "d2l")]
    return ", ".join([machine, *versions, f"Python {platform.python_version()}"])


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else []:
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
