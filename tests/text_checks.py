"""Check what the text of the book says: equations, links, citations, numbers, terms, form.

Every check is a function from pages to a list of problems, "file:line: what".
"""

import re
from collections.abc import Iterator
from pathlib import Path

from bookbinder.page import EQUATION, REFERENCE, TAG, TERM, Line, Page, link_problems, singular
from d2l_attention.frameworks import known, load

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:%|(?:[eE][-+]?\d+)?(?![\d.]*\w))")
VERSIONED = ["Python", "matplotlib", "Matplotlib", "CUDA", "JupyterLab", "Unicode"]
VERSIONED += [
    name for framework in map(load, known()) for name in (framework.NAME, framework.PACKAGE)
]
NAMED = re.compile(rf"\b(?:[Ee]xercise|{'|'.join(VERSIONED)}) \d+(?:\.\d+)*")  # not computed
THOUSANDS = re.compile(r"\{,\}|(?<=\d),(?=\d{3}\b)")
ABBREVIATED = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bal)(?<!\bEq)(?<!\bFig)"
TWO_SENTENCES = re.compile(rf"[\w)$`*”]{ABBREVIATED}[.?!][”*]* (?=[A-Z“`$*])")
RAW_MARKUP = re.compile(
    r"\\eqref|\\label|\\ref\b|^:::|\{(ref|eq|note|cite|numref)\}|:label:|:eqref:"
)
ELEMENTS = ("details", "summary", "sup", "sub", "br")  # that all viewers show
PARTS = ("question", "time", "summary", "references")  # of every chapter


def problems(pages: list[Page], folder: Path) -> list[str]:
    """Return everything that is wrong with the text of the book; `folder` holds its pictures."""
    found = []
    for page in pages:
        found += form_problems(page)
        found += equation_problems(page)
        found += citation_problems(page)
        found += number_problems(page)
        found += link_problems(page, {p.name: p for p in pages}, folder)
    return found


def form_problems(page: Page) -> list[str]:
    """Check the opening, one sentence per line, and that no viewer shows raw markup."""
    found = part_problems(page) if page.number is not None else []
    for line in page.lines:
        if RAW_MARKUP.search(line.text) or not set(elements_of(line)) <= set(ELEMENTS):
            found.append(f"{line.where}: some viewers show this raw: {line.text[:60]!r}")
        sentence = line.content.removeprefix(f"**{line.label}** ")
        whole = line.in_references or line.kind in ("row", "heading")
        if not whole and TWO_SENTENCES.search(sentence):
            found.append(f"{line.where}: more than one sentence in a line: {line.text[:60]!r}")
        if line.text.count("$$") % 2 and line.text.strip() != "$$":
            found.append(f"{line.where}: put $$ on a line of its own, or both on one line")
    return found + fold_problems(page)


def elements_of(line: Line) -> list[str]:
    """Return the names of the elements of HTML in a line."""
    tags = [node.content.strip("</>") for node in line.nodes if node.type == "html_inline"]
    return [tag.split()[0] for tag in tags if tag[:1].isalpha()]


def part_problems(page: Page) -> list[str]:
    """Check what stands at the beginning and at the end of every chapter."""
    first = page.chapter.where(0)
    lines = page.lines
    found = []
    if not lines or not lines[0].text.startswith(f"# {page.number}. "):
        found.append(f"{first}: a chapter begins with its title, '# {page.number}. ...'")
    there = {line.role for line in lines if line.role != "time" or any(page.minutes())}
    found += [f"{first}: the page lacks its part {role!r}" for role in PARTS if role not in there]
    return found


def fold_problems(page: Page) -> list[str]:
    """Check that folds of one name have one class: without it, worksheets leave them out."""
    found, kinds = [], {}
    for line in page.lines:
        if line.content.startswith("<summary>"):
            name = "".join(letter for letter in line.content if letter not in " 0123456789")
            if kinds.setdefault(name, line.fold) != line.fold:
                found.append(f"{line.where}: other folds of this name are of class {kinds[name]!r}")
    return found


