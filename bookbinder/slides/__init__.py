"""Turn a chapter's notebook into slides: one file that needs no other, and no network.

A slide shows one thing: a cell, an equation, a picture, a list, a table, a box. Above it stand the
two sentences before it, or one, if they are long; all other prose is for the speaker's notes.
"""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_markdown_cell, new_notebook

from bookbinder.book import ENGLISH, Book, BookError, Edition, read_notebook, write_whole
from bookbinder.chapters import NO_SLIDE, fold_of, tags_of
from bookbinder.markdown import CITATION, Line, markdown_lines
from bookbinder.notebook import with_own_pictures

TEMPLATE = Path(__file__).with_name("slides.html.j2")
SCRIPTS = {  # distribution -> its folder of scripts
    "sphinx-revealjs": "sphinx_revealjs/_static/revealjs",
    "sphinx-mathjax-offline": "sphinx-mathjax-offline/static/mathjax",
}
CITATIONS = re.compile(rf"(?:,? ?{CITATION.pattern})+")
LONGEST = 260  # letters of two sentences
TRUE = ({"True"}, {"Array(True,", "dtype=bool)"})  # as frameworks print it
# Its kind (h1, h2, ..., prose, fold, hint, or thing: all else), and Markdown or a cell of code.
Block = tuple[str, NotebookNode]


def write_slides(book: Book, edition: Edition, name: str) -> None:
    """Write the slides of a chapter from its notebook."""
    slides = slides_of(read_notebook(edition.notebook(name)))
    folder = book.root / "_build" / "slides"
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    write_whole(folder / f"{name}.html", html_of(slides, edition))
    print(f"{book.named(folder / name)}.html")


def html_of(slides: NotebookNode, edition: Edition) -> str:
    """Return the HTML of slides, with pictures, styles and scripts in it."""
    from nbconvert.exporters import SlidesExporter  # takes a second to import

    try:
        scripts = [str(metadata.distribution(d).locate_file(SCRIPTS[d])) for d in SCRIPTS]
    except metadata.PackageNotFoundError as missing:
        raise BookError(f"slides need {missing}; `make slides` installs it") from None
    exporter = SlidesExporter(
        extra_template_paths=[str(TEMPLATE.parent), *scripts],
        template_file=TEMPLATE.name,
        embed_images=True,
        exclude_anchor_links=True,
    )
    exporter.config.CSSHTMLHeaderPreprocessor.style = "default"
    # nbconvert takes pictures from below one folder: English notebooks share the one beside theirs.
    folder = edition.notebooks.parent if edition.language == ENGLISH else edition.notebooks
    resources = {"metadata": {"path": str(folder)}, "language": edition.tag}
    return exporter.from_notebook_node(with_own_pictures(slides), resources)[0]


def slides_of(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose cells are slides, in the order of the chapter."""
    cells, heading, prose, begins = [], "", [], True
    notes = markdown("", "notes")
    for kind, cell in lectured(list(blocks_of(notebook))):
        if kind[0] == "h" and kind != "hint":
            tell(notes, prose)
            heading, prose = cell.source, []
            if kind < "h3" and not begins:
                notes, begins = markdown("", "notes"), True
        elif kind != "thing":
            prose.append(cell.source)
        elif heading[:2] == "# " and cells and cells[-1].source[:1] + cell.source[:1] == ">!":
            tell(notes, prose)  # the chapter's question has its picture below it
            cells, prose = [*cells, cell], []
        else:
            lead, *rest = lead_of(prose)
            tell(notes, rest)
            notes = notes if begins else markdown("", "notes")
            above = markdown(f"{heading}\n\n{lead}", "slide" if begins else "subslide")
            cells += [above, notes, cell]
            prose, begins = [], False
    tell(notes, prose)
    title = cells[0].source.splitlines()[0].lstrip("# ")
    return new_notebook(cells=cells, metadata={"title": title})


def tell(notes: NotebookNode, texts: list[str]) -> None:
    """Add texts to what the speaker reads."""
    notes.source = "\n\n".join(filter(None, [notes.source, *texts]))


def blocks_of(notebook: NotebookNode) -> Iterator[Block]:
    """Yield what stands in a notebook, but for cells that have no slide."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from blocks_in(CITATIONS.sub("", cell.source))
        elif on_a_slide := with_what_is_shown(cell):
            yield "thing", on_a_slide


def blocks_in(source: str) -> Iterator[Block]:
    """Yield the blocks of some Markdown; a fold is one, with all that it holds."""
    blocks: list[list[Line]] = []
    for line in markdown_lines(source):
        if blocks and goes_on(blocks[-1], line):
            blocks[-1].append(line)
        elif line.kind and (line.kind != "html" or line.fold):
            blocks.append([line])
    for block in blocks:
        yield kind_of(block[0]), markdown("\n".join(line.text for line in block).strip())


def goes_on(block: list[Line], line: Line) -> bool:
    """Say whether a line belongs to the block above it: a list and a table have many first ones."""
    if line.fold or block[0].fold:
        return line.fold == block[0].fold
    is_inside = line.kind in ("item", "row") or (line.kind == "quote" and block[-1].text)
    return not line.is_first or bool(is_inside and line.kind == block[0].kind)


def kind_of(first: Line) -> str:
    """Return the kind of the block with this first line."""
    if first.fold:
        return "hint" if first.fold == "hint" else "prose"
    is_prose = first.kind == "paragraph" and first.text[:1] != "!"
    return f"h{first.level}" if first.level else "prose" if is_prose else "thing"


def lectured(blocks: list[Block]) -> list[Block]:
    """Return blocks without exercises, which are sections with hints, and without references."""
    starts = [at for at, (kind, _) in enumerate(blocks) if kind in ("h1", "h2")]
    sections = [blocks[i:j] for i, j in zip(starts, [*starts[1:], None], strict=True)]
    opening, *middle = sections if len(sections) == 1 else sections[:-1]
    middle = [s for s in middle if not {"h3", "hint"} <= {kind for kind, _ in s}]
    return [block for section in (opening, *middle) for block in section]


def lead_of(paragraphs: list[str]) -> list[str]:
    """Return what stands above a thing, and then all the rest: a line is a sentence here."""
    if not paragraphs or paragraphs[-1].startswith("<"):
        return ["", *paragraphs]
    *before, last = paragraphs
    lines = last.split("\n")
    plain = [line for line in lines if line[0] not in "(（"]  # those are asides
    lead = plain[-2:] if len("".join(plain[-2:])) <= LONGEST else plain[-1:]
    return ["\n".join(lead), *before, "\n".join(line for line in lines if line not in lead)]


def with_what_is_shown(cell: NotebookNode) -> NotebookNode | None:
    """Return a cell as slides show it, or None for one that has none, like a check."""
    source = "" if fold_of(cell) else cell.source
    texts = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)
    is_check = {*" ".join(texts).split()} in TRUE and "def " not in source
    if NO_SLIDE in tags_of(cell) or is_check or not (source or cell.outputs):
        return None
    shown = {"slideshow": {"slide_type": "-"}, "transient": {"remove_source": not source}}
    return NotebookNode({**cell, "source": source, "metadata": from_dict(shown)})


def markdown(source: str, kind: str = "-") -> NotebookNode:
    return new_markdown_cell(source, metadata=from_dict({"slideshow": {"slide_type": kind}}))
