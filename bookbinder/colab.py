"""Notebooks that are opened without the folder of the book first install what they import."""

import nbformat

from bookbinder.book import ENGLISH, Goal
from bookbinder.chapters import Chapter, name_cells

INSTALL = "install"  # the tag of the cell; no chapter has it
CELL = """\
# Opened alone, as in Colab or Kaggle, the notebook first installs the book.
import importlib.util
import subprocess
import sys

book = "d2l-attention[{framework}] @ git+{repository}"
if importlib.util.find_spec("d2l_attention") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, book], check=True)"""
LANGUAGE = """

# What the book says to you is in the language of this notebook.
import os

os.environ["D2L_LANGUAGE"] = "{language}\""""


def open_alone(chapter: Chapter, goal: Goal) -> Chapter:
    """Put the install cell, which is silent where the package is there, before the first one."""
    if not goal.book.repository:
        return chapter
    source = CELL.format(framework=goal.edition.framework, repository=goal.book.repository)
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": [INSTALL]})
    name_cells(nbformat.v4.new_notebook(cells=[cell]))  # as in English
    if goal.edition.language != ENGLISH:
        cell.source += LANGUAGE.format(language=goal.edition.language)
    chapter.notebook.cells.insert(0, cell)
    chapter.places.insert(0, [f"{chapter.file}:1"])
    return chapter
