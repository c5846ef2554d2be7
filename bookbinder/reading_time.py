"""How long a chapter takes to read and to practise, by one rule.

Reading: 150 words of prose or 6 lines of code a minute; code that only draws, and that of
explorers, is not counted. Exercises: reading the task and its solution, and for the first try a
minute for every two lines of the solution's code and every 50 words of a solution on paper.
"""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from bookbinder.chapters import FOLDED, Chapter, tags_of
from bookbinder.page import ANSWER, Line, lines_of

WORDS_A_MINUTE = 150
LINES_A_MINUTE = 6
LINES_WRITTEN_A_MINUTE = 2
WORDS_WORKED_OUT_A_MINUTE = 50
WORD = re.compile(r"[^\W_](?:[^\W_]|['’.])*")


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
    prose: dict[int, list[Line]] = {}
    for line in lines_of(chapter, fenced=True):
        prose.setdefault(line.cell, []).append(line)
    found: list[Section] = []
    for index, cell in enumerate(chapter.notebook.cells):
        for line in prose.get(index, ()):
            if line.level in (1, 2):
                found.append(Section(line))
            if found:
                count_words(found[-1], line)
        if found and cell.cell_type == "code":
            count_lines(found[-1], cell)
    return [section for section in found if section.heading.role != "references"]


def count_words(section: Section, line: Line) -> None:
    if line.fold == ANSWER and section.is_exercises:
        section.solution_words += words_in(line)
    elif line.fold != "hint":  # opened on request only
        section.words += words_in(line)


def count_lines(section: Section, cell: NotebookNode) -> None:
    if "solution" in tags_of(cell):
        section.solution_lines += lines_in(cell.source)
    elif not (set(tags_of(cell)) & set(FOLDED) or "explore(" in cell.source):
        section.code_lines += lines_in(cell.source)


def words_in(line: Line) -> int:
    """Count the words of a line; a formula is read as one."""
    if line.kind == "formula":
        return int(line.is_first)
    number = line.text[: line.text.index(line.content)]  # before an entry of a list
    read = [node.content for node in line.nodes if node.type in ("text", "code_inline")]
    words = [text for text in read if not text.startswith("<")]  # `<pad>` is none
    code = [line.content] * (line.kind == "fence")
    formulas = sum(node.type.startswith("math") for node in line.nodes)
    return formulas + len(WORD.findall(" ".join([number, *words, *code])))


def lines_in(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def minutes(chapter: Chapter) -> tuple[int, int]:
    """Return the minutes to read a chapter and those for its exercises, in steps of five."""
    parts = sections(chapter)
    read = sum(section.minutes for section in parts if not section.is_exercises)
    practised = sum(section.minutes for section in parts if section.is_exercises)
    return 5 * round(read / 5), 5 * round(practised / 5)
