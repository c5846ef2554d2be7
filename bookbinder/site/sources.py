"""Compose everything that Sphinx reads for one edition, as texts; nothing is written here."""

import difflib
import re
from collections.abc import Container
from dataclasses import replace

from bookbinder.binding import notebook_path, read_or_empty, stale_files
from bookbinder.catalogs import FIGURES, README, say_in
from bookbinder.chapters import Chapter
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import as_text
from bookbinder.lint import link_problems
from bookbinder.routes import read_routes
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
from bookbinder.terms import TABLE, singular, terms_in
from bookbinder.text import Line, Page, anchor_of, headings_of, jupyter_anchor, shown_words
from bookbinder.words import Say

GLOSS = re.compile(r"\s*[(（][^)）]*[)）]")  # what a translation adds to a term: its English
MORE = ("functions", "references", "genindex")


def edition_sources(
    book: Book, edition: Edition, read: dict[Edition, list[Chapter]], say: Say = str
) -> dict[str, str]:
    """Return file name -> text for one edition; `read` has the chapters of all in the site.

    Raises BookError where a notebook is missing or stale, or a link or picture leads nowhere.
    """
    chapters, editions = read[edition], tuple(read)
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
    files["functions.md"] = functions_page(text, module, chapters, helpers, say)
    files["references.md"] = references_page(chapters, say)
    routes = read_routes(book, chapters)
    about = say_in(book, edition.language, README)
    book = replace(book, title=about(book.title))
    lead = lead_of(read_or_empty(book.root / "README.md")).splitlines()
    lead = "\n".join(map(about, lead))
    pictures = home_pictures(book, chapters, say_in(book, edition.language, FIGURES))
    files["index.md"] = home_page(book, lead, bound, MORE, routes, pictures, say)
    files |= pictures
    settings = sphinx_settings(
        book,
        edition,
        editions,
        equations(chapters),
        term_places(pages, book.unlinked),
        {page.name: shown_terms(page) for page in pages},
        anchors(edition, read),
        shown_words(chapters),
        say,
    )
    files["conf.py"] = as_conf(settings)
    return files


def term_places(pages: list[Page], unlinked: Container[str]) -> dict[str, tuple[str, str]]:
    """Return, for the words of each term to link to, the chapter that explains it and its id."""
    found, known = {}, set()
    for page in pages:
        for shown, term in shown_terms(page).items():
            name = singular(term)
            if name not in known and name not in unlinked:
                found[name if shown == term else GLOSS.sub("", shown)] = page.name, term
            known.add(name)
    return found


def shown_terms(page: Page) -> dict[str, str]:
    """Return the terms that a chapter explains, as it shows them in bold, with their English."""
    found: dict[str, str] = {}
    for line in page.lines():
        for term, shown in [] if line.english.startswith(TABLE) else terms_in(line):
            found.setdefault(shown, term)
    return found


def anchors(edition: Edition, read: dict[Edition, list[Chapter]]) -> dict[str, dict]:
    """Return, for the editions that the menus lead to, which heading there is one here."""
    found: dict[str, dict] = {}
    for other in neighbors(edition, tuple(read)):
        theirs = {chapter.name: chapter for chapter in read[other]}
        found[folder_of(other, tuple(read))] = {
            chapter.name: paired(headings_of(chapter), headings_of(theirs[chapter.name]))
            for chapter in read[edition]
            if chapter.name in theirs
        }
    return found


def paired(here: list[Line], there: list[Line]) -> dict[str, str]:
    """Return anchor -> anchor: of headings equal in English, and between, groups of one size."""
    names = [list(map(anchor_of, headings)) for headings in (here, there)]
    a, b = [[jupyter_anchor(heading.title) for heading in headings] for headings in (here, there)]
    pairs = {}
    for kind, i, j, k, m in difflib.SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal" or j - i == m - k:
            pairs |= dict(zip(a[i:j], b[k:m], strict=True))
    return pairs
