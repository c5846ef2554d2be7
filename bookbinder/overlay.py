"""Lay what one framework has of its own over a chapter, and say what no longer fits.

An overlay, book/<framework>/<chapter>.md, holds only what differs from the chapter:

    ```python was="ec42fc9c"         a cell in place of the one with this id; empty, it drops it
    ```python                        a cell (or prose) that follows the cell before it
    <!-- was: A line of prose. -->   what stands below replaces this line; nothing drops it
    <!-- drop section: Heading -->   the section is left out, with its cells

Everything is exact: an id, a line or a heading that is gone is a mistake.
"""

import copy
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, check_tags, name_cells
from bookbinder.errors import BookError
from d2l_attention.frameworks import code_of_others

WAS, DROP = "was", "drop section"
COMMENT = re.compile(r"<!-- *(\w[\w ]*?): *(.*?) *-->", re.DOTALL)
FENCE = re.compile(r"(`{3,})")
HEADING = re.compile(r"(#+) +(.*)")
SHOWN = 60  # how much of a line a message quotes
ALIKE = 0.5  # what a message calls "most like it" is at least so alike

Cells = list[tuple[NotebookNode, list[str]]]  # each with the places of its lines


@dataclass
class Change:
    """One entry of an overlay: what it replaces, and by what."""

    kind: str  # "cell", WAS or DROP
    old: str  # an id, lines of prose, or a heading
    place: str
    cells: Cells = field(default_factory=list)  # new cells, the first in place of the old one
    lines: list[tuple[str, str]] = field(default_factory=list)  # new lines, each with its place


def lay_over(chapter: Chapter, path: Path, file: str) -> Chapter:
    """Return the chapter with the changes of the overlay in `path`, called `file` in messages.

    Raises BookError with the first mistake, and the number of further ones.
    """
    laid_over, mistakes = with_overlay(chapter, path, file)
    if mistakes:
        more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
        raise BookError(mistakes[0] + more)
    return laid_over


