"""The book of this repository, read once for all tests, which must not change it."""

import importlib.util
from functools import cache

from bookbinder.book import Edition, read_book
from bookbinder.chapters import Chapter
from bookbinder.markdown import Page
from bookbinder.notebook import notebook_path, read_edition_chapters
from bookbinder.solutions import read_bound
from d2l_attention.practice.exercises import exercises_in
from tests.conftest import ROOT

BOOK = read_book(ROOT)


@cache
def chapters(edition: Edition) -> list[Chapter]:
    return read_edition_chapters(BOOK, edition)


@cache
def pages(edition: Edition) -> list[Page]:
    return [
        Page(chapter, read_bound(notebook_path(edition, chapter.name)))
        for chapter in chapters(edition)
    ]


def checked_exercises(number: int | None) -> set[str]:
    """Return the exercises of a chapter that are declared to have a check."""
    name = f"d2l_attention.practice.chapter_{number or 0:02}"
    if number is None or not importlib.util.find_spec(name):
        return set()
    return {exercise.number for exercise in exercises_in(importlib.import_module(name))}
