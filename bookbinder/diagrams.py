"""Bring the diagrams of book/figures/ to the notebooks that show them."""

import re
from pathlib import Path

from bookbinder.chapters import Chapter
from bookbinder.diagram_words import messages_of, translated
from bookbinder.errors import BookError
from bookbinder.files import write_whole
from bookbinder.text import LINK
from bookbinder.words import Say

FOLDER = "figures"
AT_HOME = re.compile(r"card_\d\d|strip_00")  # what the home page shows


def pictures_shown(chapters: list[Chapter]) -> list[str]:
    """Return the files that the prose of chapters shows, from the folder of the notebooks."""
    found = {
        target
        for chapter in chapters
        for cell in chapter.notebook.cells
        if cell.cell_type == "markdown"
        for picture, _, target in LINK.findall(cell.source)
        if picture and not re.match(r"\w+:", target)
    }
    return sorted(found)


def diagrams_shown(chapters: list[Chapter]) -> list[str]:
    """Return those of the pictures that are diagrams: "figures/idea.svg"."""
    return [name for name in pictures_shown(chapters) if name.startswith(f"{FOLDER}/")]


def figure_messages(source: Path) -> list[tuple[str, str]]:
    """Return the words of all diagrams in `source`, each with the first file that has it.

    A chapter says in its own words what a diagram shows; the home page takes them from the diagram.
    """
    found: dict[str, str] = {}
    for path in sorted((source / FOLDER).glob("*.svg")):
        at_home = bool(AT_HOME.fullmatch(path.stem))
        for message in messages_of(path.read_text(encoding="utf-8"), at_home):
            found.setdefault(message, path.relative_to(source.parent).as_posix())
    return list(found.items())


def bring_diagrams(source: Path, chapters: list[Chapter], folder: Path, say: Say = str) -> None:
    """Bring the diagrams that chapters show from `source` to the folder of their notebooks."""
    for name in diagrams_shown(chapters):
        try:
            text = (source / name).read_text(encoding="utf-8")
        except OSError as error:
            raise BookError(f"{source.name}/{name}: cannot be read ({error.strerror})") from None
        write_whole(folder / name, translated(text, say))


def stale_diagrams(source: Path, chapters: list[Chapter], folder: Path) -> list[str]:
    """Return the diagrams beside the notebooks that differ from those in `source`."""
    shown = diagrams_shown(chapters)
    stale = [
        f"{FOLDER}/{Path(name).name} beside the notebooks differs from {source.name}/{name}"
        for name in shown
        if (source / name).exists() and bytes_of(source / name) != bytes_of(folder / name)
    ]
    there = sorted(f"{FOLDER}/{path.name}" for path in (folder / FOLDER).glob("*"))
    extra = [name for name in there if name not in shown]
    return stale + [f"{name} beside the notebooks is shown by no chapter" for name in extra]


def bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
