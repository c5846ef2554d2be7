"""What each command of `python -m bookbinder` does."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import zmq

from bookbinder.book import ENGLISH, Book, BookError, Edition, chapter_named, read_book
from bookbinder.compose import bind as bind_edition
from bookbinder.compose import stale_files
from bookbinder.copies import bring_copies
from bookbinder.execution import kernel_environment
from bookbinder.grading.table import grade_folder
from bookbinder.language.extract import update_messages
from bookbinder.overlay import drift
from bookbinder.site.building import build, editions_of_site
from bookbinder.site.printing import print_book
from bookbinder.site.sources import edition_sources
from bookbinder.slides import write_slides
from bookbinder.worksheets import bind_worksheets

LAB = Path(__file__).parent / "lab"  # settings of JupyterLab, and how prose looks in it
LEFT_OFF = ".left-off"  # where JupyterLab keeps which pages were open


def run(arguments: list[str] | None = None) -> None:
    options = vars(parser().parse_args(arguments))
    action, framework, language = map(options.pop, ("action", "framework", "language"))
    book = read_book(Path.cwd(), framework or (action is bind and options["only"]) or "")
    edition = book.edition(framework or book.editions[0].framework, language)
    os.environ["JUPYTER_PATH"] = kernel_environment(edition.framework)["JUPYTER_PATH"]
    if language != ENGLISH and action in (open_lab, bind_worksheets, make_slides):
        bind_edition(book, edition)
    action(book, edition, **options)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bookbinder", description="Binds the book.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(action: Callable, name: str, about: str, *of_edition: str) -> Callable:
        command = commands.add_parser(name, help=about)
        command.set_defaults(action=action, framework="", language=ENGLISH)
        for option in of_edition:
            command.add_argument(option, help="of book.toml (default: the first)")
        return command.add_argument

    both, several = ("--framework", "--language"), {"nargs": "+", "default": [ENGLISH]}
    argument = add(bind, "bind", "write notebooks and module; execute what has changed")
    argument("chapters", nargs="*", metavar="CHAPTER", help="these only (default: all)")
    argument("--framework", dest="only", default="", help="this one (default: all)")
    argument("--languages", **several, help="of translations the catalogs are brought up to date")
    add(show_drift, "drift", "list what no longer fits in overlays", "framework")
    argument = add(open_lab, "lab", "bring notebooks to a folder, open JupyterLab there", *both)
    argument("folder", type=Path)
    argument("options", nargs=argparse.REMAINDER, metavar="...", help="options of JupyterLab")
    argument = add(bind_worksheets, "worksheets", "bind the edition without solutions", *both)
    argument("--no-outputs", dest="outputs", action="store_false", help="so that readers predict")
    argument = add(grade, "grade", "grade a folder of worksheets in a sandbox", *both)
    argument("folder", help="with a notebook, or a folder, for each student")
    argument("--chapter", default="", help="by default the one that most notebooks are of")
    argument("--exercises", type=Path, help="a file with your own, in place of a chapter")
    argument = add(make_site, "site", "build the site, or one edition of it", "--language")
    argument("--framework", dest="only", default="", help="this one (default: all)")
    argument("--languages", **several, help="with these languages, in all frameworks")
    add(print_book, "pdf", "print the site as one PDF", *both)
    argument = add(make_slides, "slides", "write the slides of a chapter as one file", *both)
    argument("chapter", nargs="?", default="")
    return top


def bind(book: Book, _: Edition, chapters: list[str], languages: list[str], only: str) -> None:
    """Bind the editions of some languages; those of translations are not executed."""
    names = [chapter_named(chapter, book.chapters) for chapter in chapters]
    for language in languages:
        editions = [book.edition(only, language)] if only else book.editions_in(language)
        if language != ENGLISH:
            update_messages(book, language)
        for edition in editions:
            bind_edition(book, edition, names)


def show_drift(book: Book, edition: Edition) -> None:
    mistakes = drift(book, edition)
    print("\n".join(mistakes) or f"every entry of {edition.framework} has its place")
    if mistakes:
        raise BookError(f"{edition.framework}: {len(mistakes)} to look at")


def open_lab(book: Book, edition: Edition, folder: Path, options: list[str]) -> None:
    """Open JupyterLab in a reader's folder: at the first page, later where the reader left off."""
    if edition.language != ENGLISH:
        os.environ["D2L_LANGUAGE"] = edition.language
    bring_copies(book, edition, folder)
    print(f"Your copies are in {folder}/; Control-C ends JupyterLab", flush=True)
    command = [sys.executable, "-m", "jupyterlab", f"--LabApp.workspaces_dir={LEFT_OFF}"]
    command.append(f"--LabApp.extra_labextensions_path={LAB}")
    command.append("--Application.log_level=ERROR")  # its address comes in any case
    if zmq.has("curve"):  # else kernels warn of connections in plain text
        command.append("--MappingKernelManager.transport_encryption=auto")
    if not (folder / LEFT_OFF).is_dir():
        command.append(f"--LabApp.default_url=/lab/tree/{book.chapters[0]}.ipynb")
    config = filter(None, [str(LAB), os.environ.get("JUPYTER_CONFIG_PATH")])
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(config)
    os.environ.update(kernel_environment(edition.framework))
    os.chdir(folder)
    if sys.platform == "win32":  # where a process cannot become another one
        sys.exit(subprocess.call([*command, *options]))
    os.execv(sys.executable, [*command, *options])


def grade(book: Book, edition: Edition, folder: str, chapter: str, exercises: Path | None) -> None:
    """Grade a folder of worksheets; `make` calls it without a name, too."""
    if not folder:
        raise BookError("which folder? for example: make grade SUBMISSIONS=../submitted")
    name = chapter_named(chapter, book.chapters) if chapter else book.folder and book.chapters[0]
    grade_folder(book, edition, Path(folder), name, exercises)


def make_site(book: Book, edition: Edition, languages: list[str], only: str) -> None:
    """Build all editions in some languages, or one beside the others of the site."""
    alone = only != "" or edition.language != ENGLISH
    tags = dict.fromkeys([ENGLISH, *languages])
    wanted = [edition for language in tags for edition in book.editions_in(language)]
    if alone:
        wanted = [book.edition(only or edition.framework, edition.language)]
    books = dict.fromkeys((e.framework for e in wanted), book) | {b.folder: b for b in book.alone}
    if stale := [line for name, b in books.items() for line in stale_files(b, b.edition(name))]:
        apart = [f"`make notebooks FRAMEWORK={one.folder}`" for one in book.alone]
        raise BookError("\n".join([*stale, " or ".join(["run `make notebooks`", *apart])]))
    for edition in wanted:
        if edition.language != ENGLISH:
            bind_edition(book, edition)
    editions = editions_of_site(book, wanted, alone)
    build(book, ((e, edition_sources(book, e, editions)) for e in wanted), editions)


def make_slides(book: Book, edition: Edition, chapter: str) -> None:
    if not chapter:
        raise BookError("which chapter? for example: make slides CHAPTER=4")
    write_slides(book, edition, chapter_named(chapter, book.chapters))
