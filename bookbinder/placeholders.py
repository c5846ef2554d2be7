"""What the binder writes into the text: minutes, the routes, the notation table."""

import copy
import dataclasses

from bookbinder.chapters import Chapter
from bookbinder.config import Book, Edition
from bookbinder.notation import PAGE, read_notation, table
from bookbinder.reading_time import minutes
from bookbinder.routes import Route, in_hours, minutes_of, read_routes, route_table, words_for

MINUTES, NOTATION = "{{minutes}}", "{{notation}}"


def filled_in(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters of an edition with what is computed from their text."""
    routes = read_routes(book, chapters)
    texts = {f"{{{{{name}}}}}": route_table(chapters, route) for name, route in routes.items()}
    texts[NOTATION] = table(read_notation(book.source, edition.framework), chapters)
    letters = PAGE in book.chapters
    return [
        with_texts(chapter, texts | {MINUTES: time_text(chapter, routes, letters)})
        for chapter in chapters
    ]


def with_texts(chapter: Chapter, texts: dict[str, str]) -> Chapter:
    original = chapter.original and with_texts(chapter.original, texts)
    notebook = copy.deepcopy(chapter.notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for place, text in texts.items():
                cell.source = cell.source.replace(place, text)
    return dataclasses.replace(chapter, notebook=notebook, original=original)


def time_text(chapter: Chapter, routes: dict[str, Route], letters: bool) -> str:
    """Return how long a chapter takes, what of it the routes read, and where its letters stand."""
    read, practised = minutes(chapter)
    text = f"about {read} minutes to read"
    if practised:
        text += f", {practised} for the exercises"
    for name, route in routes.items():
        if part := route.get(chapter.name):
            spent = in_hours(minutes_of(part))
            label = f"In {name.replace('_', ' ')}"
            text += f"\n\n**{label}** {words_for(chapter, part)} (about {spent})"
    if letters:
        text += f"\n\n**Letters** are explained in the [notation]({PAGE}.ipynb)."
    return text
