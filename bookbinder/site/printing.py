"""Print the whole book as one PDF: a title, its contents, the chapters."""

import json
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag

from bookbinder.book import Book, BookError, Edition, write_whole
from bookbinder.language.catalog import README, Language, language_of, worded
from bookbinder.site.building import edition_folder, site_folder

PAPER = {"prefer_css_page_size": True, "print_background": True, "outline": True, "tagged": True}
TEXT_WIDTH = 658  # CSS pixels, what STYLE leaves of A4
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
READY = Path(__file__).with_name("print.js").read_text(encoding="utf-8")
AFTER = ("references",)  # pages that follow the chapters
CONTENTS = worded("Contents")  # here, because Babel looks into no f-string
SOLUTIONS = "details:not(.hint):not(.hide)"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu"]


def print_book(book: Book, edition: Edition) -> None:
    """Print an edition of the site to `_build/`."""
    begun = time.monotonic()
    goal = book.root / "_build" / f"book-{edition.framework}-{edition.language}.pdf"
    site, names = edition_folder(book, edition), [*book.chapters, *AFTER]
    if missing := [name for name in names if not (site / f"{name}.html").exists()]:
        raise BookError(f"the site has no page {missing[0]}; run `make site` first")
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    _ = language_of(book, edition.language)
    subtitle = worded("with {framework}").format(framework=edition.name)
    titles = _(book.title, README), _(subtitle)
    page = site_folder(book).with_name("print") / "book.html"
    write_whole(page, one_page(titles, texts, site.as_uri(), _))
    with chromium() as browser:
        context = browser.new_context(offline=True, viewport={"width": TEXT_WIDTH, "height": 960})
        printed = context.new_page()
        printed.emulate_media(media="print")
        printed.goto(page.as_uri(), wait_until="load", timeout=120_000)
        printed.evaluate(READY)
        pdf = printed.pdf(**PAPER)
    write_whole(goal, pdf)
    print(f"{book.named(goal)}: {len(pdf) / 1e6:.1f} MB, {time.monotonic() - begun:.1f} s")


def one_page(titles: tuple[str, str], texts: dict[str, str], site: str, _: Language) -> str:
    """Return the whole book as one page; `site` is the address of its pages."""
    title, subtitle = map(escape, titles)
    pages = {name: BeautifulSoup(text, "html.parser") for name, text in texts.items()}
    first = next(iter(pages.values()))
    styles = [link["href"] for link in first.select('link[rel="stylesheet"]')]
    links = "\n".join(f'<link rel="stylesheet" href="{site}/{style}">' for style in styles)
    licenses = first.select_one(".bd-footer-article") or ""
    parts, lines, heads = [], [], []
    for name, page in pages.items():
        article = page.select_one("article.bd-article")
        for part in article.select(".headerlink, script, .prev-next-footer, .start"):
            part.decompose()
        put_solutions_last(article, _)
        lead_inside(article, name, texts, site)
        titles = ((h.parent["id"], escape(h.get_text())) for h in article.select("h1, h2"))
        chapter, *sections = (f'<li><a href="#{anchor}">{title}</a>' for anchor, title in titles)
        lines.append(f"{chapter}<ol>{''.join(sections)}</ol>")
        head = json.dumps(article.h1.get_text(), ensure_ascii=False)
        heads.append(f"section[id='{name}'] {{ page: of_{name}; }}\n")
        heads.append(f"@page of_{name} {{ @top-left {{ content: {head}; }} }}\n")
        parts.append(f'<section class="part" id="{name}">{article}</section>')
    return f"""<!doctype html><html lang="{first.html["lang"]}" data-theme="light"><head>
<meta charset="utf-8">
<title>{title}</title>
{links}
<style>{STYLE}{"".join(heads)}</style></head><body>
<section class="cover" id="cover"><h1>{title}</h1><p>{subtitle}</p>{licenses}</section>
<section class="part" id="contents"><h2>{_(CONTENTS)}</h2>
<ol>{"".join(lines)}</ol></section>
{"".join(parts)}
</body></html>"""


def put_solutions_last(article: Tag, _: Language) -> None:
    """Move the solutions of the exercises, and what they print, to the end of the chapter."""
    title = _(worded("Solutions"))
    html = f'<section id="solutions"><h2>{title}</h2></section>'
    section = BeautifulSoup(html, "html.parser").section
    for exercise in article.select("section.role-exercises > section"):
        if parts := exercise.select(SOLUTIONS):
            heading = BeautifulSoup(f"<h3>{exercise.h3.decode_contents()}</h3>", "html.parser")
            section.extend([heading, *(part.extract() for part in parts)])
    if section.h3:
        article.append(section)


def lead_inside(article: Tag, name: str, names: Collection[str], site: str) -> None:
    """Make the links, pictures and anchors of a page those of one long page, in place."""
    for element in article.select("[id]"):
        element["id"] = f"{name}--{element['id']}"
    for picture in article.select("img[src^=_images]"):
        picture["src"] = f"{site}/{picture['src']}"
    for link in article.select("a[href]:not([href*=':'])"):
        page, _, anchor = link["href"].partition("#")
        goal = page.removesuffix(".html") or name
        if goal in names:
            link["href"] = f"#{goal}--{unquote(anchor)}" if anchor else f"#{goal}"
        else:
            del link["href"]


@contextmanager
def chromium() -> Iterator:
    """Start Chromium; raise BookError where it or the package that drives it is missing."""
    if (path := chromium_path()) is None:
        raise BookError("there is no Chromium on this machine; install it to print the book")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BookError("the package playwright is missing; `make pdf` installs it") from None
    with sync_playwright() as tool:
        yield tool.chromium.launch(executable_path=path, args=FLAGS)


def chromium_path() -> str | None:
    """Return where this machine has Chromium or Chrome, if it does."""
    return next(filter(None, map(shutil.which, NAMES)), None)
