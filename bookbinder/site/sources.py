"""Compose everything that Sphinx reads for one edition, as texts; nothing is written here."""

import difflib
from collections.abc import Container

from bookbinder.binding import notebook_path, read_edition_chapters, read_or_empty, stale_files
from bookbinder.chapters import Chapter
from bookbinder.config import Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import as_text
from bookbinder.lint import link_problems
from bookbinder.routes import read_routes
from bookbinder.site.bibliography import references_page
from bookbinder.site.functions import functions_page
from bookbinder.site.home import home_page, home_pictures, lead_of
from bookbinder.site.pages import equations, site_notebook
from bookbinder.site.settings import address_of, as_conf, folder_of, sphinx_settings
from bookbinder.solutions import read_bound
from bookbinder.terms import BOLD, explained, singular
from bookbinder.text import Line, Page, anchor_of, headings_of, jupyter_anchor, shown_words

MORE = ("functions", "references", "genindex")


def edition_sources(book: Book, edition: Edition) -> tuple[dict[str, str], list[Chapter]]:
    """Return file name -> text for one edition, and its chapters.

    Raises BookError where a notebook is missing or stale, or a link or picture leads nowhere.
    """
    chapters = read_edition_chapters(book, edition)
    if stale := stale_files(book, edition, chapters):
        raise BookError("\n".join([*stale, "run `make notebooks`"]))
    pages = [Page(c, read_bound(notebook_path(edition, c.name))) for c in chapters]
    by_name = {page.name: page for page in pages}
    if wrong := [p for page in pages for p in link_problems(page, by_name, edition.notebooks)]:
        raise BookError("\n".join(wrong))
    bound = [(page.chapter, page.executed) for page in pages]
    module = book.named(edition.module).removesuffix(".py").replace("/", ".")
    folders = {e.notebooks.name: address_of(e, edition, book.editions) for e in book.editions}
    files = {}
    for page in pages:
        listed = {line.text for line in page.lines() if line.in_references}
        files[f"{page.name}.ipynb"] = as_text(site_notebook(page.executed, listed, folders))
    package = module.rpartition(".")[0]
    helpers = {
        f"{package}.{path.stem}": read_or_empty(path) for path in edition.module.parent.glob("*.py")
    }
    text = helpers.pop(module, "")
    files["functions.md"] = functions_page(text, module, chapters, helpers)
    files["references.md"] = references_page(chapters)
    routes = read_routes(book, chapters)
    lead = lead_of(read_or_empty(book.root / "README.md"))
    files["index.md"] = home_page(book, lead, bound, MORE, routes)
    files |= home_pictures(book, chapters)
    settings = sphinx_settings(
        book,
        edition,
        equations(chapters),
        term_places(pages, book.unlinked),
        anchors(book, edition, pages),
        shown_words(chapters),
    )
    files["conf.py"] = as_conf(settings)
    return files, chapters


def term_places(pages: list[Page], unlinked: Container[str]) -> dict[str, tuple[str, str]]:
    """Return, for each term to link to, the chapter that explains it and its words there."""
    found = {}
    for term, (at, line) in explained(pages).items():
        text = list(pages[at].lines())[line].text
        bold = next(word for word in BOLD.findall(text) if singular(word) == term)
        if term not in unlinked:
            found[term] = pages[at].name, bold
    return found


def anchors(book: Book, edition: Edition, pages: list[Page]) -> dict[str, dict]:
    """Return, for every other edition and chapter, which heading there answers to one here."""
    if len(book.editions) < 2:
        return {}
    found: dict[str, dict] = {}
    for other in book.editions:
        if other == edition:
            continue
        theirs = {chapter.name: chapter for chapter in read_edition_chapters(book, other)}
        found[folder_of(other, book.editions)] = {
            page.name: paired(headings_of(page.chapter), headings_of(theirs[page.name]))
            for page in pages
            if page.name in theirs
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
