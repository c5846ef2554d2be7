"""The way of a chapter from what is written to the notebook of an edition, in English.

Each step is a function from the chapters of an edition to its chapters; what a language changes
comes after all of them (`language.in_language`).
"""

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbformat import NotebookNode

from bookbinder.catalogs import worded
from bookbinder.chapters import Chapter, name_cells, read_chapter, title_of
from bookbinder.colab import open_alone
from bookbinder.config import FILE, Book, Edition, guess
from bookbinder.files import BookError
from bookbinder.notation import PAGE, read_notation, table
from bookbinder.overlay import lay_over
from bookbinder.page import LINK, TARGET, WORDS_OF_LINK, jupyter_anchor
from bookbinder.reading_time import Section, in_fives, minutes, sections

Step = Callable[[Book, Edition, list[Chapter]], list[Chapter]]
Route = dict[str, list[Section]]  # chapter -> what to read of it

MINUTES, NOTATION = "{{minutes}}", "{{notation}}"
READ = worded("about {minutes} minutes to read")
READ_AND_PRACTISED = worded("about {minutes} minutes to read, {practised} for the exercises")
ON_A_ROUTE = worded("**In {route}** {what} (about {time})")
LETTERS = worded("**Letters** are explained in the [notation]({page}).")
ROUTE_NAMES = {"two_hours": worded("two hours"), "one_day": worded("one day")}
ALL, ALL_BUT_EXERCISES = worded("all of it"), worded("all of it but its exercises")
ALL_AND_EXERCISES = worded("all of it, with its exercises")
BETWEEN_LINKS = worded(", ")
MINUTES_LONG, HOURS_LONG = worded("{minutes} min"), worded("{hours} h {minutes} min")
HEAD, SUM = worded("| Chapter | Read | Time |"), worded("Together")

ELSEWHERE = worded("{words} (in {framework})")
# A link to another edition, in any language: its words, folder, file, heading.
LED = re.compile(rf"\[({WORDS_OF_LINK})\]\(\.\./([\w-]+)/(\w+)\.ipynb(#{TARGET})?\)")


def written(book: Book, edition: Edition, _: list[Chapter] = ()) -> list[Chapter]:
    """Return the chapters that an edition has, as they are written."""
    paths = map(book.chapter_file, book.chapters_of(edition))
    return [read_chapter(path, book.named(path)) for path in paths]


