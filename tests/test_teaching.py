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
    for homework in re.findall(r"^\| \d+ \|(?:[^|]*\|){5} ([^|]*) \|$", TEACHING, re.M):
        planned += re.findall(TASK, homework)
    assert sorted(planned) == sorted(exercises_of_the_chapters())


def test_extras_that_a_room_without_a_network_is_told_to_use_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r'"\.\[([^]]+)\]"', TEACHING)
    assert named
    assert set(",".join(named).split(",")) <= set(project["optional-dependencies"])


def test_the_plan_names_headings_that_the_chapters_have():
    sessions = re.findall(r"^\| \d+ \| ([\d, ]+) \| (.*)$", TEACHING, re.M)
    for numbers, plan in sessions:
        texts = [
            cell.source
            for chapter in chapters(BOOK.editions[0])
            if str(number_of(chapter.name)) in numbers.split(", ")
            for cell in chapter.notebook.cells
        ]
        headings = re.findall(r"^#+ (.*)$", "\n".join(texts), re.M)
        for named in re.findall(r"\*([^*]+)\*", plan):
            assert any(heading.startswith(named) for heading in headings), named
    assert len(sessions) == 12
