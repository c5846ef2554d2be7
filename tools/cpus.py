"""Compare every output of the notebooks as CPUs other than this one would compute it.

`python -m tools.cpus [NAME ...]` runs all settings, or the named ones.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# On this file's folder pytest loads tests/conftest.py, and with it the comparison of pictures.
FRAMEWORK = os.environ.get("D2L_FRAMEWORK", "pytorch")
PYTEST = [sys.executable, "-m", "pytest", "tests/conftest.py", f"notebooks/{FRAMEWORK}"]
PYTEST += ["--nbval", "-q"]

# Each variable is obeyed by the library that it names and ignored by CPUs that have less.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TWO_THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
ATEN_PLAIN = {"ATEN_CPU_CAPABILITY": "default"}
# MKL obeys the first on Intel's CPUs only; MKL_CBWR chooses a path of MKL on all of them.
SSE4 = {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "DNNL_MAX_CPU_ISA": "SSE41"}
MKL_PLAIN = {"MKL_CBWR": "COMPATIBLE"}
NO_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
NUMPY_PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}

SETTINGS_OF_PYTORCH = {
    "two-threads": TWO_THREADS,
    "one-thread": ONE_THREAD,
    "aten-default": ATEN_PLAIN,
    "aten-avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "mkl-avx2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"},
    "mkl-sse4": SSE4,
    "mkl-plain": MKL_PLAIN,
    "numpy-avx2": NO_AVX512,
    "numpy-plain": NUMPY_PLAIN,
    # make test has one thread in each process: this differs from it in everything
    "plainest": TWO_THREADS | ATEN_PLAIN | SSE4 | MKL_PLAIN | NUMPY_PLAIN,
}
# XLA takes as many threads as NPROC says, and compiles for the instructions that its flag allows.
# AVX is the least that jaxlib runs on: below it, XLA cannot compile float16.
SETTINGS_OF_JAX = {
    "two-threads": TWO_THREADS | {"NPROC": "2"},
    "one-thread": ONE_THREAD | {"NPROC": "1"},
    "xla-avx2": {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"},
    "xla-avx": {"XLA_FLAGS": "--xla_cpu_max_isa=AVX"},
    "numpy-plain": NUMPY_PLAIN,
    "plainest": TWO_THREADS | NUMPY_PLAIN | {"NPROC": "2", "XLA_FLAGS": "--xla_cpu_max_isa=AVX"},
}
SETTINGS = {"pytorch": SETTINGS_OF_PYTORCH, "jax": SETTINGS_OF_JAX}[FRAMEWORK]


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
