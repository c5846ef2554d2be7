"""Runs notebooks, or tests, in processes of their own against a package that has a fault."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bookbinder.config import Edition
from bookbinder.execution import kernel_environment
from tools.mutants.faults import Fault

SECONDS = 600  # a run that takes longer hangs: that is a catch, too


def notebooks_that_use(function: str, edition: Edition) -> list[Path]:
    """Notebooks that take a function from the module, or another one that calls it.

    A chapter that derives the function defines it in a cell of its own: no fault is seen there.
    """
    module = edition.module.stem
    bodies = {
        part.name: ast.unparse(part)
        for part in ast.parse(edition.module.read_text(encoding="utf-8")).body
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
    }
    needing, found = set(), {function}
    while found:
        needing |= found
        word = re.compile(rf"\b({'|'.join(needing)})\b")
        found = {name for name in bodies.keys() - needing if word.search(bodies[name])}
    names = "|".join(needing)
    use = re.compile(rf"d2l\.({names})\b|from d2l_attention\.{module} import [^\"]*\b({names})\b")
    paths = sorted(edition.notebooks.glob("*.ipynb"))
    return [path for path in paths if use.search(path.read_text())]


def is_caught(fault: Fault, edition: Edition, root: Path, tests: list[list[Path]]) -> bool:
    """Return whether one of these groups of tests fails in a copy of the package with a fault."""
    package = edition.module.parent
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(package, Path(folder, package.name)))
        (copy / edition.module.name).write_text(fault.source, encoding="utf-8")
        path = f"{folder}{os.pathsep}{root}"  # the copy first
        environment = os.environ | kernel_environment() | {"PYTHONPATH": path}
        environment |= {"D2L_TEST_PROFILE": "mutants"}  # the first failing example is enough
        command = [
            *(sys.executable, "-m", "pytest", "-x", "-q", "-c", str(root / "pyproject.toml")),
            *("-o", "pythonpath="),
            *("--nbval", "--nbval-current-env", "--nbval-cell-timeout", "60"),
            *("--nbval-sanitize-with", str(root / "tests" / "sanitize.cfg")),
        ]
        for group in tests:
            try:
                done = subprocess.run(
                    [*command, *map(str, group)],
                    cwd=group[0].parent,
                    env=environment,
                    capture_output=True,
                    timeout=SECONDS,
                )
            except subprocess.TimeoutExpired:
                return True
            if done.returncode:
                return True
    return False


def named_first(fault: Fault, tests: list[Path]) -> list[list[Path]]:
    """Return the tests in two groups: the files that name the function, and the others."""
    named = [path for path in tests if fault.function in path.read_text(encoding="utf-8")]
    rest = [path for path in tests if path not in named]
    return [group for group in (named, rest) if group]
