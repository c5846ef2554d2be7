"""Print the whole book as one PDF: a title, contents with page numbers, the chapters."""

import io
import os
import re
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bookbinder.catalogs import README, say_in
from bookbinder.config import ENGLISH, LANGUAGES, Book, Edition
from bookbinder.errors import BookError
from bookbinder.site.browser import chromium
from bookbinder.site.building import NEEDED, site_folder
from bookbinder.site.settings import folder_of
from bookbinder.words import Say

if TYPE_CHECKING:
    import bs4
    from playwright.sync_api import Browser

PAPER = {"prefer_css_page_size": True, "print_background": True, "outline": True, "tagged": True}
TEXT_WIDTH = 658  # CSS pixels, what STYLE leaves of A4
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
AFTER = ("references",)  # pages that follow the chapters
DROPPED = ".headerlink, script, .prev-next-footer, .start"
EXERCISES = "section.role-exercises"
DRAWING = "div.cell.tag_drawing"
SOLUTIONS = "details:not(.hint):not(.hide)"
LAST_SENTENCE = re.compile(r"([.。])[^.。]+[.。]$")  # of a still picture: where it would move
READY = """async () => {
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  await document.fonts.ready;
}"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((heading) =>
  [heading.closest("[id]")?.id ?? "", heading.textContent.replace(/\\s+/g, " ").trim()])"""
PAGE_OF = re.compile(r'(data-page-of="([^"]*)">)000<')
LETTERS = {"zh": "的注", "ko": "한글"}  # which no page brings a font for
LOOK_THE_SAME = """(letters) => { // without a font, any two letters are the same box
  const drawn = [...letters].map((letter) => {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
    context.font = "40px sans-serif";
    context.fillText(letter, 20, 60);
    return canvas.toDataURL();
  });
  return drawn.every((picture) => picture === drawn[0]);
}"""
FIT = """() => { // on paper nothing can be moved sideways: what is too wide is made smaller
  for (const box of document.querySelectorAll(".d2l-explorer .parts, table.table, pre"))
    for (let turn = 0; turn < 3; turn++) {
      const room = (box.matches("table") ? box.parentElement : box).clientWidth;
      if (box.scrollWidth <= room) break;
      box.style.zoom = (box.style.zoom || 1) * (room / box.scrollWidth) * 0.995;
    }
}"""


def print_book(book: Book, edition: Edition, exercises: bool = True) -> None:
    """Print an edition of the site to `_build/`, with or without its exercises."""
    begun = time.monotonic()
    name = f"book-{edition.framework}-{edition.language}"
    goal = book.root / "_build" / f"{name}{'' if exercises else '-without-exercises'}.pdf"
    pages = print_edition(book, edition, goal, exercises)
    print(f"{book.named(goal)}: {pages} pages, {time.monotonic() - begun:.1f} s")


def print_edition(book: Book, edition: Edition, goal: Path, exercises: bool) -> int:
    """Print one edition from the site to `goal` and return its number of pages."""
    site = site_folder(book) / folder_of(edition, book.editions)
    names = [*book.chapters_of(edition), *AFTER]
    missing = [name for name in names if not (site / f"{name}.html").exists()]
    if missing:
        raise BookError(f"the site has no page {missing[0]}; run `make site` first")
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    book_page = site_folder(book).with_name("print") / "book.html"
    book_page.parent.mkdir(parents=True, exist_ok=True)
    prefix = os.path.relpath(site, book_page.parent)
    say = say_in(book, edition.language)
    whole, part = say("with {framework}"), say("with {framework}, without exercises")
    subtitle = (whole if exercises else part).format(framework=edition.name)
    title = say_in(book, edition.language, README)(book.title)
    html = one_page(title, subtitle, texts, prefix, exercises, edition.tag, say)
    book_page.write_text(html, encoding="utf-8")
    with chromium() as browser:
        check_letters(browser, edition.language)
        numbers, _ = page_numbers(*printed(browser, book_page))
        html = PAGE_OF.sub(lambda line: f"{line[1]}{numbers[line[2]]}<", html)
        book_page.write_text(html, encoding="utf-8")
        pdf, headings = printed(browser, book_page)  # opened anew: a second print differs
    written, pages = page_numbers(pdf, headings)
    if written != numbers:
        raise BookError("the contents name pages that moved when they were written")
    new = goal.with_suffix(".new")
    new.write_bytes(pdf)
    os.replace(new, goal)
    return pages


def check_letters(browser: "Browser", language: str) -> None:
    """Raise BookError where this computer has no font for a language: it would print boxes."""
    if letters := LETTERS.get(language):
        page = browser.new_page()
        same = page.evaluate(LOOK_THE_SAME, letters)
        page.close()
        if same:
            package = "a font with its letters (on Debian: fonts-noto-cjk)"
            raise BookError(f"to print the book in {LANGUAGES[language]}, install {package}")


def printed(browser: "Browser", book_page: Path) -> tuple[bytes, list[list[str]]]:
    """Return a page as PDF, and its headings, each with the id around it."""
    context = browser.new_context(offline=True, viewport={"width": TEXT_WIDTH, "height": 960})
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto(book_page.as_uri(), wait_until="load", timeout=120_000)
    page.evaluate(READY)
    page.evaluate(FIT)
    made = page.pdf(**PAPER), page.evaluate(HEADINGS)
    context.close()
    return made


