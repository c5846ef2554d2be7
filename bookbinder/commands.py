"""What each command of `python -m bookbinder` does."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import zmq

from bookbinder.book import ENGLISH, Book, BookError, Edition, chapter_named, read_book
from bookbinder.copies import bring_copies
from bookbinder.execution import frameworks_own, own_kernels
from bookbinder.grading.table import grade_folder
from bookbinder.language.extract import update_messages
from bookbinder.notebook import bind_edition, bind_translation
from bookbinder.overlay import drift
from bookbinder.site.building import build_alone, build_site
from bookbinder.site.printing import print_book
from bookbinder.slides import write_slides
from bookbinder.worksheets import bind_worksheets

LAB = Path(__file__).parent / "lab"  # settings of JupyterLab, and how prose looks in it
LEFT_OFF = ".left-off"  # where JupyterLab keeps which pages were open


def run(arguments: list[str] | None = None) -> None:
    """Do what the command line asks of the book in the current folder."""
    options = parser().parse_args(arguments)
    os.environ.update(own_kernels())
    book = read_book(Path.cwd())
    options.action(book, options)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bookbinder", description="Binds the book.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, action: Callable, about: str, of_an_edition: bool = True):
        command = commands.add_parser(name, help=about)
        command.set_defaults(action=action, command=name)
        if of_an_edition:
            note = "all" if action is bind_book else "the first of book.toml"
            command.add_argument("--framework", help=f"that of the edition (default: {note})")
            if action is not bind_book:
                command.add_argument("--language", default=ENGLISH, help="of book.toml's languages")
        return command.add_argument

    bind = add("bind", bind_book, "write notebooks and module; execute what has changed")
    bind("chapters", nargs="*", metavar="CHAPTER", help="these only (default: all)")
    about = "of a translation, first bring the catalogs up to date and list what is missing"
    bind("--languages", nargs="+", default=[ENGLISH], metavar="LANGUAGE", help=about)
    about = "list what no longer fits in overlays"
    add("drift", show_drift, about, of_an_edition=False)("framework")
    lab = add("lab", open_lab, "bring notebooks to a folder to work in, and open JupyterLab there")
    lab("folder", type=Path)
    lab("options", nargs=argparse.REMAINDER, metavar="...", help="options of JupyterLab")
    worksheets = add("worksheets", make_worksheets, "bind the edition without solutions")
    worksheets("--no-outputs", dest="outputs", action="store_false", help="so that readers predict")
    grade = add("grade", grade_submissions, "grade a folder of worksheets in a sandbox")
    grade("folder", help="with a notebook, or a folder, for each student")
    grade("--chapter", default="", help="by default the one that most notebooks are of")
    grade("--exercises", type=Path, help="a file with exercises of your own, in place of a chapter")
    site = add("site", make_site, "build the site from the notebooks, or one edition of it")
    about = "with these languages (default: en, all frameworks)"
    site("--languages", nargs="+", default=[ENGLISH], metavar="LANGUAGE", help=about)
    add("pdf", make_pdf, "print the site as one PDF")
    slides = add("slides", make_slides, "write the slides of a chapter as one file")
    slides("chapter", nargs="?", default="")
    return top


def edition_of(book: Book, options: argparse.Namespace) -> Edition:
    framework = options.framework or book.editions[0].framework
    return book.edition(framework, options.language)


def bound_edition_of(book: Book, options: argparse.Namespace) -> Edition:
    """Return the edition; the notebooks of a translated one are bound now."""
    edition = edition_of(book, options)
    if edition.language != ENGLISH:
        bind_translation(book, edition)
    return edition


def make_site(book: Book, options: argparse.Namespace) -> None:
    if options.framework or options.language != ENGLISH:
        build_alone(book, edition_of(book, options))
    else:
        build_site(book, options.languages)


def chapter_of(book: Book, options: argparse.Namespace) -> str:
    """Return the name of the chapter that is asked for."""
    if not options.chapter:
        raise BookError(f"which chapter? for example: make {options.command} CHAPTER=4")
    return chapter_named(options.chapter, book.chapters)


def open_lab(book: Book, options: argparse.Namespace) -> None:
    """Open JupyterLab in a reader's folder: at the first page, later where the reader left off."""
    folder, edition = options.folder, bound_edition_of(book, options)
    bring_copies(book, edition, folder)
    print(f"Your copies are in {folder}/; Control-C ends JupyterLab", flush=True)
    own = frameworks_own(edition.framework)
    own |= {"D2L_LANGUAGE": edition.language} if edition.language != ENGLISH else {}
    config = [str(LAB), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    own["JUPYTER_CONFIG_PATH"] = os.pathsep.join(config)
    command = [sys.executable, "-m", "jupyterlab", f"--LabApp.workspaces_dir={LEFT_OFF}"]
    command.append(f"--LabApp.extra_labextensions_path={LAB}")
    command.append("--Application.log_level=ERROR")  # its address comes in any case
    if zmq.has("curve"):  # else kernels warn of connections in plain text
        command.append("--MappingKernelManager.transport_encryption=auto")
    if not (folder / LEFT_OFF).is_dir():
        command.append(f"--LabApp.default_url=/lab/tree/{book.chapters[0]}.ipynb")
    os.chdir(folder)
    os.environ.update(own)
    if sys.platform == "win32":  # where a process cannot become another one
        sys.exit(subprocess.call([*command, *options.options]))
    os.execv(sys.executable, [*command, *options.options])


def make_worksheets(book: Book, options: argparse.Namespace) -> None:
    bind_worksheets(book, edition_of(book, options), options.outputs)


def grade_submissions(book: Book, options: argparse.Namespace) -> None:
    if not options.folder:
        raise BookError("which folder? for example: make grade SUBMISSIONS=../submitted")
    name = chapter_of(book, options) if options.chapter else ""
    edition = edition_of(book, options)
    grade_folder(book, edition, Path(options.folder), name, options.exercises)


def make_pdf(book: Book, options: argparse.Namespace) -> None:
    print_book(book, edition_of(book, options))


def make_slides(book: Book, options: argparse.Namespace) -> None:
    name = chapter_of(book, options)
    write_slides(book, bound_edition_of(book, options), name)


def bind_book(book: Book, options: argparse.Namespace) -> None:
    """Bind the editions of some languages; those of translations are not executed."""
    for language in options.languages:
        editions = book.editions_in(language)
        if options.framework:
            editions = [book.edition(options.framework, language)]
        chapters = [chapter_named(name, book.chapters) for name in options.chapters]
        if language != ENGLISH:
            update_messages(book, language)
        for edition in editions:
            (bind_edition if language == ENGLISH else bind_translation)(book, edition, chapters)


def show_drift(book: Book, options: argparse.Namespace) -> None:
    """Print all that a change of the chapters left behind in the overlays of a framework."""
    framework = options.framework
    mistakes = drift(book, book.edition(framework))
    print("\n".join(mistakes) if mistakes else f"every entry of {framework} has its place")
    if mistakes:
        raise BookError(f"{framework}: {len(mistakes)} to look at")
