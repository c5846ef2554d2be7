"""Join the references of all chapters into one list."""

import re
from dataclasses import dataclass, field

from bookbinder.chapters import Chapter, title_of
from bookbinder.page import REFERENCE, Page
from bookbinder.words import Say

TITLE = re.compile(r"“(.*?),?”")


@dataclass
class Work:
    """A text that chapters cite: how it is quoted, and what each chapter says about it."""

    quoted: str
    notes: list[tuple[Chapter, str, str]] = field(default_factory=list)  # chapter, number, note


def works(chapters: list[Chapter]) -> list[Work]:
    """Return all cited works, each once, in the order of their authors' names."""
    found: dict[str, Work] = {}
    for chapter in chapters:
        for number, quoted, note in references(chapter):
            title = TITLE.search(quoted)
            key = re.sub(r"\W+", " ", title[1] if title else quoted).lower().strip()
            found.setdefault(key, Work(quoted)).notes.append((chapter, number, note))
    return sorted(found.values(), key=lambda work: last_name(work.quoted))


def references(chapter: Chapter) -> list[tuple[str, str, str]]:
    """Return number, text and note of each entry under the heading References.

    The lines below an entry are its note.
    """
    entries: list[tuple[str, str, list[str]]] = []
    for line in Page(chapter, chapter.notebook).lines():
        if line.in_references and (match := REFERENCE.match(line.text)):
            entries.append((match[1], line.text[match.end() :], []))
        elif line.in_references and entries and line.text.startswith(" "):
            entries[-1][2].append(line.text.strip())
    return [(number, quoted, "\n    ".join(note)) for number, quoted, note in entries]


def last_name(quoted: str) -> str:
    first = re.split(r",| and | et al| “", quoted)[0]
    return first.split()[-1].lower() if first.split() else ""


def references_page(chapters: list[Chapter], say: Say = str) -> str:
    """Return the page of all references, each with the chapters that cite it."""
    about = say("Everything that the chapters cite, by author.")
    lines = ["# " + say("References"), "", about, ""]
    for work in works(chapters):
        lines.append(f"- {work.quoted}")
        for chapter, number, note in work.notes:
            number_of = title_of(chapter).partition(".")[0]
            goal = f"{chapter.name}.html#reference-{number}"
            name = say("Chapter {number}").format(number=number_of)
            link = f'<a href="{goal}">{name}</a>'
            lines.append(f"  - {link}: {note}" if note else f"  - {link}")
    return "\n".join(lines) + "\n"