def page_numbers(pdf: bytes, headings: list[list[str]]) -> tuple[dict[str, int], int]:
    """Return the page of each heading, by the id around it, and the number of all pages."""
    try:
        from pypdf import PdfReader
    except ImportError:
        raise BookError(f"{NEEDED} (no pypdf)") from None
    reader = PdfReader(io.BytesIO(pdf))
    entries = list(flat(reader.outline))
    if [pressed(entry.title) for entry in entries] != [pressed(title) for _, title in headings]:
        raise BookError("the outline of the PDF is not that of the book")
    pages = [reader.get_destination_page_number(entry) + 1 for entry in entries]
    found: dict[str, int] = {}
    for (name, _), number in zip(headings, pages, strict=True):
        found.setdefault(name, number)
    return found, len(reader.pages)


def pressed(title: str) -> str:
    """Return a title without gaps, and once: Chromium writes some titles twice."""
    title = re.sub(r"\s+", "", title)
    half = title[: len(title) // 2]
    return half if title == half * 2 else title


def flat(outline: list) -> Iterator:
    """Yield the entries of an outline that has lists in lists."""
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def one_page(
    title: str,
    subtitle: str,
    texts: dict[str, str],
    prefix: str,
    exercises: bool = True,
    language: str = ENGLISH,
    say: Say = str,
) -> str:
    """Return the whole book as one page; `prefix` leads from it to the folder of the site."""
    from bs4 import BeautifulSoup  # comes with the packages of the site, which binding does without

    first = BeautifulSoup(next(iter(texts.values())), "html.parser")
    head = [
        f'<link rel="stylesheet" href="{prefix}/{link["href"]}">'
        for link in first.select('link[rel="stylesheet"]')
    ]
    parts, lines, heads, contents = [], [], [], say("Contents")
    for name, text in texts.items():
        article = BeautifulSoup(text, "html.parser").select_one("article.bd-article")
        for section in [] if exercises else article.select(EXERCISES):
            section.decompose()
        localize(article, name, set(texts), prefix, say)
        chapter = title_of(article.h1)
        sections = "".join(
            f"<li>{contents_line(heading.parent['id'], title_of(heading))}</li>"
            for heading in article.select("h2")
        )
        lines.append(f"<li>{contents_line(article.h1.parent['id'], chapter)}")
        lines.append(f"<ol>{sections}</ol></li>" if sections else "</li>")
        heads.append(running_head(name, chapter))
        parts.append(f'<section class="part" id="{name}">{article}</section>')
    return "\n".join(
        [
            f'<!doctype html><html lang="{language}" data-theme="light"><head>'
            '<meta charset="utf-8">',
            f"<title>{escape(title)}</title>",
            *head,
            f"<style>{STYLE}{''.join(heads)}</style></head><body>",
            f'<section class="cover" id="cover"><h1>{escape(title)}</h1>'
            f"<p>{escape(subtitle)}</p></section>",
            f'<section class="part" id="contents"><h2>{contents}</h2><ol>{"".join(lines)}</ol>',
            "</section>",
            *parts,
            "</body></html>",
        ]
    )


def title_of(heading: "bs4.Tag") -> str:
    return heading.get_text().removesuffix("#").strip()


def contents_line(name: str, title: str) -> str:
    number = f'<span data-page-of="{name}">000</span>'
    return f'<a href="#{name}">{escape(title)}</a>{number}'


def running_head(name: str, title: str) -> str:
    """Return the style that puts the title of a chapter at the head of its pages."""
    text = title.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"section[id='{name}'] {{ page: of_{name}; }}\n"
        f'@page of_{name} {{ @top-left {{ content: "{text}"; }} }}\n'
    )


def localize(article: "bs4.Tag", name: str, names: set[str], prefix: str, say: Say = str) -> None:
    """Make the links, pictures and anchors of a page those of one long page, in place."""
    for dropped in article.select(DROPPED):
        dropped.decompose()
    leave_out_drawing(article, name, say)
    put_solutions_last(article, say)
    for fold in article.select("details"):
        fold["open"] = ""
    for button in article.select("details.hide > summary"):  # "Show the imports"
        button.decompose()
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
        if re.match(r"\w+:", link["href"]):
            continue
        if goal in names:
            link["href"] = f"#{goal}--{unquote(anchor)}" if anchor else f"#{goal}"
        else:
            link.attrs.pop("href")


def leave_out_drawing(article: "bs4.Tag", name: str, say: Say = str) -> None:
    """Take out code that only draws; below what it has drawn, a line says where the code is."""
    from bs4 import BeautifulSoup

    for cell in article.select(DRAWING):
        if cell.select_one(".cell_output") is None:
            cell.decompose()
            continue
        cell.select_one("details.above-input").decompose()
        line = say("The code that draws this is in {file}.").format(file=f"{name}.ipynb")
        cell.append(BeautifulSoup(f'<p class="drawn">{line}</p>', "html.parser"))


def put_solutions_last(article: "bs4.Tag", say: Say = str) -> None:
    """Move the solutions of the exercises, and what they print, to the end of the chapter."""
    from bs4 import BeautifulSoup

    name = say("Solutions")
    section = f'<section id="solutions"><h2>{name}</h2></section>'
    page = BeautifulSoup(section, "html.parser")
    for task in article.select(f"{EXERCISES} > section"):
        if parts := task.select(SOLUTIONS):
            title = page.new_tag("h3")
            title.string = task.select_one("h3").get_text().removesuffix("#")
            page.section.extend([title, *(part.extract() for part in parts)])
    if page.section.h3:
        article.append(page.section)
