"""Check what the text of the book says: equations, links, citations, numbers, alt texts, form.

Every check is a function from pages to a list of problems, "file:line: what".
"""

import re
from pathlib import Path

from bookbinder.chapters import Chapter
from bookbinder.files import read_notebook
from bookbinder.roles import OPENING, WORDS
from bookbinder.text import CITATION, EQUATION, LINK, REFERENCE, TAG, Page, without_code
from d2l_attention.frameworks import known, load

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:%|(?:[eE][-+]?\d+)?(?![\d.]*\w))")
EXERCISE = re.compile(r"\b[Ee]xercise \d+\.\d+")
VERSIONED = ["Python", "matplotlib", "Matplotlib", "CUDA", "JupyterLab"]
VERSIONED += [
    name for framework in map(load, known()) for name in (framework.NAME, framework.PACKAGE)
]
VERSION = re.compile(rf"\b({'|'.join(VERSIONED)}) \d+(\.\d+)*")
TWO_SENTENCES = re.compile(r"[\w)$`*”][.?!][”*]* (?=[A-Z“`$*])")
LABEL = re.compile(r"^(> |- |\d+\. )?(\*\*[^*]*\.\*\* )?")  # "> **Note.** ..." is one sentence
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|al|Eq|Fig)\. ")
NOTE = re.compile(r"\]\([^)]*\)\. \S")  # behind the link of a reference, which nobody translates
RAW_MARKUP = re.compile(
    r"\\eqref|\\label|\\ref\b|^:::|\{(ref|eq|note|cite|numref)\}|:label:|:eqref:"
)
HTML = re.compile(r"</?(?!details|summary|sup|sub|br)[a-zA-Z][^>\n]*>")


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
    found = opening_problems(page) if page.number is not None else []
    for line in page.lines():
        bare = without_code(line.text)
        if RAW_MARKUP.search(line.text) or HTML.search(re.sub(r"<https?:[^>]*>", "", bare)):
            found.append(f"{line.where}: some viewers show this raw: {line.text[:60]!r}")
        plain = ABBREVIATION.sub("", LABEL.sub("", line.text))
        whole = line.in_references or plain.startswith(("|", "#"))
        if not whole and TWO_SENTENCES.search(plain):
            found.append(f"{line.where}: more than one sentence in a line: {line.text[:60]!r}")
        if bare.count("$$") % 2 and line.text.strip() != "$$":
            found.append(f"{line.where}: put $$ on a line of its own, or both on one line")
    return found


def opening_problems(page: Page) -> list[str]:
    """Check what stands at the beginning and at the end of every chapter."""
    first = page.chapter.where(0)
    lines = list(page.lines())
    found = []
    if not lines or not lines[0].text.startswith(f"# {page.number}. "):
        found.append(f"{first}: a chapter begins with its title, '# {page.number}. ...'")
    roles = {line.role for line in lines}
    found += [f"{first}: the opening lacks {WORDS[r]!r}" for r in OPENING if r not in roles]
    if page.minutes() == (0, 0):
        found.append(f"{first}: the opening lacks '{WORDS['time']} {{{{minutes}}}}'")
    if "summary" not in roles:
        found.append(f"{first}: a chapter closes with {WORDS['summary']!r}")
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
    for line in page.lines():
        for number in EQUATION.findall(LINK.sub("", without_code(TAG.sub("", line.text)))):
            if number.startswith(f"{page.number}.") and number not in tags:
                found.append(f"{line.where}: there is no equation ({number})")
    return found


def citation_problems(page: Page) -> list[str]:
    """Check that references are numbered 1, 2, ..., each cited, and each citation among them."""
    listed, cited, found = [], {}, []
    for line in page.lines():
        if line.in_references:
            listed += REFERENCE.findall(line.text)
            if REFERENCE.match(line.text) and NOTE.search(line.text):
                found.append(f"{line.where}: the note goes on a line of its own, indented")
        for number in CITATION.findall(line.text):
            cited.setdefault(number, line.where)
    file = page.chapter.file
    if listed != [str(i) for i in range(1, len(listed) + 1)]:
        found.append(f"{file}: references are numbered {', '.join(listed)}")
    found += [f"{at}: there is no reference [{n}]" for n, at in cited.items() if n not in listed]
    found += [f"{file}: reference [{n}] is not cited" for n in listed if n not in cited]
    return found


def link_problems(page: Page, pages: dict[str, Page], folder: Path) -> list[str]:
    """Check that links and the equations they name exist, and that pictures have alt text."""
    found = []
    for line in page.lines():
        for picture, text, target in LINK.findall(without_code(line.text)):
            path, _, anchor = target.partition("#")
            if re.match(r"https?://[\w.-]+\.\w+", target):
                continue
            if picture and not text.strip():
                found.append(f"{line.where}: the picture {target} has no alt text")
            goal = goal_of(path, pages, folder) if path.endswith(".ipynb") else page
            if goal is None or (goal is page and path and not (folder / path).exists()):
                found.append(f"{line.where}: {path} does not exist")
            elif anchor and anchor not in goal.anchors():
                found.append(f"{line.where}: {goal.name} has no heading #{anchor}")
            elif (named := EQUATION.match(text)) and named[1] not in goal.equations():
                found.append(f"{line.where}: {goal.name} has no equation {named[0]}")
    return found


def goal_of(path: str, pages: dict[str, Page], folder: Path) -> Page | None:
    """Return the chapter that a link leads to: of this edition, or the notebook of another one."""
    if "/" not in path or not (folder / path).exists():
        return pages.get(path.removesuffix(".ipynb"))
    notebook = read_notebook(folder / path)
    places = [[path]] * len(notebook.cells)
    return Page(Chapter(Path(path).stem, path, notebook, places), notebook)


def number_problems(page: Page) -> list[str]:
    """Check that numbers in prose are shown by an output above, given in code, or cited.

    Numbers are decimals, percentages, powers of ten and integers of three digits or more; smaller
    integers (two keys, three rows) are words of the text. A page without a number only lists.
    """
    found = []
    given = page.given()
    for line in page.lines() if page.number is not None else ():
        if line.in_references or CITATION.search(line.text) or line.role == "time":
            continue  # others look at citations, and the binder counts the minutes
        text = re.sub(r"\{,\}|(?<=\d),(?=\d{3}\b)", "", LINK.sub(r" \2 ", TAG.sub("", line.text)))
        text = EXERCISE.sub("", VERSION.sub("", text))
        for match in NUMBER.finditer(text):
            number = match[0]
            in_parentheses = match.start() and EQUATION.match(text, match.start() - 1)
            if in_parentheses and (number in page.equations() or LINK.search(line.text)):
                continue  # the number of an equation: equation_problems looks
            if number.isdigit() and len(number) < 3:
                continue
            if not agrees(number, page.shown_above(line.cell)) and not agrees(number, given):
                found.append(f"{line.where}: no output above shows {number}: {line.text[:60]!r}")
    return found


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
