"""Compose everything that Sphinx reads for one edition, as texts; nothing is written here."""

import difflib
import re
from collections.abc import Container
from dataclasses import replace

import nbformat

from bookbinder.binding import notebook_path, read_or_empty, stale_files
from bookbinder.catalogs import FIGURES, INTERFACE, README, say_in
from bookbinder.chapters import Chapter
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import as_text
from bookbinder.language import Language, language_of, said_in
from bookbinder.lint import TERM, link_problems, singular
from bookbinder.page import Page, headings_of, jupyter_anchor, lines_of, shown_words
from bookbinder.site.bibliography import references_page
from bookbinder.site.functions import functions_page
from bookbinder.site.home import home_page, home_pictures, lead_of
from bookbinder.site.pages import equations, site_notebook
from bookbinder.site.settings import (
    address_of,
    as_conf,
    folder_of,
    neighbors,
    sphinx_settings,
)
from bookbinder.solutions import read_bound
from bookbinder.steps import read_routes, route_table
from bookbinder.words import Say

GLOSS = re.compile(r"\s*[(（][^)）]*[)）]")  # what a translation adds to a term: its English
MORE = ("functions", "references", "genindex")


def edition_sources(
    book: Book, edition: Edition, read: dict[Edition, list[Chapter]], say: Say = str
) -> dict[str, str]:
    """Return file name -> text for one edition; `read` has the chapters of all in the site.

    Raises BookError where a notebook is missing or stale, or a link or picture leads nowhere.
    """
    chapters, english, editions = read[edition], read[of_english(edition)], tuple(read)
    of_source = edition.language == ENGLISH  # a translation was bound just now
    if stale := of_source and stale_files(book, edition, chapters):
        raise BookError("\n".join([*stale, "run `make notebooks`"]))
    pages = [Page(c, read_bound(notebook_path(edition, c.name))) for c in chapters]
    by_name = {page.name: page for page in pages}
    if wrong := [p for page in pages for p in link_problems(page, by_name, edition.notebooks)]:
        raise BookError("\n".join(wrong))
    bound = [(page.chapter, page.executed) for page in pages]
    module = book.named(edition.module).removesuffix(".py").replace("/", ".")
    folders = {e.notebooks.name: address_of(e, edition, editions) for e in editions}
    files = {}
    for page in pages:
        listed = {line.text for line in page.lines() if line.in_references}
        files[f"{page.name}.ipynb"] = as_text(site_notebook(page.executed, listed, folders, say))
    package = module.rpartition(".")[0]
    helpers = {
        f"{package}.{path.stem}": read_or_empty(path) for path in edition.module.parent.glob("*.py")
    }
    text = helpers.pop(module, "")
    headings = {
        (chapter.name, old.title): new.title
        for chapter, shown in zip(english, chapters, strict=True)
        for old, new in zip(headings_of(chapter), headings_of(shown), strict=True)
    }
    files["functions.md"] = functions_page(text, module, chapters, helpers, say, headings)
    files["references.md"] = references_page(chapters, say)
    routes = read_routes(book, english)
    language = language_of(book, edition.language)
    tables = {name: text_in(route_table(english, r), language) for name, r in routes.items()}
    about = say_in(book, edition.language, README)
    book = replace(book, title=about(book.title))
    lead = lead_of(read_or_empty(book.root / "README.md")).splitlines()
    lead = "\n".join(map(about, lead))
    pictures = home_pictures(book, chapters, say_in(book, edition.language, FIGURES))
    files["index.md"] = home_page(book, lead, bound, MORE, routes, tables, pictures, say)
    files |= pictures
    terms = {old.name: shown_terms(old, new) for old, new in zip(english, chapters, strict=True)}
    settings = sphinx_settings(
        book,
        edition,
        editions,
        equations(chapters),
        term_places(terms, book.unlinked),
        terms,
        anchors(edition, read),
        shown_words(chapters),
        say,
    )
    files["conf.py"] = as_conf(settings)
    return files


def of_english(edition: Edition) -> Edition:
    return replace(edition, language=ENGLISH)


def text_in(text: str, language: Language) -> str:
    """Return composed Markdown in a language."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    return said_in(notebook, language, INTERFACE).cells[0].source


def term_places(
    terms: dict[str, dict[str, str]], unlinked: Container[str]
) -> dict[str, tuple[str, str]]:
    """Return, for the words of each term to link to, the chapter that explains it and its id."""
    found, known = {}, set()
    for chapter, explained in terms.items():
        for shown, term in explained.items():
            name = singular(term)
            if name not in known and name not in unlinked:
                found[name if shown == term else GLOSS.sub("", shown)] = chapter, term
            known.add(name)
    return found


def shown_terms(english: Chapter, shown: Chapter) -> dict[str, str]:
    """Return the terms that a chapter explains, as it shows them in bold, with their English."""
    found: dict[str, str] = {}
    for old, new in zip(lines_of(english), lines_of(shown), strict=True):
        bold = zip(old.bold, new.bold, strict=False) if old.kind != "row" else ()
        found |= {
            words: term for term, words in bold if TERM.fullmatch(term) and words not in found
        }
    return found


def anchors(edition: Edition, read: dict[Edition, list[Chapter]]) -> dict[str, dict]:
    """Return, for the editions that the menus lead to, which heading there is one here."""
    ours = shown_anchors(edition, read)
    found: dict[str, dict] = {}
    for other in neighbors(edition, tuple(read)):
        theirs = shown_anchors(other, read)
        found[folder_of(other, tuple(read))] = {
            name: paired(ours[name], theirs[name]) for name in ours if name in theirs
        }
    return found


def shown_anchors(edition: Edition, read: dict[Edition, list[Chapter]]) -> dict[str, list]:
    """Return, for each chapter, the anchors of its headings: of the English, and as it is shown."""
    pairs = zip(read[of_english(edition)], read[edition], strict=True)
    return {
        english.name: [
            (jupyter_anchor(old.title), jupyter_anchor(new.title))
            for old, new in zip(headings_of(english), headings_of(shown), strict=True)
        ]
        for english, shown in pairs
    }


def paired(here: list[tuple[str, str]], there: list[tuple[str, str]]) -> dict[str, str]:
    """Return anchor -> anchor: of headings equal in English, and between, groups of one size."""
    names = [[english for english, _ in headings] for headings in (here, there)]
    a, b = [[shown for _, shown in headings] for headings in (here, there)]
    pairs = {}
    for kind, i, j, k, m in difflib.SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal" or j - i == m - k:
            pairs |= dict(zip(a[i:j], b[k:m], strict=True))
    return pairs
