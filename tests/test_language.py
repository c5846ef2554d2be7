"""The field's language: homemade words stay out, terms and letters are explained, in all languages.

What reads the catalogs of four languages stands here, where they are read once.
"""

import re
from io import BytesIO
from itertools import chain

import pytest
from babel.messages.mofile import read_mo

from bookbinder.catalogs import BESIDE, PAGES, PRACTICE, catalog_file, translations
from bookbinder.chapters import number_of
from bookbinder.language import language_of, translated
from bookbinder.messages import compiled_file, page_file, translated_page
from bookbinder.notation import PAGE, read_notation
from bookbinder.page import TERM, Line, headings_of, singular
from d2l_attention.frameworks import load
from tests.conftest import ROOT
from tests.this_book import BOOK, chapters, pages

FIRST = BOOK.editions[0]
FOLDERS = ("book", "d2l_attention", "bookbinder")
WRITTEN = chain(ROOT.glob("*.md"), *(ROOT.glob(f"{name}/**/*.[pm][yd]") for name in FOLDERS))
NOT_SAID = [  # language, what readers would not find in another text, what they would, exceptions
    (*line.split("\t"), "")[:4]
    for line in (BOOK.source / "locale/not_said.tsv").read_text("utf-8").splitlines()[1:]
]
ENGLISH, *OTHERS = (language_of(BOOK, tag) for tag in BOOK.languages)
of_each_edition = pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
of_each_language = pytest.mark.parametrize("language", OTHERS, ids=lambda language: language.tag)


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
    for path in WRITTEN:
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
    numbered = {str(number_of(chapter.name)): chapter for chapter in chapters(FIRST)}
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
    meanings: dict[str, set[str]] = {}
    for letter in read_notation(BOOK.source, edition.framework):
        for plain in re.findall(r"\$(\\ell|[a-zA-Z])\b", letter.symbol):
            meanings.setdefault(plain, set()).add(letter.meaning)
        for number in letter.chapters:
            for symbol in letter.symbol.split(", "):
                assert symbol.strip("$") in formulas[number], (letter, number)
                declared.append((symbol, number))
            for name in letter.names:
                found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code[number])
                assert found or name == "…", (letter, number)
    assert len({*declared}) == len(declared), "a symbol is declared twice"
    assert {plain: said for plain, said in meanings.items() if len(said) > 3} == {}


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