def equation_problems(page: Page) -> list[str]:
    """Check that equations are numbered without gaps and that every number in prose has one."""
    tags = page.equations()
    wanted = [f"{page.number}.{i}" for i in range(1, len(tags) + 1)]
    found = [
        f"{page.chapter.file}: equation {want} is numbered {tag}"
        for tag, want in zip(tags, wanted, strict=True)
        if tag != want
    ]
    for line in page.lines:
        for number in EQUATION.findall(line.plain):
            if number.startswith(f"{page.number}.") and number not in tags:
                found.append(f"{line.where}: there is no equation ({number})")
    return found


def citation_problems(page: Page) -> list[str]:
    """Check that references are numbered 1, 2, ..., each cited, and each citation among them."""
    listed, cited, found = [], {}, []
    for line in page.lines:
        if line.in_references:
            listed += REFERENCE.findall(line.text)
            if REFERENCE.match(line.text) and has_note(line):
                found.append(f"{line.where}: the note goes on a line of its own, indented")
        for number in line.citations:
            cited.setdefault(number, line.where)
    file = page.chapter.file
    if listed != [str(i) for i in range(1, len(listed) + 1)]:
        found.append(f"{file}: references are numbered {', '.join(listed)}")
    found += [f"{at}: there is no reference [{n}]" for n, at in cited.items() if n not in listed]
    found += [f"{file}: reference [{n}] is not cited" for n in listed if n not in cited]
    return found


def has_note(line: Line) -> bool:
    """Say whether a reference goes on behind its link, which nobody translates."""
    following = (node.next_sibling for node in line.nodes if node.type == "link")
    return any(node and node.content.startswith(". ") for node in following)


def number_problems(page: Page) -> list[str]:
    """Check that numbers in prose are shown by an output above, given in code, or cited.

    Numbers are decimals, percentages, powers of ten and integers of three digits or more; smaller
    integers (two keys, three rows) are words of the text. A page without a number only lists.
    """
    found = []
    given = page.given()
    for line in page.lines if page.number is not None else ():
        if line.in_references or line.citations or line.role == "time":
            continue  # others look at citations, and the binder counts the minutes
        for number in numbers_of(line, page.equations()):
            if not agrees(number, page.shown_above(line.cell) + given):
                found.append(f"{line.where}: no output above shows {number}: {line.text[:60]!r}")
    return found


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
    value = float(quoted)
    candidates = shown + [100 * n for n in shown] if percent else shown
    return any(abs(n - value) <= slack * (1 + 1e-9) for n in candidates)


def explained(pages: list[Page]) -> dict[str, tuple[int, int]]:
    """Return the place (page, line) of each term's first explanation."""
    found: dict[str, tuple[int, int]] = {}
    for at, page in enumerate(pages):
        for number, line in enumerate(page.lines):
            for term in terms_in(line):
                found.setdefault(singular(term), (at, number))
    return found


def terms_in(line: Line) -> list[str]:
    """Return the terms that a line sets in bold."""
    return [term for term in line.bold if line.kind != "row" and TERM.fullmatch(term)]


def told(page: Page) -> Iterator[tuple[int, Line]]:
    """Yield the lines of a page that tell something: no opening, heading, table or reference."""
    begun = False
    for number, line in enumerate(page.lines):
        begun |= line.level == 2  # what stands above tells what will be explained
        if begun and not line.in_references and line.kind not in ("heading", "row", "html"):
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
            for term, place in places.items():
                if term in seen or (at, number) >= place:
                    continue
                where = pages[place[0]].name
                if f"({where}.ipynb" not in line.text and patterns[term].search(line.plain):
                    seen.add(term)
                    found.append(f"{line.where}: {term!r} is explained only later, in {where}")
    return found
