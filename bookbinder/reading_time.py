"""How long a chapter takes to read and to practise, by one rule, in quarters of an hour.

Reading: 150 words, 3 lines of code in sight or 9 folded ones a minute, 1.2 minutes for a displayed
equation, 0.5 for a picture, 3.5 for an explorer with its answer; nothing for folded prose.
"""

import re
from collections.abc import Callable

from bookbinder.book import Goal
from bookbinder.chapters import Chapter, fold_of, lines_of
from bookbinder.markdown import Line

LEVELS = {1: 5, 2: 15, 3: 30}  # minutes by the number of stars in a heading
EXPLORER = re.compile(r"\b(?:explore|draw_arcs|go_on|trace_letters)\(")
WORD = re.compile(r"[^\W_](?:[^\W_]|['’.])*")


def timed(chapter: Chapter, goal: Goal) -> Chapter:
    """How long it takes to read, and to practise, is the same in every language."""
    lines, read = lines_of(chapter, fenced=True), 0.0
    for line in lines:
        if line.section not in ("exercises", "references") and not line.fold:
            read += words_in(line) / 150 + 1.2 * (line.kind == "formula" and line.is_first)
            read += 0.5 * sum(link.kind == "image" for link in line.links)
    ends = [line.cell for line in lines if line.level == 2 and line.role == "exercises"]
    for cell in chapter.notebook.cells[: min(ends, default=None)]:
        if cell.cell_type == "code":
            code = sum(bool(line.strip()) for line in cell.source.splitlines())
            code = 3.5 if EXPLORER.search(cell.source) else code / (9 if fold_of(cell) else 3)
            read += code + 0.5 * ("alt" in cell.metadata)
    practised = sum(LEVELS.get(line.title.count("★"), 0) for line in lines if line.level == 3)
    quarters = (max(round(time / 15), time > 0) for time in (read, practised))  # one at least
    chapter.minutes = tuple(15 * number for number in quarters)
    return chapter


def words_in(line: Line) -> int:
    """Count the words of a line; a formula in it is read as one."""
    if line.kind in ("formula", "fence"):
        return len(WORD.findall(line.content)) if line.kind == "fence" else 0
    number = line.text[: line.text.index(line.content)]  # before an entry of a list
    read = [node.content for node in line.nodes if node.type in ("text", "code_inline")]
    words = [text for text in read if not text.startswith("<")]  # `<pad>` is none
    formulas = sum(node.type.startswith("math") for node in line.nodes)
    return formulas + len(WORD.findall(" ".join([number, *words])))


def time_text(minutes: tuple[int, int], _: Callable[..., str]) -> str:
    read, practised = minutes
    if not practised:
        return _("about {minutes} minutes to read").format(minutes=read)
    text = _("about {minutes} minutes to read, {practised} for the exercises")
    return text.format(minutes=read, practised=practised)
