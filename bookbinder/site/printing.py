"""Print the whole book as one PDF: a title, contents with page numbers, the chapters."""

import itertools
import os
import re
import time
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookbinder.description import Book, Edition
from bookbinder.errors import BookError
from bookbinder.site.browser import chromium
from bookbinder.site.building import site_folder
from bookbinder.site.settings import NAMES, folder_of

if TYPE_CHECKING:
    import bs4

PAPER = {
    "format": "A4",
    "print_background": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": (
        '<div style="font:9px sans-serif;width:100%;text-align:center">'
        '<span class="pageNumber"></span></div>'
    ),
    "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
}
PDF_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")
AFTER = ("references",)  # pages that follow the chapters
DROPPED = ".headerlink, script, .prev-next-footer, .start"
DRAWING = "div.cell.tag_drawing > details.above-input"
SOLUTIONS = "div.cell.tag_solution, details:not(.hint):not(.hide)"
ONLY = """wanted => {
  for (const part of document.querySelectorAll(".part"))
    part.hidden = wanted !== null && part.id !== wanted;
}"""
NUMBER_OF = (
    "([id, number]) => { document.querySelector(`[data-page-of='${id}']`).textContent = number }"
)


def print_book(book: Book) -> None:
    """Print every edition of the site to `_build/`."""
    for edition in book.editions:
        begun = time.monotonic()
        goal = book.root / "_build" / f"book-{edition.framework}-{edition.language}.pdf"
        pages = print_edition(book, edition, goal)
        print(f"{book.named(goal)}: {pages} pages, {time.monotonic() - begun:.1f} s")


def print_edition(book: Book, edition: Edition, goal: Path) -> int:
    """Print one edition from the site to `goal` and return its number of pages."""
    site = site_folder(book) / folder_of(edition, book.editions)
    names = [*book.chapters, *AFTER]
    missing = [name for name in names if not (site / f"{name}.html").exists()]
    if missing:
        raise BookError(f"the site has no page {missing[0]}; run `make site` first")
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    book_page = site_folder(book).with_name("print") / "book.html"
    book_page.parent.mkdir(parents=True, exist_ok=True)
    prefix = os.path.relpath(site, book_page.parent)
    subtitle = f"with {NAMES.get(edition.framework, edition.framework)}"
    book_page.write_text(one_page(book.title, subtitle, texts, prefix), encoding="utf-8")
    with chromium() as browser:
        page = browser.new_context(offline=True).new_page()
        page.goto(book_page.as_uri(), wait_until="load")
        page.evaluate("async () => { await window.MathJax?.startup?.promise }")
        parts = ["front", *names]
        counts = []
        for part in parts:
            page.evaluate(ONLY, part)
            counts.append(len(PDF_PAGE.findall(page.pdf(**PAPER))))
        page.evaluate(ONLY, None)
        for part, first in zip(parts[1:], itertools.accumulate(counts), strict=False):
            page.evaluate(NUMBER_OF, [part, str(first + 1)])
        printed = page.pdf(**PAPER, outline=True, tagged=True)
    pages = len(PDF_PAGE.findall(printed))
    if pages != sum(counts):
        raise BookError(f"the printed book has {pages} pages, its parts {sum(counts)}")
    new = goal.with_suffix(".new")
    new.write_bytes(printed)
    os.replace(new, goal)
    return pages


