"""Worksheets of this book; what becomes of each part of a chapter, test_binding shows."""

import os
import re

from bookbinder.worksheets import READ, REASON, by_exercise, checks_in, sheets
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters

EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")
ASKS_FOR_CODE = re.compile(
    r"few lines|Then (let|change|compute|check|train)|try |find out|measure|a faulty"
)


def test_each_cell_of_a_worksheet_is_asked_for_and_none_needs_a_folder():
    edition = BOOK.edition(os.environ["D2L_FRAMEWORK"])
    for sheet in sheets(BOOK, edition, chapters(edition)).values():
        assert "](figures/" not in str(sheet)
        checks = checks_in(sheet)
        assert any(READ in cell.source for cell in sheet.cells) == bool(checks)
        exercises = by_exercise(sheet)
        assert not re.search("^## ", str(exercises.pop("5.2", "")), re.MULTILINE)
        for number in exercises.keys() - {"", "22.3"}:  # of which there is no solution
            sources = [cell.source for cell in exercises[number]]
            answers = [at for at, source in enumerate(sources) if "# your turn" in source]
            is_run = any("check(" not in (*sources, "")[at + 1] for at in answers)
            task = re.sub("<details.*?</details>", "", "\n".join(sources), flags=re.DOTALL)
            assert not is_run or re.search(ASKS_FOR_CODE, task), number
            is_function = number in checks and find(number).inputs is not None
            on_paper = re.search(rf"^\| {number} \|[^|]*\|.*paper", EXERCISES, re.MULTILINE)
            is_worded = not is_function or is_run or on_paper is not None
            assert ("*Your answer:*" in sources) == is_worded, number
            assert (REASON in sources) == (number in checks and not is_function), number
