"""The text: numbers, links, citations, equations, form, and the field's words in all languages."""

import re
from collections import Counter
from functools import partial
from io import BytesIO

import pytest
from babel.messages.mofile import read_mo

from bookbinder import markdown as prose
from bookbinder.chapters import headings_of, number_of, read_chapter
from bookbinder.compose import chapters_of
from bookbinder.language import catalog
from bookbinder.language.catalog import BESIDE, PAGES, PRACTICE, catalog_file, language_of
from bookbinder.language.extract import compiled_file, page_file, translated_page
from bookbinder.notation import PAGE, read_notation
from d2l_attention.frameworks import known, load
from tests.conftest import ROOT, write_files
from tests.pseudo import FILES, OUTPUT, SAMPLE, mistakes, with_outputs_of
from tests.this_book import BOOK, GUESTS, Page, pages

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:%|(?:[eE][-+]?\d+)?(?![\d.]*\w))")
VERSIONED = ["Python", "matplotlib", "Matplotlib", "CUDA", "JupyterLab", "Unicode"]
VERSIONED += [name for library in map(load, known()) for name in (library.NAME, library.PACKAGE)]
NAMED = re.compile(rf"\b(?:[Ee]xercise|{'|'.join(VERSIONED)}) \d+(?:\.\d+)*")  # not computed
THOUSANDS = re.compile(r"\{,\}|(?<=\d),(?=\d{3}\b)")
ABBREVIATED = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bal)(?<!\bEq)(?<!\bFig)"
TWO_SENTENCES = re.compile(rf"[\w)$`*”]{ABBREVIATED}[.?!][”*]* (?=[A-Z“`$*])")
RAW_MARKUP = re.compile(r"\\(eqref|label|ref)\b|^:::|\{(ref|eq|note|cite|numref)\}|:(label|eqref):")
ELEMENTS = {"details", "summary", "sup", "sub", "br"}  # that all viewers show
PARTS = {"question", "time", "summary", "references"}  # of every chapter
ENGLISH, *OTHERS = (language_of(BOOK, tag) for tag in BOOK.languages)
FIRST, *REST = BOOK.editions
EDITIONS = [FIRST, *(pytest.param(edition, marks=pytest.mark.slow) for edition in REST)]


def problems(pages, folder) -> list[str]:
    """Return everything that is wrong with the text of pages; `folder` holds their pictures."""
    named = {page.name: page for page in pages}
    checks = [form_problems, reference_problems, number_problems]
    checks.append(partial(link_problems, pages=named, folder=folder))
    return [problem for page in pages for check in checks for problem in check(page)]


def form_problems(page):
    """Check for parts of every chapter, one sentence per line, no raw markup, and equal folds."""
    roles = {x.role for x in page.lines if x.role != "time" or NUMBER.search(x.plain)}
    for role in PARTS - roles if page.name != PAGE else ():
        yield f"{page.chapter.where(0)}: the page lacks its part {role!r}"
    if page.number is not None and not page.text.startswith(title := f"# {page.number}. "):
        yield f"{page.chapter.where(0)}: a chapter begins with its title, '{title}...'"
    kinds: dict[str, str] = {}  # of folds by their names: of another class, worksheets leave it out
    for line in page.lines:
        html = [node.content.strip("</>") for node in line.nodes if node.type == "html_inline"]
        elements = {tag.split()[0] for tag in html if tag[:1].isalpha()}
        if RAW_MARKUP.search(line.text) or elements - ELEMENTS:
            yield f"{line.where}: some viewers show this raw: {line.text[:60]!r}"
        whole = line.in_references or line.kind in ("row", "heading")
        if not whole and TWO_SENTENCES.search(line.content.removeprefix(f"**{line.label}** ")):
            yield f"{line.where}: more than one sentence in a line: {line.text[:60]!r}"
        if line.text.count("$$") % 2 and line.text.strip() != "$$":
            yield f"{line.where}: put $$ on a line of its own, or both on one line"
        name = re.sub(r"[ \d]", "", line.content)
        if name.startswith("<summary>") and kinds.setdefault(name, line.fold) != line.fold:
            yield f"{line.where}: other folds of this name are of class {kinds[name]!r}"


