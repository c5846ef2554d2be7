"""The book itself: generated files match their source, and its text is right."""

import json
import os
import re
import subprocess
import sys

import pytest

from bookbinder.binding import notebook_path, stale_files
from bookbinder.chapters import tags_of
from bookbinder.execution import cell_message, output_problems
from bookbinder.steps import title_in_contents
from bookbinder.worksheets import names_in, parsed, students
from tests.conftest import ROOT
from tests.text_checks import problems
from tests.this_book import BOOK, checked_exercises, pages

FIGURE = re.compile(r"^(?:explore|draw_arcs)\(|plt\.subplots\(", re.MULTILINE)
DRAWS = re.compile(
    r"^(?:explore|draw_arcs)\(|plt\.|\bax\.|show_(heatmaps|sentences)\(|\b(?:Plot|Live)\(",
    re.MULTILINE,
)
LESSON = re.compile(r"#@save|\bcheck\(")
CHECKED = re.compile(r'\bcheck\(\s*"(\d+\.\d+)"')
EDITIONS = [pytest.param(e, id=f"{e.framework}-{e.language}") for e in BOOK.editions]


def listed(found):
    return "\n".join(["", *found])


@pytest.mark.parametrize("edition", EDITIONS)
def test_generated_files_are_what_the_source_gives(edition):
    found = stale_files(BOOK, edition)
    assert not found, listed([*found, "run `make notebooks`"])


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
def test_stored_outputs_are_whole(edition):
    found = [
        cell_message(page.chapter, page.executed, index, text)
        for page in pages(edition)
        for index, text in output_problems(page.executed)
    ]
    assert not found, listed(found)


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_number_link_and_citation_in_prose_resolves(edition):
    found = problems(pages(edition), edition.notebooks)
    assert not found, listed(found)


@pytest.mark.parametrize("edition", EDITIONS)
def test_code_that_only_draws_is_folded_and_lessons_are_not(edition):
    found = [
        f"{page.chapter.where(index)}: {problem}"
        for page in pages(edition)
        for index, cell in enumerate(page.chapter.notebook.cells)
        if cell.cell_type == "code" and "solution" not in tags_of(cell)
        if (problem := drawing_problem(cell.source, "drawing" in tags_of(cell)))
    ]
    assert not found, listed(found)


def drawing_problem(source, is_tagged):
    """Say what is wrong about the tag `drawing` of a cell."""
    if is_tagged and (LESSON.search(source) or not DRAWS.search(source)):
        return 'it does more than draw: split it, or take the tag "drawing" away'
    if not is_tagged and FIGURE.search(source):
        return 'it only draws: give it the tag "drawing"'
    return ""


@pytest.mark.parametrize("edition", EDITIONS)
def test_cells_are_formatted_to_79_columns(edition, tmp_path):
    long = []
    for page in pages(edition):
        for index, cell in enumerate(page.chapter.notebook.cells):
            if cell.cell_type == "code":
                where, source = page.chapter.where(index), cell.source.replace("#@save", "# @save")
                file = where.rpartition("/")[2].replace(":", "_line_")
                (tmp_path / f"{file}.py").write_text(f"{source}\n", encoding="utf-8")
                long += [f"{where}: {x}" for x in source.splitlines() if len(x) > 79]
    assert not long, listed(long)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--diff"]
    done = subprocess.run(
        [*command, "--line-length=79", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
def test_no_worksheet_shows_or_needs_a_solution(edition):
    for page in pages(edition):
        sheet = students(page.chapter, page.executed)
        kept = {line.strip() for cell in sheet.cells for line in cell.source.splitlines()}
        lines = [line.strip() for c in page.executed.cells for line in c.source.splitlines()]
        gone = [json.dumps(line)[1:-1] for line in lines if len(line) > 15 and line not in kept]
        shown = json.dumps([[cell.get("outputs"), cell.metadata] for cell in sheet.cells])
        assert [line for line in gone if line in shown] == [], page.name
        code = [cell for cell in page.executed.cells if cell.cell_type == "code"]
        solutions, others = (
            [names_in(parsed(c)) for c in code if ("solution" in tags_of(c)) == is_solution]
            for is_solution in (True, False)
        )
        given = {name for bound, _ in others for name in bound}
        needed = {name for _, used in others for name in used} - given
        assert not needed & {name for bound, _ in solutions for name in bound}, page.name


@pytest.mark.parametrize("edition", EDITIONS)
def test_chapters_check_the_declared_exercises_and_each_has_a_solution_that_passes(edition):
    for page in pages(edition):
        asked, solved = set(), set()
        for cell in page.executed.cells:
            if cell.cell_type == "code":
                numbers = CHECKED.findall(cell.source)
                asked |= set(numbers)
                if "solution" in tags_of(cell):
                    shown = str([output.get("data") for output in cell.outputs])
                    solved |= {number for number in numbers if f"{number} passed." in shown}
        assert solved == asked == checked_exercises(page.number), page.name


@pytest.mark.skipif(
    os.environ["D2L_FRAMEWORK"] != BOOK.editions[0].framework,
    reason="the example is the first one's",
)
def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(example, names)
    assert names["output"].shape == (2, 1, 4)
    assert (tmp_path / "weights.svg").read_text().count("<svg") == 1


def test_the_readme_lists_every_chapter_with_its_title_and_minutes():
    readme = (ROOT / "README.md").read_text()
    row = r"^\| \[(.*)\]\((.*)\) \|.*\| (\d+) \| (\d*) \|$"
    rows = re.findall(row, readme, re.MULTILINE)
    edition = BOOK.editions[0]
    expected = [
        (
            title_in_contents(BOOK, page.name, page.text.splitlines()[0].lstrip("# ")),
            BOOK.named(notebook_path(edition, page.name)),
            *(str(part or "") for part in page.minutes()),
        )
        for page in pages(edition)
        if page.number is not None
    ]
    assert rows == expected
    for part in readme.split("\n| **")[1:]:
        minutes = re.findall(r"\| (\d+) \| (\d*) \|$", part, re.MULTILINE)
        sums = [f"{sum(int(m or 0) for m in of) / 60:g}" for of in zip(*minutes, strict=True)]
        assert re.findall(r"\*\*([\d.]+) h\*\*", part) == sums, part
