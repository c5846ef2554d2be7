"""Bind the written book: the module first, then the notebooks, each compared with its source."""

import contextlib
import copy
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from tqdm import tqdm

from bookbinder.catalogs import FIGURES, PRACTICE, say_in
from bookbinder.chapters import Chapter, read_chapter
from bookbinder.colab import ready_to_open_alone
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.diagrams import bring_diagrams, stale_diagrams
from bookbinder.errors import BookError
from bookbinder.execution import execute
from bookbinder.export import compose_module, saved_in
from bookbinder.files import as_text, write_whole
from bookbinder.left_out import led_elsewhere
from bookbinder.overlay import lay_over
from bookbinder.placeholders import filled_in
from bookbinder.practice_words import practice_messages, with_words
from bookbinder.publish import COMMAND, keep_equal_pictures, keep_old_ignored, published
from bookbinder.solutions import folded, read_bound
from bookbinder.text import with_shown_anchors
from bookbinder.translation import translated_chapters, translated_notebook
from d2l_attention.frameworks import check_installed, load

CHECKING = "from d2l_attention.frameworks import check_installed"


def read_english_chapters(book: Book, edition: Edition) -> list[Chapter]:
    """Return the chapters of an edition as they are written."""
    chapters = []
    for name in book.chapters_of(edition):
        path = book.chapter_file(name)
        chapter = read_chapter(path, book.named(path))
        if overlay := book.overlay_file(edition, name):
            chapter = lay_over(chapter, overlay, book.named(overlay))
        chapters.append(chapter)
    return chapters


def read_edition_chapters(book: Book, edition: Edition) -> list[Chapter]:
    """Return all chapters of one edition, in the order of the book."""
    chapters = read_english_chapters(book, edition)
    if edition.language != ENGLISH:
        chapters = translated_chapters(book, edition, chapters)
    chapters = led_elsewhere(book, edition, filled_in(book, edition, chapters))
    return [ready_to_open_alone(c, book, edition) for c in with_shown_anchors(chapters)]


def module_text(book: Book, edition: Edition, chapters: list[Chapter]) -> str:
    """Return the text of the module that the chapters save."""
    source = book.named(book.source)
    header = (
        f"# Made from the #@save cells of {source}/ by `{COMMAND}`: change these, not this file.\n"
        f'"""{book.title} in {edition.name}: the functions that the chapters derive."""'
    )
    saved = [block for c in chapters for block in saved_in(c)]
    framework = re.compile(rf"(?:import|from) (?:{'|'.join(load(edition.framework).PACKAGES)})\b")
    if any(framework.match(line) for block in saved for line in block.imports):
        header += f"\n\n{CHECKING}\n\n{check_of(edition)}"
    return compose_module(saved, header)


def check_of(edition: Edition) -> str:
    """Return the line by which a module says what installs its framework, where it is missing."""
    return f'check_installed("{edition.framework}")'


def bind_module(book: Book, edition: Edition, chapters: list[Chapter]) -> None:
    """Write the module, after a Python of its own has imported it."""
    text = module_text(book, edition, chapters)
    if check_of(edition) in text:
        try:
            check_installed(edition.framework)
        except ImportError as error:
            raise BookError(str(error)) from None
    if read_or_empty(edition.module) == text:
        return
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder, "saved_module.py")
        trial.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", "import saved_module"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1]
        raise BookError(f"{book.named(edition.module)}: cannot be imported: {reason}")
    write_whole(edition.module, text)


def notebook_path(edition: Edition, name: str) -> Path:
    return edition.notebooks / f"{name}.ipynb"


