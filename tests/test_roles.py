"""A chapter whose words are others: what links, routes, editions and minutes go by stays."""

import pytest
from babel.messages.catalog import Catalog

from bookbinder.chapters import read_chapter
from bookbinder.config import Book, Edition
from bookbinder.language import Language, translated
from bookbinder.page import Page, headings_of, jupyter_anchor, lines_of, shown_words
from bookbinder.site.sources import paired
from bookbinder.steps import filled_in
from tests.conftest import SAMPLE
from tests.text_checks import problems

WORDS = {
    "First": "第一",
    "**The question.** What is": "**问题。** 何为",
    "a dot?": "点？",
    "**You will learn**": "**你会学到**",
    "**You need** [a look](#Look-here) [[1]](#References).": (
        "**你需要** [a look](#Look-here) [[1]](#References)。"
    ),
    "**Time** {{minutes}}": "**时间** {{minutes}}",
    "about {minutes} minutes to read, {practised} for the exercises": (
        "阅读约 {minutes} 分钟，练习约 {practised} 分钟"
    ),
    "**In {route}** {what} (about {time})": "**{route}路线** {what}（约 {time}）",
    "Look here": "看这里",
    "Exercises": "练习",
    "Summary": "总结",
    "References": "参考文献",
    "Hint 1": "提示 1",
    "Solution": "解",
}
ROLES = ["title", "question", "learn", "need", "time", "exercises", "summary", "references"]
EXERCISES = ["Exercise-1.1", "Exercise-1.2", "Exercise-1.3"]


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/01_first.md").write_text(SAMPLE)
    return Book(tmp_path, "T", 9, ("01_first",), (), routes={"two_hours": ("01_first#Look here",)})


def catalog(_):
    catalog = Catalog(fuzzy=False)
    for english, said in WORDS.items():
        catalog.add(english, said)
    return catalog


def read(book, language="en"):
    """Return the chapters of the tiny book, filled in; in another language, with other words."""
    chapter = read_chapter(book.root / "book/01_first.md", "book/01_first.md")
    (chapter,) = filled_in(book, Edition(book.root, "pytorch"), [chapter])
    return [translated(chapter, Language(language, catalog))]


def text_of(chapter):
    return "\n".join(cell.source for cell in chapter.notebook.cells)


def test_links_and_routes_lead_to_the_headings_that_are_shown(book):
    (chapter,) = read(book, "zh")
    assert "[a look](#看这里) [[1]](#参考文献)" in text_of(chapter)
    assert "**two hours路线** [看这里](#看这里)" in text_of(chapter)
    assert "| [看这里](01_first.ipynb#看这里) |" in text_of(chapter)
    page = Page(chapter, chapter.notebook)
    (book.root / "01_first.ipynb").touch()
    assert problems([page], book.root) == []
    assert page.anchors() == ["1.-第一", "看这里", "练习", *EXERCISES, "总结", "参考文献"]


def test_headings_of_editions_are_paired_by_their_english(book):
    english, shown = (headings_of(read(book, language)[0]) for language in ("en", "zh"))
    names = [(jupyter_anchor(old.title), old, new) for old, new in zip(english, shown, strict=True)]
    here, there = ([(n, jupyter_anchor(x[at].title)) for n, *x in names] for at in (0, 1))
    pairs = paired(here, there[:3] + there[5:])  # that edition lacks two exercises
    same = {"1.-First": "1.-第一", "Look-here": "看这里", "Exercises": "练习", "Summary": "总结"}
    assert pairs == same | {"Exercise-1.3": "Exercise-1.3", "References": "参考文献"}
    assert paired(there, here)["参考文献"] == "References"


def test_groups_of_headings_of_one_size_are_paired_in_order():
    def headings(*titles):
        return [(title, title) for title in titles]

    assert paired(headings(*"ABC"), headings(*"AXC")) == {"A": "A", "B": "X", "C": "C"}
    assert paired(headings(*"ABC"), headings(*"AC")) == {"A": "A", "C": "C"}


def test_minutes_and_questions_are_those_of_the_english(book):
    (english,), (chapter,) = read(book), read(book, "zh")
    assert Page(chapter, chapter.notebook).minutes() == (10, 10)
    assert Page(chapter, chapter.notebook).passage("question") == "何为\n点？"
    assert Page(english, english.notebook).passage("question") == "What is\na dot?"
    roles = [[line.role for line in lines_of(c) if line.role] for c in (english, chapter)]
    assert roles[0] == roles[1] == ROLES


def test_pages_know_sections_and_boxes_by_the_words_that_are_shown(book):
    shown = {"问题。": "question", "练习": "exercises", "总结": "summary", "参考文献": "references"}
    assert shown_words(read(book, "zh")) == shown
