"""Read an overlay: what one framework has of its own in a chapter.

An overlay, book/<framework>/<chapter>.md, holds only what differs from the chapter:

    ## Heading                        a heading of the chapter: what follows stands under it there
    ```python was="scores @ec42fc9c"  a cell in place of this one; empty, it drops it
    ```python                         a cell (or prose) that follows the cell before it
    <!-- was: A line of prose. -->    what stands below replaces this line; nothing drops it
    <!-- was alone: A line. -->       so it does, and somebody saw that the others keep it rightly
    <!-- after: A line of prose. -->  what stands below follows this line
    <!-- drop section: ## Heading --> the section is left out, with its cells
    <!-- new section -->              the heading below is of this edition, and not of the chapter

In a cell, such comments name lines of the old one, from top to bottom; its other lines stay:

    # was: x = np.zeros(3)            what stands below replaces this line
    # was 4 lines: for x in batch:    what stands below replaces this line and the three after it
    # after: x = x + 1                what stands below follows this line
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import nbformat
from jupytext.cell_metadata import parse_key_equal_value
from nbformat import NotebookNode

from bookbinder.files import BookError

CELL, WAS, ALONE, AFTER, PLACE = "cell", "was", "was alone", "after", "heading"
DROP = "drop section"
NEW = "<!-- new section -->"
COMMENT = re.compile(rf"<!-- *({WAS}|{ALONE}|{AFTER}|{DROP}): *(\S.*?) *-->", re.DOTALL)
HEADING = re.compile(r"#+ +\S")
NAMED = re.compile(rf"\s*# ({WAS}|{AFTER})(?: (\d+) lines)?: (.*)")
SHOWN = 60  # how much of a line a message quotes

Line = tuple[str, str]  # and its place, "file:line"
Lines = list[Line]
Cells = list[tuple[NotebookNode, list[str]]]  # each with the places of its lines


@dataclass
class Change:
    """One entry of an overlay: what it changes, and what stands there then."""

    kind: str
    old: str  # the label of a cell, lines of prose, or a heading
    place: str
    cells: Cells = field(default_factory=list)
    lines: Lines = field(default_factory=list)


def read_changes(text: str, file: str) -> list[Change]:
    """Return the changes that an overlay holds, in its order."""
    changes: list[Change] = []
    lines = ((line, f"{file}:{number}") for number, line in enumerate(text.splitlines(), 1))
    for line, place in lines:
        if line.startswith("```python"):
            add_code(changes, line, place, lines)
        elif line.strip() == NEW:
            heading, at = next(lines, ("", place))
            if not is_heading(heading):
                raise BookError(f"{place}: write {NEW} right above a heading")
            add_text(changes, heading, at)
        elif line.startswith("<!--"):
            changes.append(read_comment(line, place, lines))
        elif is_heading(line) and not is_content(changes):
            changes.append(Change(PLACE, line.strip(), place))
        else:
            add_text(changes, line, place)
    for change in changes:
        settle_prose(change)
    return changes


def add_code(changes: list[Change], opening: str, place: str, rest: Iterator[Line]) -> None:
    """Add a code cell: a change of its own, or one that follows the cell before it."""
    fence = "`" * (len(opening) - len(opening.lstrip("`")))
    body: Lines = []
    for line in rest:
        if line[0].rstrip() == fence:
            break
        body.append(line)
    else:
        raise BookError(f"{place}: this code cell has no end")
    options = parse_key_equal_value(opening.lstrip("`").removeprefix("python"))
    cell = nbformat.v4.new_code_cell("\n".join(line for line, _ in body), metadata=options)
    if old := cell.metadata.pop(WAS, None):
        changes.append(Change(CELL, str(old), place))
    elif not changes or changes[-1].kind != CELL:
        raise BookError(
            f'{place}: this cell replaces nothing: give it was="…", '
            "or put it behind a cell that has one"
        )
    settle_prose(changes[-1])
    changes[-1].cells.append((cell, [place for _, place in body] or [place]))


def read_comment(line: str, place: str, rest: Iterator[Line]) -> Change:
    """Return the change that begins with a comment, which may go on in further lines."""
    text = line
    while "-->" not in text and (more := next(rest, None)):
        text += f"\n{more[0]}"
    if match := COMMENT.fullmatch(text.strip()):
        return Change(match[1], match[2], place)
    kinds = f"<!-- {WAS}: … -->, <!-- {AFTER}: … --> or <!-- {DROP}: … -->"
    raise BookError(f"{place}: write {kinds}, got {short(line)!r}")


def add_text(changes: list[Change], line: str, place: str) -> None:
    if changes and changes[-1].kind not in (DROP, PLACE):
        changes[-1].lines.append((line, place))
    elif line.strip():
        raise BookError(f"{place}: this line replaces nothing: {short(line)!r}")


def is_content(changes: list[Change]) -> bool:
    """Say whether a heading here is new text: it takes an old one's place, or is in a fence."""
    last = changes[-1] if changes else Change(PLACE, "", "")
    text = [line for line, _ in last.lines]
    in_fence = sum(line.startswith("```") for line in text) % 2
    replaces = last.kind in (WAS, ALONE) and is_heading(last.old) and not any(text)
    return bool(in_fence) or replaces


def is_heading(text: str) -> bool:
    return HEADING.match(text) is not None


def settle_prose(change: Change) -> None:
    """Cut blank lines around new prose; behind a cell, it becomes one, too."""
    lines = change.lines
    while lines and change.kind != AFTER and not lines[0][0].strip():
        del lines[0]
    while lines and not lines[-1][0].strip():
        del lines[-1]
    if change.kind == CELL and lines:
        prose = nbformat.v4.new_markdown_cell("\n".join(line for line, _ in lines))
        change.cells.append((prose, [place for _, place in lines]))
        change.lines = []


def with_changed_lines(old: Lines, new: Lines) -> Lines:
    """Return the lines of a cell with those changed that comments in the new cell name.

    A new cell without such comments stands for all of the old one.
    """
    if not any(NAMED.match(line) for line, _ in new):
        return new
    lines, at = [], 0
    for line, place in new:
        if match := NAMED.match(line):
            kind, count, text = match.groups()
            rest = [line.strip() for line, _ in old[at:]]
            if text not in rest:
                raise BookError(f"{place}: no line of the cell, from here on, is {short(text)!r}")
            begin = at + rest.index(text)
            lines += old[at : begin + (kind == AFTER)]
            at = begin + int(count or 1)
        else:
            lines.append((line, place))
    return lines + old[at:]


def short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
