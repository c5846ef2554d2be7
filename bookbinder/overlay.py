"""Lay an overlay over a chapter: what one framework has of its own in it.

An overlay, book/<framework>/<chapter>.md, holds only what differs from the chapter:

    ## Heading                        a heading of the chapter, for whoever reads the overlay
    ```python was="scores @ec42fc9c"  a cell in place of this one; empty, it drops it
    ```python                         a cell (or prose) that follows the cell before it
    <!-- was: A line of prose. -->    what stands below replaces this line; nothing drops it
    <!-- was alone: A line. -->       so it does, and somebody saw that the others keep it rightly
    <!-- after: A line of prose. -->  what stands below follows this line
    <!-- drop section: ## Heading --> the section is left out, with its cells
    <!-- new section -->              the heading below is of this edition alone: right below a
                                      comment, headings are text

In a cell, such comments name lines of the old one, from top to bottom; its other lines stay:

    # was: x = np.zeros(3)            what stands below replaces this line
    # was 4 lines: for x in batch:    what stands below replaces this line and the three after it
    # after: x = x + 1                what stands below follows this line

Everything is exact: a cell, a line or a heading that is gone is a mistake, and so is a cell that
has changed since somebody ported it.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from textwrap import shorten

import nbformat
from jupytext.cell_metadata import parse_key_equal_value
from nbformat import NotebookNode

from bookbinder.book import Book, BookError, Edition
from bookbinder.chapters import Chapter, check_tags, name_cells, read_chapter, refuse_conflicts
from bookbinder.markdown import Line, headings_of, markdown_lines
from d2l_attention.frameworks import code_of_others

CELL, WAS, ALONE, AFTER, PLACE = "cell", "was", "was alone", "after", "heading"
DROP = "drop section"
NEW = "<!-- new section -->"
COMMENT = re.compile(rf"<!-- *({WAS}|{ALONE}|{AFTER}|{DROP}): *(\S.*?) *-->", re.DOTALL)
NAMED = re.compile(rf"\s*# ({WAS}|{AFTER})(?: (\d+) lines)?: (.*)")
ALIKE = 0.5  # what a message calls "most like it" is at least so alike
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
FIRST_WORDS = re.compile(r"^(?!#?@)\W*(\w+(?:[ ,.]+\w+)*)", re.MULTILINE)
short = partial(shorten, width=60, placeholder="…")  # what a message quotes of a line

Lines = list[tuple[str, str]]  # each with its place, "file:line"
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
    for name in book.chapters:
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
    seen, labels = [], {}
    for index, cell in enumerate(cells):
        if cell.cell_type == "code":
            match = DEFINED.search(cell.source) or FIRST_WORDS.search(cell.source)
            seen.append(match[1] if match else "code")
            number = f" {count}" if (count := seen.count(seen[-1])) > 1 else ""
            labels[f"{seen[-1]}{number} @{cell.id.partition('-')[0]}"] = index
    return labels


class Overlay:
    """A chapter, and the changes of an overlay that have found their place in it."""

    def __init__(self, chapter: Chapter, path: Path, file: str):
        self.chapter, self.file = chapter, file
        self.cells = chapter.notebook.cells
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        refuse_conflicts(text, file)
        # Lines of prose without blanks around them; of code one, which no such line is.
        self.lines: dict[Spot, str] = {
            (index, number): "\n" if cell.cell_type == "code" else line.strip()
            for index, cell in enumerate(self.cells)
            for number, line in enumerate(cell.source.splitlines() or [""])
            if cell.cell_type == "markdown" or number == 0
        }
        self.labels = labels_of(self.cells)
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
        """Note what a change changes."""
        finders = {CELL: self.cell, DROP: self.section}
        spots = finders.get(change.kind, self.prose)(change)
        if change.kind == PLACE:
            return
        for spot in spots:
            if other := self.changed.get(spot):
                raise BookError(f"{self.where(spot)} is replaced or left out at {other.place}")
        self.changed |= dict.fromkeys(spots, change)
        if change.kind == CELL:
            self.fill_in(spots[0][0], *change.cells[0])

    def section(self, change: Change) -> list[Spot]:
        """Return all lines and cells of the section that is left out."""
        begin, deeper = self.prose(change)[0], change.old.partition(" ")[0] + "#"
        headings = (h for h in headings_of(self.chapter) if not h.text.startswith(deeper))
        others = ((heading.cell, heading.number) for heading in headings)
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
        fit += [label for label in free if label.startswith(f"{name} @")]
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
        if any(NAMED.match(line) for line, _ in new):  # else it stands for all of the old one
            lines = with_changed_lines(list(own), new)
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
                yield cell, self.chapter.places[index]
            elif cell.cell_type == "code":
                yield from (new for new in change.cells if new[0].source.strip())
            elif kept := self.kept_lines(index, cell):
                yield prose_cell(kept)

    def kept_lines(self, index: int, cell: NotebookNode) -> Lines:
        """Return the lines of a cell of prose with their changes; none where all are blank."""
        kept: Lines = []
        for number, line in enumerate(cell.source.splitlines()):
            change, before = (self.changed.get((index, n)) for n in (number, number - 1))
            if change is None or change.kind == AFTER:
                kept.append((line, self.where((index, number))))
            if change and change is not before:
                kept += change.lines
        return without_blanks(kept)

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
    below_comment = False
    for block in blocks(text, file):
        line, is_comment = block[0], block[0].text.startswith("<!--")
        if line.kind == "fence" and line.text.startswith("```python"):
            add_code(changes, block)
        elif is_comment and line.text.strip() != NEW:
            changes.append(read_comment(block))
        elif line.level and not below_comment:
            changes.append(Change(PLACE, line.text.strip(), line.where))
        elif not is_comment:
            add_text(changes, block)
        below_comment = is_comment
    for change in changes:
        settle_prose(change)
    return changes


def blocks(text: str, file: str) -> Iterator[list[Line]]:
    """Yield the fences and comments of an overlay whole, and all else line by line."""
    block: list[Line] = []
    for number, line in enumerate(markdown_lines(text), 1):
        if block and (line.is_first or line.kind not in ("fence", "html")):
            yield block
            block = []
        block.append(replace(line, where=f"{file}:{number}"))
    if block:
        yield block


def add_code(changes: list[Change], block: list[Line]) -> None:
    """Add a code cell: a change of its own, or one that follows the cell before it."""
    opening, *body, end = [*block, block[0]] if len(block) == 1 else block
    if end.text.strip("` "):
        raise BookError(f"{opening.where}: this code cell has no end")
    options = parse_key_equal_value(opening.text.lstrip("`").removeprefix("python"))
    cell = nbformat.v4.new_code_cell("\n".join(line.text for line in body), metadata=options)
    if old := cell.metadata.pop(WAS, None):
        changes.append(Change(CELL, str(old), opening.where))
    elif not changes or changes[-1].kind != CELL:
        raise BookError(
            f'{opening.where}: this cell replaces nothing: give it was="…", '
            "or put it behind a cell that has one"
        )
    settle_prose(changes[-1])
    changes[-1].cells.append((cell, [line.where for line in body] or [opening.where]))


def read_comment(block: list[Line]) -> Change:
    """Return the change that begins with a comment."""
    if match := COMMENT.fullmatch("\n".join(line.text for line in block).strip()):
        return Change(match[1], match[2], block[0].where)
    kinds = f"<!-- {WAS}: … -->, <!-- {AFTER}: … --> or <!-- {DROP}: … -->"
    raise BookError(f"{block[0].where}: write {kinds}, got {short(block[0].text)!r}")


def add_text(changes: list[Change], block: list[Line]) -> None:
    if changes and changes[-1].kind not in (DROP, PLACE):
        changes[-1].lines += [(line.text, line.where) for line in block]
    elif block[0].text.strip():
        raise BookError(f"{block[0].where}: this line replaces nothing: {short(block[0].text)!r}")


def settle_prose(change: Change) -> None:
    """Cut blank lines around new prose; behind a cell, it becomes one, too."""
    change.lines = without_blanks(change.lines, above=change.kind != AFTER)
    if change.kind == CELL and change.lines:
        change.cells.append(prose_cell(change.lines))
        change.lines = []


def prose_cell(lines: Lines) -> tuple[NotebookNode, list[str]]:
    cell = nbformat.v4.new_markdown_cell("\n".join(line for line, _ in lines))
    return cell, [place for _, place in lines]


def without_blanks(lines: Lines, above: bool = True) -> Lines:
    """Return lines without the blank ones below them, and above them."""
    filled = [at for at, (line, _) in enumerate(lines) if line.strip()]
    return lines[filled[0] if above else 0 : filled[-1] + 1] if filled else []


def with_changed_lines(old: Lines, new: Lines) -> Lines:
    """Return the lines of a cell with those changed that comments in the new cell name."""
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
