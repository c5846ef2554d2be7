"""Read an overlay: what one framework has of its own in a chapter.

An overlay, book/<framework>/<chapter>.md, holds only what differs from the chapter:

    ## Heading                       a heading of the chapter: what follows stands under it there
    ```python was="ec42fc9c"         a cell in place of the one with this id; empty, it drops it
    ```python                        a cell (or prose) that follows the cell before it
    <!-- was: A line of prose. -->   what stands below replaces this line; nothing drops it
    <!-- drop section: Heading -->   the section is left out, with its cells
    <!-- new section -->             the heading below is of this edition, and not of the chapter
"""

import re
from dataclasses import dataclass, field

import jupytext
import nbformat
from nbformat import NotebookNode

from bookbinder.errors import BookError

CELL, WAS, DROP, PLACE = "cell", "was", "drop section", "heading"
NEW = "<!-- new section -->"
COMMENT = re.compile(r"<!-- *(\w[\w ]*?): *(.*?) *-->", re.DOTALL)
FENCE = re.compile(r"(`{3,})")
HEADING = re.compile(r"(#+) +(.*)")
SHOWN = 60  # how much of a line a message quotes

Cells = list[tuple[NotebookNode, list[str]]]  # each with the places of its lines


@dataclass
class Change:
    """One entry of an overlay: what it replaces, and by what."""

    kind: str  # CELL, WAS, DROP or PLACE
    old: str  # an id, lines of prose, or a heading
    place: str
    cells: Cells = field(default_factory=list)  # new cells, the first in place of the old one
    lines: list[tuple[str, str]] = field(default_factory=list)  # new lines, each with its place
    under: int | None = None  # the heading that it stands under, by its number in the chapter
    at: int | None = None  # the cell that it replaces


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
        elif line.strip() == NEW:
            if at + 1 == len(lines) or not HEADING.match(lines[at + 1]):
                raise BookError(f"{place}: write {NEW} right above a heading")
            check_it_replaces(changes, lines[at + 1], f"{file}:{at + 2}")
            changes[-1].lines.append((lines[at + 1], f"{file}:{at + 2}"))
            at += 2
        elif line.startswith("<!--"):
            rest = "\n".join(lines[at:])
            match = COMMENT.match(rest)
            if not match or match[1] not in (WAS, DROP) or not match[2]:
                raise BookError(
                    f"{place}: write <!-- {WAS}: … --> or <!-- {DROP}: … -->, got {short(line)!r}"
                )
            changes.append(Change(match[1], match[2], place))
            at += match[0].count("\n") + 1
        elif HEADING.match(line) and not is_content(changes):
            changes.append(Change(PLACE, line.strip(), place))
            at += 1
        else:
            if line.strip():
                check_it_replaces(changes, line, place)
            if changes and changes[-1].kind not in (DROP, PLACE):
                changes[-1].lines.append((line, place))
            at += 1
    for change in changes:
        settle_prose(change)
    return changes


def is_content(changes: list[Change]) -> bool:
    """Say whether a heading here is new text: it takes an old one's place, or is in a fence."""
    last = changes[-1] if changes else Change(PLACE, "", "")
    text = [line for line, _ in last.lines]
    in_fence = sum(line.startswith("```") for line in text) % 2
    return bool(in_fence) or (last.kind == WAS and is_heading(last.old) and not any(text))


def is_heading(text: str) -> bool:
    return HEADING.match(text) is not None


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
        if not changes or changes[-1].kind != CELL:
            raise BookError(
                f'{file}:{line}: this cell replaces nothing: give it was="…", '
                f"or put it behind a cell that has one"
            )
        settle_prose(changes[-1])
        changes[-1].cells.append((cell, places))
    else:
        changes.append(Change(CELL, str(old), f"{file}:{line}", [(cell, places)]))


def check_it_replaces(changes: list[Change], line: str, place: str) -> None:
    if not changes or changes[-1].kind in (DROP, PLACE):
        raise BookError(f"{place}: this line replaces nothing: {short(line)!r}")


def settle_prose(change: Change) -> None:
    """Cut blank lines around new prose; behind a cell, it becomes a cell, too."""
    lines = change.lines
    while lines and not lines[0][0].strip():
        del lines[0]
    while lines and not lines[-1][0].strip():
        del lines[-1]
    if change.kind == CELL and lines:
        prose = nbformat.v4.new_markdown_cell("\n".join(line for line, _ in lines))
        change.cells.append((prose, [place for _, place in lines]))
        change.lines = []


def short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
