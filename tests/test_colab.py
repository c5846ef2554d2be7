"""Notebooks opened alone: the cell that installs the package."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial

import pytest
from packaging.requirements import Requirement

from bookbinder.binding import read_edition_chapters
from bookbinder.config import read_book
from tests.conftest import TINY, write_files

PROJECT = "name = 'd2l-attention'\nversion = '1'\noptional-dependencies.pytorch = []"
PUBLISHED = {"pyproject.toml": f"[project]\n{PROJECT}\n", "d2l_attention.py": "print('here')"}


@pytest.mark.slow
def test_pip_installs_what_the_cell_asks_where_the_package_is_missing_and_else_is_not_called(tiny):
    repository = tiny / "published"
    write_files(repository, PUBLISHED)
    address = f"file://localhost{repository}".replace(" ", "%20")
    write_files(tiny, {"book.toml": f'repository = "{address}"\n' + TINY["book.toml"]})
    book = read_book(tiny)
    install = read_edition_chapters(book, book.editions[0])[0].notebook.cells[0].source
    Requirement(re.search('book = "(.*)"', install)[1])  # pip is to refuse all else some day
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
