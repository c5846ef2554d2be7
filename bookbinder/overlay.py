"""Lay an overlay over a chapter: CONTRIBUTING.md describes what book/<framework>/ may hold."""

import difflib
import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import shorten

import nbformat
from jupytext.cell_metadata import parse_key_equal_value
from nbformat import NotebookNode

from bookbinder.book import Book, BookError, Edition
from bookbinder.chapters import Chapter, check_tags, name_cells, read_chapter, refuse_conflicts
from bookbinder.markdown import Line, markdown_lines
from d2l_attention.frameworks import code_of_others

CELL, LINE, WAS, AFTER, HEADING = "cell", "line", "was", "after", "heading"  # kinds of parts
COMMENT = re.compile(rf"<!-- *({WAS}|{AFTER}): *(\S.*?) *-->", re.DOTALL)
NAMED = re.compile(rf"\s*# {WAS}(?: (\d+) lines)?: (.*)")
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
FIRST_WORDS = re.compile(r"^(?!#?@)\W*(\w+(?:[ ,.]+\w+)*)", re.MULTILINE)
short = partial(shorten, width=60, placeholder="…")  # what a message quotes of a line

Cell = tuple[NotebookNode | None, list[Line]]  # None for lines of prose


@dataclass
class Part:
    """A cell or a line of a chapter, or an entry of an overlay, which names such parts."""

    kind: str
    name: str  # the label of a cell, or lines of prose
    place: str
    cells: list[Cell] = field(default_factory=list)  # what stands there
    changed_at: str = ""


def lay_over(chapter: Chapter, path: Path, file: str) -> Chapter:
    """Return the chapter under the overlay in `path`; raise BookError with the first mistake."""
    result, mistakes = apply_overlay(chapter, path, file)
    if mistakes:
        first, *more = (text.partition("\n")[0] for text in mistakes)
        raise BookError(f"{first} (and {len(more)} more)" if more else first)
    return result


def drift(book: Book, edition: Edition) -> list[str]:
    """Return what fits nowhere in an edition's overlays, is missing, or has changed since."""
    mistakes = []
    for name in book.chapters:
        if path := book.overlay_file(edition, name):
            file = book.chapter_file(name)
            chapter = read_chapter(file, book.named(file))
            mistakes += apply_overlay(chapter, path, book.named(path))[1]
    return mistakes


def apply_overlay(chapter: Chapter, path: Path, file: str) -> tuple[Chapter, list[str]]:
    """Return the chapter with all entries that fit, and the mistakes, which name `file`."""
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    refuse_conflicts(text, file)
    entries, cells, mistakes = read_entries(text, file), parts_of(chapter), []
    parts = [part for cell in cells for part in cell]
    for entry in entries:
        try:
            named = parts_named(entry, parts, entries)
            if entry.kind != HEADING:  # which is there for whoever reads the overlay
                change(named, entry)
        except BookError as error:
            mistakes.append(f"{entry.place}: {error}")
    result = chapter_of(cells, chapter)
    others = re.compile(code_of_others(Path(file).parent.name))
    for part in parts:
        for cell, lines in part.cells:
            if cell and (word := others.search(cell.source)):
                what = f"{file} must replace or drop this cell, which says {word[0]!r}"
                mistakes.append(f"{lines[0].where}: {what} (was={part.name!r})")
    return result, mistakes


def parts_of(chapter: Chapter) -> list[list[Part]]:
    """Return the parts of each cell of a chapter: a cell of code is one, of prose each line.

    The label of code is what it defines first, or else its first words, with a number where that
    comes again, and a hash of the source: "three_steps @662c8323", "rng 2 @39aa1c06".
    """
    seen, parts = [], []
    for cell, places in zip(chapter.notebook.cells, chapter.places, strict=True):
        texts = zip(cell.source.splitlines(), places, strict=False)
        lines = [Line(text, where=place) for text, place in texts]
        if cell.cell_type == "markdown":
            parts.append([Part(LINE, x.text.strip(), x.where, [(None, [x])]) for x in lines])
            continue
        match = DEFINED.search(cell.source) or FIRST_WORDS.search(cell.source)
        seen.append(match[1] if match else "code")
        number = f" {count}" if (count := seen.count(seen[-1])) > 1 else ""
        label = f"{seen[-1]}{number} @{cell.id.partition('-')[0]}"
        parts.append([Part(CELL, label, places[0], [(cell, lines)])])
    return parts


def read_entries(text: str, file: str) -> list[Part]:
    """Return the entries of an overlay, in its order."""
    numbered = enumerate(markdown_lines(text), 1)
    lines = [replace(line, where=f"{file}:{number}") for number, line in numbered]
    begins = [at for at, x in enumerate(lines) if x.is_first or x.kind not in ("fence", "html")]
    entries, above = [Part(HEADING, "", "")], -1
    for begin, end in pairwise([*begins, len(lines)]):
        line = lines[begin]
        if not line.text.strip():
            continue
        if line.text.startswith("```python"):
            add_code(entries, lines[begin:end])
        elif line.text.startswith("<!--"):
            comment = "\n".join(line.text for line in lines[begin:end])
            if not (match := COMMENT.fullmatch(comment.strip())):
                kinds = f"<!-- {WAS}: … --> or <!-- {AFTER}: … -->"
                raise BookError(f"{line.where}: write {kinds}, got {short(line.text)!r}")
            entries.append(Part(match[1], match[2], line.where))
        elif line.level and begin != above:  # right below another line, a heading is text
            entries.append(Part(HEADING, line.text.strip(), line.where))
        elif entries[-1].kind == HEADING:
            raise BookError(f"{line.where}: this line replaces nothing: {short(line.text)!r}")
        else:  # with the blank lines above it
            entries[-1].cells.append((None, lines[above:end]))
        above = end
    return entries[1:]