def laid_over(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters with what the overlay of the edition's framework changes."""
    overlays = [book.overlay_file(edition, chapter.name) for chapter in chapters]
    return [
        lay_over(chapter, overlay, book.named(overlay)) if overlay else chapter
        for chapter, overlay in zip(chapters, overlays, strict=True)
    ]


def in_words_of(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters that say `tensor`, or what the framework calls it, for {{array}}."""
    words = {f"{{{{{name}}}}}": word for name, word in edition.words}
    made = [with_prose(chapter, lambda source: with_texts(source, words)) for chapter in chapters]
    for chapter in made:
        name_cells(chapter.notebook)  # the id of a cell is that of what it says
    return made


def filled_in(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters with what is computed from their text: minutes, the routes, the notation."""
    routes = read_routes(book, chapters)
    texts = {f"{{{{{name}}}}}": route_table(chapters, route) for name, route in routes.items()}
    texts[NOTATION] = table(read_notation(book.source, edition.framework), chapters)
    has_letters = PAGE in book.chapters

    def filled(chapter: Chapter) -> Chapter:
        own = texts | {MINUTES: time_text(chapter, routes, has_letters)}
        return with_prose(chapter, lambda source: with_texts(source, own))

    return [filled(chapter) for chapter in chapters]


def with_texts(source: str, texts: dict[str, str]) -> str:
    for place, text in texts.items():
        source = source.replace(place, text)
    return source


def led_elsewhere(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters whose links into those that the edition lacks say whose they are.

    They are written like any other link, `[chapter 11](11_positions_in_the_score.ipynb)`, and lead
    to the folder of the first edition that has the chapter.
    """
    owners = {
        name: other
        for other in reversed(book.editions)
        for name in edition.without
        if name not in other.without
    }

    def led(link: re.Match) -> str:
        _, words, target = link.groups()
        owner = owners.get(target.partition("#")[0].removesuffix(".ipynb"))
        if owner is None:
            return link[0]
        words = ELSEWHERE.format(words=words, framework=owner.name)
        return f"[{words}](../{owner.notebooks.name}/{target})"

    return [with_prose(chapter, lambda source: LINK.sub(led, source)) for chapter in chapters]


def opened_alone(book: Book, edition: Edition, chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters that install the book where they are opened without its folder."""
    return [open_alone(chapter, book, edition) for chapter in chapters]


STEPS: tuple[Step, ...] = (written, laid_over, in_words_of, filled_in, led_elsewhere, opened_alone)


def english_chapters(book: Book, edition: Edition, steps: Iterable[Step] = STEPS) -> list[Chapter]:
    """Return all chapters of an edition, in the order of the book."""
    chapters: list[Chapter] = []
    for step in steps:
        chapters = step(book, edition, chapters)
    return chapters


def title_in_contents(book: Book, name: str, title: str) -> str:
    """Return the title of a chapter as contents have it: that of an appendix has a letter."""
    if name not in book.appendices:
        return title
    letter = chr(ord("A") + book.appendices.index(name))
    bare = title.partition(".")[2].strip()
    return worded("Appendix {letter}: {title}").format(letter=letter, title=bare)


def without_links_elsewhere(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook for a folder of its own: of links to other editions, the words."""
    return prose_changed(notebook, lambda source: LED.sub(r"\1", source))


def with_pages(source: str, folders: dict[str, str]) -> str:
    """Return Markdown whose links to other editions lead to their pages.

    `folders` says where a site has the pages of each folder of notebooks.
    """
    return LED.sub(lambda m: f"[{m[1]}]({folders[m[2]]}{m[3]}.html{m[4] or ''})", source)


def with_prose(chapter: Chapter, changed: Callable[[str], str]) -> Chapter:
    """Return a chapter whose cells of prose are changed."""
    return replace(chapter, notebook=prose_changed(chapter.notebook, changed))


def prose_changed(notebook: NotebookNode, changed: Callable[[str], str]) -> NotebookNode:
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = changed(cell.source)
    return made


def time_text(chapter: Chapter, routes: dict[str, Route], has_letters: bool) -> str:
    """Return how long a chapter takes, what of it the routes read, and where its letters stand."""
    read, practised = minutes(chapter)
    text = (READ_AND_PRACTISED if practised else READ).format(minutes=read, practised=practised)
    for name, route in routes.items():
        if part := route.get(chapter.name):
            what, time = what_to_read(chapter, part), in_hours(minutes_of(part))
            line = ON_A_ROUTE.format(route=route_name(name), what=what, time=time)
            text += f"\n\n{line}"
    if has_letters:
        text += f"\n\n{LETTERS.format(page=f'{PAGE}.ipynb')}"
    return text


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
        titles = [section.heading.title for section in by_name[name]]
        if heading and heading not in titles:
            raise BookError(f"{where}: {name} has no section {heading!r}{guess(heading, titles)}")
        route.setdefault(name, []).extend(
            section
            for section, title in zip(by_name[name], titles, strict=True)
            if (title == heading if heading else not section.is_exercises)
        )
    return route


def route_name(name: str) -> str:
    """Return a route as prose names it: two hours."""
    return ROUTE_NAMES.get(name, name.replace("_", " "))


def what_to_read(chapter: Chapter, read: list[Section], file: str = "") -> str:
    """Say in Markdown what to read of a chapter."""
    kept = {section.heading.text for section in read}
    skipped = [section for section in sections(chapter) if section.heading.text not in kept]
    if not skipped:
        return ALL_AND_EXERCISES if any(s.is_exercises for s in read) else ALL
    if all(section.is_exercises for section in skipped):
        return ALL_BUT_EXERCISES
    links = (f"[{s.heading.title}]({file}#{jupyter_anchor(s.heading.title)})" for s in read)
    return BETWEEN_LINKS.join(links)


def minutes_of(read: list[Section]) -> int:
    """Count as a chapter's head does: text and exercises apart, each in steps of five."""
    parts = ([s.minutes for s in read if s.is_exercises is those] for those in (False, True))
    return max(1, sum(in_fives(sum(part)) for part in parts))


def in_hours(minutes: int) -> str:
    if minutes < 60:
        return MINUTES_LONG.format(minutes=minutes)
    return HOURS_LONG.format(hours=minutes // 60, minutes=minutes % 60)


def route_table(chapters: list[Chapter], route: Route) -> str:
    """Return a route as a table in Markdown, with its sum."""
    rows = [HEAD, "|---|---|---|"]
    for chapter in chapters:
        if chapter.name in route:
            file, read = f"{chapter.name}.ipynb", route[chapter.name]
            what, time = what_to_read(chapter, read, file), in_hours(minutes_of(read))
            rows.append(f"| [{title_of(chapter)}]({file}) | {what} | {time} |")
    total = in_hours(sum(map(minutes_of, route.values())))
    return "\n".join([*rows, f"| **{SUM}** | | {total} |"])
