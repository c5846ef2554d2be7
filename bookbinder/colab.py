"""Notebooks that are opened without the folder of the book: what they install, and where.

All of it follows from the repository that book.toml names; without one there is nothing.
"""

from dataclasses import replace

import nbformat

from bookbinder.book import PACKAGE, Book, Edition
from bookbinder.chapters import Chapter, name_cells

INSTALL = "install"  # the tag of the cell; no chapter has it
CELL = """\
# Opened alone, as in Colab or Kaggle, the notebook first installs the book.
import importlib.util
import subprocess
import sys

book = "{distribution}[{framework}] @ git+{repository}"
if importlib.util.find_spec("{package}") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, book], check=True)"""
LANGUAGE = """

# What the book says to you is in the language of this notebook.
import os

os.environ["D2L_LANGUAGE"] = "{language}\""""


def open_alone(chapter: Chapter, book: Book, edition: Edition) -> Chapter:
    """Return the chapter with the install cell before its first one, if there is a repository.

    The cell is silent where the package is there. Where it is not, pip adds what is missing and
    leaves what is new enough, so that the framework of Colab or Kaggle, made for its GPU, stays.
    """
    if not book.repository:
        return chapter
    source = CELL.format(
        repository=book.repository,
        package=PACKAGE,
        distribution=PACKAGE.replace("_", "-"),
        framework=edition.framework,
    )
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": [INSTALL]})
    notebook = nbformat.v4.new_notebook(cells=[cell, *chapter.notebook.cells])
    name_cells(notebook)
    return replace(chapter, notebook=notebook, places=[[f"{chapter.file}:1"], *chapter.places])
