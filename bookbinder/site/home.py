"""Write the home page."""

import json
import re
from html import unescape

from nbformat import NotebookNode

from bookbinder.chapters import Chapter, number_of, title_of
from bookbinder.config import Book
from bookbinder.diagrams import diagram_text
from bookbinder.page import Page
from bookbinder.steps import Route
from bookbinder.words import Say, worded

STRIP, CARD = "figures/strip_00.svg", "figures/card_{:02}.svg"  # in book/, where a book has them
DESC = re.compile(r"<desc[^>]*>([^<]*)")
LEARNED = '<div class="d2l-arcs" data-kind="sentence"'  # the widget of the chapter that trains it
CAPTION = re.compile(r'(?<=<p class="cap">)[^<]*')
TRAINED = worded(
    "{chapter} trains this layer on sentences of such words, "
    "and never shows it a tired animal. The page computes with its three matrices."
)
OPENING = """\
<p class="start">
<a class="start-reading" href="{first}.html">{start}</a>
<a class="go-on" hidden href="{first}.html">{go_on}</a>
<a href="genindex.html">{index}</a>
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
  link.textContent = `{go_on_with}`;
  link.hidden = false;
}})();
</script>"""
ROUTE = """\
:::{{container}} path
**{name}**

{about}

<details>
<summary>{what}</summary>

{table}

</details>
:::"""
ROUTES = {  # of book.toml
    "two_hours": (
        worded("In two hours"),
        worded(
            "From the first look-up to a trained layer that finds what *it* stands for in a "
            "sentence, and to what a second head adds."
        ),
    ),
    "one_day": (
        worded("In one day"),
        worded(
            "{practised} chapters with their exercises, from the first weights to a small "
            "Transformer that you train and take apart."
        ),
    ),
}
WHOLE = """\
:::{{container}} path
**{name}**

{about}
{free}
:::"""


def home_page(
    book: Book,
    lead: str,
    notebooks: list[tuple[Chapter, NotebookNode]],
    more: tuple[str, ...],
    routes: dict[str, Route],
    tables: dict[str, str],
    pictures: dict[str, str],
    say: Say = str,
) -> str:
    """Return the home page: a trained layer, where to begin or go on, the routes, the chapters."""
    chapters = [chapter for chapter, _ in notebooks]
    titles = [[chapter.name, title_of(chapter)] for chapter in chapters]
    go_on = say("Continue with {chapter}")
    opening = OPENING.format(
        first=chapters[0].name,
        chapters=json.dumps(titles),
        start=say("Start reading"),
        go_on=go_on.format(chapter="").strip(),
        go_on_with=go_on.format(chapter="${chapter}"),
        index=say("Index of terms and functions"),
    )
    lines = ["---", "html_theme.sidebar_secondary.remove: true", "---", ""]
    lines += [f"# {book.title}", "", lead, "", "```{raw} html"]
    lines += [learned(notebooks, say), opening, "```", ""]
    lines += [*ways(chapters, routes, tables, say), ""]
    cards = [
        card(book.listed(chapter.name, title_of(chapter), say), chapter, notebook, pictures, say)
        for chapter, notebook in notebooks
        if number_of(chapter.name) is not None
    ]
    lines += ["## " + say("The chapters"), ""]
    if STRIP in pictures:
        lines += [say("Each chapter changes one step of attention, or all of them:"), ""]
        lines += [shown(STRIP, pictures), ""]
    lines += ["::::{container} cards", *cards, "::::", "", run(say), ""]
    return "\n".join([*lines, *contents(book, chapters, more, say)]) + "\n"


def learned(notebooks: list[tuple[Chapter, NotebookNode]], say: Say = str) -> str:
    """Return the widget of the chapter that trains a layer on sentences, or nothing."""
    for chapter, notebook in notebooks:
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if html.startswith(LEARNED):
                    link = f'<a href="{chapter.name}.html">{title_of(chapter)}</a>'
                    told = say(TRAINED).format(chapter=link)
                    return CAPTION.sub(told, html, count=1)
    return ""


