"""The way of a chapter, one list for every goal: from what is written to a reader's notebook.

Each step takes a chapter, which it may change, and the goal, an edition; only `bind` writes.
"""

import contextlib
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from bookbinder import notebook as nb
from bookbinder.book import COMMAND, ENGLISH, Book, BookError, Edition, Goal, as_text, write_whole
from bookbinder.chapters import Chapter, name_cells, read_chapter, title_cell
from bookbinder.colab import open_alone
from bookbinder.compare import keep_equal_outputs
from bookbinder.execution import check_outputs, execute
from bookbinder.language.catalog import language_of, messages_of, worded
from bookbinder.language.say import in_outputs, translated
from bookbinder.module import bind_modules, module_texts
from bookbinder.notation import notation_table
from bookbinder.overlay import lay_over
from bookbinder.pictures import bring_pictures
from bookbinder.reading_time import time_text, timed

STALE = worded("{count} of the {all} sentences of this chapter are in English still.")
Step = Callable[[Chapter, Goal], Chapter]


def laid_over(chapter: Chapter, goal: Goal) -> Chapter:
    """What the overlay of the edition's framework changes."""
    path = goal.book.overlay_file(goal.edition, chapter.name)
    return lay_over(chapter, path, goal.book.named(path)) if path else chapter


def in_words_of_the_framework(chapter: Chapter, goal: Goal) -> Chapter:
    """`tensor`, or what the framework calls it, for {{array}}."""
    fill(chapter, dict(goal.edition.words))
    name_cells(chapter.notebook)  # the id of a cell is that of what it says in English
    return chapter


def in_language(chapter: Chapter, goal: Goal) -> Chapter:
    """The chapter in the reader's language; a line under its title says what stays English."""
    if goal.edition.language == ENGLISH:
        return chapter
    texts = {text for text, _ in messages_of(chapter)}
    missing = len(texts - goal._.read(chapter.name).keys())
    translated(chapter, goal._)
    if missing:
        note = goal._(STALE).format(count=missing, all=len(texts))
        cell = title_cell(chapter.notebook)
        title = next(line for line in cell.source.split("\n") if line.startswith("# "))
        cell.source = cell.source.replace(title, f"{title}\n\n*{note}*", 1)
    return chapter


def fill(chapter: Chapter, texts: dict[str, str]) -> None:
    """Put a text into each place, {{minutes}}, that the prose has for one."""
    for cell in chapter.notebook.cells:
        if cell.cell_type == "markdown":
            for place, text in texts.items():
                cell.source = cell.source.replace(f"{{{{{place}}}}}", text)


def filled_in(chapter: Chapter, goal: Goal) -> Chapter:
    """What is computed for a place in the text: the minutes, the notation."""
    fill(chapter, {"minutes": time_text(chapter.minutes, goal._)})
    if any("{{notation}}" in cell.source for cell in chapter.notebook.cells):
        fill(chapter, {"notation": notation_table(goal)})
    return chapter


def run_or_reused(chapter: Chapter, goal: Goal) -> Chapter:
    """The outputs: those stored of the same code, package and versions, or those of a run."""
    path, stored = goal.edition.notebook(chapter.name), None
    made_with = nb.conditions(goal.book, goal.edition, chapter)
    with contextlib.suppress(BookError):  # one that is missing or broken has nothing to keep
        stored = nb.read_bound(path)
    same = stored and nb.code_ids(stored) == nb.code_ids(chapter.notebook)
    if same and stored.metadata.get(nb.MADE_WITH) == made_with:
        print("as stored ", end="", flush=True)
        nb.with_outputs(chapter.notebook, stored)
    else:
        print("executed  ", end="", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        execute(chapter, path.parent, goal.book.seconds_per_cell, goal.edition.framework)
        if stored:
            keep_equal_outputs(chapter.notebook, stored)
    check_outputs(chapter, chapter.notebook)
    chapter.notebook.metadata[nb.MADE_WITH] = made_with
    return chapter


def as_stored(chapter: Chapter, goal: Goal) -> Chapter:
    """The outputs that the English notebook has, whatever it was made with, in the language."""
    path = replace(goal.edition, language=ENGLISH).notebook(chapter.name)
    nb.with_outputs(chapter.notebook, stored := nb.read_bound(path))
    if goal.edition.language != ENGLISH:
        if nb.code_ids(stored) != nb.code_ids(chapter.notebook):
            name = goal.book.named(path)
            raise BookError(f"{name} differs from {chapter.file}; run `{COMMAND}` first")
        for cell in chapter.notebook.cells:
            in_outputs(cell, goal._, chapter.name)
    return chapter


WRITTEN: tuple[Step, ...] = (laid_over, in_words_of_the_framework)  # what is translated
TEXT: tuple[Step, ...] = (*WRITTEN, timed, in_language, filled_in, open_alone)
EXECUTED: tuple[Step, ...] = (run_or_reused, nb.publish, nb.fold_solutions)
STORED: tuple[Step, ...] = (as_stored, nb.publish, nb.fold_solutions)


def after(steps: Sequence[Step], chapter: Chapter, goal: Goal) -> Chapter:
    for step in steps:
        chapter = step(chapter, goal)
    return chapter


def goal_of(book: Book, edition: Edition) -> Goal:
    return Goal(book, edition, language_of(book, edition.language))


def chapters_of(book: Book, edition: Edition, steps: Sequence[Step] = TEXT) -> list[Chapter]:
    """Return the chapters of an edition in the order of the book, in its language."""
    goal = goal_of(book, edition)
    files = map(book.chapter_file, book.chapters)
    return [after(steps, read_chapter(file, book.named(file)), goal) for file in files]


def bind(book: Book, edition: Edition, wanted: Container[str] = ()) -> None:
    """Write the notebooks of an edition, all or some; of an English one the modules before them."""
    goal, chapters = goal_of(book, edition), chapters_of(book, edition)
    runs = edition.language == ENGLISH
    if runs:
        bind_modules(book, edition, chapters)
    else:
        bring_pictures(book, [c.notebook for c in chapters], edition.notebooks, goal._)
    for chapter in chapters:
        if wanted and chapter.name not in wanted:
            continue
        begun = time.monotonic()
        if runs:
            print(f"{edition.framework:12}{chapter.name:35}", end="", flush=True)
        text = as_text(after(EXECUTED if runs else STORED, chapter, goal).notebook)
        is_new = write_whole(edition.notebook(chapter.name), text)
        if runs:
            state = "changed" if is_new else "as before"
            print(f"{time.monotonic() - begun:7.1f} s   {state}", flush=True)


def stale_files(book: Book, edition: Edition) -> list[str]:
    """Say which generated files of an English edition differ from what is written, line by line."""
    goal, chapters = goal_of(book, edition), chapters_of(book, edition)
    modules = module_texts(book, edition, chapters).items()
    files = {path: ("the #@save cells of the chapters", text) for path, text in modules}
    for chapter in chapters:
        path = edition.notebook(chapter.name)
        text = as_text(after(STORED, chapter, goal).notebook) if path.exists() else ""
        files[path] = chapter.file, text
    stale = []
    for path, (source, text) in files.items():
        if not path.exists():
            stale.append(f"{book.named(path)} is missing")
        elif path.read_bytes() != text.encode():
            stale.append(f"{book.named(path)} differs from {source}")
    strange = sorted({*edition.notebooks.glob("*.ipynb")} - files.keys())
    return stale + [f"{book.named(path)} belongs to no chapter" for path in strange]
