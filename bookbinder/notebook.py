"""The notebook that readers get: with outputs, published, its solutions folded into the prose.

A fold in Markdown is closed in every viewer, so a solution's cells become text in it. They travel
in the metadata of that prose: unfolded, they run and are compared like all others.
"""

import hashlib
import re
from itertools import groupby
from pathlib import Path
from textwrap import shorten

import nbformat
from nbformat import NotebookNode

from bookbinder.book import COMMAND, ENGLISH, Book, Edition, Goal, read_notebook
from bookbinder.chapters import SVG, Chapter, fold_of, tags_of, title_cell
from bookbinder.code import code_cells
from bookbinder.compare import slim
from bookbinder.language.catalog import Language, width, worded
from d2l_attention.frameworks import known, load

MADE_WITH = "made_with"  # in the metadata of a notebook
DECIDE = worded("Decide first, then show the output")  # as the button of the site says
# Where a source, an English notebook and any other one have the pictures, as links say it.
SOURCE, SHARED, OWN = "](../notebooks/figures/", "](../figures/", "](figures/"
LINE = 79  # letters
ANSI = re.compile(r"\x1b\[[\d;]*m")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
KEYS = ABOVE, BELOW, ALONE = "solution_above", "solution_below", "solution"  # in the metadata
FIRST_FOLD = re.compile(r"\A<details>\n<summary>.*</summary>\n\n")  # that of a hint has a class
LAST_FOLD = re.compile(r"(?:\A|\n)<details>\n(?:(?!</?details).)*</details>\Z", re.DOTALL)
END = "</details>"
IN = re.compile(r"(?<=\bIn)( ?\[)(\d+)(?=\])")  # in a traceback


def conditions(book: Book, edition: Edition, chapter: Chapter) -> str:
    """Return a hash of what outputs depend on beside their code: our package, and all versions."""
    package, others = edition.module.parent, set(known()) - {edition.framework}
    foreign = {f"{name}.py" for other in others for name in (other, load(other).PACKAGE)}
    foreign |= {path.name for path in package.rglob("chapter_*.py")}
    foreign -= {f"chapter_{chapter.name[:2]}.py"}  # the exercises of this chapter
    files = sorted(path for path in package.rglob("*.*") if path.suffix in (".py", ".js", ".css"))
    digest = hashlib.sha256()
    for path in [*book.root.glob("constraints.txt"), *files]:
        digest.update(b"" if path.name in foreign else path.read_bytes())
    return digest.hexdigest()[:8]


def code_ids(notebook: NotebookNode) -> list[str]:
    return [cell.id for cell in code_cells(notebook)]


def with_outputs(notebook: NotebookNode, stored: NotebookNode) -> None:
    """Give the code of a notebook the stored outputs, counted as a run counts them."""
    pairs = zip(code_cells(notebook), code_cells(stored), strict=False)
    for at, (cell, old) in enumerate(pairs, 1):
        cell.outputs, cell.execution_count = old.outputs, at
    notebook.metadata |= stored.metadata


def read_bound(path: Path) -> NotebookNode:
    """Return a notebook of the book as it was executed, its solutions as cells."""
    return unfolded(read_notebook(path))


def publish(chapter: Chapter, goal: Goal) -> Chapter:
    """Give an executed notebook its origin, metadata, alt texts, folded code and slim pictures."""
    notebook, figures = chapter.notebook, SHARED if goal.edition.language == ENGLISH else OWN
    notebook.metadata |= nbformat.from_dict(METADATA)
    first = title_cell(notebook)
    origin = f"<!-- Made from {chapter.file} by `{COMMAND}`: change that file, not this one. -->"
    first.source = f"{origin}\n{first.source}"
    for cell in notebook.cells:
        hidden = {"source_hidden": bool(fold_of(cell)), "outputs_hidden": "decide" in tags_of(cell)}
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace(SOURCE, figures)
        elif any(hidden.values()):
            cell.metadata["jupyter"] = {key: True for key, is_so in hidden.items() if is_so}
        if fold_of(cell) == "drawing":
            cell.source = f"{what_it_draws(cell, goal._)}\n{cell.source}"
        for output in cell.get("outputs", []):
            if SVG in output.get("data", {}):
                output.data[SVG] = slim(output.data[SVG])
                output.metadata[SVG] = {"alt": cell.metadata.get("alt", "")}
            if output.output_type == "error":
                calls = output.traceback  # but those in files, whose paths are one machine's own
                output.traceback = [x for x in calls if not ANSI.sub("", x).startswith("File ")]
    return chapter


