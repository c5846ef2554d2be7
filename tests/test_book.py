"""The book itself: files match their source, cells their tags, tables the chapters they list."""

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
from tests.this_book import BOOK, checked_exercises, pages

FIRST = BOOK.editions[0]
EXERCISES, TEACHING, README = (
    (ROOT / f"{name}.md").read_text("utf-8") for name in ("EXERCISES", "TEACHING", "README")
)
of_each_edition = pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)


def code_of(edition):
    """Yield each code cell of an edition as it is written, with its place."""
    for chapter in (page.chapter for page in pages(edition)):
        for index, cell in enumerate(chapter.notebook.cells):
            if cell.cell_type == "code":
                yield chapter.where(index), cell


@of_each_edition
def test_generated_files_are_what_the_source_gives(edition):
    chapters = [page.chapter for page in pages(edition)]
    assert stale_files(BOOK, edition, chapters) == [], "run `make notebooks`"


@pytest.mark.slow
@of_each_edition
def test_stored_outputs_are_whole(edition):
    for page in pages(edition):
        for index, text in output_problems(page.executed):
            pytest.fail(cell_message(page.chapter, page.executed, index, text))


@of_each_edition
def test_code_that_is_folded_only_draws(edition):
    for where, cell in code_of(edition):
        if "drawing" in tags_of(cell):
            assert not re.search(r"#@save|\bcheck\(", cell.source), where


@of_each_edition
def test_cells_are_formatted_to_79_columns(edition, tmp_path):
    for where, cell in code_of(edition):
        assert max(map(len, cell.source.splitlines())) < 80, where
        file = tmp_path / (where.rpartition("/")[2].replace(":", "_line_") + ".py")
        file.write_text(cell.source.replace("#@save", "# @save") + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--diff"]
    command += ["--line-length=79", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@of_each_edition
def test_no_worksheet_shows_or_needs_a_solution(edition):
    for page in pages(edition):
        sheet = students(page.chapter, page.executed)
        kept = {line.strip() for cell in sheet.cells for line in cell.source.splitlines()}
        lines = [line.strip() for c in page.executed.cells for line in c.source.splitlines()]
        gone = [json.dumps(line)[1:-1] for line in lines if len(line) > 15 and line not in kept]
        shown = json.dumps([[cell.get("outputs"), cell.metadata] for cell in sheet.cells])
        assert [line for line in gone if line in shown] == [], page.name
        code = [cell for cell in page.executed.cells if cell.cell_type == "code"]
        names = [(*names_in(parsed(cell)), "solution" in tags_of(cell)) for cell in code]
        given = set().union(*(bound for bound, _, is_solution in names if not is_solution))
        used = set().union(*(used for _, used, is_solution in names if not is_solution))
        solved = set().union(*(bound for bound, _, is_solution in names if is_solution))
        assert not (used - given) & solved, page.name


@of_each_edition
def test_chapters_check_the_declared_exercises_and_each_has_a_solution_that_passes(edition):
    for page in pages(edition):
        asked, solved = set(), set()
        for cell in page.executed.cells:
            if cell.cell_type == "code":
                numbers = re.findall(r'\bcheck\(\s*"(\d+\.\d+)"', cell.source)
                asked |= set(numbers)
                if "solution" in tags_of(cell):
                    shown = str([output.get("data") for output in cell.outputs])
                    solved |= {number for number in numbers if f"{number} passed." in shown}
        assert solved == asked == checked_exercises(page.number), page.name


def test_teachers_have_every_exercise_in_a_table_and_as_homework_once():
    texts = [line.text for page in pages(FIRST) for line in page.lines]
    numbers = re.findall(r"^### Exercise (\d+\.\d+)\b", "\n".join(texts), re.M)
    checked = set().union(*(checked_exercises(page.number) for page in pages(FIRST)))
    rows = re.findall(r"^\| (\d+\.\d+) \| [^|]+ \| ([^|]+) \|", EXERCISES, re.M)
    assert [(n, "check" in kind) for n, kind in rows] == [(n, n in checked) for n in numbers]
    homework = re.findall(r"^\| \d+ \|(?:[^|]*\|){3} ([^|]*) \|$", TEACHING, re.M)
    assert sorted(re.findall(r"\d+\.\d+", "\n".join(homework))) == sorted(numbers)


def test_the_readme_lists_every_chapter_with_its_title_and_minutes():
    rows = re.findall(r"^\| \[(.*)\]\((.*)\) \|.*\| (\d+) \| (\d*) \|$", README, re.M)
    assert rows == [
        (
            title_in_contents(BOOK, page.name, page.lines[0].title),
            BOOK.named(notebook_path(FIRST, page.name)),
            *(str(part or "") for part in page.minutes()),
        )
        for page in pages(FIRST)
        if page.number is not None
    ]
    for part in README.split("\n| **")[1:]:
        minutes = re.findall(r"\| (\d+) \| (\d*) \|$", part, re.M)
        sums = [f"{sum(int(m or 0) for m in of) / 60:g}" for of in zip(*minutes, strict=True)]
        assert re.findall(r"\*\*([\d.]+) h\*\*", part) == sums, part


@pytest.mark.skipif(os.environ["D2L_FRAMEWORK"] != FIRST.framework, reason="it is the first one's")
def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example, names := {})
    assert names["output"].shape == (2, 1, 4)
    assert (tmp_path / "weights.svg").read_text().count("<svg") == 1
