"""TEACHING.md and EXERCISES.md: their tables name the exercises that the chapters have."""

import re
import tomllib

from bookbinder.chapters import number_of
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters, checked_exercises

TASK = r"\d+\.\d+"
TEACHING, EXERCISES = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("TEACHING.md", "EXERCISES.md")
)


def exercises_of_the_chapters():
    return [
        number
        for chapter in chapters(BOOK.editions[0])
        for cell in chapter.notebook.cells
        if cell.cell_type == "markdown"
        for number in re.findall(rf"^### Exercise ({TASK})\b", cell.source, re.M)
    ]


def test_the_teachers_table_lists_every_exercise_in_order_and_which_have_a_check():
    numbers = exercises_of_the_chapters()
    declared = set().union(*(checked_exercises(int(n.partition(".")[0])) for n in numbers))
    rows = re.findall(rf"^\| ({TASK}) \| [^|]+ \| ([^|]+) \|", EXERCISES, re.M)
    listed = [(number, "check" in kind) for number, kind in rows]
    assert listed == [(number, number in declared) for number in numbers]


def test_the_plan_gives_every_exercise_as_homework_once():
    planned = []
    for homework in re.findall(r"^\| \d+ \|(?:[^|]*\|){3} ([^|]*) \|$", TEACHING, re.M):
        planned += re.findall(TASK, homework)
    assert sorted(planned) == sorted(exercises_of_the_chapters())


def test_extras_that_a_room_without_a_network_is_told_to_use_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r'"\.\[([^]]+)\]"', TEACHING)
    assert named
    assert set(",".join(named).split(",")) <= set(project["optional-dependencies"])


def test_the_plan_has_every_chapter_and_names_its_headings():
    lectures = re.findall(r"^\| (\d+) \| (.*)$", TEACHING, re.M)
    of_the_book = {number_of(c.name): c for c in chapters(BOOK.editions[0])}
    assert [int(number) for number, _ in lectures] == sorted(of_the_book.keys() - {None})
    for number, plan in lectures:
        text = "\n".join(cell.source for cell in of_the_book[int(number)].notebook.cells)
        headings = re.findall(r"^#+ (.*)$", text, re.M)
        for named in re.findall(r"\*([^*]+)\*", plan):
            assert any(heading.startswith(named) for heading in headings), (number, named)
