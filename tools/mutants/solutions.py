"""Plants faults in the worked solutions of the exercises and sees whether the checks refuse them.

    python -m tools.mutants.solutions          every exercise that has a check
    python -m tools.mutants.solutions 4.1 4.2  these only

D2L_FRAMEWORK says whose edition. A fault that gets through is a wrong answer that a student could
hand in. Those that change nothing a reader could see stand in
equivalent_solutions_<framework>.toml, each group with its reason.
"""

import ast
import contextlib
import io
import os
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bookbinder.binding import read_edition_chapters
from bookbinder.chapters import Chapter, tags_of
from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from bookbinder.worksheets import names_in
from d2l_attention.frameworks import load
from d2l_attention.practice.checking import examine
from d2l_attention.practice.exercises import find
from tools.mutants.faults import Fault, faults, known_equivalents

os.environ.update(kernel_environment() | {"MPLBACKEND": "svg"})
FRAMEWORK = os.environ["D2L_FRAMEWORK"]
os.environ.update(load(FRAMEWORK).CPU_SETTINGS["one-thread"])
ROOT = Path(__file__).resolve().parent.parent.parent
BOOK = read_book(ROOT)
EDITION = BOOK.edition(FRAMEWORK)
EQUIVALENT = f"equivalent_solutions_{FRAMEWORK}.toml"
CHECK = re.compile(r'^check\(\s*"(\d+\.\d+)",\s*(.+?)\)$', re.MULTILINE)
SECONDS = 10  # of processor time for one faulty answer; one that runs longer counts as refused
AT_FIRST = 100  # for the sound answer, for which there may be much to compile
ENOUGH = 0.95


@dataclass(frozen=True)
class Solution:
    """A worked solution: what it needs from above, its cell, and what the check is given."""

    number: str
    name: str
    source: str
    needed: str


def solutions(chapter: Chapter) -> Iterator[Solution]:
    """Yield the solutions of a chapter's exercises that have a check."""
    cells = chapter.notebook.cells
    for index, cell in enumerate(cells):
        if cell.cell_type == "code" and "solution" in tags_of(cell):
            for number, name in CHECK.findall(cell.source):
                source = CHECK.sub("", cell.source)
                yield Solution(number, name, source, needed_above(chapter, index))


def needed_above(chapter: Chapter, index: int) -> str:
    """Return the code above a cell that it needs, and no more."""
    _, needed = names_in(chapter.notebook.cells[index], chapter.where(index))
    kept: list[str] = []
    for at in range(index - 1, -1, -1):
        cell = chapter.notebook.cells[at]
        if cell.cell_type != "code" or "raises-exception" in tags_of(cell):
            continue
        bound, used = names_in(cell, chapter.where(at))
        if bound & needed and "your turn" not in cell.source:
            needed = (needed - bound) | used
            kept.insert(0, cell.source)
    return "\n".join(kept)


def as_definitions(source: str, name: str) -> str:
    """Return a cell with the answer, where it is a value, inside a function: faults go there."""
    lines = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            lines += [f"def value():\n    {ast.unparse(node)}\n    return {name}"]
            lines += [f"{name} = value()"]
        else:
            lines.append(ast.unparse(node))
    return "\n".join(lines)


def silently(function, *arguments):
    """Call a function without its output, its pictures and its warnings."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def passes(solution: Solution, source: str, given: dict, seconds: int = SECONDS) -> bool:
    """Say whether the check lets this version of a solution pass."""

    def too_long(*_):
        raise TimeoutError("the answer runs too long")

    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        space = dict(given)
        silently(exec, compile(source, "<solution>", "exec"), space)
        answer = eval(solution.name, space)
        return silently(examine, find(solution.number), answer, FRAMEWORK).passed
    except Exception:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def survivors(solution: Solution) -> tuple[list[Fault], int]:
    """Return the faults that the check does not refuse, and how many were planted."""
    source = as_definitions(solution.source, solution.name)
    given: dict = {"__name__": "solution"}
    silently(exec, compile(solution.needed, "<above>", "exec"), given)
    if not passes(solution, source, given, AT_FIRST):
        sys.exit(f"the solution of {solution.number} does not pass its own check")
    planted = list(faults(source))
    return [f for f in planted if passes(solution, f.source, given)], len(planted)


def main(numbers: list[str]) -> int:
    known = known_equivalents(EQUIVALENT)
    begun, through, total, seen = time.monotonic(), 0, 0, set()
    for chapter in read_edition_chapters(BOOK, EDITION):
        for solution in solutions(chapter):
            if numbers and solution.number not in numbers:
                continue
            found, planted = survivors(solution)
            texts = [f"{solution.number} {fault}" for fault in found]
            seen |= set(texts)
            new = [text for text in texts if text not in known]
            through += len(new)
            total += planted - (len(texts) - len(new))
            for text in new:
                print(f"   passes: {text}", flush=True)
    if stale := known - seen if not numbers else set():
        print(f"{EQUIVALENT} has what is refused or gone:", *sorted(stale), sep="\n   ")
    seconds = time.monotonic() - begun
    print(f"solutions: {total - through} of {total} faults refused in {seconds:.0f} s")
    return total == 0 or (total - through) < ENOUGH * total or bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