def add_code(entries: list[Part], block: list[Line]) -> None:
    """Add a code cell: an entry of its own, or one that follows the cell before it."""
    opening, *body = block
    if not body or body.pop().text.strip("` "):
        raise BookError(f"{opening.where}: this code cell has no end")
    options = parse_key_equal_value(opening.text.removeprefix("```python"))
    if old := options.pop(WAS, None):
        entries.append(Part(CELL, str(old), opening.where))
    elif entries[-1].kind != CELL:
        what = 'this cell replaces nothing: give it was="…", or put it behind a cell that has one'
        raise BookError(f"{opening.where}: {what}")
    entries[-1].cells.append((nbformat.v4.new_code_cell(metadata=options), body))


def parts_named(entry: Part, parts: list[Part], entries: list[Part]) -> list[Part]:
    """Return the parts that an entry names; of a cell that changed, what is left of it."""
    old = [line.strip() for line in entry.name.splitlines()]
    names = [part.name for part in parts]
    begins = [at for at in range(len(names)) if names[at : at + len(old)] == old]
    if len(begins) == 1:
        return parts[begins[0] : begins[0] + len(old)]
    if begins:
        where = ", ".join(parts[at].place for at in begins)
        raise BookError(f"two places have the line, {where}: {short(old[0])!r}")
    what = f"no place has the line {short(old[0])!r}"
    if entry.kind == CELL:
        name, _, digest = entry.name.rpartition(" @")
        named = {entry.name for entry in entries}
        free = [part for part in parts if part.name not in named]
        left = [part for part in free if part.name.endswith(f" @{digest}")]
        left += [part for part in free if part.name.startswith(f"{name} @")]
        if left:
            return left[:1]
        what = f"no cell is {entry.name!r}"
    places = {part.name: part.place for part in parts}
    for name in difflib.get_close_matches(old[0], places, n=1, cutoff=0.5):
        what += f"; most like it, at {places[name]}: {short(name)!r}"
    raise BookError(what)


def change(parts: list[Part], entry: Part) -> None:
    """Put what an entry brings into the place of the parts that it names, or behind them."""
    for part in parts:
        if part.changed_at:
            raise BookError(f"{part.place} is replaced or left out at {part.changed_at}")
    old = parts[0].cells
    for part in parts:
        part.changed_at = entry.place
        part.cells = part.cells if entry.kind == AFTER else []
    if entry.kind == CELL:
        entry.cells[0] = ported(entry, parts[0], *old[0])
    parts[-1].cells = parts[-1].cells + entry.cells


def ported(entry: Part, part: Part, old: NotebookNode, rest: list[Line]) -> Cell:
    """Return the first cell of an entry with the tags of the old one, and the lines that stay."""
    if part.name != entry.name:
        port = [line for _, lines in entry.cells for line in lines]
        both = [f"\n  < {line.text}" for line in rest] + [f"\n  > {line.text}" for line in port]
        now = f"{entry.name!r} is now {part.name!r}, at {part.place}; compare, and renew it:"
        raise BookError(now + "".join(both))
    cell, new = entry.cells[0]
    cell.metadata = nbformat.from_dict(old.metadata | cell.metadata)
    matches = [NAMED.match(line.text) for line in new]
    rest = rest if any(matches) else []  # a cell without such lines stands for all of the old one
    lines = []
    for line, match in zip(new, matches, strict=True):
        texts = [line.text.strip() for line in rest]
        if match is None:
            lines.append(line)
        elif match[2] in texts:
            begin = texts.index(match[2])
            lines += rest[:begin]
            rest = rest[begin + int(match[1] or 1) :]
        else:
            what = f"no line of the cell, from here on, is {short(match[2])!r}"
            raise BookError(f"{line.where}: {what}")
    return cell, lines + rest


def chapter_of(cells: list[list[Part]], chapter: Chapter) -> Chapter:
    """Return a chapter of what stands in the place of its parts, cell by cell."""
    notebook, places = nbformat.v4.new_notebook(), []
    for parts in cells:
        new = (cell for part in parts for cell in part.cells)
        for is_prose, run in groupby(new, key=lambda cell: cell[0] is None):
            if is_prose:
                lines = [line for _, lines in run for line in lines]
                run = [(nbformat.v4.new_markdown_cell(), lines)]
            for cell, lines in run:
                filled = [at for at, line in enumerate(lines) if line.text.strip()]
                if filled:  # there are no blank lines around a cell
                    lines = lines[filled[0] : filled[-1] + 1]
                    cell.source = "\n".join(line.text for line in lines)
                    notebook.cells.append(cell)
                    places.append([line.where for line in lines])
    name_cells(notebook)
    result = Chapter(chapter.name, chapter.file, notebook, places)
    check_tags(result)
    return result
