"""Lay an overlay over a chapter: what one framework has of its own in it.

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

Everything is exact: a cell, a line or a heading that is gone is a mistake, and so is a cell that
has changed since somebody ported it, and an entry under another heading than in the chapter.
"""

import copy
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jupytext.cell_metadata import parse_key_equal_value
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, check_tags, name_cells, read_chapter
from bookbinder.config import Book, Edition
from bookbinder.files import BookError
from bookbinder.page import markdown_lines
from d2l_attention.frameworks import code_of_others

CELL, WAS, ALONE, AFTER, PLACE = "cell", "was", "was alone", "after", "heading"
DROP = "drop section"
NEW = "<!-- new section -->"
COMMENT = re.compile(rf"<!-- *({WAS}|{ALONE}|{AFTER}|{DROP}): *(\S.*?) *-->", re.DOTALL)
NAMED = re.compile(rf"\s*# ({WAS}|{AFTER})(?: (\d+) lines)?: (.*)")
SHOWN = 60  # how much of a line a message quotes
ALIKE = 0.5  # what a message calls "most like it" is at least so alike
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
FIRST_WORDS = re.compile(r"^(?!#?@)\W*(\w+(?:[ ,.]+\w+)*)", re.MULTILINE)

Line = tuple[str, str]  # and its place, "file:line"
Lines = list[Line]
Cells = list[tuple[NotebookNode, list[str]]]  # each with the places of its lines
Spot = tuple[int, int]  # a cell of the chapter and a line of it; of code, the first line


@dataclass
class Change:
    """One entry of an overlay: what it changes, and what stands there then."""

    kind: str
    old: str  # the label of a cell, lines of prose, or a heading
    place: str
    cells: Cells = field(default_factory=list)
    lines: Lines = field(default_factory=list)


def lay_over(chapter: Chapter, path: Path, file: str) -> Chapter:
    """Return the chapter with the changes of the overlay in `path`, called `file` in messages.

    Raises BookError with the first mistake, and the number of further ones.
    """
    overlay = Overlay(chapter, path, file)
    if overlay.mistakes:
        first, *more = (text.partition("\n")[0] for text in overlay.mistakes)
        raise BookError(f"{first} (and {len(more)} more)" if more else first)
    return overlay.result


def overlays_of(book: Book, edition: Edition) -> Iterator["Overlay"]:
    """Yield the overlays of an edition, those of chapters without one empty."""
    for name in book.chapters_of(edition):
        if path := book.overlay_file(edition, name):
            file = book.chapter_file(name)
            yield Overlay(read_chapter(file, book.named(file)), path, book.named(path))


def drift(book: Book, edition: Edition) -> list[str]:
    """Return what fits nowhere in an edition's overlays, is missing, or has changed since."""
    return [text for overlay in overlays_of(book, edition) for text in overlay.mistakes]


def labels_of(cells: list[NotebookNode]) -> dict[str, int]:
    """Return the labels by which an overlay names the code cells of a chapter.

    A label is the name of what the cell defines first, or else its first words, numbered where it
    comes again, and a hash of the source: "three_steps @662c8323", "rng 2 @39aa1c06".
    """
    seen: dict[str, int] = {}
    labels = {}
    for index, cell in enumerate(cells):
        if cell.cell_type == "code":
            match = DEFINED.search(cell.source) or FIRST_WORDS.search(cell.source)
            name = match[1] if match else "code"
            seen[name] = seen.get(name, 0) + 1
            number = f" {seen[name]}" if seen[name] > 1 else ""
            labels[f"{name}{number} @{cell.id.partition('-')[0]}"] = index
    return labels


