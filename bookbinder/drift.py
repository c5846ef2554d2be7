"""What a change of the chapters left behind in the overlays of a framework, and its renewal."""

from pathlib import Path

from bookbinder.changes import Change
from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.files import write_whole
from bookbinder.overlay import Target, read_target, with_overlay


def drift(book: Book, edition: Edition) -> list[str]:
    """Return one line for each entry of an edition's overlays that fits nowhere, or is missing."""
    return [
        mistake
        for name, overlay in overlays(book, edition)
        for mistake in with_overlay(base(book, name), overlay, book.named(overlay))[1]
    ]


def overlays(book: Book, edition: Edition) -> list[tuple[str, Path]]:
    found = [(name, book.overlay_file(edition, name)) for name in book.chapters_of(edition)]
    return [(name, overlay) for name, overlay in found if overlay]


def base(book: Book, name: str):
    path = book.chapter_file(name)
    return read_chapter(path, book.named(path))


def stamp(book: Book, edition: Edition) -> list[str]:
    """Renew the ids of entries whose cell has changed, where it is sure which cell that is now.

    Returns a line for each; no file changes before all are found, and each is written whole.
    """
    texts: dict[Path, str] = {}
    told: list[str] = []
    for name, overlay in overlays(book, edition):
        target = read_target(base(book, name), overlay, book.named(overlay))
        for change, near, sure in target.nearest():
            if sure:
                text = texts.get(overlay) or overlay.read_text(encoding="utf-8")
                texts[overlay] = with_id(text, change, target.id_of(near))
                told.append(renewal(target, change, near))
    for path, text in texts.items():
        write_whole(path, text)
    return told


def with_id(text: str, change: Change, new: str) -> str:
    """Return the text of an overlay in which an entry names another cell."""
    lines = text.split("\n")
    at = int(change.place.rpartition(":")[2]) - 1
    lines[at] = lines[at].replace(f'"{change.old}"', f'"{new}"')
    return "\n".join(lines)


def renewal(target: Target, change: Change, near: int) -> str:
    first = target.cells[near].source.partition("\n")[0]
    where = target.chapter.where(near)
    return f"{change.place}: {change.old} is now {target.id_of(near)}, at {where}: {first}"
