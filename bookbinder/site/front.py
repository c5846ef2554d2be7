"""Write the home page and the page of facts."""

import re

from nbformat import NotebookNode

from bookbinder.chapters import Chapter
from bookbinder.prose import Page
from bookbinder.site.pages import title_of

QUESTION = re.compile(r"^> \*\*The question\.\*\* (.*(?:\n> .*)*)", re.MULTILINE)
REPORT = "environment_report("
BUTTONS = """\
<p class="start">
<a class="start-reading" href="{first}.html">Start reading</a>
<a href="genindex.html">Index of terms and functions</a>
</p>"""


def home_page(
    title: str,
    lead: str,
    notebooks: list[tuple[Chapter, NotebookNode]],
    more: tuple[str, ...],
    path: str = "",
) -> str:
    """Return the home page: what the book is, an explorer, a short path, the chapters, how to run.

    `path` is the table of the path of two hours.
    """
    chapters = [chapter for chapter, _ in notebooks]
    lines = [f"# {title}", "", lead, "", "```{raw} html"]
    lines += [BUTTONS.format(first=chapters[0].name), "```", ""]
    if found := first_explorer(notebooks):
        chapter, html = found
        lines += [
            "## Try it",
            "",
            f"Some pictures move, without a kernel or a network; this one is from "
            f"[{title_of(chapter)}]({chapter.name}.ipynb).",
            "",
            "```{raw} html",
            html,
            "```",
            "",
        ]
    if path:
        lines += ["## In two hours", "", PATH, "", path, ""]
    lines += [
        "## The chapters",
        "",
        "| Chapter | The question | Reading | Exercises |",
        "|---|---|---:|---:|",
    ]
    total = [0, 0]
    for chapter in chapters:
        link = f"[{title_of(chapter)}]({chapter.name}.ipynb)"
        read, practised = Page(chapter, chapter.notebook).minutes()
        total = [total[0] + read, total[1] + practised]
        lines.append(f"| {link} | {question(chapter)} | {read} | {practised or ''} |")
    lines += [f"| | **The whole book** | **{total[0]}** | **{total[1]}** |", "", RUN, ""]
    return "\n".join([*lines, *contents(title, chapters, more)]) + "\n"


PATH = "These sections tell the story from the first look-up to the layer; the rest can wait."
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


def contents(title: str, chapters: list[Chapter], more: tuple[str, ...]) -> list[str]:
    """Return the hidden tables of contents, which order the pages."""
    return [
        "```{toctree}\n:hidden:\n:caption: Chapters\n",
        *(chapter.name for chapter in chapters),
        "```\n",
        "```{toctree}\n:hidden:\n:caption: Look things up\n",
        *more,
        "```",
    ]


def first_explorer(notebooks: list[tuple[Chapter, NotebookNode]]) -> tuple[Chapter, str] | None:
    """Return the first explorer of the book and its chapter."""
    for chapter, notebook in notebooks:
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                html = output.get("data", {}).get("text/html", "")
                if html.startswith('<div class="d2l-explorer"'):
                    return chapter, html
    return None


def question(chapter: Chapter) -> str:
    """Return the question that opens the chapter."""
    match = QUESTION.search(Page(chapter, chapter.notebook).text)
    return match[1].replace("\n> ", " ").replace("|", r"\|") if match else ""


def lead_of(readme: str) -> str:
    """Return the paragraph under the title of the README: it says what the book is."""
    return next(
        (p for p in readme.split("\n\n")[1:] if not p.startswith(("#", "`", "[!["))), ""
    ).strip()


def facts_page(
    notebooks: list[tuple[Chapter, NotebookNode]], facts: dict, pins: dict[str, str]
) -> str:
    """Return the page of facts: what the stored outputs were made with, and how long it took."""
    lines = ["# How these pages were made", ""]
    lines += ["The notebooks were executed, and every output on these pages is what they gave."]
    lines += ["Nothing was executed again for the pages.", ""]
    if versions := facts.get("versions") or pins:
        lines += ["## Versions", "", "| Package | Version |", "|---|---|"]
        lines += [f"| {name} | {version} |" for name, version in versions.items()] + [""]
    if facts:
        lines += ["## Machine", "", f"- Device: `{facts.get('device', 'cpu')}`"]
        lines += [f"- System: {facts.get('system', 'unknown')}", ""]
    elif report := environment_report(notebooks):
        lines += ["## Machine", "", "```text", report, "```", ""]
    seconds = facts.get("seconds", {})
    names, rule = "| Chapter | Code cells |", "|---|---:|"
    lines += ["## Chapters", ""]
    lines += [f"{names} Seconds |", f"{rule}---:|"] if seconds else [names, rule]
    for chapter, notebook in notebooks:
        cells = sum(cell.cell_type == "code" for cell in notebook.cells)
        took = f" {seconds.get(chapter.name, 'not recorded')} |" if seconds else ""
        lines.append(f"| [{title_of(chapter)}]({chapter.name}.ipynb) | {cells} |{took}")
    return "\n".join(lines) + "\n"


def environment_report(notebooks: list[tuple[Chapter, NotebookNode]]) -> str:
    """Return the report that a chapter printed of its set-up, if one did."""
    for _, notebook in notebooks:
        for cell in notebook.cells:
            if cell.cell_type == "code" and f"print({REPORT}" in cell.source:
                return "".join(output.get("text", "") for output in cell.outputs).strip()
    return ""