def reference_problems(page):
    """Check that equations and references are numbered 1, 2, ..., and are there where named."""
    tags, listed, cited, file = page.equations, [], {}, page.chapter.file
    for line in page.lines:
        for number in {*prose.EQUATION.findall(line.plain)} - {*tags}:
            if number.startswith(f"{page.number}."):
                yield f"{line.where}: there is no equation ({number})"
        numbers = prose.REFERENCE.findall(line.text) if line.in_references else []
        following = (node.next_sibling for node in line.nodes if node.type == "link")
        if numbers and any(node and node.content.startswith(". ") for node in following):
            yield f"{line.where}: the note goes on a line of its own, indented"
        listed += numbers
        cited |= {number: line.where for number in line.citations if number not in cited}
    for numbers, first in ((tags, f"{page.number}."), (listed, "")):
        if numbers != [f"{first}{at}" for at, _ in enumerate(numbers, 1)]:
            yield f"{file}: numbered {', '.join(numbers)}"
    yield from (f"{at}: there is no reference [{n}]" for n, at in cited.items() if n not in listed)
    yield from (f"{file}: reference [{n}] is not cited" for n in listed if n not in cited)


def number_problems(page):
    """Check that numbers in prose, but small integers, are shown above, given in code, or cited."""
    given = numbers_in(page.code.replace("_", ""))
    outputs = [[*map(seen, cell.get("outputs", []))] for cell in page.executed.cells]
    shown = [numbers_in("\n".join(texts)) for texts in outputs]
    for line in page.lines if page.name != PAGE else ():
        if line.in_references or line.citations or line.role == "time":
            continue  # others look at citations, and the binder counts the minutes
        read = " ".join(n.content for n in line.nodes if not n.children and n.type != "html_inline")
        text = NAMED.sub("", THOUSANDS.sub("", prose.TAG.sub("", read or line.content)))
        links = [link.words for link in line.links if prose.EQUATION.fullmatch(link.words)]
        for name in [*links, *(f"({number})" for number in page.equations)]:
            text = text.replace(name, "")
        for number in (match[0] for match in NUMBER.finditer(text)):
            needed = not number.isdigit() or len(number) > 2
            if needed and not agrees(number, sum(shown[: line.cell], given)):
                yield f"{line.where}: no output above shows {number}: {line.text[:60]!r}"


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", text)]


def seen(output) -> str:
    """Return what a reader sees of an output, as text: of an explorer, all its frames."""
    data = output.get("data", {})
    html = data.get("text/html", "")
    frames = " ".join(re.findall(r'data-(?:frames|curves|sliders)="([^"]*)"', html))
    html = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    texts = output.get("text", ""), output.get("evalue", ""), data.get("text/plain", "")
    return "\n".join([*texts, html + frames])


def link_problems(page, pages, folder):
    """Check that links and the equations they name exist, and that pictures have alt text."""
    for line in page.lines:
        for link in line.links:
            target, path, _, anchor = link.target, *link.target.partition("#")
            if target.startswith(("https://", "http://")):
                continue
            if link.kind == "image" and not link.words.strip():
                yield f"{line.where}: the picture {target} has no alt text"
            path = path.removeprefix(f"../{FIRST.framework}/")  # from another folder of notebooks
            goal = pages.get(path.removesuffix(".ipynb")) if path.endswith(".ipynb") else page
            if goal is None or (goal is page and path and not (folder / path).exists()):
                yield f"{line.where}: {path} does not exist"
            elif anchor and anchor not in goal.anchors:
                yield f"{line.where}: {goal.name} has no heading #{anchor}"
            elif (named := prose.EQUATION.match(link.words)) and named[1] not in goal.equations:
                yield f"{line.where}: {goal.name} has no equation {named[0]}"


def agrees(number: str, shown: list[float]) -> bool:
    """Say whether a number as quoted is one of the shown ones, rounded to the digits quoted."""
    percent, quoted = number.endswith("%"), number.removesuffix("%")
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
    write_files(tmp_path, {"figures/idea_(b).svg": ""})
    text, notation = (dict(FILES)[f"book/{name}.md"] for name in (SAMPLE, "notation"))
    pages = [page("notation", notation, tmp_path), page(SAMPLE, text, tmp_path)]
    assert problems(pages, tmp_path) == []
    pages[1] = page(SAMPLE, text.replace(old, new, 1), tmp_path)
    found = problems(pages, tmp_path)
    assert any(problem.startswith(f"{SAMPLE}{told}") for problem in found), found


