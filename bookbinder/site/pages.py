"""Turn a notebook of the book into one for Sphinx, line by line, so that messages keep lines."""

import re
from collections.abc import Container
from html import escape

import nbformat
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell
from bookbinder.colab import INSTALL
from bookbinder.page import CITATION, REFERENCE, TAG
from bookbinder.publish import ANSI
from bookbinder.solutions import is_solution, with_folds
from bookbinder.steps import with_pages
from bookbinder.words import Say, worded

ORIGIN = re.compile(r"\A<!-- Made from .*? -->(?=\n)")
FOLDED = {  # what is folded -> text on the closed fold, and on the open one
    "imports": (worded("Show the imports"), worded("Hide the imports")),
    "drawing": (worded("Show the code"), worded("Hide the code")),
    "validation": (worded("Show the code"), worded("Hide the code")),
}
FRAME = re.compile(r"(?:Cell )?In ?\[\d+\]|File ")
RULE = re.compile(r"-{20,}")
CALLS = '<details class="calls"><summary>{summary}</summary>\n<pre>{calls}</pre></details>'


def site_notebook(
    notebook: NotebookNode,
    listed: Container[str] = (),
    folders: dict[str, str] | None = None,
    say: Say = str,
) -> NotebookNode:
    """Return a copy without origin comment, with folds, alt texts and links to references.

    `listed` are the lines of the list of references; `folders` says where the pages of other
    editions are.
    """
    page = with_folds(notebook, say)
    title = title_cell(page)
    title.source = ORIGIN.sub("", title.source)
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.metadata = NotebookNode()
            cell.source = with_pages(site_markdown(cell.source, listed), folders or {})
        elif cell.cell_type == "code":
            cell.metadata = site_metadata(cell, say)
            cell.outputs = [p for output in cell.outputs for p in with_calls_folded(output, say)]
    return page


def with_calls_folded(output: NotebookNode, say: Say = str) -> list[NotebookNode]:
    """Return an error as the line that raised it and its message, below a fold of earlier calls."""
    if output.output_type != "error":
        return [output]
    plain = [ANSI.sub("", part) for part in output.traceback]
    frames = [at for at, part in enumerate(plain) if FRAME.match(part)]
    kept = [
        part
        for at, part in enumerate(output.traceback)
        if at not in frames[:-1] and not RULE.fullmatch(plain[at].strip())
    ]
    shown = [NotebookNode({**output, "traceback": kept})]
    if calls := [plain[at] for at in frames[:-1]]:
        one, more = say("The call that led here"), say("The calls that led here")
        summary = one if len(calls) == 1 else more
        html = CALLS.format(summary=summary, calls=escape("\n\n".join(calls)))
        shown.insert(0, nbformat.v4.new_output("display_data", {"text/html": html}))
    return shown


def site_metadata(cell: NotebookNode, say: Say = str) -> NotebookNode:
    """Return the metadata that myst-nb needs: folds, and the alt text of pictures."""
    if INSTALL in tags_of(cell) or is_solution(cell):
        return NotebookNode(tags=["remove-cell"])  # a page installs nothing; folds have solutions
    made = NotebookNode(tags=list(tags_of(cell)), mystnb=NotebookNode())
    if texts := FOLDED.get(fold_of(cell)):
        made.tags.append("hide-input")
        prompts = ("code_prompt_show", "code_prompt_hide")
        made.mystnb.update(zip(prompts, map(say, texts), strict=True))
    alts = [
        alt
        for output in cell.outputs
        if (alt := output.get("metadata", {}).get("image/svg+xml", {}).get("alt"))
    ]
    if alts:
        made.mystnb.image = NotebookNode(alt=alts[0])
    return made


def site_markdown(source: str, listed: Container[str]) -> str:
    """Return a cell with citations linked to their reference."""
    lines = [
        REFERENCE.sub(r"\1. []{#reference-\1}", line) if line in listed else line
        for line in source.split("\n")
    ]
    return CITATION.sub(r"[[\1]](#reference-\1)", "\n".join(lines))


def source_line(chapter: Chapter, index: int, line: int) -> str:
    """Say where in the book stands what myst-nb calls `line`, which is one too many."""
    cells = chapter.notebook.cells
    before = 1 if cells[index] is title_cell(chapter.notebook) else 0  # the origin comment
    return chapter.where(index, max(line - 2 - before, 0))


def equations(chapters: list[Chapter]) -> dict[str, str]:
    """Return the number of every equation with the name of its chapter."""
    return {
        number: chapter.name
        for chapter in chapters
        for cell in chapter.notebook.cells
        if cell.cell_type == "markdown"
        for number in TAG.findall(cell.source)
    }
