"""Runs the notebooks under nbval against a copy of the package that has a fault."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bookbinder.execution import kernel_environment
from tests.mutants.faults import Fault

SECONDS = 180  # a notebook that takes longer hangs: that is a catch, too


def notebooks_that_use(function: str, source: str, folder: Path) -> list[Path]:
    """Notebooks that take a function from the module, or another one that calls it.

    A chapter that derives the function defines it in a cell of its own: no fault is seen there.
    """
    bodies = {
        part.name: ast.unparse(part)
        for part in ast.parse(source).body
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
    }
    needing, found = set(), {function}
    while found:
        needing |= found
        word = re.compile(rf"\b({'|'.join(needing)})\b")
        found = {name for name in bodies.keys() - needing if word.search(bodies[name])}
    names = "|".join(needing)
    use = re.compile(rf"d2l\.({names})\b|from d2l_attention\.torch import [^\"]*\b({names})\b")
    return [path for path in sorted(folder.glob("*.ipynb")) if use.search(path.read_text())]


def is_caught(fault: Fault, notebooks: list[Path], package: Path, root: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(package, Path(folder, package.name)))
        (copy / "torch.py").write_text(fault.source, encoding="utf-8")
        environment = os.environ | kernel_environment() | {"PYTHONPATH": folder}
        command = [
            *(sys.executable, "-m", "pytest", "-x", "-q", "-c", str(root / "pyproject.toml")),
            *("--nbval", "--nbval-current-env", "--nbval-cell-timeout", "60"),
            *("--nbval-sanitize-with", str(root / "tests" / "sanitize.cfg")),
        ]
        for notebook in notebooks:
            try:
                done = subprocess.run(
                    [*command, str(notebook)],
                    cwd=notebook.parent,
                    env=environment,
                    capture_output=True,
                    timeout=SECONDS,
                )
            except subprocess.TimeoutExpired:
                return True
            if done.returncode:
                return True
    return False


def run(
    faults: list[Fault], jobs: int, root: Path, package: Path, notebooks: Path
) -> dict[Fault, bool]:
    """Return for each fault that a notebook could see whether one catches it."""
    source = (package / "torch.py").read_text(encoding="utf-8")
    used = {f: notebooks_that_use(f.function, source, notebooks) for f in faults}
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = pool.map(lambda f: is_caught(f, used[f], package, root), faults)
        return dict(zip(faults, verdicts, strict=True))