class Overlay:
    """A chapter, and the changes of an overlay that have found their place in it."""

    def __init__(self, chapter: Chapter, path: Path, file: str):
        self.chapter, self.file = chapter, file
        self.cells = chapter.notebook.cells
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise BookError(f"{file}: cannot be read: {error}") from None
        # Lines of prose without blanks around them; of code one, which no such line is.
        self.lines: dict[Spot, str] = {
            (index, number): "\n" if cell.cell_type == "code" else line.strip()
            for index, cell in enumerate(self.cells)
            for number, line in enumerate(cell.source.splitlines() or [""])
            if cell.cell_type == "markdown" or number == 0
        }
        self.labels = labels_of(self.cells)
        self.headings = {
            (index, number): line.text.strip()
            for index, cell in enumerate(self.cells)
            if cell.cell_type == "markdown"
            for number, line in enumerate(markdown_lines(cell.source))
            if line.level
        }
        self.under: Spot | None = None  # the heading that the overlay has come to, where known
        self.changes = read_changes(text, file)
        self.changed: dict[Spot, Change] = {}
        self.mistakes: list[str] = []
        for change in self.changes:
            try:
                self.take(change)
            except BookError as error:
                self.mistakes.append(f"{change.place}: {error}")
        self.result = self.laid_over()
        self.mistakes += self.foreign()

    def where(self, spot: Spot) -> str:
        return self.chapter.where(*spot)

    def like(self, text: str, spots: dict[str, Spot]) -> str:
        """Return a hint: what of the known texts is most like this one, and where it stands."""
        close = difflib.get_close_matches(text, spots, n=1, cutoff=ALIKE)
        return "".join(f"; most like it, at {self.where(spots[c])}: {short(c)!r}" for c in close)

    def take(self, change: Change) -> None:
        """Note what a change changes, and that it stands under the same heading there."""
        if change.kind == PLACE:
            self.under, known = None, self.under
            self.under = self.heading(change.old, known)
            return
        finders = {CELL: self.cell, DROP: self.section}
        spots = finders.get(change.kind, self.prose)(change)
        for spot in spots:
            if other := self.changed.get(spot):
                raise BookError(f"{self.where(spot)} is replaced or left out at {other.place}")
        self.changed |= dict.fromkeys(spots, change)
        there = max((spot for spot in self.headings if spot <= spots[0]), default=None)
        if self.under and self.under != there != spots[0]:
            titles = [short(self.headings.get(spot, "nothing")) for spot in (there, self.under)]
            where = f"what this changes, at {self.where(spots[0])}, stands under {titles[0]!r}"
            raise BookError(f"{where}, here under {titles[1]!r}")
        self.under = self.under and there
        if change.kind == CELL:
            self.fill_in(spots[0][0], *change.cells[0])

    def heading(self, line: str, begin: Spot | None = None) -> Spot:
        """Return where this heading stands, from some place on."""
        for spot, text in self.headings.items():
            if text == line and (begin is None or spot >= begin):
                return spot
        hint = self.like(line, {text: spot for spot, text in self.headings.items()})
        raise BookError(
            f"no heading of the chapter{', from here on,' if begin else ''} is {line!r}{hint}; "
            f"above a heading of this edition alone, write {NEW}"
        )

    def section(self, change: Change) -> list[Spot]:
        """Return all lines and cells of the section that is left out."""
        begin = self.heading(change.old)
        deeper = change.old.partition(" ")[0] + "#"
        others = (spot for spot in self.headings if not self.headings[spot].startswith(deeper))
        end = next((spot for spot in others if spot > begin), (len(self.cells), 0))
        return [spot for spot in self.lines if begin <= spot < end]

    def cell(self, change: Change) -> list[Spot]:
        """Return where a cell is; where none is as it was, raise BookError that shows both.

        What is left of it is the cell with its hash, or else with its name, that no entry names.
        """
        if change.old in self.labels:
            return [(self.labels[change.old], 0)]
        named = {change.old for change in self.changes}
        name, _, digest = change.old.rpartition(" @")
        free = [label for label in self.labels if label not in named]
        fit = [label for label in free if label.endswith(f" @{digest}")]
        stale = {old.rpartition(" @")[2] for old in named - self.labels.keys()}
        fit += [
            label
            for label in free
            if label.startswith(f"{name} @") and label.rpartition(" @")[2] not in stale
        ]
        if not fit:
            spots = {label: (index, 0) for label, index in self.labels.items()}
            raise BookError(f"no cell is {change.old!r}{self.like(change.old, spots)}")
        label, spot = fit[0], (self.labels[fit[0]], 0)
        self.changed[spot] = Change(DROP, label, change.place)  # nobody misses it then
        both = {"<": self.cells[spot[0]].source, ">": "\n".join(c.source for c, _ in change.cells)}
        lines = [f"\n  {mark} {line}" for mark in both for line in both[mark].split("\n")]
        now = f"{change.old!r} is now {label!r}, at {self.where(spot)}; compare, and renew it:"
        raise BookError(f"{now}{''.join(lines)}")

    def fill_in(self, index: int, cell: NotebookNode, places: list[str]) -> None:
        """Give a new cell the tags of the old one, and the lines that stay."""
        old = self.cells[index]
        cell.metadata = nbformat.from_dict(old.metadata | cell.metadata)
        own = zip(old.source.splitlines(), self.chapter.places[index], strict=False)
        new = list(zip(cell.source.splitlines(), places, strict=False))
        if (lines := with_changed_lines(list(own), new)) != new:
            cell.source = "\n".join(line for line, _ in lines)
            places[:] = [place for _, place in lines]

    def prose(self, change: Change) -> list[Spot]:
        """Return the lines of prose that a change names."""
        old = [line.strip() for line in change.old.splitlines()]
        spots, texts = list(self.lines), list(self.lines.values())
        found = [at for at in range(len(texts)) if texts[at : at + len(old)] == old]
        if len(found) == 1:
            return spots[found[0] : found[0] + len(old)]
        where = ", ".join(self.where(spots[at]) for at in found)
        what = f"two places have the line, {where}:" if found else "no place has the line"
        hint = "" if found else self.like(old[0], dict(zip(texts, spots, strict=True)))
        raise BookError(f"{what} {short(old[0])!r}{hint}")

    def laid_over(self) -> Chapter:
        """Return the chapter with all changes that fit."""
        cells = list(self.new_cells())
        notebook = nbformat.v4.new_notebook(cells=[cell for cell, _ in cells])
        name_cells(notebook)
        places = [places for _, places in cells]
        chapter = Chapter(self.chapter.name, self.chapter.file, notebook, places)
        check_tags(chapter)
        return chapter

    def new_cells(self) -> Iterator[tuple[NotebookNode, list[str]]]:
        """Yield the cells with all changes, each with the places of its lines."""
        for index, cell in enumerate(self.cells):
            change = self.changed.get((index, 0))
            if cell.cell_type == "code" and change is None:
                yield copy.deepcopy(cell), self.chapter.places[index]
            elif cell.cell_type == "code":
                yield from copy.deepcopy([new for new in change.cells if new[0].source.strip()])
            elif kept := self.kept_lines(index, cell):
                prose = copy.deepcopy(cell)
                prose.source = "\n".join(line for line, _ in kept).strip("\n")
                yield prose, [place for _, place in kept]

    def kept_lines(self, index: int, cell: NotebookNode) -> Lines:
        """Return the lines of a cell of prose with their changes; none where all are blank."""
        kept: Lines = []
        for number, line in enumerate(cell.source.splitlines()):
            change, before = (self.changed.get((index, n)) for n in (number, number - 1))
            if change is None or change.kind == AFTER:
                kept.append((line, self.where((index, number))))
            if change and change is not before:
                kept += change.lines
        while kept and not kept[0][0].strip():
            del kept[0]
        return kept if any(line.strip() for line, _ in kept) else []

    def foreign(self) -> list[str]:
        """Return the cells that still say what is of another framework."""
        others = re.compile(code_of_others(Path(self.file).parent.name))
        labels = {self.cells[index].id: label for label, index in self.labels.items()}
        return [
            f"{self.result.where(index)}: {self.file} must replace or drop this cell, "
            f"which says {found[0]!r} (was={labels.get(cell.id, cell.id)!r})"
            for index, cell in enumerate(self.result.notebook.cells)
            if cell.cell_type == "code" and (found := others.search(cell.source))
        ]


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
    return text.startswith("#") and text.lstrip("#").startswith(" ") and text.strip("# ") != ""


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
