"""Notebooks as readers get them: worksheets, and outputs where no scripts and styles are let in."""

import os
import re

import pytest
from bs4 import BeautifulSoup

from bookbinder.code import checks_in
from bookbinder.worksheets import REASON, numbered, worksheet_of
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT
from tests.this_book import BOOK, pages

EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")
ASKS_FOR_CODE = re.compile(
    r"few lines|Then (let|change|compute|check|train)|try |find out|measure|a faulty"
)
RAW = re.compile(r"[{}<>]|=>|\bfunction\b")
STILL = re.compile(r"Still picture (at \w|of “.+” after \d+)")


def test_each_cell_of_a_worksheet_is_asked_for_and_none_needs_a_folder():
    edition, seen = BOOK.edition(os.environ["D2L_FRAMEWORK"]), {""}
    for name in BOOK.chapters:
        sheet = worksheet_of(BOOK, edition, name)
        assert "figures/" not in str(sheet)
        checks = checks_in(sheet)
        exercises: dict[str, list[str]] = {}
        for number, cell in numbered(sheet.cells):
            exercises.setdefault(number, []).append(cell.source.partition("## Summary")[0])
        seen |= exercises.keys()
        for number in exercises.keys() - {"", "22.3"}:  # of which there is no solution
            sources = exercises[number]
            answers = [at for at, source in enumerate(sources) if "# your turn" in source]
            is_run = any("check(" not in (*sources, "")[at + 1] for at in answers)
            task = re.sub("<details.*?</details>", "", "\n".join(sources), flags=re.DOTALL)
            assert not is_run or re.search(ASKS_FOR_CODE, task), number
            is_function = number in checks and find(number).inputs is not None
            on_paper = re.search(rf"^\| {number} \|[^|]*\|.*paper", EXERCISES, re.MULTILINE)
            is_worded = not is_function or is_run or on_paper is not None
            assert ("*Your answer:*" in sources) == is_worded, number
            assert (REASON in sources) == (number in checks and not is_function), number
    assert seen == {"", *re.findall(r"^\| (\d+\.\d+) \|", EXERCISES, re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_without_scripts_and_styles_every_output_is_whole(edition):
    cells = [cell for page in pages(edition) for cell in page.executed.cells]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    for html in filter(None, ("".join(data.get("text/html", "")) for data in outputs)):
        page = BeautifulSoup(html, "html.parser")
        for element in page(["script", "style", "link", "input", "button", "form", "iframe"]):
            element.decompose()  # as GitHub does
        assert not RAW.search(page.get_text()), html[:300]
        for picture in page(["svg", "img"]):
            assert "src" in picture.attrs or {*picture.attrs} >= {"width", "height"}, html[:300]
            assert picture.name == "svg" or picture.get("alt"), html[:300]
        if re.search('class="d2l-(explorer|arcs)"', html):
            assert STILL.search(page.get_text()), html[:300]
            assert page.find("img", src=True) or any(td.get_text() for td in page("td"))
