"""Compare every output of the notebooks as CPUs other than this one would compute it.

`python -m tools.cpus [NAME ...]` runs all settings, or the named ones.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load

ROOT = Path(__file__).resolve().parent.parent
# On this file's folder pytest loads tests/conftest.py, and with it the comparison of pictures.
FRAMEWORK = kernel_environment()["D2L_FRAMEWORK"]
PYTEST = [sys.executable, "-m", "pytest", "tests/conftest.py", f"notebooks/{FRAMEWORK}"]
PYTEST += ["--nbval", "-q"]

SETTINGS = load(FRAMEWORK).CPU_SETTINGS


def different_cells(output: str) -> list[str]:
    """Return "01_name::Cell 3" for each cell that failed, from pytest's own summary."""
    failed = [line.split(" - ")[0] for line in output.splitlines() if line.startswith("FAILED ")]
    return [name.rpartition("/")[2].replace(".ipynb", "") for name in failed]


def main(names: list[str]) -> int:
    """Run the settings, print a line for each and the report of those that fail."""
    if unknown := set(names) - SETTINGS.keys():
        sys.exit(f"no such setting: {', '.join(sorted(unknown))}; there are {', '.join(SETTINGS)}")
    status = 0
    for name in names or SETTINGS:
        begun = time.monotonic()
        environment = os.environ | SETTINGS[name]
        done = subprocess.run(PYTEST, cwd=ROOT, env=environment, capture_output=True, text=True)
        seconds = time.monotonic() - begun
        if done.returncode:
            status = 1
            print(done.stdout, done.stderr, sep="\n")
        cells = ", ".join(different_cells(done.stdout))
        state = f"differs in {cells}" if cells else "failed" if done.returncode else "as stored"
        print(f"{name:14}{seconds:7.1f} s   {state}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
