"""What a change of the chapters left behind in the overlays of a framework, and its renewal."""

from collections.abc import Iterator
from pathlib import Path

from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.files import write_whole
from bookbinder.overlay import Target, read_target, with_overlay


def drift(book: Book, edition: Edition) -> list[str]:
    """Return one line for each entry of an edition's overlays that fits nowhere, or is missing."""
    return [line for _, target in targets(book, edition) for line in with_overlay(target)[1]]


def targets(book: Book, edition: Edition) -> Iterator[tuple[Path, Target]]:
    """Yield the overlays of an edition, each with its chapter and what has found a place in it."""
    for name in book.chapters_of(edition):
        if overlay := book.overlay_file(edition, name):
            path = book.chapter_file(name)
            chapter = read_chapter(path, book.named(path))
            yield overlay, read_target(chapter, overlay, book.named(overlay))


def stamp(book: Book, edition: Edition) -> list[str]:
    """Renew the ids of entries whose cell has changed, where it is sure which cell that is now.

    Returns both cells of each, to compare; no file changes before all are found, and each is
    written whole.
    """
    texts: dict[Path, str] = {}
    told: list[str] = []
    for overlay, target in targets(book, edition):
        for change, near, sure in target.nearest():
            if sure:
                lines = (texts.get(overlay) or overlay.read_text(encoding="utf-8")).split("\n")
                at, new = int(change.place.rpartition(":")[2]) - 1, target.id_of(near)
                lines[at] = lines[at].replace(f'"{change.old}"', f'"{new}"')
                texts[overlay] = "\n".join(lines)
                where = target.chapter.where(near)
                told.append(f"{change.place}: {change.old} is now {new}, at {where}; compare:")
                for mark, cell in (("<", target.cells[near]), (">", change.cells[0][0])):
                    told += [f"  {mark} {line}" for line in cell.source.split("\n")]
    for path, text in texts.items():
        write_whole(path, text)
    return told
