"""What the binder writes into the text: a framework's words, minutes, routes, the notation."""

import copy
import dataclasses

from bookbinder.catalogs import say_in
from bookbinder.chapters import Chapter, name_cells
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.notation import PAGE, read_notation, table
from bookbinder.reading_time import minutes
from bookbinder.routes import (
    Route,
    in_hours,
    minutes_of,
    read_routes,
    route_name,
    route_table,
    words_for,
)
from bookbinder.words import Say

MINUTES, NOTATION = "{{minutes}}", "{{notation}}"


def filled_in(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters of an edition with what is computed from their text.

    The original of a translated chapter gets the same lines, in English.
    """
    originals: list = [None] * len(chapters)
    if any(chapter.original for chapter in chapters):
        english = dataclasses.replace(edition, language=ENGLISH)
        originals = filled_in(book, english, [chapter.english for chapter in chapters])
    say = say_in(book, edition.language)
    routes = read_routes(book, chapters)
    texts = {f"{{{{{name}}}}}": route_table(chapters, route, say) for name, route in routes.items()}
    letters = read_notation(book.source, edition.framework)
    texts[NOTATION] = table(letters, chapters, say, say_in(book, edition.language, PAGE))
    has_letters = PAGE in book.chapters
    return [
        dataclasses.replace(
            with_texts(chapter, texts | {MINUTES: time_text(chapter, routes, has_letters, say)}),
            original=original,
        )
        for chapter, original in zip(chapters, originals, strict=True)
    ]


def in_words_of(edition: Edition, chapter: Chapter) -> Chapter:
    """Return a chapter that says `tensor`, or what the framework calls it, for {{array}}."""
    chapter = with_texts(chapter, {f"{{{{{name}}}}}": word for name, word in edition.words})
    name_cells(chapter.notebook)  # the id of a cell is that of what it says
    return chapter


def with_texts(chapter: Chapter, texts: dict[str, str]) -> Chapter:
    notebook = copy.deepcopy(chapter.notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for place, text in texts.items():
                cell.source = cell.source.replace(place, text)
    return dataclasses.replace(chapter, notebook=notebook)


def time_text(chapter: Chapter, routes: dict[str, Route], letters: bool, say: Say = str) -> str:
    """Return how long a chapter takes, what of it the routes read, and where its letters stand."""
    read, practised = minutes(chapter)
    text = say("about {minutes} minutes to read").format(minutes=read)
    if practised:
        text = say("about {minutes} minutes to read, {practised} for the exercises").format(
            minutes=read, practised=practised
        )
    for name, route in routes.items():
        if part := route.get(chapter.name):
            line = say("**In {route}** {what} (about {time})").format(
                route=route_name(name, say),
                what=words_for(chapter, part, say=say),
                time=in_hours(minutes_of(part), say),
            )
            text += f"\n\n{line}"
    if letters:
        line = say("**Letters** are explained in the [notation]({page}).")
        text += f"\n\n{line.format(page=f'{PAGE}.ipynb')}"
    return text
