"""Turn an executed chapter into the notebook that readers get."""

import copy
import re

import nbformat
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, tags_of, title_cell
from bookbinder.pictures import SVG, pictures_difference
from bookbinder.stored_weights import weights_apart, weights_difference

COMMAND = "make notebooks"
SOLUTION_IN_CODE = "\n\n**Solution in code:**"  # for viewers that do not fold the cell below it
ANSI = re.compile(r"\x1b\[[\d;]*m")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def published(chapter: Chapter, executed: NotebookNode) -> NotebookNode:
    """Return the executed notebook as readers get it: origin, metadata, alt texts, folded code.

    Where nothing is folded, on GitHub for example, a line above a solution says what follows.
    """
    notebook = copy.deepcopy(executed)
    notebook.metadata = nbformat.from_dict(METADATA)
    first = title_cell(notebook)
    first.source = f"{origin(chapter.file)}\n{first.source}"
    for above, cell in zip([first, *notebook.cells], notebook.cells, strict=False):
        if cell.cell_type == "code" and "solution" in tags_of(cell):
            cell.metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
            if above.cell_type == "markdown":
                above.source += SOLUTION_IN_CODE
        elif cell.cell_type == "code" and "drawing" in tags_of(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        for output in cell.get("outputs", []):
            if SVG in output.get("data", {}):
                output.metadata[SVG] = {"alt": cell.metadata.get("alt", "")}
            if output.output_type == "error":
                output.traceback = without_files(output.traceback)
    return notebook


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
