"""Notebooks opened alone: the cell that installs the package, and the buttons of services."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pip
import pytest
from conftest import ROOT, TINY, write_files

from bookbinder.__main__ import main
from bookbinder.binding import notebook_path, read_edition_chapters, stale_files
from bookbinder.chapters import tags_of
from bookbinder.colab import INSTALL, badges, services
from bookbinder.config import read_book
from bookbinder.files import as_text
from bookbinder.lint import problems
from bookbinder.publish import published
from bookbinder.text import Page

NAMED = "https://github.com/someone/some-book"
WITH_EXERCISE = {
    "book/00_first.md": TINY["book/00_first.md"]
    + """
        ## Exercises

        ### Exercise 0.1

        ```python tags=["solution"]
        double(2)
        ```
    """
}
PACKAGE = {  # a package that pip builds without a network: it brings its own way to do so
    "pyproject.toml": """
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["."]
    """,
    "backend.py": """
        import zipfile

        ABOUT = "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1"

        def build_wheel(folder, config_settings=None, metadata_directory=None):
            about = "tiny-1.dist-info"
            with zipfile.ZipFile(f"{folder}/tiny-1-py3-none-any.whl", "w") as wheel:
                wheel.writestr("tiny/__init__.py", "answer = 42")
                wheel.writestr(f"{about}/METADATA", ABOUT)
                wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any")
                wheel.writestr(f"{about}/RECORD", "")
            return "tiny-1-py3-none-any.whl"
    """,
}


def chapters_of(root):
    book = read_book(root)
    return read_edition_chapters(book, book.editions[0])


def name_repository(root, address=NAMED):
    write_files(root, {"book.toml": f'repository = "{address}"\n' + TINY["book.toml"]})


def bind_without_running(root):
    book = read_book(root)
    for chapter in chapters_of(root):
        path = notebook_path(book.editions[0], chapter.name)
        text = as_text(published(chapter, chapter.notebook))
        write_files(root, {book.named(path): text})


def cells_of(path):
    return nbformat.read(path, as_version=4).cells


def test_the_install_cell_comes_first_and_changes_no_other_cell(tiny):
    (before, _), _ = chapters_of(tiny), name_repository(tiny)
    (after, _) = chapters_of(tiny)
    install, *rest = after.notebook.cells
    assert tags_of(install) == [INSTALL]
    assert rest == before.notebook.cells
    assert after.places == [["book/00_first.md:1"], *before.places]
    assert after.where(1) == "book/00_first.md:1"


def test_a_book_with_a_repository_is_bound_with_silent_first_cells(tiny, monkeypatch):
    name_repository(tiny)
    monkeypatch.setenv("PYTHONPATH", str(tiny))  # there, `tiny` is installed
    assert main(["bind", "00_first"]) == 0
    install, title, first, *_ = cells_of(tiny / "notebooks/pytorch/00_first.ipynb")
    assert (install.execution_count, install.outputs) == (1, [])
    assert title.source.startswith("<!-- Made from book/00_first.md by `make notebooks`")
    assert first.execution_count == 2
    book = read_book(tiny)
    assert stale_files(book, book.editions[0]) == ["notebooks/pytorch/01_second.ipynb is missing"]


def test_a_repository_makes_the_notebooks_stale_that_lack_the_cell(tiny):
    bind_without_running(tiny)
    name_repository(tiny)
    book = read_book(tiny)
    stale = stale_files(book, book.editions[0])
    assert "notebooks/pytorch/00_first.ipynb differs from book/00_first.md" in stale


def test_messages_count_the_install_cell_as_the_reader_does(tiny, monkeypatch, capsys):
    name_repository(tiny)
    monkeypatch.setenv("PYTHONPATH", str(tiny))
    path = tiny / "book/00_first.md"
    path.write_text(path.read_text().replace("double(21)", "1 / 0"))
    assert main(["bind", "00_first"]) == 1
    assert "book/00_first.md:13: code cell 3 of 00_first: Zero" in capsys.readouterr().err


def test_the_checks_of_prose_say_the_same_with_the_cell_and_without(tiny):
    found = []
    for address in ("", NAMED):
        name_repository(tiny, address)
        pages = [Page(chapter, chapter.notebook) for chapter in chapters_of(tiny)]
        found.append(problems(pages, tiny))
    assert found[0] == found[1] != []


@pytest.mark.parametrize("arguments", [[], ["--solutions-only"]])
def test_worksheets_install_the_package_and_name_their_origin(tiny, arguments):
    write_files(tiny, WITH_EXERCISE)
    name_repository(tiny)
    bind_without_running(tiny)
    assert main(["worksheets", *arguments]) == 0
    folder = "solutions" if arguments else "worksheets"
    cells = cells_of(tiny / f"_build/{folder}/00_first.ipynb")
    assert [INSTALL in tags_of(cell) for cell in cells].count(True) == 1
    (title,) = (cell.source for cell in cells if "Made from" in cell.source)
    assert title.splitlines()[1].startswith("# 0. First")
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert INSTALL in tags_of(code[0])


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)


def test_the_cell_installs_where_the_package_is_missing_and_is_silent_where_it_is_not(tiny):
    repository = tiny / "a repository"
    write_files(repository, PACKAGE)
    git = ["git", "-C", str(repository), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    run([*git, "init", "--quiet"])
    run([*git, "add", "."])
    run([*git, "commit", "--quiet", "--message", "A package"])
    name_repository(tiny, repository.as_uri())
    install = chapters_of(tiny)[0].notebook.cells[0].source
    run([sys.executable, "-m", "venv", "--without-pip", str(tiny / "empty")])
    (tiny / "pip alone").mkdir()
    (tiny / "pip alone/pip").symlink_to(Path(pip.__file__).parent)
    environment = os.environ | {"PYTHONPATH": str(tiny / "pip alone"), "PIP_NO_INDEX": "1"}

    def opened():
        notebook = f"{install}\nimport tiny\nprint(tiny.answer)"
        return run([tiny / "empty/bin/python", "-c", notebook], env=environment, cwd=repository)

    assert opened().stdout == "42\n"
    (repository / ".git").rename(repository / "gone")
    again = opened()
    assert (again.stdout, again.stderr) == ("42\n", "")


def test_a_cell_that_cannot_install_fails(tiny):
    name_repository(tiny, (tiny / "no repository").as_uri())
    install = chapters_of(tiny)[0].notebook.cells[0].source
    with pytest.raises(subprocess.CalledProcessError, match="pip") as caught:
        run([sys.executable, "-c", install], env=os.environ | {"PIP_NO_INDEX": "1"})
    assert "no%20repository" in caught.value.stderr


NOTEBOOK = "notebooks/pytorch/00_first.ipynb"
COLAB = f"https://colab.research.google.com/github/someone/some-book/blob/main/{NOTEBOOK}"
LAB = "urlpath=lab%2Ftree%2Fnotebooks%2Fpytorch%2F00_first.ipynb"
BINDER = f"https://mybinder.org/v2/gh/someone/some-book/main?{LAB}"


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        (NAMED, {"Colab": COLAB, "Binder": BINDER}),
        (f"{NAMED}/", {"Colab": COLAB, "Binder": BINDER}),
        (f"{NAMED}.git", {"Colab": COLAB, "Binder": BINDER}),
        (
            "https://git.example.org/github.com/book",
            {
                "Binder": "https://mybinder.org/v2/git/"
                f"https%3A%2F%2Fgit.example.org%2Fgithub.com%2Fbook/main?{LAB}"
            },
        ),
        ("file:///home/someone/book", {}),
        ("", {}),
    ],
)
def test_services_open_what_they_can_reach(repository, expected):
    assert services(repository, NOTEBOOK) == expected


def test_badges_are_pictures_with_a_text_that_lead_to_the_service():
    colab, binder = badges(NAMED, NOTEBOOK)
    assert colab.startswith("[![Open in Colab](https://")
    assert colab.endswith(f"]({COLAB})")
    assert binder.endswith(f"]({BINDER})")


def test_the_readme_shows_the_buttons_that_the_repository_allows():
    book = read_book(ROOT)
    first = notebook_path(book.editions[0], book.chapters[0])
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [line for line in readme.splitlines() if line.startswith("[![Open in ")]
    assert shown == badges(book.repository, book.named(first))
