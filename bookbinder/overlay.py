"""Lay an overlay over a chapter, and say what no longer fits.

`overlay_format.py` says how one is written. Everything is exact: an id, a line or a heading that is
gone is a mistake. So is an entry under another heading than in the chapter; an overlay without
headings says nothing about places.
"""

import copy
import difflib
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, check_tags, name_cells
from bookbinder.errors import BookError
from bookbinder.overlay_format import (
    CELL,
    DROP,
    HEADING,
    NEW,
    PLACE,
    WAS,
    Cells,
    Change,
    is_heading,
    read_changes,
    short,
)
from d2l_attention.frameworks import code_of_others

ALIKE = 0.5  # what a message calls "most like it" is at least so alike


def lay_over(chapter: Chapter, path: Path, file: str) -> Chapter:
    """Return the chapter with the changes of the overlay in `path`, called `file` in messages.

    Raises BookError with the first mistake, and the number of further ones.
    """
    laid_over, mistakes = with_overlay(read_target(chapter, path, file))
    if mistakes:
        more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
        raise BookError(mistakes[0] + more)
    return laid_over


def with_overlay(target: "Target") -> tuple[Chapter, list[str]]:
    """Return the chapter with all changes that fit, and one line for each that does not."""
    cells, chapter = list(target.changed()), target.chapter
    notebook = nbformat.v4.new_notebook(cells=[cell for cell, _ in cells])
    name_cells(notebook)
    result = Chapter(chapter.name, chapter.file, notebook, [places for _, places in cells])
    check_tags(result)
    base_words = [
        f"{result.where(index)}: {target.file} must replace or drop this cell, "
        f"which says {found[0]!r} (was={cell.id!r})"
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (found := re.search(target.others, cell.source))
    ]
    return result, [*target.mistakes(), *target.collisions(), *base_words]


