"""The terms of the index: bold where they are explained, and not used before."""

import re
from collections.abc import Iterator

from bookbinder.text import LINK, Line, Page, without_code

BOLD = re.compile(r"\*\*([^*]+)\*\*")
TERM = re.compile(r"[a-z][\w-]*(?: [\w-]+){0,3}")  # as the index takes them
TABLE = "|"
OPENING_ENDS = re.compile(r"^## ")  # what stands above tells what will be explained


def explained(pages: list[Page]) -> dict[str, tuple[int, int]]:
    """Return the place (page, line) of each term's first explanation."""
    found: dict[str, tuple[int, int]] = {}
    for at, page in enumerate(pages):
        for number, line in enumerate(page.lines()):
            if line.text.startswith(TABLE):
                continue
            for term in terms_in(line):
                found.setdefault(singular(term), (at, number))
    return found


def terms_in(line: Line) -> list[str]:
    """Return the terms that a line sets in bold."""
    return [term for term in BOLD.findall(line.text) if TERM.fullmatch(term)]


def singular(term: str) -> str:
    return term.removesuffix("s") if not term.endswith("ss") else term


def told(page: Page) -> Iterator[tuple[int, Line]]:
    """Yield the lines of a page that tell something: no opening, heading, table or reference."""
    begun = False
    for number, line in enumerate(page.lines()):
        begun |= bool(OPENING_ENDS.match(line.text))
        if begun and not line.in_references and not line.text.startswith(("#", TABLE, "<")):
            yield number, line


def early_uses(pages: list[Page]) -> list[str]:
    """Name the terms that are used before their explanation, without a link to its chapter."""
    found = []
    places = explained(pages)
    patterns = {
        term: re.compile(rf"(?<![\w-]){re.escape(term)}(s|es)?(?![\w-])") for term in places
    }
    seen: set[str] = set()
    for at, page in enumerate(pages):
        for number, line in told(page):
            text = without_code(LINK.sub(" ", line.text))
            for term, place in places.items():
                if term in seen or (at, number) >= place:
                    continue
                where = pages[place[0]].name
                if f"({where}.ipynb" not in line.text and patterns[term].search(text):
                    seen.add(term)
                    found.append(f"{line.where}: {term!r} is explained only later, in {where}")
    return found
