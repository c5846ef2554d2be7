"""Compare every output of the notebooks as CPUs other than this one would compute it.

`python -m tools.cpus [NAME ...]` runs all settings, or the named ones.
"""

import os
import subprocess
import sys
from pathlib import Path

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load

ROOT = Path(__file__).resolve().parent.parent
# On this file's folder pytest loads tests/conftest.py, and with it the comparison of pictures.
FRAMEWORK = kernel_environment()["D2L_FRAMEWORK"]
PYTEST = [sys.executable, "-m", "pytest", "tests/conftest.py", f"notebooks/{FRAMEWORK}"]
PYTEST += ["--nbval", "-q"]
SETTINGS = load(FRAMEWORK).CPU_SETTINGS


def main(names: list[str]) -> None:
    """Run the notebooks under each setting; exit with the names of those under which they fail."""
    if unknown := set(names) - SETTINGS.keys():
        sys.exit(f"no such setting: {', '.join(sorted(unknown))}; there are {', '.join(SETTINGS)}")
    failed = []
    for name in names or SETTINGS:
        print(f"{name}:", flush=True)
        if subprocess.call(PYTEST, cwd=ROOT, env=os.environ | SETTINGS[name]):
            failed.append(name)
    if failed:
        sys.exit(f"not as stored: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