def what_it_draws(cell: NotebookNode, _: Language) -> str:
    """Return a comment of one line, which JupyterLab shows of a folded cell."""
    alt = cell.metadata.get("alt", "").replace("。", ". ")
    picture = alt.partition(". ")[0].rstrip(".")
    text = _("Draw: {picture}").format(picture=picture) if picture else _("Draw: what stands below")
    line = f"# {text}"
    if width(line) > len(line):  # no gaps at which to cut
        return line if len(line) <= LINE // 2 else f"{line[: LINE // 2 - 4]} ..."
    return shorten(line, LINE, placeholder=" ...")


def covered(notebook: NotebookNode, decide: str = DECIDE) -> NotebookNode:
    """Let JupyterLab show `decide` alone of outputs that it hides; return the notebook."""
    for cell in notebook.cells:
        if "outputs_hidden" in cell.metadata.get("jupyter", {}):
            if cell.outputs:
                line = {"text/plain": decide}
                cell.outputs.insert(0, nbformat.v4.new_output("display_data", line))
            else:  # none is hidden
                del cell.metadata.jupyter["outputs_hidden"]
    return notebook


def without_outputs(notebook: NotebookNode) -> NotebookNode:
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    return notebook


def with_own_pictures(notebook: NotebookNode) -> NotebookNode:
    """Let a notebook lead to pictures beside it, for it goes to another folder, and return it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace(SHARED, OWN)
    return notebook


def fold_solutions(chapter: Chapter, goal: Goal) -> Chapter:
    """Put solutions as text into the fold below their cells, or above them, or one of their own."""
    notebook = chapter.notebook
    groups = [[*group] for _, group in groupby(notebook.cells, lambda c: "solution" in tags_of(c))]
    notebook.cells = []
    for above, cells, below in zip([[], *groups], groups, [*groups[1:], []], strict=False):
        if "solution" not in tags_of(cells[0]):
            notebook.cells += cells
            continue
        text = text_of(cells)
        if below and (fold := FIRST_FOLD.match(below[0].source)):
            below[0].source = f"{fold[0]}{text}{below[0].source[fold.end() :]}"
            below[0].metadata[ABOVE] = cells
        elif above and LAST_FOLD.search(above[-1].source):
            above[-1].source = f"{above[-1].source.removesuffix(END)}\n{text}{END}"
            above[-1].metadata[BELOW] = cells
        else:
            summary = goal._("Solution")
            source = f"<details>\n<summary>{summary}</summary>\n\n{text}{END}"
            fold = nbformat.v4.new_markdown_cell(source, metadata={ALONE: cells})
            fold.id = f"{cells[0].id}-fold"
            notebook.cells.append(fold)
    count(notebook.cells)
    return chapter


def unfolded(notebook: NotebookNode) -> NotebookNode:
    """Give a notebook its solutions as cells again, and return it."""
    cells, notebook.cells = notebook.cells, []
    for cell in cells:
        above, below, alone = (cell.metadata.pop(key, []) for key in KEYS)
        cell.source = cell.source.replace(text_of(above), "", 1)
        cell.source = cell.source.replace(f"\n{text_of(below)}", "", 1) if below else cell.source
        notebook.cells += alone or [*above, cell, *below]
    count(notebook.cells)
    return notebook


def text_of(cells: list[NotebookNode]) -> str:
    """Return cells as Markdown: the code of each, and what it prints; they have no pictures."""
    blocks = []
    for cell in cells:
        blocks.append(f"```python\n{cell.source}\n```")
        said = (
            o.get("text") or o.get("data", {}).get("text/plain", "") + "\n" for o in cell.outputs
        )
        if text := "".join(said).strip("\n"):
            blocks.append(f"```text\n{text}\n```")
    return "".join(f"{block}\n\n" for block in blocks)


def count(cells: list[NotebookNode]) -> None:
    """Count executed cells from 1, in tracebacks, too."""
    executed = [cell for cell in cells if cell.get("execution_count")]
    new = {str(cell.execution_count): str(at) for at, cell in enumerate(executed, 1)}
    for number, cell in enumerate(executed, 1):
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            for at, part in enumerate(output.get("traceback", [])):
                output.traceback[at] = IN.sub(lambda m: m[1] + new.get(m[2], m[2]), part)
