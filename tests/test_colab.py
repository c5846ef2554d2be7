"""Notebooks opened alone: the cell that installs the package, and the buttons of services."""

import os
import subprocess
import sys

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.binding import notebook_path, read_edition_chapters, stale_files
from bookbinder.chapters import tags_of
from bookbinder.colab import INSTALL, services
from bookbinder.config import read_book
from tests.conftest import ROOT, TINY, write_files

NAMED = "https://github.com/someone/some-book"
NOTEBOOK = "notebooks/pytorch/00_first.ipynb"
EXERCISE = """
## Exercises

### Exercise 0.1

```python tags=["solution"]
double(2)
```

## Summary

It doubles.

## References

1. Its author.
"""


def first_chapter(root):
    book = read_book(root)
    return read_edition_chapters(book, book.editions[0])[0]


def name_repository(root):
    write_files(root, {"book.toml": f'repository = "{NAMED}"\n' + TINY["book.toml"]})


@pytest.mark.usefixtures("in_shared_kernel")
def test_notebooks_and_worksheets_begin_with_it_silently(tiny, capsys):
    write_files(tiny, {"book/01_second.md": "# 1. Second\n"})
    assert main(["bind"]) == 0
    before = first_chapter(tiny)
    name_repository(tiny)
    after = first_chapter(tiny)
    assert after.notebook.cells[1:] == before.notebook.cells
    assert after.places == [["book/00_first.md:1"], *before.places]
    path = tiny / "book/00_first.md"
    path.write_text(path.read_text() + EXERCISE)
    book = read_book(tiny)
    assert f"{NOTEBOOK} differs from book/00_first.md" in stale_files(book, book.editions[0])
    for command in (["bind"], ["worksheets"], ["worksheets", "--solutions-only"]):
        assert main(command) == 0
    for file in (NOTEBOOK, "_build/worksheets/00_first.ipynb", "_build/solutions/00_first.ipynb"):
        cells = nbformat.read(tiny / file, as_version=4).cells
        install = next(cell for cell in cells if cell.cell_type == "code")
        assert (tags_of(install), install.outputs) == ([INSTALL], [])
        (title,) = (cell.source for cell in cells if "Made from" in cell.source)
        assert title.splitlines()[1].startswith("# 0. First")
    path.write_text(path.read_text().replace("double(21)", "1 / 0"))
    assert main(["bind", "00_first"]) == 1
    assert "book/00_first.md:13: code cell 3 of 00_first: Zero" in capsys.readouterr().err


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


COLAB = f"https://colab.research.google.com/github/someone/some-book/blob/main/{NOTEBOOK}"
LAB = "urlpath=lab%2Ftree%2Fnotebooks%2Fpytorch%2F00_first.ipynb"
BOTH = {"Colab": COLAB, "Binder": f"https://mybinder.org/v2/gh/someone/some-book/main?{LAB}"}
ELSEWHERE = "git/https%3A%2F%2Fgit.example.org%2Fgithub.com%2Fbook/main"


def test_services_open_what_they_can_reach():
    for end in ("", "/", ".git"):
        assert services(f"{NAMED}{end}", NOTEBOOK) == BOTH
    elsewhere = {"Binder": f"https://mybinder.org/v2/{ELSEWHERE}?{LAB}"}
    assert services("https://git.example.org/github.com/book", NOTEBOOK) == elsewhere
    assert services("file:///home/someone/book", NOTEBOOK) == services("", NOTEBOOK) == {}


def test_the_readme_shows_the_buttons_that_the_repository_allows():
    book = read_book(ROOT)
    first = notebook_path(book.editions[0], book.chapters[0])
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    addresses = services(book.repository, book.named(first)).values()
    assert [address for address in addresses if address not in readme] == []
