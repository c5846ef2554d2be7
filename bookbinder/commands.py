"""What each command of `python -m bookbinder` does."""

import argparse
from pathlib import Path

from bookbinder.binding import bind_module, bind_notebook, read_edition_chapters
from bookbinder.description import Book, guess, read_book
from bookbinder.diagrams import bring_diagrams
from bookbinder.errors import BookError
from bookbinder.reader_copies import bring_copies
from bookbinder.site.building import build_site, open_site
from bookbinder.site.printing import print_book
from bookbinder.worksheets import bind_worksheets


def run(arguments: list[str] | None = None) -> None:
    """Do what the command line asks of the book in the current folder."""
    options = parser().parse_args(arguments)
    options.action(read_book(Path.cwd()), options)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bookbinder", description="Binds the book.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    bind = commands.add_parser("bind", help="execute the chapters; write notebooks and module")
    bind.add_argument("chapters", nargs="*", metavar="CHAPTER", help="these only (default: all)")
    bind.set_defaults(action=bind_book)
    copies = commands.add_parser("copies", help="bring notebooks to a folder to work in")
    copies.add_argument("folder", type=Path)
    copies.set_defaults(action=lambda book, options: bring_copies(book, options.folder))
    worksheets = commands.add_parser("worksheets", help="bind the edition without solutions")
    worksheets.add_argument(
        "--solutions-only", action="store_true", help="bind tasks and solutions, for teachers"
    )
    worksheets.set_defaults(
        action=lambda book, options: bind_worksheets(book, options.solutions_only)
    )
    site = commands.add_parser("site", help="build the site from the executed notebooks")
    site.set_defaults(action=lambda book, options: build_site(book))
    site_open = commands.add_parser("site-open", help="show the site in a browser")
    site_open.set_defaults(action=lambda book, options: open_site(book))
    pdf = commands.add_parser("pdf", help="print the site as one PDF")
    pdf.set_defaults(action=lambda book, options: print_book(book))
    return top


def bind_book(book: Book, options: argparse.Namespace) -> None:
    for name in options.chapters:
        if name not in book.chapters:
            raise BookError(f"no chapter {name!r} in the book{guess(name, book.chapters)}")
    for edition in book.editions:
        chapters = read_edition_chapters(book, edition)
        bind_module(book, edition, chapters)
        bring_diagrams(book.source, chapters, edition.notebooks)
        for chapter in chapters:
            if not options.chapters or chapter.name in options.chapters:
                bind_notebook(book, edition, chapter)
