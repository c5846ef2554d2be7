"""Notebooks that are opened without the folder of the book: what they install, and where.

All of it follows from the repository that book.toml names; without one there is nothing.
"""

import re
from urllib.parse import quote

import nbformat

from bookbinder.chapters import Chapter, name_cells
from bookbinder.config import PACKAGE, Book, Edition

INSTALL = "install"  # the tag of the cell; no chapter has it
BRANCH = "main"  # of the repository, where readers find the notebooks
GITHUB = re.compile(r"https://(?:www\.)?github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
CELL = """\
# Opened alone, as in Colab or Kaggle, the notebook first installs the book.
import importlib.util
import subprocess
import sys

book = "git+{repository}#egg={distribution}[{framework}]"
if importlib.util.find_spec("{package}") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, book], check=True)"""
LANGUAGE = """

# What the book says to you is in the language of this notebook.
import os

os.environ["D2L_LANGUAGE"] = "{language}\""""


def ready_to_open_alone(chapter: Chapter, book: Book, edition: Edition) -> Chapter:
    """Return the chapter with the install cell before its first one, if there is a repository.

    The cell is silent where the package is there. Where it is not, pip adds what is missing and
    leaves what is new enough, so that the framework of Colab or Kaggle, made for its GPU, stays.
    """
    if not book.repository:
        return chapter
    original = chapter.original and ready_to_open_alone(chapter.original, book, edition)
    source = CELL.format(
        repository=book.repository,
        package=PACKAGE,
        distribution=PACKAGE.replace("_", "-"),
        framework=edition.framework,
    )
    if original:
        source += LANGUAGE.format(language=edition.language)
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": [INSTALL]})
    notebook = nbformat.v4.new_notebook(cells=[cell, *chapter.notebook.cells])
    name_cells(notebook)
    if original:
        for made, english in zip(notebook.cells, original.notebook.cells, strict=True):
            made.id = english.id
    places = [[f"{chapter.file}:1"], *chapter.places]
    return Chapter(chapter.name, chapter.file, notebook, places, original)


def services(repository: str, notebook: str) -> dict[str, str]:
    """Return the services that open a notebook of a repository, each with the address.

    `notebook` is a path in the repository. Colab reads from GitHub only, Binder from the web.
    """
    found = {}
    if github := GITHUB.fullmatch(repository):
        place = f"{github[1]}/blob/{BRANCH}/{quote(notebook)}"
        found["Colab"] = f"https://colab.research.google.com/github/{place}"
    if repository.startswith("https://"):
        place = f"gh/{github[1]}" if github else f"git/{quote(repository, safe='')}"
        path = quote(f"lab/tree/{notebook}", safe="")
        found["Binder"] = f"https://mybinder.org/v2/{place}/{BRANCH}?urlpath={path}"
    return found


def badges(repository: str, notebook: str) -> list[str]:
    """Return the lines of Markdown that show these services as buttons, for the README."""
    pictures = {
        "Colab": "https://colab.research.google.com/assets/colab-badge.svg",
        "Binder": "https://mybinder.org/badge_logo.svg",
    }
    return [
        f"[![Open in {name}]({pictures[name]})]({address})"
        for name, address in services(repository, notebook).items()
    ]
