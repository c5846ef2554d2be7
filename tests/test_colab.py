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
from bookbinder.chapters import tags_of
from bookbinder.colab import INSTALL
from bookbinder.config import read_book
from tests.conftest import TINY, write_files

PUBLISHED = """
    [build-system]
    requires = ["setuptools"]
    build-backend = "setuptools.build_meta"
    [project]
    name = "d2l-attention"
    version = "1"
    optional-dependencies = { pytorch = [] }
    [tool.setuptools]
    py-modules = ["d2l_attention"]
"""


def first_chapter(root):
    book = read_book(root)
    return read_edition_chapters(book, book.editions[0])[0]


def name_repository(root, repository="https://github.com/someone/some-book"):
    write_files(root, {"book.toml": f'repository = "{repository}"\n' + TINY["book.toml"]})


def test_a_notebook_begins_with_it_and_keeps_the_places_of_its_cells(tiny):
    before = first_chapter(tiny)
    name_repository(tiny)
    after = first_chapter(tiny)
    assert tags_of(after.notebook.cells[0]) == [INSTALL]
    assert after.notebook.cells[1:] == before.notebook.cells
    assert after.places == [["book/00_first.md:1"], *before.places]


@pytest.mark.slow
def test_pip_installs_what_the_cell_asks_where_the_package_is_missing_and_else_is_not_called(tiny):
    repository, installed = tiny / "published", tiny / "python"
    package = {"pyproject.toml": PUBLISHED, "d2l_attention.py": "print('here')"}
    write_files(repository, package | {"../python/empty": ""})
    name_repository(tiny, f"file://localhost{repository}".replace(" ", "%20"))
    install = first_chapter(tiny).notebook.cells[0].source
    Requirement(re.search('book = "(.*)"', install)[1])  # pip is to refuse all else some day
    # Without the packages of the tests, and without a network, what this one needs is there.
    command = [sys.executable, "-S", "-c", f"{install}\nimport d2l_attention"]
    offline = {"NO_INDEX": "1", "NO_BUILD_ISOLATION": "0", "TARGET": str(installed)}
    environment = os.environ | {f"PIP_{name}": value for name, value in offline.items()}
    environment["PYTHONPATH"] = str(installed)
    run = partial(subprocess.run, command, capture_output=True, text=True, env=environment)
    assert "CalledProcessError" in run().stderr  # it is no repository yet
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=b"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *arguments], check=True)
    assert run().stdout == "here\n"
    shutil.rmtree(repository)
    assert run().stdout == "here\n"
