"""Bind the written book: the module first, then the notebooks, each compared with its source."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Container
from pathlib import Path

from nbformat import NotebookNode

from bookbinder.book import COMMAND, Book, BookError, Edition, as_text, write_whole
from bookbinder.chapters import Chapter
from bookbinder.compare import (
    MADE_WITH,
    can_be_reused,
    code_ids,
    conditions,
    keep_equal_outputs,
    with_outputs,
)
from bookbinder.compose import english_chapters
from bookbinder.execution import check_outputs, execute
from bookbinder.language.say import in_language, language_of, translated
from bookbinder.module import compose_module, saved_in
from bookbinder.pictures import bring_diagrams, diagrams_shown
from bookbinder.publish import published
from bookbinder.solutions import SOLUTION, folded, read_bound
from d2l_attention.frameworks import load

CHECKING = "from d2l_attention.frameworks import check_installed"


def read_edition_chapters(book: Book, edition: Edition) -> list[Chapter]:
    """Return all chapters of an edition in its language, in the order of the book."""
    language = language_of(book, edition.language)
    return [translated(chapter, language) for chapter in english_chapters(book, edition)]


def module_text(book: Book, edition: Edition, chapters: list[Chapter]) -> str:
    """Return the text of the module that the chapters save."""
    source = book.named(book.source)
    header = (
        f"# Made from the #@save cells of {source}/ by `{COMMAND}`: change these, not this file.\n"
        f'"""{book.title} in {edition.name}: the functions that the chapters derive."""'
    )
    saved = [block for c in chapters for block in saved_in(c)]
    imported = {line.split()[1].split(".")[0] for block in saved for line in block.imports}
    if imported & set(load(edition.framework).PACKAGES):
        header += f'\n\n{CHECKING}\n\ncheck_installed("{edition.framework}")'
    return compose_module(saved, header)


def bind_module(book: Book, edition: Edition, chapters: list[Chapter]) -> None:
    """Write the module, after a Python of its own has run it."""
    text = module_text(book, edition, chapters)
    if read_or_empty(edition.module) == text:
        return
    command = [sys.executable, "-"]
    trial = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    if trial.returncode:
        reason = trial.stderr.strip().splitlines()[-1]
        raise BookError(f"{book.named(edition.module)}: cannot be imported: {reason}")
    write_whole(edition.module, text)


def bind_edition(book: Book, edition: Edition, wanted: Container[str] = ()) -> None:
    """Write the module, the diagrams and the notebooks, all or some, of an English edition."""
    chapters = read_edition_chapters(book, edition)
    bind_module(book, edition, chapters)
    bring_diagrams(book, edition, chapters, edition.notebooks)
    for chapter in chapters:
        if not wanted or chapter.name in wanted:
            bind_notebook(book, edition, chapter)


def notebook_path(edition: Edition, name: str) -> Path:
    return edition.notebooks / f"{name}.ipynb"


def bind_notebook(book: Book, edition: Edition, chapter: Chapter) -> None:
    """Write the notebook of a chapter; what is stored of the same code is not executed again."""
    path, made_with = notebook_path(edition, chapter.name), conditions(book, edition, chapter)
    begun = time.monotonic()
    stored = None
    with contextlib.suppress(BookError):  # one that is missing or broken has nothing to keep
        stored = read_bound(path)
    reused = stored and can_be_reused(stored, chapter, made_with)
    how = "as stored" if reused else "executed"
    print(f"{edition.framework:12}{chapter.name:35}{how:10}", end="", flush=True)
    if reused:
        executed = with_outputs(chapter, stored)
    else:
        edition.notebooks.mkdir(parents=True, exist_ok=True)
        executed = execute(chapter, edition.notebooks, book.seconds_per_cell, edition.framework)
    check_outputs(chapter, executed)
    notebook = published(chapter, executed)
    notebook.metadata[MADE_WITH] = made_with
    if stored:
        keep_equal_outputs(notebook, stored)
    state = "changed" if write_whole(path, as_text(folded(notebook))) else "as before"
    print(f"{time.monotonic() - begun:7.1f} s   {state}", flush=True)


def as_stored(
    book: Book, edition: Edition, chapter: Chapter, command: str = COMMAND
) -> NotebookNode:
    """Return the notebook of an English chapter with the outputs that are stored of it.

    Raises:
        BookError: There is none, or it has other code.
    """
    source = notebook_path(book.edition(edition.framework), chapter.name)
    stored = read_bound(source)
    if code_ids(stored) != code_ids(chapter.notebook):
        raise BookError(f"{book.named(source)} differs from {chapter.file}; run `{COMMAND}` first")
    return published(chapter, with_outputs(chapter, stored), command)


def bind_translation(book: Book, edition: Edition, wanted: Container[str] = ()) -> None:
    """Write the notebooks of a translated edition, all or some: the English ones in its language.

    Raises:
        BookError: An English notebook is missing, or has other code than its source; a catalog is
            broken, or a translation has lost what it must keep.
    """
    english, language = book.edition(edition.framework), language_of(book, edition.language)
    chapters = english_chapters(book, english)
    for chapter in chapters:
        language.read(chapter.name)  # says what is wrong with a catalog before anything is written
    for chapter in chapters:
        if wanted and chapter.name not in wanted:
            continue
        notebook = in_language(as_stored(book, english, chapter), language, chapter.name)
        notebook = folded(notebook, language.said(SOLUTION))
        write_whole(notebook_path(edition, chapter.name), as_text(notebook))
    bring_diagrams(book, edition, chapters, edition.notebooks)
    expected = {notebook_path(edition, chapter.name) for chapter in chapters}
    for path in {*edition.notebooks.glob("*.ipynb")} - expected:
        path.unlink()


def stale_files(book: Book, edition: Edition, chapters: list[Chapter] | None = None) -> list[str]:
    """Return what differs from what the source gives, one line per file, without executing.

    `chapters` are those of the edition, where they have been read already.
    """
    chapters = read_edition_chapters(book, edition) if chapters is None else chapters
    files = {
        edition.module: ("the #@save cells of the chapters", module_text(book, edition, chapters))
    }
    for chapter in chapters:
        files[notebook_path(edition, chapter.name)] = chapter.file, as_bound(edition, chapter)
    for name in diagrams_shown(chapters):
        source = book.source / name
        files[edition.notebooks / name] = book.named(source), read_or_empty(source)
    there = {path for path in edition.notebooks.rglob("*.*") if path.suffix in (".ipynb", ".svg")}
    stale = [
        f"{book.named(path)} {f'differs from {source}' if path.exists() else 'is missing'}"
        for path, (source, text) in files.items()
        if not path.exists() or read_or_empty(path) != text
    ]
    return stale + [f"{book.named(p)} belongs to no chapter" for p in sorted(there - files.keys())]


def as_bound(edition: Edition, chapter: Chapter) -> str:
    """Return the text that the notebook of a chapter is to have, with its stored outputs."""
    path = notebook_path(edition, chapter.name)
    if not path.exists():
        return ""
    stored = read_bound(path)
    notebook = published(chapter, with_outputs(chapter, stored))
    if MADE_WITH in stored.metadata:
        notebook.metadata[MADE_WITH] = stored.metadata[MADE_WITH]
    return as_text(folded(notebook))


def read_or_empty(path: Path) -> str:
    """Return the text of a file, to be compared: none where there is no file."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
