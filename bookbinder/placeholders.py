"""What the binder writes into the text: minutes, the path of two hours, the notation table."""

import copy
import dataclasses

from bookbinder.chapters import Chapter, title_cell
from bookbinder.config import FILE, Book, Edition, guess
from bookbinder.errors import BookError
from bookbinder.notation import read_notation, table
from bookbinder.reading_time import Section, in_fives, minutes, sections
from bookbinder.text import anchor_of

MINUTES, PATH, NOTATION = "{{minutes}}", "{{path}}", "{{notation}}"


def filled_in(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters of an edition with what is computed from their text."""
    path = path_sections(book, chapters)
    texts = {
        PATH: path_table(chapters, path),
        NOTATION: table(read_notation(book.source, edition.framework), chapters),
    }
    return [
        with_texts(chapter, texts | {MINUTES: time_text(chapter, path.get(chapter.name, []))})
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


def path_sections(book: Book, chapters: list[Chapter]) -> dict[str, list[Section]]:
    """Return the sections of the path of two hours by chapter, as book.toml names them.

    Raises:
        BookError: A chapter or a heading of the path does not exist.
    """
    by_name = {chapter.name: sections(chapter) for chapter in chapters}
    path: dict[str, list[Section]] = {}
    for entry in book.two_hours:
        name, _, heading = entry.partition("#")
        if name not in by_name and name in book.chapters:
            continue  # this edition does not have it
        if name not in by_name:
            raise BookError(f"{FILE}: two_hours: no chapter {name!r}{guess(name, by_name)}")
        titles = [section.heading.english_title for section in by_name[name]]
        if heading and heading not in titles:
            raise BookError(
                f"{FILE}: two_hours: {name} has no section {heading!r}{guess(heading, titles)}"
            )
        path.setdefault(name, []).extend(
            section
            for section in by_name[name]
            if (section.heading.english_title == heading if heading else not section.is_exercises)
        )
    return path


def time_text(chapter: Chapter, path: list[Section]) -> str:
    """Return how long a chapter takes, and what of it is on the path of two hours."""
    read, practised = minutes(chapter)
    text = f"about {read} minutes to read"
    if practised:
        text += f", {practised} for the exercises"
    if path:
        what = links(chapter, path, "") or "the whole chapter but its exercises"
        text += f"\n\n**Two-hour path** {what} (about {path_minutes(path)} minutes)"
    return text


def links(chapter: Chapter, path: list[Section], file: str) -> str:
    """Return links to the sections of a path, or nothing where it is the whole chapter."""
    if len(path) == len([s for s in sections(chapter) if not s.is_exercises]):
        return ""
    return ", ".join(f"[{s.heading.title}]({file}#{anchor_of(s.heading)})" for s in path)


def path_minutes(path: list[Section]) -> int:
    return max(1, in_fives(sum(s.minutes for s in path)))


def path_table(chapters: list[Chapter], path: dict[str, list[Section]]) -> str:
    """Return the path of two hours as a table in Markdown, with its sum."""
    rows = ["| Chapter | Read | Minutes |", "|---|---|---|"]
    for chapter in chapters:
        if chapter.name not in path:
            continue
        title = title_cell(chapter.notebook).source.splitlines()[0].lstrip("# ").strip()
        file, read = f"{chapter.name}.ipynb", path[chapter.name]
        what = links(chapter, read, file) or "all of it, without the exercises"
        rows.append(f"| [{title}]({file}) | {what} | {path_minutes(read)} |")
    total = sum(map(path_minutes, path.values()))
    return "\n".join([*rows, f"| **Together** | | {total // 60} h {total % 60} min |"])
