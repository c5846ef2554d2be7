"""The text: numbers, links, citations, equations, form, and the field's words in all languages.

What reads the catalogs of four languages stands here, too, where they are read once.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path

import pytest
from babel.messages.mofile import read_mo

from bookbinder.catalogs import BESIDE, PAGES, PRACTICE, catalog_file, translations
from bookbinder.chapters import number_of, read_chapter
from bookbinder.language import language_of, translated
from bookbinder.messages import compiled_file, page_file, translated_page
from bookbinder.notation import PAGE, read_notation
from bookbinder.page import (
    EQUATION,
    REFERENCE,
    TAG,
    TERM,
    Line,
    Page,
    headings_of,
    link_problems,
    singular,
)
from d2l_attention.frameworks import known, load
from tests.conftest import ROOT
from tests.pseudo import FILES, OUTPUT, SAMPLE, mistakes, with_outputs_of
from tests.this_book import BOOK, chapters, pages

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
NOT_SAID = [  # language, what readers would not find in another text, what they would, exceptions
    (*line.split("\t"), "")[:4]
    for line in (BOOK.source / "locale/not_said.tsv").read_text("utf-8").splitlines()[1:]
]
ENGLISH, *OTHERS = (language_of(BOOK, tag) for tag in BOOK.languages)
of_each_edition = pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
of_each_language = pytest.mark.parametrize("language", OTHERS, ids=lambda language: language.tag)


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


@of_each_edition
def test_every_number_link_and_citation_in_prose_resolves(edition):
    found = problems(pages(edition), edition.notebooks)
    assert not found, "\n".join(["", *found])


def not_said(tag: str, file: str, text: str) -> list[str]:
    """Return the words of a text that the field does not use, each with what it says."""
    return [
        f"{tag} {file}: {match[0]!r}, but {instead}: {text}"
        for of, word, instead, allowed in NOT_SAID
        if of == tag and file not in allowed
        if (match := re.search(word, text, re.IGNORECASE if word.islower() else 0))
    ]


@pytest.mark.slow
def test_words_that_the_field_does_not_use_stay_out():
    source = chain(ROOT.glob("bookbinder/**/*.py"), ROOT.glob("d2l_attention/**/*.py"))
    for path in chain(ROOT.glob("*.md"), ROOT.glob("book/**/*.md"), source):
        for line in path.read_text("utf-8").splitlines():
            assert not_said("en", path.name, line) == []


@pytest.mark.slow
@of_each_language
def test_catalogs_are_those_of_the_book_keep_what_they_must_and_are_made_into_files(language):
    names = {path.stem for path in catalog_file(BOOK, language.tag, "").parent.glob("*.po")}
    assert names == {*BOOK.chapters, *BESIDE}
    for name in names:  # reading says which translation has lost something
        for text in language.read(name).values():
            assert not_said(language.tag, f"{name}.po", text) == []
    stored = compiled_file(BOOK, language.tag).read_bytes()
    assert translations(read_mo(BytesIO(stored))) == language.read(PRACTICE)
    for page in PAGES:
        file = page_file(BOOK, language.tag, page)
        assert file.read_text("utf-8") == translated_page(BOOK, language.tag, page)


@pytest.mark.slow
@pytest.mark.parametrize("language", [ENGLISH, *OTHERS], ids=lambda language: language.tag)
def test_the_plan_of_lectures_has_every_chapter_and_names_its_headings(language):
    folder = ROOT if language == ENGLISH else catalog_file(BOOK, language.tag, "").parent
    lectures = re.findall(r"^\| (\d+) \| (.*)$", (folder / "TEACHING.md").read_text("utf-8"), re.M)
    numbered = {str(number_of(chapter.name)): chapter for chapter in chapters(BOOK.editions[0])}
    assert [number for number, _ in lectures] == [n for n in numbered if n != "None"]
    for number, plan in lectures:
        titles = [line.title for line in headings_of(translated(numbered[number], language))]
        for named in re.findall(r"\*([^*]+)\*", plan):
            assert any(title.startswith(named) for title in titles), (number, named)


@of_each_edition
def test_sentences_speak_the_terms_of_their_framework(edition):
    framework = load(edition.framework)
    for line in (line for page in pages(edition) for line in page.lines):
        # A sentence that names another framework may use its terms.
        if not line.in_references and not re.search(framework.EXCUSE, line.text):
            for term, instead in framework.FOREIGN.items():
                assert not re.search(term, line.text, re.IGNORECASE), (line.where, term, instead)


@of_each_edition
def test_a_letter_stands_in_its_chapter_and_code_and_has_one_meaning_there(edition):
    formulas, code = {}, {}
    for page in pages(edition):
        if page.name != PAGE:
            formulas[page.number] = page.text
        code[page.number] = "\n".join(
            c.source for c in page.executed.cells if c.cell_type == "code"
        )
    formulas[None], code[None] = "\n".join(formulas.values()), "\n".join(code.values())
    declared: list[tuple[str, int | None]] = []
    for letter in read_notation(BOOK.source, edition.framework):
        for number in letter.chapters:
            for symbol in letter.symbol.split(", "):
                assert symbol.strip("$") in formulas[number], (letter, number)
                declared.append((symbol, number))
            for name in letter.names:
                found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code[number])
                assert found or name == "…", (letter, number)
    assert len({*declared}) == len(declared), "a symbol is declared twice"


@pytest.mark.slow
@of_each_edition
def test_every_term_of_the_index_is_explained_where_it_first_appears(edition):
    explained: dict[str, tuple[int, str]] = {}  # term -> the line that does so first, and its page
    lines: list[tuple[Line, str]] = []  # each with its words where they tell something
    for page in pages(edition):
        begun = False
        for line in page.lines:
            begun |= line.level == 2  # what stands above tells what will be explained
            silent = line.in_references or line.kind in ("heading", "row", "html")
            for term in filter(TERM.fullmatch, line.bold if line.kind != "row" else ()):
                explained.setdefault(singular(term), (len(lines), page.name))
            lines.append((line, line.plain if begun and not silent else ""))
    for term, (place, chapter) in explained.items():
        used = re.compile(rf"(?<![\w-]){re.escape(term)}(s|es)?(?![\w-])")
        for line, told in lines[:place]:  # a link to the explanation is enough
            is_early = used.search(told) and f"({chapter}.ipynb" not in line.text
            assert not is_early, f"{line.where}: {term!r} is explained only in {chapter}"
