"""Notebooks as readers get them: worksheets, and outputs where no scripts and styles are let in.

What becomes of each part of a chapter, test_binding shows of a sample.
"""

import os
import re

import pytest
from bs4 import BeautifulSoup

from bookbinder.worksheets import READ, REASON, by_exercise, checks_in, sheets
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters, pages

EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")
ASKS_FOR_CODE = re.compile(
    r"few lines|Then (let|change|compute|check|train)|try |find out|measure|a faulty"
)
TAKEN_OUT = ("script", "style", "link", "input", "button", "form", "iframe")  # as GitHub does
ATTRIBUTES = re.compile(r"style|class|id|hidden|role|on\w+|(data|aria)-.*")
RAW = re.compile(r"[{}<>]|=>|\bfunction\b")
STILL = re.compile(r"Still picture (at \w|of “.+” after \d+)")


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


def is_whole(html: str) -> bool:
    """Say whether a reader misses nothing and is puzzled by nothing, without scripts and styles."""
    page = BeautifulSoup(html, "html.parser")
    for element in page.find_all(TAKEN_OUT):
        element.decompose()
    for element in page.find_all(True):
        element.attrs = {k: v for k, v in element.attrs.items() if not ATTRIBUTES.fullmatch(k)}
    text, pictures = page.get_text(), page.find_all(["svg", "img"])
    sized = [p for p in pictures if "src" in p.attrs or p.attrs.keys() >= {"width", "height"}]
    told = [p for p in pictures if p.name == "svg" or p.get("alt")]
    shown = page.find("img", src=True) or any(td.get_text() for td in page("td"))
    is_live = 'class="d2l-explorer"' in html or 'class="d2l-arcs"' in html
    is_still = not is_live or (STILL.search(text) and shown)
    return not RAW.search(text) and bool(is_still) and sized == told == pictures


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_without_scripts_and_styles_every_output_is_whole(edition):
    for page in pages(edition):
        for cell in page.executed.cells:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                assert is_whole(html), f"{page.name}: {cell.source[:60]!r}"
