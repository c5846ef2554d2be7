"""Print the whole book as one PDF: a title, its contents, the chapters."""

import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookbinder.book import ENGLISH, Book, BookError, Edition, write_whole
from bookbinder.language.catalog import README, worded
from bookbinder.language.say import Language, language_of
from bookbinder.site.building import edition_folder, site_folder

if TYPE_CHECKING:
    import bs4

PAPER = {"prefer_css_page_size": True, "print_background": True, "outline": True, "tagged": True}
TEXT_WIDTH = 658  # CSS pixels, what STYLE leaves of A4
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
AFTER = ("references",)  # pages that follow the chapters
CONTENTS = worded("Contents")  # here, because Babel looks into no f-string
DROPPED = ".headerlink, script, .prev-next-footer, .start"
EXERCISES = "section.role-exercises"
DRAWING = "div.cell.tag_drawing"
SOLUTIONS = "details:not(.hint):not(.hide)"
LAST_SENTENCE = re.compile(r"([.。])[^.。]+[.。]$")  # of a still picture: where it would move
READY = Path(__file__).with_name("print.js").read_text(encoding="utf-8")
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


def print_book(book: Book, edition: Edition) -> None:
    """Print an edition of the site to `_build/`."""
    begun = time.monotonic()
    goal = book.root / "_build" / f"book-{edition.framework}-{edition.language}.pdf"
    site, names = edition_folder(book, edition), [*book.chapters, *AFTER]
    if missing := [name for name in names if not (site / f"{name}.html").exists()]:
        raise BookError(f"the site has no page {missing[0]}; run `make site` first")
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    book_page = site_folder(book).with_name("print") / "book.html"
    book_page.parent.mkdir(parents=True, exist_ok=True)
    prefix = os.path.relpath(site, book_page.parent)
    language = language_of(book, edition.language)
    subtitle = worded("with {framework}").format(framework=edition.name)
    titles = language.said(book.title, README), language.said(subtitle)
    html = one_page(titles, texts, prefix, language, edition.tag)
    book_page.write_text(html, encoding="utf-8")
    with chromium() as browser:
        context = browser.new_context(offline=True, viewport={"width": TEXT_WIDTH, "height": 960})
        page = context.new_page()
        page.emulate_media(media="print")
        page.goto(book_page.as_uri(), wait_until="load", timeout=120_000)
        page.evaluate(READY)
        pdf = page.pdf(**PAPER)
    write_whole(goal, pdf)
    print(f"{book.named(goal)}: {len(pdf) / 1e6:.1f} MB, {time.monotonic() - begun:.1f} s")


def one_page(
    titles: tuple[str, str],
    texts: dict[str, str],
    prefix: str,
    language: Language,
    tag: str = ENGLISH,
) -> str:
    """Return the whole book as one page; `prefix` leads from it to the folder of the site."""
    from bs4 import BeautifulSoup  # comes with the packages of the site, which binding does without

    title, subtitle = map(escape, titles)
    first = BeautifulSoup(next(iter(texts.values())), "html.parser")
    links = [link["href"] for link in first.select('link[rel="stylesheet"]')]
    styles = "\n".join(f'<link rel="stylesheet" href="{prefix}/{link}">' for link in links)
    licenses = first.select_one(".bd-footer-article") or ""
    parts, lines, heads = [], [], []
    for name, text in texts.items():
        article = BeautifulSoup(text, "html.parser").select_one("article.bd-article")
        localize(article, name, set(texts), prefix, language)
        title_line, *inner = map(contents_line, article.select("h1, h2"))
        lines.append(f"{title_line}<ol>{''.join(inner)}</ol>")
        heads.append(running_head(name, article.h1.get_text()))
        parts.append(f'<section class="part" id="{name}">{article}</section>')
    return f"""<!doctype html><html lang="{tag}" data-theme="light"><head><meta charset="utf-8">
<title>{title}</title>
{styles}
<style>{STYLE}{"".join(heads)}</style></head><body>
<section class="cover" id="cover"><h1>{title}</h1><p>{subtitle}</p>{licenses}</section>
<section class="part" id="contents"><h2>{language.said(CONTENTS)}</h2>
<ol>{"".join(lines)}</ol></section>
{"".join(parts)}
</body></html>"""


def contents_line(heading: "bs4.Tag") -> str:
    return f'<li><a href="#{heading.parent["id"]}">{escape(heading.get_text())}</a>'


def running_head(name: str, title: str) -> str:
    """Return the style that puts the title of a chapter at the head of its pages."""
    text = title.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"section[id='{name}'] {{ page: of_{name}; }}\n"
        f'@page of_{name} {{ @top-left {{ content: "{text}"; }} }}\n'
    )


def localize(
    article: "bs4.Tag", name: str, names: set[str], prefix: str, language: Language
) -> None:
    """Make the links, pictures and anchors of a page those of one long page, in place."""
    for dropped in article.select(DROPPED):
        dropped.decompose()
    leave_out_drawing(article, name, language)
    put_solutions_last(article, language)
    for fold in article.select("details"):
        fold["open"] = ""
    for fold in article.select("details.hide"):  # without "Show the imports"
        fold.replace_with(fold.div)
    for still in article.select(":is(.d2l-explorer, .d2l-arcs) .still"):
        still.string = LAST_SENTENCE.sub(r"\1", still.get_text())
    for element in article.select("[id]"):
        element["id"] = f"{name}--{element['id']}"
    for picture in article.select("img[src]"):
        if not picture["src"].startswith("data:"):
            picture["src"] = f"{prefix}/{picture['src']}"
        picture.attrs.pop("loading", None)
    for link in article.select("a[href]"):
        page, _, anchor = link["href"].partition("#")
        goal = page.removesuffix(".html") or name
        if ":" in page:  # of the web
            continue
        if goal in names:
            link["href"] = f"#{goal}--{unquote(anchor)}" if anchor else f"#{goal}"
        else:
            link.attrs.pop("href")


def leave_out_drawing(article: "bs4.Tag", name: str, language: Language) -> None:
    """Take out code that only draws; below what it has drawn, a line says where the code is."""
    from bs4 import BeautifulSoup

    for cell in article.select(DRAWING):
        if cell.select_one(".cell_output") is None:
            cell.decompose()
            continue
        cell.select_one("details.above-input").decompose()
        line = worded("The code that draws this is in {file}.").format(file=f"{name}.ipynb")
        cell.append(BeautifulSoup(f'<p class="drawn">{language.said(line)}</p>', "html.parser"))


def put_solutions_last(article: "bs4.Tag", language: Language) -> None:
    """Move the solutions of the exercises, and what they print, to the end of the chapter."""
    from bs4 import BeautifulSoup

    name = language.said(worded("Solutions"))
    section = f'<section id="solutions"><h2>{name}</h2></section>'
    page = BeautifulSoup(section, "html.parser")
    for task in article.select(f"{EXERCISES} > section"):
        if parts := task.select(SOLUTIONS):
            title = page.new_tag("h3")
            title.string = task.h3.get_text()
            page.section.extend([title, *(part.extract() for part in parts)])
    if page.section.h3:
        article.append(page.section)


def chromium_path() -> str | None:
    """Return where this machine has Chromium or Chrome, if it does."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator:
    """Start Chromium; raise BookError where it or the package that drives it is missing."""
    if (path := chromium_path()) is None:
        raise BookError("there is no Chromium on this machine; install it to print the book")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BookError("the package playwright is missing; `make pdf` installs it") from None
    logging.getLogger("asyncio").disabled = True  # after Ctrl-C it tells of futures, at length
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
