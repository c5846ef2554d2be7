"""The routes through the book: what each has a reader read, and how long it takes."""

from collections.abc import Iterable

from bookbinder.chapters import Chapter, title_of
from bookbinder.config import FILE, Book, guess
from bookbinder.errors import BookError
from bookbinder.reading_time import Section, in_fives, sections
from bookbinder.roles import WORDS
from bookbinder.text import anchor_of
from bookbinder.words import Say, worded

NAMES = {"two_hours": worded("two hours"), "one_day": worded("one day")}
Route = dict[str, list[Section]]  # chapter -> what to read of it


def read_routes(book: Book, chapters: list[Chapter]) -> dict[str, Route]:
    """Return the routes of book.toml by name.

    Raises:
        BookError: A chapter or a heading of a route does not exist.
    """
    by_name = {chapter.name: sections(chapter) for chapter in chapters}
    return {
        name: read_route(entries, by_name, book.chapters, f"{FILE}: routes.{name}")
        for name, entries in book.routes.items()
    }


def read_route(
    entries: Iterable[str],
    by_name: dict[str, list[Section]],
    known: tuple[str, ...],
    where: str,
) -> Route:
    route: Route = {}
    for entry in entries:
        name, _, heading = entry.partition("#")
        if name not in by_name and name in known:
            continue  # this edition does not have it
        if name not in by_name:
            raise BookError(f"{where}: no chapter {name!r}{guess(name, by_name)}")
        titles = [section.heading.english_title for section in by_name[name]]
        if heading and heading not in titles:
            raise BookError(f"{where}: {name} has no section {heading!r}{guess(heading, titles)}")
        route.setdefault(name, []).extend(
            section
            for section, title in zip(by_name[name], titles, strict=True)
            if (title == heading if heading else not section.is_exercises)
        )
    return route


def route_name(name: str, say: Say = str) -> str:
    """Return a route as prose names it: two hours."""
    return say(NAMES.get(name, name.replace("_", " ")))


def words_for(chapter: Chapter, read: list[Section], file: str = "", say: Say = str) -> str:
    """Say in Markdown what to read of a chapter."""
    skipped = {s.heading.english for s in sections(chapter)} - {s.heading.english for s in read}
    if not skipped:
        practised = any(s.is_exercises for s in read)
        return say("all of it, with its exercises") if practised else say("all of it")
    if skipped == {WORDS["exercises"]}:
        return say("all of it but its exercises")
    return say(", ").join(f"[{s.heading.title}]({file}#{anchor_of(s.heading)})" for s in read)


def minutes_of(read: list[Section]) -> int:
    """Count as a chapter's head does: text and exercises apart, each in steps of five."""
    parts = ([s.minutes for s in read if s.is_exercises is those] for those in (False, True))
    return max(1, sum(in_fives(sum(part)) for part in parts))


def in_hours(minutes: int, say: Say = str) -> str:
    if minutes < 60:
        return say("{minutes} min").format(minutes=minutes)
    return say("{hours} h {minutes} min").format(hours=minutes // 60, minutes=minutes % 60)


def route_table(chapters: list[Chapter], route: Route, say: Say = str) -> str:
    """Return a route as a table in Markdown, with its sum."""
    rows = [say("| Chapter | Read | Time |"), "|---|---|---|"]
    for chapter in chapters:
        if chapter.name not in route:
            continue
        file, read = f"{chapter.name}.ipynb", route[chapter.name]
        what, time = words_for(chapter, read, file, say), in_hours(minutes_of(read), say)
        rows.append(f"| [{title_of(chapter)}]({file}) | {what} | {time} |")
    total = in_hours(sum(map(minutes_of, route.values())), say)
    together = say("Together")  # outside of the f-string, where the catalogs' tool finds it
    return "\n".join([*rows, f"| **{together}** | | {total} |"])
