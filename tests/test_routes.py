"""Each route can be walked: what a section of it uses stands earlier on it, or is told again."""

import ast
import re
from dataclasses import dataclass, field

import nbformat
import pytest
from this_book import BOOK, chapters, pages

from bookbinder.chapters import Chapter, tags_of
from bookbinder.routes import minutes_of, read_routes
from bookbinder.terms import BOLD, TERM, explained, singular, told
from bookbinder.text import EQUATION, LINK, TAG, Line, Page, without_code

MATH = re.compile(r"\$[^$]+\$")
MOST_MINUTES = {"two_hours": 120, "one_day": 12.5 * 60}  # a route of a day has its exercises in it


@dataclass
class Stretch:
    """A section as a walker meets it: where it stands, its lines and its code."""

    page: str
    heading: str
    lines: list[Line] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


def stretches(page: Page) -> list[Stretch]:
    found: list[Stretch] = []
    lines = dict(told(page))
    by_cell: dict[int, list[Line]] = {}
    for number, line in enumerate(page.lines()):
        if line.english.startswith(("# ", "## ")) or number in lines:
            by_cell.setdefault(line.cell, []).append(line)
    for at, cell in enumerate(page.chapter.notebook.cells):
        for line in by_cell.get(at, []):
            if line.english.startswith(("# ", "## ")):
                found.append(Stretch(page.name, line.english))
            else:
                found[-1].lines.append(line)
        if cell.cell_type == "code" and found and "drawing" not in tags_of(cell):
            found[-1].code.append(cell.source)
    return found


def defined(stretch: Stretch) -> set[str]:
    trees = map(ast.parse, stretch.code)
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for tree in trees for node in tree.body if isinstance(node, kinds)}


def called(stretch: Stretch) -> tuple[set[str], set[str]]:
    """Return the names that a section loads and does not set, and those it takes of the module."""
    nodes = [node for source in stretch.code for node in ast.walk(ast.parse(source))]
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names -= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    taken = {
        n.attr
        for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "d2l"
    }
    return names, taken


def imported(stretch: Stretch) -> set[str]:
    nodes = [node for source in stretch.code for node in ast.walk(ast.parse(source))]
    ours = [n for n in nodes if isinstance(n, ast.ImportFrom) and "d2l" in (n.module or "")]
    return {name.name for node in ours for name in node.names}


def bold(stretch: Stretch) -> set[str]:
    words = {word for line in stretch.lines for word in BOLD.findall(line.text)}
    return {singular(word) for word in words if TERM.fullmatch(word)}


def missing(route: list[Stretch], book: list[Stretch], terms: dict[str, str]) -> list[str]:
    """Name what the sections of a route use that no section of it has given, here or earlier.

    A function is told again by its name in the text, an equation by a formula beside its number, a
    term by its name in bold or a link to the chapter that explains it. `terms` has that chapter.
    """
    found, given = [], set()
    functions = {(stretch.page, name) for stretch in book for name in defined(stretch)}
    known = {name for _, name in functions}
    functions |= {(stretch.page, name) for stretch in book for name in imported(stretch) & known}
    patterns = {t: re.compile(rf"(?<![\w-]){re.escape(t)}(s|es)?(?![\w-])") for t in terms}
    on_route = {(stretch.page, stretch.heading.lstrip("# ")) for stretch in route}
    for stretch in route:
        text = "\n".join(line.text for line in stretch.lines)
        given |= {*TAG.findall(text), *defined(stretch), *bold(stretch)}
        given |= {name for name in known if f"`{name}" in text or f".{name}`" in text}
        names, taken = called(stretch)
        here = {name for name in names if (stretch.page, name) in functions}
        where = f"{stretch.page}, {stretch.heading.lstrip('# ')}"
        found += [f"{where}: calls {n}" for n in sorted((here | taken & known) - given)]
        for line in stretch.lines:
            plain = without_code(LINK.sub(" ", line.text))
            if not MATH.search(line.text):
                numbers = set(EQUATION.findall(without_code(line.text))) - given
                found += [f"{line.where}: equation ({number})" for number in sorted(numbers)]
            for term in terms.keys() - given:
                if f"({terms[term]}.ipynb" not in line.text and patterns[term].search(plain):
                    found.append(f"{line.where}: the term {term!r}")
                    given.add(term)
            for _, _, target in LINK.findall(line.text) if "explorer" in line.text else ():
                file, _, heading = target.partition("#")
                goal = file.removesuffix(".ipynb") or stretch.page, heading.replace("-", " ")
                if goal not in on_route:
                    found.append(f"{line.where}: the explorer at {target}")
    return found


def terms_of(all_pages: list[Page]) -> dict[str, str]:
    return {term: all_pages[at].name for term, (at, _) in explained(all_pages).items()}


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
@pytest.mark.parametrize("name", BOOK.routes)
def test_a_route_gives_what_its_sections_use(name, edition):
    book = [stretch for page in pages(edition) for stretch in stretches(page)]
    read = read_routes(BOOK, chapters(edition))[name]
    wanted = {(page, s.heading.english) for page, part in read.items() for s in part}
    route = [stretch for stretch in book if (stretch.page, stretch.heading) in wanted]
    assert len(route) == len(wanted)
    found = missing(route, book, terms_of(pages(edition)))
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("name", BOOK.routes)
def test_a_route_takes_the_time_that_its_name_promises(name):
    all_chapters = chapters(BOOK.editions[0])
    route = read_routes(BOOK, all_chapters)[name]
    assert sum(map(minutes_of, route.values())) <= MOST_MINUTES[name]
    if name == "two_hours":
        longest = max((s for part in route.values() for s in part), key=lambda s: s.minutes)
        assert longest.minutes <= 120 / 5, longest.heading.where


def chapter(name: str, *cells: str) -> Page:
    made = [
        nbformat.v4.new_code_cell(cell[1:])
        if cell.startswith(">")
        else nbformat.v4.new_markdown_cell(cell)
        for cell in cells
    ]
    notebook = nbformat.v4.new_notebook(cells=made)
    places = [[f"{name}:{at}"] for at in range(len(made))]
    return Page(Chapter(name, name, notebook, places), notebook)


SKIPPED = (
    "# 1. A",
    "## Skipped\n\nA **gadget**.\n\n$$x \\tag{1.1}$$",
    ">def twice(x):\n    return x",
)


@pytest.mark.parametrize(
    ("text", "code", "problems"),
    [
        ("By (1.1).", "", ["02_b:1: equation (1.1)"]),
        ("By (1.1), $x$.", "", []),
        ("Two gadgets.", "", ["02_b:1: the term 'gadget'"]),
        ("Two gadgets.\nA gadget.", "", ["02_b:1: the term 'gadget'"]),
        ("A **gadget** is small.", "", []),
        ("A [gadget](01_a.ipynb).", "", []),
        ("Now.", "d2l.twice(2)", ["02_b, Read: calls twice"]),
        ("`twice` doubles.", "d2l.twice(2)", []),
        ("As the [explorer](01_a.ipynb#Skipped) shows.", "", ["02_b:1: the explorer at 01_a.ip"]),
    ],
)
def test_what_a_skipped_section_gives_is_missed(text, code, problems):
    cells = ["# 2. B", f"## Read\n\n{text}", *([f">{code}"] if code else [])]
    all_pages = [chapter("01_a", *SKIPPED), chapter("02_b", *cells)]
    book = [stretch for page in all_pages for stretch in stretches(page)]
    found = missing(book[-1:], book, terms_of(all_pages))
    assert len(found) == len(problems)
    assert all(f.startswith(p) for f, p in zip(found, problems, strict=True)), found
