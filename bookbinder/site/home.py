"""Compose the home page: a trained layer, where to begin or go on, the chapters."""

from xml.etree import ElementTree

from nbformat import NotebookNode

from bookbinder.binding import read_or_empty
from bookbinder.catalogs import worded
from bookbinder.chapters import Chapter, number_of, title_of
from bookbinder.config import Book
from bookbinder.diagrams import diagram_text
from bookbinder.language import Language
from bookbinder.page import Page
from bookbinder.steps import title_in_contents

STRIP, CARD = "figures/strip_00.svg", "figures/card_{:02}.svg"  # in book/, where a book has them
LEARNED = '<div class="d2l-arcs" data-kind="sentence"'  # the widget of the chapter that trains it
CAPTION = '<p class="cap">'
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
    worded("Each chapter's page also has its notebook for download, at the top right."),
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
    numbered = [c for c in chapters if number_of(c.name) is not None]
    lead = lead_of(read_or_empty(book.root / "README.md"))
    lines = ["---", "html_theme.sidebar_secondary.remove: true", "---", ""]
    lines += [f"# {book.title}", "", lead, "", "```{raw} html"]
    lines += [learned(chapters, notebooks), opening, "```", "", time_of(numbered), ""]
    lines += ["## " + worded("The chapters"), ""]
    if STRIP in pictures:
        lines += [worded("Each chapter changes one step of attention, or all of them:"), ""]
        lines += [shown(STRIP, pictures), ""]
    cards = [card(title_in_contents(book, c.name, title_of(c)), c, pictures) for c in numbered]
    lines += ["::::{container} cards", *cards, "::::", "", *RUN, *contents(book, chapters)]
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
                return f"{before}{CAPTION}\n{told}\n<{after}"
    return ""


def time_of(chapters: list[Chapter]) -> str:
    """Return how many chapters there are, and how long they take."""
    spent = [Page(chapter, chapter.notebook).minutes() for chapter in chapters]
    hours, practice = (round(sum(minutes) / 60) for minutes in zip(*spent, strict=True))
    text = worded(
        "{chapters} chapters in their order: about {hours} hours to read, "
        "and {practice} for the exercises."
    )
    return text.format(chapters=len(spent), hours=hours, practice=practice)


def home_pictures(book: Book, chapters: list[Chapter], language: Language) -> dict[str, str]:
    """Return the diagrams of the home page, by their names in the folder of the sources."""
    numbers = [n for chapter in chapters if (n := number_of(chapter.name)) is not None]
    names = [name for name in (STRIP, *map(CARD.format, numbers)) if (book.source / name).exists()]
    return {name: diagram_text(book.source, name, language) for name in names}


def shown(name: str, pictures: dict[str, str]) -> str:
    """Return a picture in Markdown, with what it says of itself as its alt text."""
    alt = ElementTree.fromstring(pictures[name]).findtext("{*}desc")
    return f"![{alt}]({name})"


def card(title: str, chapter: Chapter, pictures: dict[str, str]) -> str:
    """Return a chapter's card in Markdown: its picture, title, question and minutes."""
    page = Page(chapter, chapter.notebook)
    read, practised = page.minutes()
    with_exercises = worded("{read} minutes, exercises {practised}")
    time = with_exercises if practised else worded("{read} minutes")
    time = time.format(read=read, practised=practised)
    lines = [":::{container} book-card"]
    if (name := CARD.format(number_of(chapter.name))) in pictures:
        lines += [shown(name, pictures), ""]
    lines += [f"**[{title}]({chapter.name}.ipynb)**", "", page.passage("question"), ""]
    return "\n".join([*lines, f"*{time}*", ":::"])


def contents(book: Book, chapters: list[Chapter]) -> list[str]:
    """Return the hidden tables of contents, which order the pages."""
    titles = {c.name: title_in_contents(book, c.name, title_of(c)) for c in chapters}
    last = [f"{title} <{name}>" for name, title in titles.items() if name in book.appendices]
    captions = {
        worded("Chapters"): [name for name in titles if name not in book.appendices],
        worded("Appendices"): last,
        worded("Look things up"): MORE,
    }
    return [
        "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *entries, "```\n"])
        for caption, entries in captions.items()
        if entries
    ]


def lead_of(readme: str) -> str:
    """Return the paragraph under the title of the README: it says what the book is."""
    return next(
        (p for p in readme.split("\n\n")[1:] if not p.startswith(("#", "`", "[!["))), ""
    ).strip()
