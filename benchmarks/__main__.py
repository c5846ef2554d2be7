"""Measures attention side by side with d2l and the framework's own; writes RESULTS-<framework>.md.

D2L_FRAMEWORK says in which framework; benchmarks/<framework>.py has the cases.
On a CPU everything is measured twice, in processes of their own: as the memory allocator comes,
and "warm", where it keeps freed memory, so that a call does not pay for new pages. Ratios of the
two differ by more than most code does.
"""

import importlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load
from d2l_attention.machine import version_of

ENVIRONMENT = kernel_environment()
FRAMEWORK = ENVIRONMENT["D2L_FRAMEWORK"]
ENVIRONMENT |= load(FRAMEWORK).CPU_SETTINGS["one-thread"]
WARM = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000"}
HEAD = ("case", "pass", "implementation", "x d2l", "x d2l, allocator as it comes", "ms", "spread")


def main() -> None:
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measured()))
        return
    warm = measured_in_a_process(WARM)
    default = {} if warm["gpu"] else measured_in_a_process({})
    text = report(warm, default)
    print(text)
    Path(__file__).with_name(f"RESULTS-{FRAMEWORK}.md").write_text(text, encoding="utf-8")


def measured_in_a_process(environment: dict[str, str]) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--measure"],
        env=os.environ | ENVIRONMENT | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def measured() -> dict:
    """Measure all cases of the framework here, in this process."""
    side, rows = importlib.import_module(f"benchmarks.{FRAMEWORK}"), []
    for row in side.rows():
        print(*row["titles"], sep=": ", file=sys.stderr)
        rows.append(row | {"measured": asdict(row["measured"])})
    return {"gpu": side.gpu_name(), "packages": side.PACKAGES, "rows": rows}


def report(warm: dict, default: dict) -> str:
    head = [*HEAD, *warm["rows"][0]["more"]]
    versions = [f"{name} {version_of(name)}" for name in warm["packages"]]
    machine = warm["gpu"] or f"{cpu_name()}, one thread, processor time"
    lines = [
        f"<!-- Made by `D2L_FRAMEWORK={FRAMEWORK} python -m benchmarks`, not by hand. -->",
        "# Attention side by side",
        "",
        f"{', '.join([machine, *versions])}, Python {platform.python_version()}. "
        "Lengths are uniform in 1..m, d2l (or the first) is 1.00, larger is faster.",
        "Times and spread (half the quartile range) are those of the warm allocator.",
        "",
        "| " + " | ".join(head) + " |",
        "|---|---|---|" + "---:|" * (len(head) - 3),
    ]
    others = default.get("rows") or [None] * len(warm["rows"])
    for row, other in zip(warm["rows"], others, strict=True):
        took = row["measured"]
        numbers = [
            f"{took['ratio']:.2f}",
            f"{other['measured']['ratio']:.2f}" if other else "",
            f"{took['milliseconds']:.3g}",
            f"{took['spread']:.0%}",
        ]
        lines.append("| " + " | ".join([*row["titles"], *numbers, *row["more"].values()]) + " |")
    return "\n".join(lines) + "\n"


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else []:
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