def ways(
    chapters: list[Chapter], routes: dict[str, Route], tables: dict[str, str], say: Say = str
) -> list[str]:
    """Return the boxes that tell how long each route takes, and the whole book."""
    spent = [Page(c, c.notebook).minutes() for c in chapters if number_of(c.name) is not None]
    hours, practice = (round(sum(minutes) / 60) for minutes in zip(*spent, strict=True))
    boxes = []
    for key, route in routes.items():
        name, about = ROUTES.get(key, (f"In {key.replace('_', ' ')}", ""))
        about = say(about).format(practised=practised_in(route)) if about else ""
        what = say("What to read")
        boxes.append(ROUTE.format(name=say(name), about=about, table=tables[key], what=what))
    whole = say(
        "{chapters} chapters in their order: about {hours} hours to read, "
        "and {practice} for the exercises."
    ).format(chapters=len(spent), hours=hours, practice=practice)
    free = say(
        "Each names what it needs, so you may also begin with the question that brought you here."
    )
    boxes.append(WHOLE.format(name=say("Everything"), about=whole, free=free))
    return ["::::{container} paths", *boxes, "::::"]


def practised_in(route: Route) -> int:
    """Return how many chapters a route reads with their exercises."""
    return sum(any(section.is_exercises for section in read) for read in route.values())


def home_pictures(book: Book, chapters: list[Chapter], say: Say = str) -> dict[str, str]:
    """Return the diagrams of the home page, by their names in the folder of the sources."""
    numbers = [n for chapter in chapters if (n := number_of(chapter.name)) is not None]
    names = [name for name in (STRIP, *map(CARD.format, numbers)) if (book.source / name).exists()]
    return {name: diagram_text(book.source, name, say) for name in names}


def shown(name: str, pictures: dict[str, str]) -> str:
    """Return a picture in Markdown, with what it says of itself as its alt text."""
    alt = unescape(DESC.search(pictures[name])[1])
    return f"![{alt}]({name})"


def card(
    title: str,
    chapter: Chapter,
    notebook: NotebookNode,
    pictures: dict[str, str],
    say: Say = str,
) -> str:
    """Return a chapter's card in Markdown: its picture, title, question and minutes."""
    page = Page(chapter, notebook)
    read, practised = page.minutes()
    time = say("{read} minutes, exercises {practised}") if practised else say("{read} minutes")
    time = time.format(read=read, practised=practised)
    lines = [":::{container} book-card"]
    if (name := CARD.format(number_of(chapter.name))) in pictures:
        lines += [shown(name, pictures), ""]
    lines += [f"**[{title}]({chapter.name}.ipynb)**", "", page.passage("question"), ""]
    return "\n".join([*lines, f"*{time}*", ":::"])


COMMANDS = """\
```text
make lab     # set up once, then open the book in JupyterLab
make test    # run every notebook again and compare each output
```"""


def run(say: Say = str) -> str:
    """Return the section that says how to run the book."""
    lines = [
        "## " + say("Run it"),
        "",
        say(
            "The pages show what each cell gives; "
            "you learn most when you run and change the cells yourself."
        ),
        say("In the folder of the book, with Python 3.11 or newer:"),
        "",
        COMMANDS,
        "",
        say(
            "`make lab` copies the notebooks to a folder of your own, so you may change every line."
        ),
        say("Each chapter's page also has its notebook for download, at the top right."),
    ]
    return "\n".join(lines)


def contents(
    book: Book, chapters: list[Chapter], more: tuple[str, ...], say: Say = str
) -> list[str]:
    """Return the hidden tables of contents, which order the pages."""
    names = [c.name for c in chapters if c.name not in book.appendices]
    last = [
        f"{book.listed(c.name, title_of(c), say)} <{c.name}>"
        for c in chapters
        if c.name in book.appendices
    ]
    captions = {say("Chapters"): names, say("Appendices"): last, say("Look things up"): more}
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
