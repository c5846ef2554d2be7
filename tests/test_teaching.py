"""TEACHING.md and EXERCISES.md: their tables name the exercises that the chapters have."""

import re
import tomllib

import pytest

from bookbinder.chapters import number_of
from bookbinder.language import language_of, translated
from bookbinder.messages import page_file
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters, checked_exercises

TASK = r"\d+\.\d+"
TEACHING = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")


def exercises_of_the_chapters():
    cells = [cell for chapter in chapters(BOOK.editions[0]) for cell in chapter.notebook.cells]
    title = re.compile(rf"^### Exercise ({TASK})\b", re.MULTILINE)
    return [number for cell in cells for number in title.findall(cell.source)]


def test_the_teachers_table_lists_every_exercise_in_order_and_which_have_a_check():
    numbers = exercises_of_the_chapters()
    declared = set().union(*(checked_exercises(int(n.partition(".")[0])) for n in numbers))
    rows = re.findall(rf"^\| ({TASK}) \| [^|]+ \| ([^|]+) \|", EXERCISES, re.M)
    listed = [(number, "check" in kind) for number, kind in rows]
    assert listed == [(number, number in declared) for number in numbers]


def test_the_plan_gives_every_exercise_as_homework_once():
    homework = re.findall(r"^\| \d+ \|(?:[^|]*\|){3} ([^|]*) \|$", TEACHING, re.M)
    assert sorted(re.findall(TASK, "\n".join(homework))) == sorted(exercises_of_the_chapters())


def test_extras_that_a_room_without_a_network_is_told_to_use_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r'"\.\[([^]]+)\]"', TEACHING)
    assert named
    assert set(",".join(named).split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("tag", BOOK.languages)
def test_the_plan_has_every_chapter_and_names_its_headings(tag):
    page = TEACHING if tag == "en" else page_file(BOOK, tag, "teaching").read_text("utf-8")
    lectures = re.findall(r"^\| (\d+) \| (.*)$", page, re.M)
    of_the_book = {number_of(c.name): c for c in chapters(BOOK.editions[0])}
    assert [int(number) for number, _ in lectures] == sorted(of_the_book.keys() - {None})
    for number, plan in lectures:
        chapter = translated(of_the_book[int(number)], language_of(BOOK, tag))
        text = "\n".join(cell.source for cell in chapter.notebook.cells)
        headings = re.findall(r"^#+ (.*)$", text, re.M)
        for named in re.findall(r"\*([^*]+)\*", plan):
            assert any(heading.startswith(named) for heading in headings), (number, named)
