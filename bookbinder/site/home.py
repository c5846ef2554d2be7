"""Compose the home page: a trained layer, where to begin or go on, the chapters."""

import json
import re
from html import escape, unescape
from xml.etree import ElementTree

from nbformat import NotebookNode

from bookbinder.book import Book
from bookbinder.chapters import Chapter, title_of
from bookbinder.compose import title_in_contents
from bookbinder.language.catalog import worded
from bookbinder.language.say import Language
from bookbinder.markdown import Page
from bookbinder.notebook import read_or_empty
from bookbinder.pictures import diagram_text

CARD = "figures/card_{}.svg"  # of a part, in book/, where a book has it
LEARNED = '<div class="d2l-arcs" data-kind="sentence"'  # the widget of the chapter that trains it
CAPTION = '<p class="cap">'
HELD = re.compile(r'(?<= data-held=")[^"]*')
TRAINED = worded(
    "{chapter} trains this layer on sentences of such words, "
    "and never shows it a tired animal. The page computes with its three matrices."
)
MORE = ("functions", "references", "genindex")  # the pages to look things up
OPENING = """\
<p class="start">
<a class="start-reading" href="{first}.html">{start}</a>
<a class="go-on" hidden href="{first}.html">{go_on}</a>
<a href="genindex.html">{index}</a>
</p>"""  # book.js shows where the reader may go on
RUN = (
    "## " + worded("Run it"),
    "",
    worded("In the folder of the book, with Python 3.11 or newer:"),
    "",
    "```text",
    "make lab  # set up once, then open the book in JupyterLab",
    "```",
    "",
)


def home_page(
    book: Book,
    chapters: list[Chapter],
    notebooks: list[NotebookNode],
    pictures: dict[str, str],
) -> str:
    """Return the home page; `notebooks` are those of the chapters, with their outputs."""
    opening = OPENING.format(
        first=chapters[0].name,
        start=worded("Start reading"),
        go_on=worded("Continue with {chapter}"),
        index=worded("Index of terms and functions"),
    )
    lead = lead_of(read_or_empty(book.root / "README.md"))
    lines = ["---", "html_theme.sidebar_secondary.remove: true", "---", ""]
    lines += [f"# {book.title}", "", lead, "", "```{raw} html"]
    lines += [opening, learned(chapters, notebooks), "```", ""]
    lines += ["## " + worded("The chapters"), ""]
    shown = parts(book, chapters)
    appendices = shown.pop()[1] if book.appendices else []
    cards = [card(part, of_part, book, pictures) for part, of_part in shown]
    lines += ["::::{container} cards", *cards, "::::", "", " · ".join(links(appendices, book)), ""]
    lines += [*RUN, *contents(book, chapters)]
    return "\n".join(lines) + "\n"


def learned(chapters: list[Chapter], notebooks: list[NotebookNode]) -> str:
    """Return the widget of the chapter that trains a layer on sentences, or nothing."""
    for chapter, notebook in zip(chapters, notebooks, strict=True):
        for output in (o for cell in notebook.cells for o in cell.get("outputs", [])):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if html.startswith(LEARNED):
                link = f'<a href="{chapter.name}.html">{title_of(chapter)}</a>'
                before, _, after = html.partition(CAPTION)
                told, after = TRAINED.format(chapter=link), after.partition("<")[2]
                held = json.loads(unescape(HELD.search(before)[0]))
                held["step"] = (held["step"] + 1) // 2  # while the layer finds where to look
                before = HELD.sub(lambda _, held=held: escape(json.dumps(held)), before)
                return f"{before}{CAPTION}\n{told}\n<{after}"
    return ""


def home_pictures(book: Book, language: Language) -> dict[str, str]:
    """Return the diagrams of the home page, by their names in the folder of the sources."""
    names = [CARD.format(number) for number, _ in enumerate(book.parts, start=1)]
    return {n: diagram_text(book.source, n, language) for n in names if (book.source / n).exists()}


def parts(book: Book, chapters: list[Chapter]) -> list[tuple[str, list[Chapter]]]:
    """Return the title of each part with its chapters, and last, the appendices."""
    begins = {first: title for title, first in book.parts}
    begins |= {book.appendices[0]: worded("Appendices")} if book.appendices else {}
    found = [] if chapters[0].name in begins else [(worded("Chapters"), [])]
    for chapter in chapters:
        if chapter.name in begins:
            found.append((begins[chapter.name], []))
        found[-1][1].append(chapter)
    return found


def card(title: str, chapters: list[Chapter], book: Book, pictures: dict[str, str]) -> str:
    """Return a part's column in Markdown: its picture, its title, its chapters and minutes."""
    names = [part for part, _ in book.parts]
    name = CARD.format(names.index(title) + 1) if title in names else ""
    lines = [":::{container} book-card"]
    if name in pictures:
        alt = ElementTree.fromstring(pictures[name]).findtext("{*}desc")
        lines += [f"![{alt}]({name})", ""]
    lines += [f"**{title}**", ""]
    lines += [line for link in links(chapters, book) for line in (link, "")]
    hours = sum(Page(chapter, chapter.notebook).minutes()[0] for chapter in chapters) / 60
    told = worded("about {hours} hours").format(hours=f"{hours:g}")
    return "\n".join([*lines, f"*{told}*", ":::"])


def links(chapters: list[Chapter], book: Book) -> list[str]:
    """Return links to chapters, by their titles, in Markdown."""
    titles = (title_in_contents(book, c.name, title_of(c)) for c in chapters)
    return [f"[{title}]({c.name}.ipynb)" for title, c in zip(titles, chapters, strict=True)]


def contents(book: Book, chapters: list[Chapter]) -> list[str]:
    """Return the hidden tables of contents, which order the pages."""

    def entry(chapter: Chapter) -> str:  # Sphinx knows the titles of chapters with a number
        title = title_in_contents(book, chapter.name, title_of(chapter))
        return f"{title} <{chapter.name}>" if chapter.name in book.appendices else chapter.name

    captions = {title: list(map(entry, of_part)) for title, of_part in parts(book, chapters)}
    captions |= {worded("Look things up"): MORE}
    return [
        "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *entries, "```\n"])
        for caption, entries in captions.items()
    ]


def lead_of(readme: str) -> str:
    """Return the paragraph under the title of the README: it says what the book is."""
    return next(
        (p for p in readme.split("\n\n")[1:] if not p.startswith(("#", "`", "[!["))), ""
    ).strip()