def one_page(title: str, subtitle: str, texts: dict[str, str], prefix: str) -> str:
    """Return the whole book as one page; `prefix` leads from it to the folder of the site."""
    from bs4 import BeautifulSoup  # comes with the packages of the site, which binding does without

    first = BeautifulSoup(next(iter(texts.values())), "html.parser")
    head = [
        f'<link rel="stylesheet" href="{prefix}/{link["href"]}">'
        for link in first.select('link[rel="stylesheet"]')
    ]
    scripts = [s for s in first.select("script") if "MathJax" in s.text or "mathjax" in str(s)]
    for script in scripts:
        if script.get("src"):
            script["src"] = f"{prefix}/{script['src']}"
    parts, lines = [], []
    for name, text in texts.items():
        article = BeautifulSoup(text, "html.parser").select_one("article.bd-article")
        heading = article.select_one("h1").get_text().removesuffix("#").strip()
        number = f'<span data-page-of="{name}">000</span>'
        lines.append(f'<li><a href="#{name}">{escape(heading)}</a>{number}</li>')
        localize(article, name, set(texts), prefix)
        parts.append(f'<section class="part" id="{name}">{article}</section>')
    return "\n".join(
        [
            '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">',
            f"<title>{escape(title)}</title>",
            *head,
            *map(str, scripts),
            f"<style>{STYLE}</style></head><body>",
            f'<section class="part" id="front"><div class="cover"><h1>{escape(title)}</h1>'
            f"<p>{escape(subtitle)}</p></div><h2>Contents</h2>"
            f"<ol>{''.join(lines)}</ol></section>",
            *parts,
            "</body></html>",
        ]
    )


def localize(article: "bs4.Tag", name: str, names: set[str], prefix: str) -> None:
    """Make the links, pictures and anchors of a page those of one long page, in place."""
    for dropped in article.select(DROPPED):
        dropped.decompose()
    leave_out_drawing(article, name)
    put_solutions_last(article)
    for fold in article.select("details"):
        fold["open"] = ""
    for button in article.select("details.hide > summary"):  # "Show the solution in code"
        shown = button.select_one(".collapsed").get_text().removeprefix("Show the ")
        button.string = shown.capitalize()
    for still in article.select(".d2l-explorer .still"):
        still.string = still.get_text().partition(" Sliders appear")[0]
    for element in article.select("[id]"):
        element["id"] = f"{name}--{element['id']}"
    for picture in article.select("img[src]"):
        if not picture["src"].startswith("data:"):
            picture["src"] = f"{prefix}/{picture['src']}"
        picture.attrs.pop("loading", None)
    for link in article.select("a[href]"):
        page, _, anchor = link["href"].partition("#")
        goal = page.removesuffix(".html") or name
        if re.match(r"\w+:", link["href"]):
            continue
        if goal in names:
            link["href"] = f"#{goal}--{unquote(anchor)}" if anchor else f"#{goal}"
        else:
            link.attrs.pop("href")


def leave_out_drawing(article: "bs4.Tag", name: str) -> None:
    """Put in place of code that only draws a line that says where it is."""
    from bs4 import BeautifulSoup

    for code in article.select(DRAWING):
        line = f'<p class="drawn">The code that draws this is in {name}.ipynb.</p>'
        code.replace_with(BeautifulSoup(line, "html.parser"))


def put_solutions_last(article: "bs4.Tag") -> None:
    """Move the solutions of the exercises, and what they print, to the end of the chapter."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup('<section id="solutions"><h2>Solutions</h2></section>', "html.parser")
    for task in article.select("#exercises > section"):
        if parts := task.select(SOLUTIONS):
            title = page.new_tag("h3")
            title.string = task.select_one("h3").get_text().removesuffix("#")
            page.section.extend([title, *(part.extract() for part in parts)])
    if page.section.h3:
        article.append(page.section)


STYLE = """
body { display: block; font-size: 10.5pt; }
.part { break-before: page; }
#front { break-before: auto; }
.part[hidden] { display: none; }
.cover { height: 230mm; display: flex; flex-direction: column; justify-content: center; }
.cover h1 { font-size: 30pt; }
#front h2 { break-before: page; }
#front ol { list-style: none; padding: 0; }
#front li { display: flex; justify-content: space-between; border-bottom: 1px dotted #999; }
#front li a { color: inherit; text-decoration: none; }
.bd-article h2 { font-size: 15pt; }
.bd-article h1 { font-size: 21pt; }
.cell_output img { max-height: 200mm; width: auto; }
.drawn { font-style: italic; color: #48566b; margin: 0; }
pre { font-size: 8.5pt; white-space: pre-wrap; }
details > summary, div.cell details.hide[open] > summary { list-style: none !important; }
"""
