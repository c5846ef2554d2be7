"""The sessions of book.toml show what TEACHING.md plans for them, in every edition."""

import re

import pytest
from conftest import ROOT
from this_book import BOOK, chapters

from bookbinder.chapters import number_of
from bookbinder.errors import BookError
from bookbinder.reading_time import sections
from bookbinder.routes import is_named, read_route
from bookbinder.text import headings_of

TEACHING = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| ([\d, ]+) \|[^|]*\|([^|]*)\|([^|]*)\|", re.M)
PLAN = {row[0]: row[1:] for row in ROW.findall(TEACHING)}


def read(session: str, edition):
    by_name = {chapter.name: sections(chapter) for chapter in chapters(edition)}
    return read_route(BOOK.sessions[session], by_name, BOOK.chapters, f"sessions.{session}")


def shown(session: str) -> set[str]:
    """Return the headings that a session shows, those below its sections, too."""
    route, found = read(session, BOOK.editions[0]), set()
    for chapter in chapters(BOOK.editions[0]):
        titles = {s.heading.english_title for s in route.get(chapter.name, ())}
        within = False
        for heading in headings_of(chapter):
            if heading.english.startswith("## "):
                within = heading.english_title in titles
            if within:
                found.add(heading.english_title)
    return found


def test_the_plan_and_the_book_have_the_same_twelve_sessions():
    assert list(PLAN) == list(BOOK.sessions) == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
@pytest.mark.parametrize("session", BOOK.sessions)
def test_a_session_shows_the_chapters_of_the_plan_that_an_edition_has(session, edition):
    planned = [int(number) for number in PLAN[session][0].split(",")]
    there = {number_of(name) for name in BOOK.chapters_of(edition)}
    assert list(map(number_of, read(session, edition))) == [n for n in planned if n in there]


@pytest.mark.parametrize("session", BOOK.sessions)
def test_what_the_plan_breaks_and_explores_is_shown(session):
    named = [title for column in PLAN[session][1:] for title in re.findall(r"\*([^*]+)\*", column)]
    headings = {h.english_title for c in chapters(BOOK.editions[0]) for h in headings_of(c)}
    assert set(named) & headings
    assert not {title for title in named if title in headings} - shown(session)


@pytest.mark.parametrize("session", BOOK.sessions)
def test_a_session_follows_the_order_of_the_book_and_names_nothing_twice(session):
    first = BOOK.editions[0]
    book = [section.heading.where for chapter in chapters(first) for section in sections(chapter)]
    places = [book.index(s.heading.where) for part in read(session, first).values() for s in part]
    assert places == sorted(set(places))


def test_editions_may_differ_behind_the_colon_of_a_heading():
    assert is_named("Wrong way three: masking in place", "Wrong way three")
    assert not is_named("Wrong way threefold: a choice", "Wrong way three")


def test_a_heading_that_is_gone_is_named_with_the_session():
    by_name = {c.name: sections(c) for c in chapters(BOOK.editions[0])}
    with pytest.raises(BookError, match=r"sessions\.4: 04_masked_softmax has no section 'Sumary'"):
        read_route(["04_masked_softmax#Sumary"], by_name, BOOK.chapters, "book.toml: sessions.4")
