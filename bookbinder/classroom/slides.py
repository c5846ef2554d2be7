"""Turn a chapter's notebook into slides: one file that needs no other, and no network.

A slide shows one thing: a cell, an equation, a picture, a list, a table, a box. Above it stands the
sentence before it; all other prose is for the speaker's notes. Tags and the tree of the Markdown
tell what is what, so this holds in every language.
"""

import ast
import copy
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook, new_output

from bookbinder.binding import notebook_path
from bookbinder.chapters import NO_SLIDE, fold_of, tags_of
from bookbinder.config import Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import read_notebook, write_whole

HERE = Path(__file__).parent
MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
CITATIONS = re.compile(r"(?:,? ?\[\[\d+\]\]\(#[^)]*\))+")
LONGEST_LEAD = 200  # letters; a shorter one has the sentences before it, too
MOST_LINES, PICTURE = 18, 12  # of things that share a slide, and what a picture counts for


@dataclass(frozen=True)
class Block:
    """A block of Markdown, or a cell of code."""

    kind: str  # heading, prose, fold (it opens on a click), thing
    cell: NotebookNode
    level: int = 0  # of a heading


@dataclass
class Slide:
    heading: str
    lead: str
    begins: bool  # a section of the chapter
    things: list[NotebookNode]
    notes: list[str]

    def cells(self) -> Iterator[NotebookNode]:
        """Yield the slide as nbconvert takes it."""
        yield markdown(f"{self.heading}\n\n{self.lead}", "slide" if self.begins else "subslide")
        yield from self.things
        if self.notes:
            yield markdown("\n\n".join(self.notes), "notes")


def write_slides(book: Book, edition: Edition, name: str) -> None:
    """Write the slides of a chapter from its notebook."""
    slides = slides_of(read_notebook(notebook_path(edition, name)))
    folder = book.root / "_build" / "slides"
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    html = page_of(slides, edition)
    write_whole(folder / f"{name}.html", html)
    count = sum(cell.metadata.slideshow.slide_type.endswith("slide") for cell in slides.cells)
    print(f"{book.named(folder / name)}.html: {count} slides, {len(html) / 1e6:.1f} MB")