def with_overlay(chapter: Chapter, path: Path, file: str) -> tuple[Chapter, list[str]]:
    """Return the chapter with all changes that fit, and one line for each that does not."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(f"{file}: cannot be read: {error}") from None
    target, mistakes = Target(chapter), []
    for change in read_changes(text, file):
        try:
            target.take(change)
        except BookError as error:
            mistakes.append(str(error))
    mistakes += target.collisions()
    cells = list(target.changed())
    notebook = nbformat.v4.new_notebook(cells=[cell for cell, _ in cells])
    name_cells(notebook)
    result = Chapter(chapter.name, chapter.file, notebook, [places for _, places in cells])
    check_tags(result)
    return result, mistakes + base_words(result, file, code_of_others(Path(file).parent.name))


def base_words(chapter: Chapter, file: str, others: str) -> list[str]:
    """Return the cells that speak of another framework, a line each; `others` is a pattern."""
    return [
        f"{chapter.where(index)}: {file} must replace or drop this cell, "
        f"which says {found[0]!r} (was={cell.id!r})"
        for index, cell in enumerate(chapter.notebook.cells)
        if cell.cell_type == "code" and (found := re.search(others, cell.source))
    ]


def read_changes(text: str, file: str) -> list[Change]:
    """Return the changes that an overlay holds, in its order."""
    changes: list[Change] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        place, line = f"{file}:{at + 1}", lines[at]
        if line.startswith("```python"):
            end = block_end(lines, at, line, place)
            add_code(changes, lines[at : end + 1], file, at + 1)
            at = end + 1
        elif line.startswith("<!--"):
            rest = "\n".join(lines[at:])
            match = COMMENT.match(rest)
            if not match or match[1] not in (WAS, DROP) or not match[2]:
                raise BookError(
                    f"{place}: write <!-- {WAS}: … --> or <!-- {DROP}: … -->, got {short(line)!r}"
                )
            changes.append(Change(match[1], match[2], place))
            at += match[0].count("\n") + 1
        else:
            if line.strip():
                check_it_replaces(changes, line, place)
            if changes and changes[-1].kind != DROP:
                changes[-1].lines.append((line, place))
            at += 1
    for change in changes:
        settle_prose(change)
    return changes


def block_end(lines: list[str], at: int, opening: str, place: str) -> int:
    fence = FENCE.match(opening)[1]
    for end in range(at + 1, len(lines)):
        if lines[end].rstrip() == fence:
            return end
    raise BookError(f"{place}: this code cell has no end")


def add_code(changes: list[Change], block: list[str], file: str, line: int) -> None:
    """Add a code cell: a change of its own, or one that follows the cell before it."""
    cells = jupytext.reads("\n".join(block), fmt="md").cells
    cell = cells[0] if cells else nbformat.v4.new_code_cell()
    cell.source = "\n".join(block[1:-1])
    old = cell.metadata.pop(WAS, None)
    places = [f"{file}:{line + 1 + offset}" for offset in range(max(1, len(block) - 2))]
    if old is None:
        if not changes or changes[-1].kind != "cell":
            raise BookError(
                f'{file}:{line}: this cell replaces nothing: give it was="…", '
                f"or put it behind a cell that has one"
            )
        settle_prose(changes[-1])
        changes[-1].cells.append((cell, places))
    else:
        changes.append(Change("cell", str(old), f"{file}:{line}", [(cell, places)]))


def check_it_replaces(changes: list[Change], line: str, place: str) -> None:
    if not changes or changes[-1].kind == DROP:
        raise BookError(f"{place}: this line replaces nothing: {short(line)!r}")


def settle_prose(change: Change) -> None:
    """Cut blank lines around new prose; behind a cell, it becomes a cell, too."""
    lines = change.lines
    while lines and not lines[0][0].strip():
        del lines[0]
    while lines and not lines[-1][0].strip():
        del lines[-1]
    if change.kind == "cell" and lines:
        prose = nbformat.v4.new_markdown_cell("\n".join(line for line, _ in lines))
        change.cells.append((prose, [place for _, place in lines]))
        change.lines = []


class Target:
    """A chapter, and the changes that have found their place in it."""

    def __init__(self, chapter: Chapter):
        self.chapter, self.cells = chapter, chapter.notebook.cells
        self.replaced: dict[int, Change] = {}  # cell -> change
        self.rewritten: dict[tuple[int, int], Change] = {}  # cell and first line -> change
        self.dropped: set[tuple[int, int]] = set()  # cell and line
        self.prose = [
            (index, number, line)
            for index, cell in enumerate(self.cells)
            for number, line in enumerate(cell.source.splitlines() or [""])
            if cell.cell_type == "markdown"
        ]

    def take(self, change: Change) -> None:
        """Note a change at its place; raise BookError where it has none, or it is taken."""
        {"cell": self.take_cell, WAS: self.take_lines, DROP: self.take_section}[change.kind](change)

    def take_cell(self, change: Change) -> None:
        code = {i: c for i, c in enumerate(self.cells) if c.cell_type == "code"}
        found = [i for i, c in code.items() if c.id == change.old.removesuffix("-1")]
        twins = [i for i, c in code.items() if c.id.startswith(f"{change.old}-")]
        if found and twins:
            where = " and ".join(self.chapter.where(i) for i in found + twins)
            raise BookError(
                f"{change.place}: the id {change.old!r} matches the cells at {where}: "
                f"write '{change.old}-1', '{change.old}-2', …"
            )
        if not found:
            sources = {(i, 0): c.source for i, c in code.items()}
            spot = self.most_like(change.cells[0][0].source, sources)
            hint = ""
            if spot:
                hint = (
                    f"; most like yours: {self.cells[spot[0]].id!r} at {self.chapter.where(*spot)}"
                )
            raise BookError(f"{change.place}: no cell has the id {change.old!r}{hint}")
        if found[0] in self.replaced:
            first = self.replaced[found[0]].place
            raise BookError(f"{change.place}: {change.old!r} is replaced at {first} already")
        self.replaced[found[0]] = change

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
            raise BookError(f"{change.place}: {what} {short(old[0])!r}{hint}")
        spots = [self.prose[at][:2] for at in range(found[0], found[0] + len(old))]
        if taken := [spot for spot in spots if spot in self.dropped or spot in self.rewritten]:
            where = self.chapter.where(*taken[0])
            raise BookError(f"{change.place}: {where} is replaced or left out already")
        self.rewritten[spots[0]] = change
        self.dropped.update(spots)

    def take_section(self, change: Change) -> None:
        headings = self.headings()
        found = [at for at, (*_, text) in enumerate(headings) if text == change.old]
        if len(found) != 1:
            texts = {text: spot for *spot, _, text in headings}
            close = difflib.get_close_matches(change.old, texts, n=1)
            hint = (
                f"; most like it, at {self.chapter.where(*texts[close[0]])}: {close[0]!r}"
                if close
                else ""
            )
            what = "two headings are" if found else "no heading is"
            raise BookError(f"{change.place}: {what} {change.old!r}{hint}")
        *begin, level, _ = headings[found[0]]
        later = (tuple(spot) for *spot, lev, _ in headings[found[0] + 1 :] if lev <= level)
        end = next(later, (len(self.cells), 0))
        for index, cell in enumerate(self.cells):
            for number in range(len(cell.source.splitlines()) or 1):
                if tuple(begin) <= (index, number) < end:
                    self.dropped.add((index, number))

    def headings(self) -> list[tuple[int, int, int, str]]:
        """Return cell, line, level and text of each heading; `#` in a fence is none."""
        found, fenced = [], False
        for index, number, line in self.prose:
            fenced ^= line.startswith("```")
            if not fenced and (match := HEADING.match(line)):
                found.append((index, number, len(match[1]), match[2]))
        return found

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


def short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
