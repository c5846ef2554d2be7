"""A chapter whose words are others: what links, routes, editions and minutes go by stays."""

import dataclasses

import nbformat
import pytest
from conftest import SAMPLE

from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.export import saved_in
from bookbinder.lint import problems
from bookbinder.placeholders import filled_in
from bookbinder.reading_time import minutes
from bookbinder.roles import role_of
from bookbinder.routes import read_routes
from bookbinder.site.sources import paired
from bookbinder.text import Page, headings_of, shown_words, with_shown_anchors
from bookbinder.worksheets import students, teachers

WORDS = {
    "First": "第一",
    "The question.": "问题。",
    "What is\n> a dot?": "何为\n> 点？",
    "You will learn": "你会学到",
    "You need": "你需要",
    "**Time**": "**时间**",
    "## Look here": "## 看这里",
    "## Exercises": "## 练习",
    "## Summary": "## 总结",
    "## References": "## 参考文献",
    "Hint": "提示",
    "Solution": "解",
    "It has a square in it.": "想。",
    "word ": "词",
}
EXERCISES = ["Exercise-1.1", "Exercise-1.2", "Exercise-1.3"]


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/01_first.md").write_text(SAMPLE)
    return Book(tmp_path, "T", 9, ("01_first",), (), routes={"two_hours": ("01_first#Look here",)})


def read(book, language="en"):
    """Return the chapters of the tiny book, filled in; in another language, with other words."""
    chapter = read_chapter(book.root / "book/01_first.md", "book/01_first.md")
    if language != "en":
        notebook = nbformat.from_dict(chapter.notebook)
        for cell in notebook.cells:
            for old, new in WORDS.items():
                cell.source = cell.source.replace(old, new)
        chapter = dataclasses.replace(chapter, notebook=notebook, original=chapter)
    edition = Edition(book.root, "pytorch", language)
    return with_shown_anchors(filled_in(book, edition, [chapter]))


def text_of(chapter):
    return "\n".join(cell.source for cell in chapter.notebook.cells)


def test_links_and_routes_lead_to_the_headings_that_are_shown(book):
    (chapter,) = read(book, "zh")
    assert "[a look](#看这里) [[1]](#参考文献)" in text_of(chapter)
    assert "**In two hours** [看这里](#看这里)" in text_of(chapter)
    assert "| [看这里](01_first.ipynb#看这里) |" in text_of(chapter)
    page = Page(chapter, chapter.notebook)
    (book.root / "01_first.ipynb").touch()
    assert problems([page], book.root) == []
    assert page.anchors() == ["1.-第一", "看这里", "练习", *EXERCISES, "总结", "参考文献"]
    with pytest.raises(Exception, match="has no section '看这里'"):
        read_routes(dataclasses.replace(book, routes={"one": ("01_first#看这里",)}), [chapter])


def test_headings_of_editions_are_paired_by_their_english(book):
    here, there = (headings_of(read(book, language)[0]) for language in ("en", "zh"))
    pairs = paired(here, there[:3] + there[5:])  # that edition lacks two exercises
    same = {"1.-First": "1.-第一", "Look-here": "看这里", "Exercises": "练习", "Summary": "总结"}
    assert pairs == same | {"Exercise-1.3": "Exercise-1.3", "References": "参考文献"}
    assert paired(there, here)["参考文献"] == "References"


def test_groups_of_headings_of_one_size_are_paired_in_order(tmp_path):
    def headings(*titles):
        text = "\n\n".join(f"## {title}" for title in titles)
        (tmp_path / "00_x.md").write_text(text)
        return headings_of(read_chapter(tmp_path / "00_x.md", "x"))

    assert paired(headings(*"ABC"), headings(*"AXC")) == {"A": "A", "B": "X", "C": "C"}
    assert paired(headings(*"ABC"), headings(*"AC")) == {"A": "A", "C": "C"}


def test_minutes_questions_and_saved_cells_are_those_of_the_english(book):
    (english,), (chapter,) = read(book), read(book, "zh")
    assert minutes(chapter) == minutes(english)
    assert Page(chapter, chapter.notebook).minutes() == (10, 10)
    assert Page(chapter, chapter.notebook).passage("question") == "何为\n点？"
    assert Page(english, english.notebook).passage("question") == "What is\na dot?"
    assert saved_in(chapter) == saved_in(english)
    assert saved_in(chapter)[0].origin == "book/01_first.md, Look here"


def test_worksheets_take_answers_out_and_leave_hints_whatever_their_words(book):
    (chapter,) = read(book, "zh")
    text = text_of(dataclasses.replace(chapter, notebook=students(chapter, chapter.notebook)))
    assert "想。" in text
    assert "symmetry" not in text
    kept = [cell.source for cell in teachers(chapter, chapter.notebook).cells]
    assert kept[0] == "# 1. 第一: tasks and solutions"
    assert any(source.startswith("## 练习") for source in kept)
    assert not [source for source in kept if "总结" in source]


def test_pages_know_sections_and_boxes_by_the_words_that_are_shown(book):
    shown = {"问题。": "question", "练习": "exercises", "总结": "summary", "参考文献": "references"}
    assert shown_words(read(book, "zh")) == shown


def test_a_line_has_the_role_that_its_words_say():
    lines = {"# 4. Title": "title", "## Summary": "summary", "**Time** about": "time", "W.": ""}
    lines |= {"<summary>Hint 1</summary>": "hint", "## Summary of all": "", "### Summary": ""}
    assert {line: role_of(line) for line in lines} == lines