def slides_of(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose cells are slides, in the order of the chapter."""
    slides: list[Slide] = []
    heading, waiting, notes, begins = "", [], [], True
    for block in lectured(list(blocks_of(notebook))):
        if block.kind == "heading":
            notes += waiting
            heading, waiting = block.cell.source, []
            if block.level < 3 and not begins:
                notes, begins = [], True
        elif block.kind != "thing":
            waiting.append(block.cell.source)
        elif not waiting and slides and has_room(slides[-1], heading, block.cell):
            slides[-1].things.append(block.cell)
        else:
            lead, rest = lead_of(waiting)
            notes += rest
            notes = notes if begins else []
            slides.append(Slide(heading, lead, begins, [block.cell], notes))
            waiting, begins = [], False
    notes += waiting
    return new_notebook(cells=[cell for slide in slides for cell in slide.cells()])


def blocks_of(notebook: NotebookNode) -> Iterator[Block]:
    """Yield what stands in a notebook, but for cells that have no slide."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from blocks_in(cell.source)
        elif shown := on_a_slide(cell):
            yield Block("thing", shown)


def blocks_in(text: str) -> Iterator[Block]:
    """Yield the blocks of some Markdown; what a fold holds is one."""
    text = CITATIONS.sub("", text)
    lines, tokens, fold = text.split("\n"), MARKDOWN.parse(text), []
    for at, token in enumerate(tokens):
        if token.level or not token.map:
            continue
        source = "\n".join(lines[slice(*token.map)]).strip()
        html = source if token.type == "html_block" else ""
        if fold or html.startswith("<details"):
            fold.append(source)
            if html.endswith("</details>"):
                yield Block("fold", markdown("\n\n".join(fold)))
                fold = []
        elif token.type == "heading_open":
            yield Block("heading", markdown(source), int(token.tag[1]))
        elif token.type == "paragraph_open" and not is_picture(tokens[at + 1]):
            yield Block("prose", markdown(source))
        elif not html:
            yield Block("thing", markdown(source))


def is_picture(paragraph) -> bool:
    return [token.type for token in paragraph.children] == ["image"]


def lectured(blocks: list[Block]) -> list[Block]:
    """Return blocks without the exercises, which have hints, and the last section: references."""
    starts = [at for at, block in enumerate(blocks) if 0 < block.level < 3]
    sections = [blocks[i:j] for i, j in zip(starts, [*starts[1:], None], strict=True)]
    kept = sections[:1] + [part for part in sections[1:-1] if not is_exercises(part)]
    return [block for section in kept for block in section]


def is_exercises(section: list[Block]) -> bool:
    """Say whether a section has sections in it, with hints."""
    hints = any(b.cell.source.startswith('<details class="hint">') for b in section)
    return hints and any(block.level > 2 for block in section)


def lead_of(paragraphs: list[str]) -> tuple[str, list[str]]:
    """Return the last sentence before a thing, with those before it that fit, and all the rest.

    A line is a sentence in this book.
    """
    if not paragraphs or paragraphs[-1].startswith("<"):
        return "", paragraphs
    *before, last = paragraphs
    lines = last.split("\n")
    at = len(lines) - 1
    while at and width_of(" ".join(lines[at - 1 :])) <= LONGEST_LEAD:
        at -= 1
    return "\n".join(lines[at:]), [*before, "\n".join(lines[:at])] if at else before


def width_of(text: str) -> int:
    """Return how many letters wide a text is; a Han letter is as wide as two others."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def has_room(slide: Slide, heading: str, thing: NotebookNode) -> bool:
    """Say whether a thing that follows without a word has room on the slide before."""
    return slide.heading == heading and sum(map(lines_of, [*slide.things, thing])) <= MOST_LINES


def lines_of(thing: NotebookNode) -> int:
    outputs = thing.get("outputs", [])
    texts = [thing.source, *(output.get("text", "") for output in outputs)]
    pictures = thing.source.startswith("![") + sum("data" in output for output in outputs)
    return sum(len(text.splitlines()) for text in texts) + PICTURE * pictures


def on_a_slide(cell: NotebookNode) -> NotebookNode | None:
    """Return a cell as slides show it: its code, unless it is folded, and what it shows."""
    shown = copy.deepcopy(cell)
    shown.source = "" if fold_of(cell) else without_docstrings(cell.source)
    shown.outputs = [closer(output) for output in shown.outputs]
    shown.metadata = NotebookNode(slideshow=NotebookNode(slide_type="-"))
    shown.metadata.transient = {"remove_source": not shown.source}
    has_none = NO_SLIDE in tags_of(cell) or is_check(shown) or not (shown.source or shown.outputs)
    return None if has_none else shown


def is_check(cell: NotebookNode) -> bool:
    """Say whether a cell only says that something is true."""
    words = [word for output in cell.outputs for word in text_of(output).split()]
    return {*words} == {"True"} and not definitions(cell.source)


def text_of(output: NotebookNode) -> str:
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def closer(output: NotebookNode) -> NotebookNode:
    """Return text without blank lines, and an error as its message: its line stands above."""
    if output.output_type == "error":
        return new_output("stream", name="stderr", text=f"{output.ename}: {output.evalue}")
    for texts, key in ((output, "text"), (output.get("data", {}), "text/plain")):
        if key in texts:
            texts[key] = "\n".join(line for line in texts[key].splitlines() if line.strip())
    return output


def without_docstrings(source: str) -> str:
    """Return code without docstrings and marks of what is saved."""
    lines = [line.partition("#@save")[0].rstrip() for line in source.split("\n")]
    for node in definitions(source):
        first, *rest = node.body
        if rest and ast.get_docstring(node) is not None:
            blank = not lines[first.end_lineno].strip()
            lines[first.lineno - 1 : first.end_lineno + blank] = []
    return "\n".join(lines).strip("\n").replace("\n\n\n", "\n\n")


def definitions(source: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """Return all functions and classes, the last one first; none where code has a magic."""
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:
        return []
    found = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return sorted(found, key=lambda node: -node.lineno)


def markdown(source: str, kind: str = "-") -> NotebookNode:
    slideshow = NotebookNode(slide_type=kind)
    return new_markdown_cell(source, metadata=NotebookNode(slideshow=slideshow))


def page_of(slides: NotebookNode, edition: Edition) -> str:
    """Return the HTML of slides, with pictures, styles and scripts in it."""
    from nbconvert.exporters import SlidesExporter  # takes a second to import
    from pygments.formatters import HtmlFormatter

    exporter = SlidesExporter(
        template_file=str(HERE / "slides.html.j2"),
        embed_images=True,
        exclude_anchor_links=True,
        language_code=edition.tag,
    )
    styles = [
        f"@layer reveal {{{packaged('sphinx-revealjs', 'dist/reveal.css')}}}",  # ours win
        HtmlFormatter().get_style_defs(".highlight"),
        (HERE / "slides.css").read_text(encoding="utf-8"),
    ]
    scripts = [
        packaged("sphinx-revealjs", "dist/reveal.js"),
        packaged("sphinx-revealjs", "plugin/notes/notes.js"),
        (HERE / "slides.js").read_text(encoding="utf-8"),
        packaged("sphinx-mathjax-offline", "tex-svg-full.js"),  # typesets when it is read
    ]
    resources = {
        "metadata": {"path": str(edition.notebooks)},
        "title": slides.cells[0].source.splitlines()[0].lstrip("# "),
        "style": "\n".join(styles),
        "scripts": [script.replace("</script", r"<\/script") for script in scripts],
    }
    return exporter.from_notebook_node(slides, resources)[0]


def packaged(distribution: str, end: str) -> str:
    """Return the text of a file in an installed distribution, by the end of its name."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        raise BookError(f"slides need {distribution}; `make slides` installs it") from None
    file = next(file for file in files if file.as_posix().endswith(end))
    return file.read_text(encoding="utf-8")
