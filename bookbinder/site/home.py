"""Write the home page."""

import json
import re
from html import unescape

from nbformat import NotebookNode

from bookbinder.chapters import Chapter, number_of, title_of
from bookbinder.config import Book
from bookbinder.routes import Route, route_table
from bookbinder.text import Page

STRIP, CARD = "figures/strip_00.svg", "figures/card_{:02}.svg"  # in book/, where a book has them
DESC = re.compile(r"<desc[^>]*>([^<]*)")
LEARNED = '<div class="d2l-arcs" data-kind="sentence"'  # the widget of the chapter that trains it
CAPTION = re.compile(r'(?<=<p class="cap">)[^<]*')
TRAINED = (
    '<a href="{page}.html">{title}</a> trains this layer on sentences of such words, '
    "and never shows it a tired animal. The page computes with its three matrices."
)
OPENING = """\
<p class="start">
<a class="start-reading" href="{first}.html">Start reading</a>
<a class="go-on" hidden href="{first}.html">Continue with</a>
<a href="genindex.html">Index of terms and functions</a>
</p>
<script>
(() => {{ // what book.js kept when a chapter was left
  let left = null;
  try {{
    left = JSON.parse(localStorage.getItem("book-left-off"));
  }} catch {{}}
  const chapter = new Map({chapters}).get(left?.page);
  if (!chapter) return;
  const link = document.querySelector(".go-on");
  link.href = `${{left.page}}.html${{left.section ? `#${{left.section}}` : ""}}`;
  link.textContent = `Continue with ${{chapter}}`;
  link.hidden = false;
}})();
</script>"""
ROUTE = """\
:::{{container}} path
**In {name}**

{about}

<details>
<summary>What to read</summary>

{table}

</details>
:::"""
ABOUT = {  # the routes of book.toml
    "two_hours": "From the first look-up to a trained layer that finds what *it* stands for in a "
    "sentence, and to what a second head adds.",
    "one_day": "{practised} chapters with their exercises, from the first weights to a small "
    "Transformer that you train and take apart.",
}
WHOLE = """\
:::{{container}} path
**Everything**

{chapters} chapters in their order: about {hours} hours to read, and {practice} for the exercises.
Each names what it needs, so you may also begin with the question that brought you here.
:::"""


def home_page(
    book: Book,
    lead: str,
    notebooks: list[tuple[Chapter, NotebookNode]],
    more: tuple[str, ...],
    routes: dict[str, Route],
) -> str:
    """Return the home page: a trained layer, where to begin or go on, the routes, the chapters."""
    chapters = [chapter for chapter, _ in notebooks]
    titles = [[chapter.name, title_of(chapter)] for chapter in chapters]
    opening = OPENING.format(first=chapters[0].name, chapters=json.dumps(titles))
    lines = ["---", "html_theme.sidebar_secondary.remove: true", "---", ""]
    lines += [f"# {book.title}", "", lead, "", "```{raw} html", learned(notebooks), opening]
    lines += ["```", ""]
    lines += [*ways(chapters, routes), ""]
    pictures = home_pictures(book, chapters)
    cards = [
        card(book.listed(chapter.name, title_of(chapter)), chapter, notebook, pictures)
        for chapter, notebook in notebooks
        if number_of(chapter.name) is not None
    ]
    lines += ["## The chapters", ""]
    if STRIP in pictures:
        lines += ["Each chapter changes one step of attention, or all of them:", ""]
        lines += [shown(STRIP, pictures), ""]
    lines += ["::::{container} cards", *cards, "::::", "", RUN, ""]
    return "\n".join([*lines, *contents(book, chapters, more)]) + "\n"


def learned(notebooks: list[tuple[Chapter, NotebookNode]]) -> str:
    """Return the widget of the chapter that trains a layer on sentences, or nothing."""
    for chapter, notebook in notebooks:
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if html.startswith(LEARNED):
                    told = TRAINED.format(page=chapter.name, title=title_of(chapter))
                    return CAPTION.sub(told, html, count=1)
    return ""


def ways(chapters: list[Chapter], routes: dict[str, Route]) -> list[str]:
    """Return the boxes that tell how long each route takes, and the whole book."""
    spent = [Page(c, c.notebook).minutes() for c in chapters if number_of(c.name) is not None]
    hours, practice = (round(sum(minutes) / 60) for minutes in zip(*spent, strict=True))
    boxes = [
        ROUTE.format(
            name=name.replace("_", " "),
            about=ABOUT.get(name, "").format(practised=practised_in(route)),
            table=route_table(chapters, route),
        )
        for name, route in routes.items()
    ]
    boxes.append(WHOLE.format(chapters=len(spent), hours=hours, practice=practice))
    return ["::::{container} paths", *boxes, "::::"]


def practised_in(route: Route) -> int:
    """Return how many chapters a route reads with their exercises."""
    return sum(any(section.is_exercises for section in read) for read in route.values())


def home_pictures(book: Book, chapters: list[Chapter]) -> dict[str, str]:
    """Return the diagrams of the home page, by their names in the folder of the sources."""
    numbers = [n for chapter in chapters if (n := number_of(chapter.name)) is not None]
    paths = {name: book.source / name for name in (STRIP, *map(CARD.format, numbers))}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}


def shown(name: str, pictures: dict[str, str]) -> str:
    """Return a picture in Markdown, with what it says of itself as its alt text."""
    alt = unescape(DESC.search(pictures[name])[1])
    return f"![{alt}]({name})"


def card(title: str, chapter: Chapter, notebook: NotebookNode, pictures: dict[str, str]) -> str:
    """Return a chapter's card in Markdown: its picture, title, question and minutes."""
    page = Page(chapter, notebook)
    read, practised = page.minutes()
    time = f"{read} minutes" + (f", exercises {practised}" if practised else "")
    lines = [":::{container} book-card"]
    if (name := CARD.format(number_of(chapter.name))) in pictures:
        lines += [shown(name, pictures), ""]
    lines += [f"**[{title}]({chapter.name}.ipynb)**", "", page.passage("question"), ""]
    return "\n".join([*lines, f"*{time}*", ":::"])


RUN = """\
## Run it

The pages show what each cell gives; you learn most when you run and change the cells yourself.
In the folder of the book, with Python 3.11 or newer:

```text
make lab     # set up once, then open the book in JupyterLab
make test    # run every notebook again and compare each output
```

`make lab` copies the notebooks to a folder of your own, so you may change every line.
Each chapter's page also has its notebook for download, at the top right."""


def contents(book: Book, chapters: list[Chapter], more: tuple[str, ...]) -> list[str]:
    """Return the hidden tables of contents, which order the pages."""
    names = [c.name for c in chapters if c.name not in book.appendices]
    last = [
        f"{book.listed(c.name, title_of(c))} <{c.name}>"
        for c in chapters
        if c.name in book.appendices
    ]
    captions = {"Chapters": names, "Appendices": last, "Look things up": more}
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
