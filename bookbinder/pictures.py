"""Bring the diagrams of book/figures/ to the notebooks that show them, drawn in their language."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bookbinder.book import ENGLISH, Book, BookError, Edition, write_whole
from bookbinder.chapters import Chapter
from bookbinder.language.catalog import FIGURES
from bookbinder.language.say import Language, language_of
from bookbinder.markdown import lines_of

FOLDER = "figures"
AT_HOME = "card_"  # how the names of what the home page shows begin
WORD = re.compile(r"\b[^\W\d_]{2,}\b")
NO_PROSE = re.compile(r"<\w+>|[_^]\{.+?\}|\b(?:tanh|cos|NaN|True|False|km|MiB)\b")


def pictures_shown(chapters: list[Chapter]) -> list[str]:
    """Return the files that the prose of chapters shows, from the folder of the notebooks."""
    found = {
        link.target
        for chapter in chapters
        for line in lines_of(chapter)
        for link in line.links
        if link.kind == "image" and ":" not in link.target
    }
    return sorted(found)


def diagrams_shown(chapters: list[Chapter]) -> list[str]:
    """Return those of the pictures that are diagrams: "figures/idea.svg"."""
    return [name for name in pictures_shown(chapters) if name.startswith(f"{FOLDER}/")]


def drawings(source: Path) -> dict[str, Callable[[Callable[[str], str]], str]]:
    """Return what draws each diagram in other words, by name; nothing where no script does."""
    script = source / FOLDER / "draw.py"
    if not script.exists():
        return {}
    if str(script.parent) not in sys.path:
        sys.path.append(str(script.parent))
    return import_module(script.stem).DIAGRAMS


def figure_messages(source: Path) -> list[tuple[str, str]]:
    """Return the words of all diagrams in `source`, each with the first file that has it.

    A chapter says in its own words what a diagram shows; the home page takes them from the diagram.
    """
    first_files: dict[str, str] = {}
    for name, drawn in sorted(drawings(source).items()):
        texts: list[str] = []  # title and description first
        drawn(lambda message, texts=texts: texts.append(message) or message)
        for message in texts[0 if name.startswith(AT_HOME) else 2 :]:
            if WORD.search(NO_PROSE.sub(" ", message)):
                first_files.setdefault(message, f"{source.name}/{FOLDER}/{name}.svg")
    return list(first_files.items())


def diagram_text(source: Path, name: str, language: Language) -> str:
    """Return a diagram, "figures/idea.svg" in `source`, as drawn in a language."""
    drawing = drawings(source).get(Path(name).stem) if language.tag != ENGLISH else None
    if drawing:
        return drawing(lambda message: language.exactly(message, FIGURES) or message)
    try:
        return (source / name).read_text(encoding="utf-8")
    except OSError as error:
        raise BookError(f"{source.name}/{name}: cannot be read ({error.strerror})") from None


def bring_diagrams(book: Book, edition: Edition, chapters: list[Chapter], folder: Path) -> None:
    """Bring the diagrams that chapters show to a folder, in the language of the edition."""
    language = language_of(book, edition.language)
    for name in diagrams_shown(chapters):
        write_whole(folder / name, diagram_text(book.source, name, language))
