"""Show how a class is doing: what `d2l_attention/practice/progress.py` notes, exercise by exercise.

Students can write what they like to their files: a line that no check has written is counted and
otherwise ignored.
"""

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from bookbinder.errors import BookError

EVERY = 3  # seconds
MOST_MISTAKES = 3
CLEAR = "\033[2J\033[H"  # the screen of a terminal
STATUSES = ("passed", "wrong", "error", "not attempted")


def show_progress(folder: Path, once: bool) -> None:
    """Print where the class stands; unless once, again every few seconds until Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            lines = list(standing(students_files(folder))) or [f"no check yet in {folder}"]
            print("" if once else CLEAR, "\n".join(lines), sep="", flush=True)
            if once:
                return
            time.sleep(EVERY)


def students_files(folder: Path) -> list[str]:
    """Return a text for each student."""
    if not folder.is_dir():
        raise BookError(f"{folder}: is no folder; it is the one that D2L_PROGRESS names")
    return [text_of(path) for path in sorted(folder.glob("*.jsonl")) if path.is_file()]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return str(error)


def standing(files: Iterable[str]) -> Iterator[str]:
    """Yield a line for each exercise that someone has attempted, from a text for each student."""
    last: dict[tuple[str, int], str] = {}  # exercise, student -> the mistake, "" where passed
    broken = 0
    for student, text in enumerate(files):
        for line in text.splitlines():
            try:
                number, status, mistake = checked(json.loads(line))
            except (ValueError, RecursionError):
                broken += 1
                continue
            if status != "not attempted" and last.get((number, student)) != "":
                last[number, student] = "" if status == "passed" else mistake or status
    for number in sorted({number for number, _ in last}, key=in_order):
        mistakes = Counter(m for (n, _), m in last.items() if n == number)
        right = mistakes.pop("", 0)
        named = [f"{count}: {m}" for m, count in mistakes.most_common(MOST_MISTAKES)]
        counts = f"{right} of {right + mistakes.total()} right"
        yield f"{number:4} {'; '.join([counts, *named])}"
    if broken:
        yield f"lines that no check has written: {broken}"


def checked(line: object) -> tuple[str, str, str]:
    """Return exercise, status and mistake; raise ValueError for what no check writes."""
    match line:
        case [str(number), str(status), str() | None as mistake] if status in STATUSES:
            if len(told := f"{number}{mistake}") < 100 and told.isprintable():
                return number, status, mistake or ""
    raise ValueError(line)


def in_order(number: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"\d+", number)], number