def bind_notebook(book: Book, edition: Edition, chapter: Chapter) -> None:
    """Execute one chapter with a progress bar and write its notebook."""
    path = notebook_path(edition, chapter.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    cells = sum(cell.cell_type == "code" for cell in chapter.notebook.cells)
    with tqdm(total=cells, desc=chapter.name, unit="cell", leave=False, disable=None) as bar:
        executed = execute(
            chapter,
            path.parent,
            book.seconds_per_cell,
            lambda _: bar.update(),
            edition.framework,
        )
    notebook = published(chapter, executed)
    with contextlib.suppress(BookError):  # an old one that is missing or broken has nothing to keep
        old = read_bound(path)
        keep_old_ignored(notebook, old)
        keep_equal_pictures(notebook, old)
    changed = write_whole(path, as_text(folded(notebook)))
    state = "changed" if changed else "as before"
    print(
        f"{chapter.name:35}{cells:4} cells{time.monotonic() - begun:7.1f} s   {state}", flush=True
    )


def bind_translation(book: Book, edition: Edition) -> None:
    """Write the notebooks of a translated edition: words of its own, the rest of the English one.

    Raises:
        BookError: An English notebook is missing, or has other code than its source.
    """
    english = book.edition(edition.framework)
    chapters = read_edition_chapters(book, edition)
    say, practise = say_in(book, edition.language), practised(book, edition.language)
    expected = set()
    for chapter in chapters:
        source = notebook_path(english, chapter.name)
        stored = read_bound(source)
        if code_ids(stored) != code_ids(chapter.notebook):
            stale = f"{book.named(source)} differs from {chapter.file}"
            raise BookError(f"{stale}; run `{COMMAND}` first")
        executed = translated_notebook(chapter, stored, practise)
        notebook = folded(published(chapter, executed, say), say)
        path = notebook_path(edition, chapter.name)
        expected.add(path)
        write_whole(path, as_text(notebook))
    bring_edition_diagrams(book, edition, chapters, edition.notebooks)
    for path in set(edition.notebooks.glob("*.ipynb")) - expected:
        path.unlink()


def bring_edition_diagrams(
    book: Book, edition: Edition, chapters: list[Chapter], folder: Path
) -> None:
    """Bring the diagrams of an edition's chapters to a folder, in its language."""
    bring_diagrams(book.source, chapters, folder, say_in(book, edition.language, FIGURES))


def code_ids(notebook: NotebookNode) -> list[str]:
    """Return the ids of the code cells, which tell their English code."""
    return [cell.id for cell in notebook.cells if cell.cell_type == "code"]


def practised(book: Book, language: str) -> Callable[[str], str]:
    """Return what puts the words of exercises and explorers into a stored output."""
    say = say_in(book, language, PRACTICE)
    messages = practice_messages(book.root)
    return lambda text: with_words(text, say, messages)


def stale_files(book: Book, edition: Edition, chapters: list[Chapter] | None = None) -> list[str]:
    """Return what differs from what the source gives, one line per file, without executing.

    `chapters` are those of the edition, where they have been read already.
    """
    chapters = read_edition_chapters(book, edition) if chapters is None else chapters
    stale, expected = [], set()
    if read_or_empty(edition.module) != module_text(book, edition, chapters):
        stale.append(f"{book.named(edition.module)} differs from the #@save cells of the chapters")
    for chapter in chapters:
        path = notebook_path(edition, chapter.name)
        expected.add(path)
        if not path.exists():
            stale.append(f"{book.named(path)} is missing")
            continue
        if read_or_empty(path) != as_text(folded(published(chapter, with_outputs(chapter, path)))):
            stale.append(f"{book.named(path)} differs from {chapter.file}")
    stale += stale_diagrams(book.source, chapters, edition.notebooks)
    for path in sorted(edition.notebooks.glob("*.*")):
        if path.suffix in (".ipynb", ".svg") and path not in expected:
            stale.append(f"{book.named(path)} belongs to no chapter")
    return stale


def with_outputs(chapter: Chapter, path: Path) -> NotebookNode:
    """Return the chapter's notebook with the stored outputs, counted as a run counts them."""
    notebook = copy.deepcopy(chapter.notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stored = [cell for cell in read_bound(path).cells if cell.cell_type == "code"]
    for at, (cell, old) in enumerate(zip(cells, stored, strict=False), 1):
        cell.outputs, cell.execution_count = old.outputs, at
    return notebook


def read_or_empty(path: Path) -> str:
    """Return the text of a file, to be compared: none where there is no file."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