def foreign_terms(edition):
    """Find terms of other frameworks, but where a sentence names the framework, too."""
    framework = load(edition.framework)
    for line in (line for page in pages(edition) for line in page.lines):
        if not line.in_references and not re.search(framework.EXCUSE, line.text):
            for term, instead in framework.FOREIGN.items():
                if re.search(term, line.text, re.IGNORECASE):
                    yield f"{line.where}: {term}, but it is {instead}"


def letter_problems(edition):
    """Check that a letter stands in its chapter, its names in code, with one meaning there."""
    text, code, declared = {}, {}, Counter()
    for page in pages(edition):
        text[page.number] = page.text if page.name != PAGE else ""
        code[page.number] = page.code
    text[None], code[None] = "\n".join(text.values()), "\n".join(code.values())
    for letter in read_notation(BOOK.source, edition.framework):
        symbols = letter.symbol.split(", ")
        names = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in letter.names if name != "…"]
        for at in letter.chapters:
            declared.update((symbol, at) for symbol in symbols)
            missing = [symbol for symbol in symbols if symbol.strip("$") not in text[at]]
            missing += [name for name in names if not re.search(name, code[at])]
            yield from (f"notation.toml: {name} is not in chapter {at}" for name in missing)
    yield from (f"notation.toml: {what} is twice" for what, n in declared.items() if n > 1)


@pytest.mark.parametrize("edition", EDITIONS, ids=lambda edition: edition.framework)
def test_numbers_links_citations_letters_and_terms_of_this_book_are_right(edition):
    titles = {line.title for page in GUESTS for line in page.lines}
    assert {title for one in BOOK.alone for _, title in one.sections} <= titles
    found = problems(pages(edition) + GUESTS, BOOK.source)
    found += [*foreign_terms(edition), *letter_problems(edition)]
    assert not found, "\n".join(["", *found])


def texts_in(language):
    """Yield all that is written in a language, with the name of its file."""
    if language != ENGLISH:
        for name in (*BOOK.chapters, *BESIDE):  # reading says which translation has lost something
            yield from ((f"{name}.po", text) for text in language.read(name).values())
    else:
        for files in ("*.md", "book/**/*.md", "bookbinder/**/*.py", "d2l_attention/**/*.py"):
            for path in ROOT.glob(files):
                yield from ((path.name, line) for line in path.read_text("utf-8").splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("language", [ENGLISH, *OTHERS], ids=lambda language: language.tag)
def test_a_language_has_the_words_of_its_field_and_its_plan_of_lectures_the_headings(language):
    lines = (BOOK.source / "locale/not_said.tsv").read_text("utf-8").splitlines()
    words = [(*line.split("\t"), "")[1:4] for line in lines if line.startswith(language.tag)]
    for file, text in texts_in(language):
        for word, instead, allowed in words:
            found = re.search(word, text, re.IGNORECASE if word.islower() else 0)
            assert not found or file in allowed, f"{file}: {found[0]!r}, but {instead}: {text}"
    folder = ROOT if language == ENGLISH else catalog_file(BOOK, language.tag, "").parent
    lectures = re.findall(r"^\| (\d+) \| (.*)$", (folder / "TEACHING.md").read_text("utf-8"), re.M)
    english = "" if language == ENGLISH else (ROOT / "TEACHING.md").read_text("utf-8")
    taught = chapters_of(BOOK, BOOK.edition(FIRST.framework, language.tag))
    numbered = [chapter for chapter in taught if number_of(chapter.name) is not None]
    for (number, plan), chapter in zip(lectures, numbered, strict=True):
        assert number == str(number_of(chapter.name))
        titles = [line.title for line in headings_of(chapter)]
        for named in re.findall(r"\*([^*]+)\*", plan if plan not in english else ""):
            assert any(title.startswith(named) for title in titles), (number, named)


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS, ids=lambda language: language.tag)
def test_catalogs_are_those_of_the_book_and_made_into_files(language):
    names = {path.stem for path in catalog_file(BOOK, language.tag, "").parent.glob("*.po")}
    assert names == {*BOOK.chapters, *BESIDE}
    stored = compiled_file(BOOK, language.tag).read_bytes()
    assert catalog.translations(read_mo(BytesIO(stored))) == language.read(PRACTICE)
    for page in PAGES:
        file = page_file(BOOK, language.tag, page)
        assert file.read_text("utf-8") == translated_page(BOOK, language.tag, page)
