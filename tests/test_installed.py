"""What is installed: the wheel, which is the package alone, and what a notebook's cell asks for."""

import os
import shutil
import subprocess
import sys
import zipfile
from functools import partial

import pytest

from bookbinder.book import read_book
from bookbinder.compose import chapters_of
from tests.conftest import ROOT, TINY, write_files

pytestmark = pytest.mark.slow
# A wheel is built from a copy: setuptools takes along whatever an old build has left in build/.
NOT_COPIED = shutil.ignore_patterns(".*", "_build", "build", "*.egg-info", "my-notebooks*")
PROJECT = "name = 'd2l-attention'\nversion = '1'\noptional-dependencies.pytorch = []"
PUBLISHED = {"pyproject.toml": f"[project]\n{PROJECT}\n", "d2l_attention.py": "print('here')"}


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path):
    shutil.copytree(ROOT, tmp_path / "source", ignore=NOT_COPIED)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(tmp_path / "source")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(file) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = [path for path in (ROOT / "d2l_attention").rglob("*") if path.is_file()]
    files = {path.relative_to(ROOT).as_posix() for path in package}
    assert held == {name for name in files if "__pycache__" not in name}


def test_pip_installs_what_the_cell_asks_where_the_package_is_missing_and_else_is_not_called(tiny):
    repository = tiny / "published"
    write_files(repository, PUBLISHED)
    address = f"file://localhost{repository}".replace(" ", "%20")
    write_files(tiny, {"book.toml": f'repository = "{address}"\n' + TINY["book.toml"]})
    book = read_book(tiny)
    install = chapters_of(book, book.editions[0])[0].notebook.cells[0].source
    # Without the packages of the tests, and without a network, what this one needs is there.
    command = [sys.executable, "-S", "-c", f"{install}\nimport d2l_attention"]
    environment = os.environ | {"PYTHONPATH": str(tiny), "PIP_TARGET": str(tiny)}
    environment |= {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    run = partial(subprocess.run, command, capture_output=True, text=True, env=environment)
    assert "CalledProcessError" in run().stderr  # it is no repository yet
    for arguments in ("init --quiet", "add .", "commit --quiet --message=all"):
        author = ["-c", "user.name=a", "-c", "user.email=b"]
        subprocess.run(["git", *author, *arguments.split()], check=True, cwd=repository)
    assert run().stdout == "here\n"
    shutil.rmtree(repository)
    assert run().stdout == "here\n"
