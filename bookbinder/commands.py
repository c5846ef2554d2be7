"""What each command of `python -m bookbinder` does."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from bookbinder.binding import bind_module, bind_notebook, read_edition_chapters
from bookbinder.config import Book, Edition, guess, read_book
from bookbinder.contents_panel import write_contents_panel
from bookbinder.diagrams import bring_diagrams
from bookbinder.drift import drift, stamp
from bookbinder.errors import BookError
from bookbinder.execution import frameworks_own
from bookbinder.reader_copies import bring_copies, bring_fresh
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
    bind.add_argument("--framework", help="one edition only (default: all)")
    bind.set_defaults(action=bind_book)
    drift = commands.add_parser("drift", help="list what no longer fits in a framework's overlays")
    drift.add_argument("framework")
    drift.add_argument(
        "--stamp",
        nargs="*",
        metavar="ID",
        help="first renew the ids of entries that still say the right thing: these, or all whose "
        "place is sure",
    )
    drift.set_defaults(action=show_drift)
    copies = commands.add_parser("copies", help="bring notebooks to a folder to work in")
    copies.add_argument("folder", type=Path)
    of_an_edition(copies)
    copies.set_defaults(action=bring_book)
    fresh = commands.add_parser("fresh", help="bring back one chapter as the book has it")
    fresh.add_argument("folder", type=Path)
    fresh.add_argument("chapter", nargs="?", default="")
    of_an_edition(fresh)
    fresh.set_defaults(action=bring_chapter)
    environment = commands.add_parser(
        "environment", help="print what a shell must set for a framework"
    )
    of_an_edition(environment)
    environment.set_defaults(action=show_environment)
    worksheets = commands.add_parser("worksheets", help="bind the edition without solutions")
    worksheets.add_argument(
        "--solutions-only", action="store_true", help="bind tasks and solutions, for teachers"
    )
    of_an_edition(worksheets)
    worksheets.set_defaults(
        action=lambda book, options: bind_worksheets(
            book, edition_of(book, options), options.solutions_only
        )
    )
    site = commands.add_parser("site", help="build the site from the executed notebooks")
    site.set_defaults(action=lambda book, options: build_site(book))
    site_open = commands.add_parser("site-open", help="show the site in a browser")
    site_open.set_defaults(action=lambda book, options: open_site(book))
    pdf = commands.add_parser("pdf", help="print the site as one PDF")
    pdf.add_argument(
        "--no-exercises", dest="exercises", action="store_false", help="leave out the exercises"
    )
    of_an_edition(pdf)
    pdf.set_defaults(
        action=lambda book, options: print_book(book, edition_of(book, options), options.exercises)
    )
    return top


def of_an_edition(command: argparse.ArgumentParser) -> None:
    command.add_argument("--framework", help="the edition (default: the first of book.toml)")


def edition_of(book: Book, options: argparse.Namespace) -> Edition:
    return book.edition(options.framework) if options.framework else book.editions[0]


def bring_book(book: Book, options: argparse.Namespace) -> None:
    edition = edition_of(book, options)
    bring_copies(book, edition, options.folder)
    write_contents_panel(book, edition)


def show_environment(book: Book, options: argparse.Namespace) -> None:
    for name, value in frameworks_own(edition_of(book, options).framework).items():
        print(f"export {name}={shlex.quote(value)}")


def bring_chapter(book: Book, options: argparse.Namespace) -> None:
    edition, name = edition_of(book, options), options.chapter.removesuffix(".ipynb")
    there = book.chapters_of(edition)
    if not name:
        raise BookError(f"which chapter? for example: make fresh CHAPTER={there[-1]}")
    check_chapter(name, there)
    bring_fresh(edition, options.folder, name)


def check_chapter(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise BookError(f"no chapter {name!r} in the book{guess(name, known)}")


def bind_book(book: Book, options: argparse.Namespace) -> None:
    editions = [book.edition(options.framework)] if options.framework else book.editions
    for name in options.chapters:
        check_chapter(name, [name for e in editions for name in book.chapters_of(e)])
    for edition in editions:
        chapters = read_edition_chapters(book, edition)
        bind_module(book, edition, chapters)
        bring_diagrams(book.source, chapters, edition.notebooks)
        for chapter in chapters:
            if not options.chapters or chapter.name in options.chapters:
                bind_notebook(book, edition, chapter)


def show_drift(book: Book, options: argparse.Namespace) -> None:
    """Print all that a change of the chapters left behind in the overlays of a framework."""
    framework = options.framework
    edition = book.edition(framework)
    if options.stamp is not None:
        for line in stamp(book, edition, options.stamp):
            print(line)
    mistakes = drift(book, edition)
    print("\n".join(mistakes) if mistakes else f"all overlays of {framework} fit")
    if mistakes:
        raise BookError(f"{framework}: {len(mistakes)} to look at")
