"""How long a chapter takes to read and to practise, by one rule.

Reading: 150 words of prose or 6 lines of code a minute; code that only draws, and that of
explorers, is not counted. Exercises: reading the task and its solution, and for the first try a
minute for every two lines of the solution's code and every 50 words of a solution on paper.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from bookbinder.chapters import FOLDED, Chapter, tags_of
from bookbinder.text import Line, headings_of

WORDS_A_MINUTE = 150
LINES_A_MINUTE = 6
LINES_WRITTEN_A_MINUTE = 2
WORDS_WORKED_OUT_A_MINUTE = 50
EQUATION = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)  # read as one word
TARGET = re.compile(r"\]\([^)]*\)")
MARKUP = re.compile(r"<[^>]*>|[#>|*`_-]+")
WORD = re.compile(r"\w[\w'’.-]*")
FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
HINT = re.compile(r'<details class="hint">.*?</details>', re.DOTALL)  # opened on request only
HEADING = re.compile(r"##? .*")


@dataclass
class Section:
    """What stands under one `## ` heading of a chapter; the opening has the title's."""

    heading: Line
    words: int = 0
    code_lines: int = 0
    solution_words: int = 0
    solution_lines: int = 0

    @property
    def is_exercises(self) -> bool:
        return self.heading.role == "exercises"

    @property
    def minutes(self) -> float:
        read = (self.words + self.solution_words) / WORDS_A_MINUTE
        read += (self.code_lines + self.solution_lines) / LINES_A_MINUTE
        tried = self.solution_lines / LINES_WRITTEN_A_MINUTE
        tried += self.solution_words / WORDS_WORKED_OUT_A_MINUTE
        return read + tried * self.is_exercises


def sections(chapter: Chapter) -> list[Section]:
    """Return the sections of a chapter, counted in English, without its list of references."""
    headings = {heading.text: heading for heading in headings_of(chapter)}
    found: list[Section] = []
    for cell in chapter.notebook.cells:
        for part in parts_of(cell):
            heading = HEADING.match(part)
            if cell.cell_type == "markdown" and heading:
                found.append(Section(headings[heading[0]]))
            if found:
                count(found[-1], cell, part)
    return [section for section in found if section.heading.role != "references"]


def parts_of(cell: NotebookNode) -> Iterator[str]:
    """Yield the source of a cell, prose cut before each `## `."""
    if cell.cell_type == "markdown":
        yield from (p for p in re.split(r"^(?=##? )", cell.source, flags=re.MULTILINE) if p)
    else:
        yield cell.source


def count(section: Section, cell: NotebookNode, source: str) -> None:
    if cell.cell_type == "markdown":
        source = HINT.sub(" ", source)
        folded = " ".join(FOLD.findall(source)) if section.is_exercises else ""
        section.solution_words += words_in(folded)
        section.words += words_in(source) - words_in(folded)
    elif "solution" in tags_of(cell):
        section.solution_lines += lines_in(cell.source)
    elif not (set(tags_of(cell)) & set(FOLDED) or "explore(" in cell.source):
        section.code_lines += lines_in(cell.source)


def words_in(text: str) -> int:
    bare = MARKUP.sub(" ", TARGET.sub("] ", EQUATION.sub(" equation ", text)))
    return len(WORD.findall(bare))


def lines_in(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def minutes(chapter: Chapter) -> tuple[int, int]:
    """Return the minutes to read a chapter and those for its exercises, in steps of five."""
    read = sum(s.minutes for s in sections(chapter) if not s.is_exercises)
    practised = sum(s.minutes for s in sections(chapter) if s.is_exercises)
    return in_fives(read), in_fives(practised)


def in_fives(minutes: float) -> int:
    return 5 * round(minutes / 5)
