"""How long a chapter takes to read and to practise, by one rule, in quarters of an hour.

Reading: 150 words of prose, 3 lines of code in sight or 9 folded ones a minute, 1.2 minutes for a
displayed equation, half a minute for a picture, 3.5 for an explorer with its answer. Folded prose
is not counted.
Exercises: by their level, ★ 5 minutes, ★★ 15, ★★★ 30.
"""

import re
from collections import Counter

from bookbinder.chapters import Chapter, fold_of
from bookbinder.markdown import Line, lines_of

STAR = "★"
LEVELS = {1: 5, 2: 15, 3: 30}  # minutes by the number of stars in a heading
MINUTES = {"words": 1 / 150, "lines": 1 / 3, "folded lines": 1 / 9}
MINUTES |= {"formulas": 1.2, "pictures": 0.5, "explorers": 3.5}
EXPLORER = re.compile(r"\b(?:explore|draw_arcs|go_on)\(")
WORD = re.compile(r"[^\W_](?:[^\W_]|['’.])*")


def minutes(chapter: Chapter) -> tuple[int, int]:
    """Return the minutes to read a chapter and those for its exercises."""
    lines = lines_of(chapter, fenced=True)
    ends = [line.cell for line in lines if line.level == 2 and line.role == "exercises"]
    counts: Counter[str] = Counter()
    for line in lines:
        if line.section not in ("exercises", "references") and not line.fold:
            counts["words"] += words_in(line)
            counts["formulas"] += line.kind == "formula" and line.is_first
            counts["pictures"] += sum(link.kind == "image" for link in line.links)
    for cell in chapter.notebook.cells[: min(ends, default=None)]:
        if cell.cell_type == "code":
            counts["pictures"] += "alt" in cell.metadata
            explorer = EXPLORER.search(cell.source) is not None
            counts["explorers"] += explorer
            if not explorer:
                kind = "folded lines" if fold_of(cell) else "lines"
                counts[kind] += sum(bool(line.strip()) for line in cell.source.splitlines())
    read = sum(MINUTES[what] * count for what, count in counts.items())
    practised = sum(LEVELS.get(line.title.count(STAR), 0) for line in lines if line.level == 3)
    return quarters(read), quarters(practised)


def quarters(time: float) -> int:
    """Return minutes as whole quarters of an hour, at least one where there are any."""
    return max(15 * round(time / 15), 15 * (time > 0))


def words_in(line: Line) -> int:
    """Count the words of a line; a formula in it is read as one."""
    if line.kind == "formula":
        return 0
    number = line.text[: line.text.index(line.content)]  # before an entry of a list
    read = [node.content for node in line.nodes if node.type in ("text", "code_inline")]
    words = [text for text in read if not text.startswith("<")]  # `<pad>` is none
    code = [line.content] * (line.kind == "fence")
    formulas = sum(node.type.startswith("math") for node in line.nodes)
    return formulas + len(WORD.findall(" ".join([number, *words, *code])))
