"""Turn an executed chapter into the notebook that readers get."""

import copy
import re
from textwrap import shorten
from unicodedata import east_asian_width

import nbformat
from nbformat import NotebookNode

from bookbinder.book import COMMAND
from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell
from bookbinder.compare import SVG
from bookbinder.language.catalog import worded

DRAW, DRAWN = worded("Draw: {picture}"), worded("Draw: what stands below")
DECIDE = worded("Decide first, then show the output")  # as the button of the site says
LINE = 79  # letters
ANSI = re.compile(r"\x1b\[[\d;]*m")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def published(chapter: Chapter, executed: NotebookNode, command: str = COMMAND) -> NotebookNode:
    """Return the executed notebook with origin, metadata, alt texts and folded code."""
    notebook = copy.deepcopy(executed)
    notebook.metadata = nbformat.from_dict(METADATA)
    first = title_cell(notebook)
    first.source = f"{origin(chapter.file, command)}\n{first.source}"
    for cell in notebook.cells:
        if hidden := hidden_in_lab(cell):
            cell.metadata["jupyter"] = hidden
        if fold_of(cell) == "drawing":
            cell.source = f"{as_comment(what_it_draws(cell))}\n{cell.source}"
        for output in cell.get("outputs", []):
            if SVG in output.get("data", {}):
                output.metadata[SVG] = {"alt": cell.metadata.get("alt", "")}
            if output.output_type == "error":
                output.traceback = without_files(output.traceback)
    return notebook


def hidden_in_lab(cell: NotebookNode) -> dict[str, bool]:
    """Say what JupyterLab folds: code that is not to be read, and what is to be predicted."""
    hidden = {}
    if cell.cell_type == "code" and fold_of(cell):
        hidden["source_hidden"] = True
    if "decide" in tags_of(cell):
        hidden["outputs_hidden"] = True
    return hidden


def covered(notebook: NotebookNode, decide: str = DECIDE) -> NotebookNode:
    """Return a notebook in which JupyterLab shows nothing of the outputs that it hides.

    It shows their first line, so that line is ours: `decide`. Where there is no output, none is
    hidden.
    """
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if "outputs_hidden" in cell.metadata.get("jupyter", {}):
            if cell.outputs:
                shown = {"text/plain": decide}
                cell.outputs.insert(0, nbformat.v4.new_output("display_data", shown))
            else:
                del cell.metadata.jupyter["outputs_hidden"]
    return made


def what_it_draws(cell: NotebookNode) -> str:
    alt = cell.metadata.get("alt", "").replace("。", ". ")
    picture = alt.partition(". ")[0].rstrip(".")
    return DRAW.format(picture=picture) if picture else DRAWN


def width(text: str) -> int:
    return sum(1 + (east_asian_width(letter) in ("W", "F")) for letter in text)  # as Unicode says


def as_comment(text: str) -> str:
    """Return a text as the first line of a cell, which JupyterLab shows of a folded one."""
    line = f"# {text}"
    if width(line) > len(line):  # no gaps at which to cut
        return line if len(line) <= LINE // 2 else f"{line[: LINE // 2 - 4]} ..."
    return shorten(line, LINE, placeholder=" ...")


def without_files(traceback: list[str]) -> list[str]:
    """Return the entries of a traceback but those in files, whose paths are one machine's own."""
    return [entry for entry in traceback if not ANSI.sub("", entry).startswith("File ")]


def origin(file: str, command: str) -> str:
    return f"<!-- Made from {file} by `{command}`: change that file, not this one. -->"


def unexecuted(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without what an execution adds."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return bare
