"""Compare all outputs as other CPUs would compute them: `python -m tools.cpus [SETTING ...]`."""

import os
import subprocess
import sys

from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import load

FRAMEWORK = kernel_environment()["D2L_FRAMEWORK"]
SETTINGS = load(FRAMEWORK).CPU_SETTINGS
# pytest loads tests/conftest.py, and with it the comparison of pictures, when it is named.
PYTEST = [sys.executable, "-m", "pytest", "tests/conftest.py", f"notebooks/{FRAMEWORK}", "--nbval"]

names = sys.argv[1:] or SETTINGS
if unknown := set(names) - SETTINGS.keys():
    sys.exit(f"no such setting: {', '.join(sorted(unknown))}; there are {', '.join(SETTINGS)}")
failed = []
for name in names:
    print(f"{name}:", flush=True)
    if subprocess.call([*PYTEST, "-q"], env=os.environ | SETTINGS[name]):
        failed.append(name)
sys.exit(f"not as stored: {', '.join(failed)}" if failed else 0)