def read_target(chapter: Chapter, path: Path, file: str) -> "Target":
    """Return the chapter with what of the overlay in `path` has found its place in it."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"{file}: cannot be read: {error}") from None
    return Target(chapter, read_changes(text, file), file)


class Target:
    """A chapter, and the changes of an overlay that have found their place in it."""

    def __init__(self, chapter: Chapter, changes: list[Change], file: str):
        self.chapter, self.cells = chapter, chapter.notebook.cells
        self.changes, self.file = changes, file
        self.others = code_of_others(Path(file).parent.name)  # a pattern
        self.replaced: dict[int, Change] = {}  # cell -> change
        self.rewritten: dict[tuple[int, int], Change] = {}  # cell and first line -> change
        self.dropped: set[tuple[int, int]] = set()  # cell and line
        self.code = {i: c for i, c in enumerate(self.cells) if c.cell_type == "code"}
        self.prose = [
            (index, number, line)
            for index, cell in enumerate(self.cells)
            for number, line in enumerate(cell.source.splitlines() or [""])
            if cell.cell_type == "markdown"
        ]
        self.headings = list(self.find_headings())
        self.has_places = any(change.kind == PLACE for change in changes)
        self.under: int | None = -1  # the heading that the overlay has come to; None: who knows
        self.wrong: dict[int, str] = {}  # number of a change -> what is wrong with it
        take = {CELL: self.take_cell, WAS: self.take_lines, DROP: self.take_section}
        take[PLACE] = self.take_place
        for number, change in enumerate(changes):
            try:
                take[change.kind](change)
            except BookError as error:
                self.wrong[number] = f"{change.place}: {error}"
            change.under = self.under if self.has_places else None

    def mistakes(self) -> list[str]:
        """Return what is wrong with the changes, in their order."""
        gone = {self.changes.index(c): self.gone(c, near) for c, near, _ in self.nearest()}
        return [text for _, text in sorted((self.wrong | gone).items())]

    def take_place(self, change: Change) -> None:
        """Go on to the heading of the chapter that stands here in the overlay."""
        texts = [f"{'#' * level} {text}" for *_, level, text in self.headings]
        rest = texts[max(self.under or 0, 0) :]
        self.under = len(texts) - len(rest) + rest.index(change.old) if change.old in rest else None
        if change.old in texts and change.old not in rest:
            where = self.where_is(texts.index(change.old))
            raise BookError(f"{change.old!r} stands higher in the chapter, at {where}")
        if change.old not in texts:
            raise BookError(
                f"no heading of the chapter is {change.old!r}{self.like_heading(change.old, texts)}"
                f"; above a heading of this edition alone, write {NEW}"
            )

    def where_is(self, heading: int) -> str:
        return self.chapter.where(*self.headings[heading][:2])

    def like_heading(self, text: str, texts: list[str]) -> str:
        close = difflib.get_close_matches(text, texts, n=1)
        at = close and self.where_is(texts.index(close[0]))
        return f"; most like it, at {at}: {close[0]!r}" if close else ""

    def heading_of(self, spot: tuple[int, int]) -> int:
        """Return the number of the last heading above or at a cell and line; -1 for none."""
        return sum((index, number) <= spot for index, number, *_ in self.headings) - 1

    def title(self, heading: int) -> str:
        return repr(self.headings[heading][3]) if heading >= 0 else "no heading"

    def check_place(self, spot: tuple[int, int]) -> None:
        """Raise BookError where the overlay has a change under another heading than the chapter."""
        there = self.heading_of(spot)
        if self.has_places and self.under not in (there, None):
            raise BookError(
                f"what this replaces, at {self.chapter.where(*spot)}, stands under "
                f"{self.title(there)}, here under {self.title(self.under)}"
            )

    def come_to(self, spot: tuple[int, int]) -> None:
        """Go on to a heading that a change replaces or leaves out."""
        there, before = self.heading_of(spot), self.under
        self.under = there
        if self.has_places and before is not None and there < before:
            where = self.chapter.where(*spot)
            raise BookError(f"{self.title(there)} stands higher in the chapter, at {where}")

    def take_cell(self, change: Change) -> None:
        found = [i for i, c in self.code.items() if c.id == change.old.removesuffix("-1")]
        twins = [i for i, c in self.code.items() if c.id.startswith(f"{change.old}-")]
        if not found:
            return  # `nearest` looks where it may be
        change.at = found[0]
        if twins:
            where = " and ".join(self.chapter.where(i) for i in found + twins)
            raise BookError(
                f"the id {change.old!r} matches the cells at {where}: "
                f"write '{change.old}-1', '{change.old}-2', …"
            )
        if change.at in self.replaced:
            first = self.replaced[change.at].place
            raise BookError(f"{change.old!r} is replaced at {first} already")
        self.replaced[change.at] = change
        self.check_place((change.at, 0))

    def nearest(self) -> Iterator[tuple[Change, int | None, bool]]:
        """Yield the entries whose id is gone, the cell nearest to each, and whether it is sure.

        Sure is a place between two neighbours that are as they were, where as many cells are free
        as entries have lost theirs: all cells there, or those that must be replaced.
        """
        entries = [change for change in self.changes if change.kind == CELL]
        for (is_gone, under), group in groupby(
            entries, lambda change: (change.at is None, change.under)
        ):
            run = list(group)
            begin = entries.index(run[0])
            before = [c.at for c in entries[:begin] if c.at is not None]
            after = [c.at for c in entries[begin + len(run) :] if c.at is not None]
            free = [
                i
                for i in self.code
                if max(before, default=-1) < i < min(after, default=len(self.cells))
                and i not in self.replaced
                and under in (None, self.heading_of((i, 0)))
            ]
            must = [i for i in free if re.search(self.others, self.code[i].source)]
            sure = next((some for some in (must, free) if len(some) == len(run)), [])
            for number, change in enumerate(run if is_gone else []):
                known = {(i, 0): self.code[i].source for i in free or self.code}
                like = self.most_like(change.cells[0][0].source, known) or (None, 0)
                yield change, sure[number] if sure else like[0], bool(sure)

    def gone(self, change: Change, near: int | None) -> str:
        """Say that the id of a change is gone, and which cell is nearest to it now."""
        under = "" if change.under is None else f"under {self.title(change.under)}, "
        hint = "; no cell is like it"
        if near is not None:
            line = short(self.code[near].source.partition("\n")[0])
            hint = f"; nearest, at {self.chapter.where(near)}: {self.id_of(near)!r}, {line!r}"
        return f"{change.place}: {under}no cell has the id {change.old!r}{hint}"

    def id_of(self, index: int) -> str:
        """Return by what an overlay names a cell; equal ones have numbers."""
        name = self.cells[index].id
        twins = any(cell.id.startswith(f"{name}-") for cell in self.code.values())
        return f"{name}-1" if twins else name

    def take_lines(self, change: Change) -> None:
        old = [line.strip() for line in change.old.splitlines()]
        found = [
            at
            for at in range(len(self.prose) - len(old) + 1)
            if [line.strip() for *_, line in self.prose[at : at + len(old)]] == old
            and len({index for index, *_ in self.prose[at : at + len(old)]}) == 1
        ]
        if len(found) != 1:
            where = ", ".join(self.chapter.where(*self.prose[at][:2]) for at in found)
            lines = {(index, number): line for index, number, line in self.prose}
            spot = None if found else self.most_like(old[0], lines)
            hint = ""
            if spot:
                hint = f"; most like it, at {self.chapter.where(*spot)}: {short(lines[spot])!r}"
            what = f"two places have the line, {where}:" if found else "no place has the line"
            raise BookError(f"{what} {short(old[0])!r}{hint}")
        spots = [self.prose[at][:2] for at in range(found[0], found[0] + len(old))]
        if taken := [spot for spot in spots if spot in self.dropped or spot in self.rewritten]:
            where = self.chapter.where(*taken[0])
            raise BookError(f"{where} is replaced or left out already")
        self.rewritten[spots[0]] = change
        self.dropped.update(spots)
        (self.come_to if is_heading(old[0]) else self.check_place)(spots[0])

    def take_section(self, change: Change) -> None:
        texts = [text for *_, text in self.headings]
        if texts.count(change.old) != 1:
            what = "two headings are" if change.old in texts else "no heading is"
            hint = "" if change.old in texts else self.like_heading(change.old, texts)
            raise BookError(f"{what} {change.old!r}{hint}")
        *begin, level, _ = self.headings[texts.index(change.old)]
        self.come_to(tuple(begin))
        below = self.headings[texts.index(change.old) + 1 :]
        end = next((tuple(spot) for *spot, lev, _ in below if lev <= level), (len(self.cells), 0))
        for index, cell in enumerate(self.cells):
            for number in range(len(cell.source.splitlines()) or 1):
                if tuple(begin) <= (index, number) < end:
                    self.dropped.add((index, number))

    def find_headings(self) -> Iterator[tuple[int, int, int, str]]:
        """Yield cell, line, level and text of each heading; `#` in a fence is none."""
        fenced = False
        for index, number, line in self.prose:
            fenced ^= line.startswith("```")
            if not fenced and (match := HEADING.match(line)):
                yield index, number, len(match[1]), match[2]

    def most_like(self, text: str, known: dict[tuple[int, int], str]) -> tuple[int, int] | None:
        """Return the cell and line whose text is most like this one; None where none is."""
        ratios = {
            spot: difflib.SequenceMatcher(None, text, other).ratio()
            for spot, other in known.items()
        }
        best = max(ratios, key=ratios.get, default=None)
        return best if best is not None and ratios[best] >= ALIKE else None

    def collisions(self) -> list[str]:
        """Return the cells that are replaced in a section that is left out."""
        return [
            f"{change.place}: {self.chapter.where(index)} stands in a section that is left out"
            for index, change in self.replaced.items()
            if (index, 0) in self.dropped
        ]

    def changed(self) -> Iterator[tuple[NotebookNode, list[str]]]:
        """Yield the cells with all changes, each with the places of its lines."""
        for index, cell in enumerate(self.cells):
            if index in self.replaced:
                yield from self.new_cells(cell, self.replaced[index])
            elif cell.cell_type == "code":
                if (index, 0) not in self.dropped:
                    yield copy.deepcopy(cell), self.chapter.places[index]
            elif kept := self.kept_lines(index, cell):
                prose = copy.deepcopy(cell)
                prose.source = "\n".join(line for line, _ in kept).strip("\n")
                yield prose, [place for _, place in kept]

    def new_cells(self, old: NotebookNode, change: Change) -> Cells:
        (first, places), *more = copy.deepcopy(change.cells)
        first.metadata = nbformat.from_dict(old.metadata | first.metadata)
        return ([(first, places)] if first.source.strip() else []) + more

    def kept_lines(self, index: int, cell: NotebookNode) -> list[tuple[str, str]]:
        kept: list[tuple[str, str]] = []
        for number, line in enumerate(cell.source.splitlines()):
            if change := self.rewritten.get((index, number)):
                kept += change.lines
            elif (index, number) not in self.dropped:
                kept.append((line, self.chapter.where(index, number)))
        while kept and not kept[0][0].strip():
            del kept[0]
        return kept if any(line.strip() for line, _ in kept) else []
