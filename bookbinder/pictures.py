"""The diagrams of the book: drawn once, in notebooks/figures/, and in other languages on demand."""

import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from bookbinder.book import ENGLISH, Book, write_whole
from bookbinder.language.catalog import FIGURES, Language
from bookbinder.markdown import markdown_lines

FOLDER = "figures"
AT_HOME = "card_"  # how the names of what the home page shows begin
WORD = re.compile(r"\b[^\W\d_]{2,}\b")
NO_PROSE = re.compile(r"<\w+>|[_^]\{.+?\}|\b(?:tanh|cos|NaN|True|False|km|MiB)\b")


def pictures_shown(notebooks: Iterable[NotebookNode]) -> list[str]:
    """Return the names of the diagrams that the prose of notebooks shows: "idea.svg"."""
    cells = (cell for notebook in notebooks for cell in notebook.cells)
    lines = (x for c in cells if c.cell_type == "markdown" for x in markdown_lines(c.source))
    links = (link for line in lines for link in line.links if link.kind == "image")
    targets = {PurePosixPath(link.target) for link in links}
    return sorted(target.name for target in targets if target.parent.name == FOLDER)


def drawings(source: Path) -> dict[str, Callable[[Callable[[str], str]], str]]:
    """Return what draws each diagram in other words, by name; nothing where no script does."""
    script = source / FOLDER / "draw.py"
    if not script.exists():
        return {}
    if str(script.parent) not in sys.path:
        sys.path.append(str(script.parent))
    return import_module(script.stem).DIAGRAMS


def figure_messages(source: Path) -> list[tuple[str, str]]:
    """Return the words of all diagrams in `source`, each with the first file that has it."""
    first_files: dict[str, str] = {}
    for name, drawn in sorted(drawings(source).items()):
        texts: list[str] = []  # title and description first, which a chapter says in its own words
        drawn(lambda message, texts=texts: texts.append(message) or message)
        for message in texts[0 if name.startswith(AT_HOME) else 2 :]:
            if WORD.search(NO_PROSE.sub(" ", message)):
                first_files.setdefault(message, f"notebooks/{FOLDER}/{name}.svg")
    return list(first_files.items())


def diagram_text(book: Book, name: str, _: Language) -> str:
    if _.tag != ENGLISH and (drawing := drawings(book.source).get(Path(name).stem)):
        return drawing(lambda message: _(message, FIGURES))
    return (book.root / "notebooks" / FOLDER / name).read_text(encoding="utf-8")


def bring_pictures(book: Book, notebooks: list[NotebookNode], folder: Path, _: Language) -> None:
    for name in pictures_shown(notebooks):
        write_whole(folder / FOLDER / name, diagram_text(book, name, _))
