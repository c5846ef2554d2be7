"""What the text of the book says: its numbers, links, citations, equations and form.

Every check takes a page and yields what is wrong with it, "file:line: what".
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookbinder.chapters import read_chapter
from bookbinder.page import EQUATION, REFERENCE, TAG, Line, Page, link_problems
from d2l_attention.frameworks import known, load
from tests.pseudo import FILES, OUTPUT, SAMPLE, mistakes, with_outputs_of
from tests.this_book import BOOK, pages

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:%|(?:[eE][-+]?\d+)?(?![\d.]*\w))")
VERSIONED = ["Python", "matplotlib", "Matplotlib", "CUDA", "JupyterLab", "Unicode"]
VERSIONED += [name for library in map(load, known()) for name in (library.NAME, library.PACKAGE)]
NAMED = re.compile(rf"\b(?:[Ee]xercise|{'|'.join(VERSIONED)}) \d+(?:\.\d+)*")  # not computed
THOUSANDS = re.compile(r"\{,\}|(?<=\d),(?=\d{3}\b)")
ABBREVIATED = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bal)(?<!\bEq)(?<!\bFig)"
TWO_SENTENCES = re.compile(rf"[\w)$`*”]{ABBREVIATED}[.?!][”*]* (?=[A-Z“`$*])")
RAW_MARKUP = re.compile(
    r"\\eqref|\\label|\\ref\b|^:::|\{(ref|eq|note|cite|numref)\}|:label:|:eqref:"
)
ELEMENTS = {"details", "summary", "sup", "sub", "br"}  # that all viewers show
PARTS = ("question", "time", "summary", "references")  # of every chapter


def problems(pages: list[Page], folder: Path) -> list[str]:
    """Return everything that is wrong with the text of the book; `folder` holds its pictures."""
    checks = (part_problems, form_problems, equation_problems, citation_problems, number_problems)
    found = [problem for page in pages for check in checks for problem in check(page)]
    by_name = {page.name: page for page in pages}
    return found + [problem for page in pages for problem in link_problems(page, by_name, folder)]


def part_problems(page: Page) -> Iterator[str]:
    """Check what stands at the beginning and at the end of every chapter."""
    if page.number is None:
        return
    if not page.text.startswith(title := f"# {page.number}. "):
        yield f"{page.chapter.where(0)}: a chapter begins with its title, '{title}...'"
    there = {line.role for line in page.lines if line.role != "time" or any(page.minutes())}
    for role in set(PARTS) - there:
        yield f"{page.chapter.where(0)}: the page lacks its part {role!r}"


def form_problems(page: Page) -> Iterator[str]:
    """Check that there is one sentence per line, that no viewer shows raw markup, and folds."""
    kinds: dict[str, str] = {}  # of folds by their names: of another class, worksheets leave it out
    for line in page.lines:
        html = [node.content.strip("</>") for node in line.nodes if node.type == "html_inline"]
        elements = {tag.split()[0] for tag in html if tag[:1].isalpha()}
        if RAW_MARKUP.search(line.text) or elements - ELEMENTS:
            yield f"{line.where}: some viewers show this raw: {line.text[:60]!r}"
        sentence = line.content.removeprefix(f"**{line.label}** ")
        whole = line.in_references or line.kind in ("row", "heading")
        if not whole and TWO_SENTENCES.search(sentence):
            yield f"{line.where}: more than one sentence in a line: {line.text[:60]!r}"
        if line.text.count("$$") % 2 and line.text.strip() != "$$":
            yield f"{line.where}: put $$ on a line of its own, or both on one line"
        if line.content.startswith("<summary>"):
            kind = kinds.setdefault(re.sub(r"[ \d]", "", line.content), line.fold)
            if kind != line.fold:
                yield f"{line.where}: other folds of this name are of class {kind!r}"


def equation_problems(page: Page) -> Iterator[str]:
    """Check that equations are numbered without gaps and that every number in prose has one."""
    tags = page.equations()
    for at, tag in enumerate(tags, 1):
        if tag != f"{page.number}.{at}":
            yield f"{page.chapter.file}: equation {page.number}.{at} is numbered {tag}"
    for line in page.lines:
        for number in EQUATION.findall(line.plain):
            if number.startswith(f"{page.number}.") and number not in tags:
                yield f"{line.where}: there is no equation ({number})"


def citation_problems(page: Page) -> Iterator[str]:
    """Check that references are numbered 1, 2, ..., each cited, and each citation among them."""
    listed, cited, file = [], {}, page.chapter.file
    for line in page.lines:
        numbers = REFERENCE.findall(line.text) if line.in_references else []
        listed += numbers
        following = (node.next_sibling for node in line.nodes if node.type == "link")
        if numbers and any(node and node.content.startswith(". ") for node in following):
            yield f"{line.where}: the note goes on a line of its own, indented"
        cited |= {number: line.where for number in line.citations if number not in cited}
    if listed != [str(at) for at, _ in enumerate(listed, 1)]:
        yield f"{file}: references are numbered {', '.join(listed)}"
    yield from (f"{at}: there is no reference [{n}]" for n, at in cited.items() if n not in listed)
    yield from (
        f"{file}: reference [{number}] is not cited" for number in listed if number not in cited
    )


def number_problems(page: Page) -> Iterator[str]:
    """Check that numbers in prose are shown by an output above, given in code, or cited.

    Numbers are decimals, percentages, powers of ten and integers of three digits or more; smaller
    integers (two keys, three rows) are words of the text. A page without a number only lists.
    """
    given = page.given()
    for line in page.lines if page.number is not None else ():
        if line.in_references or line.citations or line.role == "time":
            continue  # others look at citations, and the binder counts the minutes
        for number in numbers_of(line, page.equations()):
            if not agrees(number, page.shown_above(line.cell) + given):
                yield f"{line.where}: no output above shows {number}: {line.text[:60]!r}"


def numbers_of(line: Line, equations: list[str]) -> list[str]:
    """Return the numbers of a line that something must show; equation_problems looks at theirs."""
    read = " ".join(n.content for n in line.nodes if not n.children and n.type != "html_inline")
    text = NAMED.sub("", THOUSANDS.sub("", TAG.sub("", read or line.content)))
    links = [link.words for link in line.links if EQUATION.fullmatch(link.words)]
    for name in [*links, *(f"({number})" for number in equations)]:
        text = text.replace(name, "")
    numbers = [match[0] for match in NUMBER.finditer(text)]
    return [number for number in numbers if not number.isdigit() or len(number) > 2]


def agrees(number: str, shown: list[float]) -> bool:
    """Say whether a number as quoted is one of the shown ones, rounded to the digits quoted."""
    percent = number.endswith("%")
    quoted = number.removesuffix("%")
    mantissa, _, exponent = quoted.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    slack = 0.5 * 10.0 ** (int(exponent or 0) - digits) if digits or percent else 0.0
    candidates = shown + [100 * n for n in shown] if percent else shown
    return any(abs(n - float(quoted)) <= slack * (1 + 1e-9) for n in candidates)


def page(name, text, folder):
    (folder / f"{name}.md").write_text(OUTPUT.sub("", text).replace("{{minutes}}", "5 minutes"))
    chapter = read_chapter(folder / f"{name}.md", name)
    return Page(chapter, with_outputs_of(text, chapter.notebook))


@pytest.mark.parametrize(("old", "new", "told"), mistakes("author"))
def test_a_mistake_is_found_where_it_stands(tmp_path, old, new, told):
    (tmp_path / "idea_(b).svg").touch()
    text, notation = (dict(FILES)[f"book/{name}.md"] for name in (SAMPLE, "notation"))
    pages = [page("notation", notation, tmp_path), page(SAMPLE, text, tmp_path)]
    assert problems(pages, tmp_path) == []
    pages[1] = page(SAMPLE, text.replace(old, new, 1), tmp_path)
    found = problems(pages, tmp_path)
    assert any(problem.startswith(f"{SAMPLE}{told}") for problem in found), found


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_every_number_link_and_citation_in_prose_resolves(edition):
    found = problems(pages(edition), edition.notebooks)
    assert not found, "\n".join(["", *found])
