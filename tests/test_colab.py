"""Notebooks opened alone: the cell that installs the package."""

import os
import subprocess
import sys

from bookbinder.binding import read_edition_chapters
from bookbinder.chapters import tags_of
from bookbinder.colab import INSTALL
from bookbinder.config import read_book
from tests.conftest import TINY, write_files

NAMED = "https://github.com/someone/some-book"


def first_chapter(root):
    book = read_book(root)
    return read_edition_chapters(book, book.editions[0])[0]


def name_repository(root):
    write_files(root, {"book.toml": f'repository = "{NAMED}"\n' + TINY["book.toml"]})


def test_a_notebook_begins_with_it_and_keeps_the_places_of_its_cells(tiny):
    before = first_chapter(tiny)
    name_repository(tiny)
    after = first_chapter(tiny)
    assert tags_of(after.notebook.cells[0]) == [INSTALL]
    assert after.notebook.cells[1:] == before.notebook.cells
    assert after.places == [["book/00_first.md:1"], *before.places]


INSTALLS = """
    import pathlib, sys
    pathlib.Path(__file__).with_name("d2l_attention.py").write_text(f"asked = {sys.argv[1:]}")
"""


def test_the_cell_installs_where_the_package_is_missing_and_is_silent_where_it_is_not(tiny):
    name_repository(tiny)
    install = first_chapter(tiny).notebook.cells[0].source
    notebook = f"{install}\nimport d2l_attention\nprint(*d2l_attention.asked)"
    command = [sys.executable, "-S", "-c", notebook]  # without the packages of the tests
    folder = tiny / "python"
    asked = f"install --quiet git+{NAMED}#egg=d2l-attention[pytorch]\n"
    for pip, failed, printed in (
        ("exit('no network')", 1, ""),
        (INSTALLS, 0, asked),
        ("1/0", 0, asked),
    ):
        write_files(folder, {"pip.py": pip})
        environment = os.environ | {"PYTHONPATH": str(folder)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
        assert (done.returncode, done.stdout) == (failed, printed)
        assert ("no network" in done.stderr) == bool(failed)
