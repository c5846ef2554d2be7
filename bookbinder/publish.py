"""Turn an executed chapter into the notebook that readers get."""

import copy
import re
from textwrap import shorten

import nbformat
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell
from bookbinder.pictures import SVG, pictures_difference
from bookbinder.stored_weights import weights_apart, weights_difference
from bookbinder.words import Say, worded

COMMAND = "make notebooks"
DECIDE = worded("Decide first, then show the output")  # as the button of the site says
LINE = 79  # letters
SENTENCE_END = re.compile(r"\. |。")
FULL_WIDTH = re.compile("[一-鿿가-힣]")  # each as wide as two others
ANSI = re.compile(r"\x1b\[[\d;]*m")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def published(chapter: Chapter, executed: NotebookNode, say: Say = str) -> NotebookNode:
    """Return the executed notebook with origin, metadata, alt texts and folded code."""
    notebook = copy.deepcopy(executed)
    notebook.metadata = nbformat.from_dict(METADATA)
    first = title_cell(notebook)
    first.source = f"{origin(chapter.file)}\n{first.source}"
    for cell in notebook.cells:
        if hidden := hidden_in_lab(cell):
            cell.metadata["jupyter"] = hidden
        if fold_of(cell) == "drawing":
            cell.source = f"{what_it_draws(cell, say)}\n{cell.source}"
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


def covered(notebook: NotebookNode, say: Say = str) -> NotebookNode:
    """Return a notebook in which JupyterLab shows nothing of the outputs that it hides.

    It shows their first line, so that line is ours. Where there is no output, none is hidden.
    """
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if "outputs_hidden" in cell.metadata.get("jupyter", {}):
            if cell.outputs:
                shown = {"text/plain": say(DECIDE)}
                cell.outputs.insert(0, nbformat.v4.new_output("display_data", shown))
            else:
                del cell.metadata.jupyter["outputs_hidden"]
    return made


def what_it_draws(cell: NotebookNode, say: Say = str) -> str:
    """Return a comment for the first line, which JupyterLab shows of a folded cell."""
    picture = SENTENCE_END.split(cell.metadata.get("alt", ""), maxsplit=1)[0].rstrip(".")
    drawn = say("Draw: {picture}").format(picture=picture) if picture else ""
    line = "# " + (drawn or say("Draw: what stands below"))
    if FULL_WIDTH.search(line):  # there are no gaps at which to cut
        return line if len(line) <= LINE // 2 else f"{line[: LINE // 2 - 4]} ..."
    return shorten(line, LINE, placeholder=" ...")


def without_files(traceback: list[str]) -> list[str]:
    """Return the entries of a traceback but those in files, whose paths are one machine's own."""
    return [entry for entry in traceback if not ANSI.sub("", entry).startswith("File ")]


def origin(file: str, command: str = COMMAND) -> str:
    return f"<!-- Made from {file} by `{command}`: change that file, not this one. -->"


def unexecuted(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without what an execution adds."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return bare


def keep_old_ignored(new: NotebookNode, old: NotebookNode) -> None:
    """Take outputs that differ by nature from the old notebook: a re-run changes nothing."""
    ignored = {c.id: c for c in old.cells if "nbval-ignore-output" in tags_of(c)}
    for cell in new.cells:
        if cell.id in ignored and "nbval-ignore-output" in tags_of(cell):
            cell.outputs = ignored[cell.id].outputs


def keep_equal_pictures(new: NotebookNode, old: NotebookNode) -> None:
    """Take the outputs of the old notebook where nothing but digits of a picture differs.

    Another CPU computes the last digits of a picture in another way, and those of the weights that
    a widget holds: a re-run changes nothing.
    """
    stored = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        if cell.id not in stored:
            continue
        new_weights, new_outputs = weights_apart(cell.outputs)
        old_weights, old_outputs = weights_apart(stored[cell.id].outputs)
        new_pictures, new_rest = pictures_apart(new_outputs)
        old_pictures, old_rest = pictures_apart(old_outputs)
        differences = (
            pictures_difference(new_pictures, old_pictures),
            weights_difference(new_weights, old_weights),
        )
        if new_rest == old_rest and not any(differences):
            cell.outputs = stored[cell.id].outputs


def pictures_apart(outputs: list[NotebookNode]) -> tuple[list[str], list[NotebookNode]]:
    """Return the SVG texts of some outputs, and the outputs without these."""
    rest = copy.deepcopy(outputs)
    return [str(o.data.pop(SVG)) for o in rest if SVG in o.get("data", {})], rest
