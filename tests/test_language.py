"""The field's language: homemade words stay out, terms are explained where they first appear."""

import re
from itertools import chain, product

import pytest

from bookbinder.catalogs import read_catalog, translations
from bookbinder.chapters import number_of
from bookbinder.notation import PAGE, read_notation
from d2l_attention.frameworks import load
from tests.conftest import ROOT
from tests.text_checks import early_uses
from tests.this_book import BOOK, chapters, pages

WRITTEN = sorted(
    chain(
        (ROOT / "book").rglob("*.md"),
        ROOT.glob("*.md"),
        (ROOT / "d2l_attention").rglob("*.py"),
        (ROOT / "bookbinder").rglob("*.py"),
    )
)
NOT_SAID = [  # what readers would not find in another text, and what they would
    (*line.split("\t"), "")[:4]
    for line in (BOOK.source / "locale/not_said.tsv").read_text("utf-8").splitlines()[1:]
]


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
def test_sentences_speak_the_terms_of_their_framework(edition):
    framework = load(edition.framework)
    found = [
        f"{line.where}: {match[0]!r}: {instead}"
        for page in pages(edition)
        for line in page.lines
        # A sentence that names another framework may use its terms.
        if not line.in_references and not re.search(framework.EXCUSE, line.text)
        for term, instead in framework.FOREIGN.items()
        if (match := re.search(term, line.text, re.IGNORECASE))
    ]
    assert not found, "\n".join(["", *found])


def said_in_all_languages():
    for path in WRITTEN:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield "en", path.name, f"{number}: {line}"
    for path in sorted(BOOK.source.glob("locale/*/*.po")):
        for said in translations(read_catalog(BOOK, path.parent.name, path.stem)).values():
            yield path.parent.name, path.name, said


@pytest.mark.slow
def test_words_that_the_field_does_not_use_stay_out():
    found = [
        f"{language} {file}: {match[0]!r}, but {instead}: {text}"
        for language, file, text in said_in_all_languages()
        for of, word, instead, allowed in NOT_SAID
        if of == language and file not in allowed
        if (match := re.search(word, text, re.IGNORECASE if word.islower() else 0))
    ]
    assert not found, "\n".join(["", *found])


def test_a_letter_stands_in_its_chapter_and_has_one_meaning_there():
    formulas = {page.number: page.text for page in pages(BOOK.editions[0]) if page.name != PAGE}
    formulas[None] = "\n".join(formulas.values())
    declared: list[tuple[str, int | None]] = []
    for letter in read_notation(BOOK.source, BOOK.editions[0].framework):
        for symbol, chapter in product(letter.symbol.split(", "), letter.chapters):
            assert symbol.strip("$") in formulas[chapter], (letter, chapter)
            declared.append((symbol, chapter))
    assert [entry for entry in declared if declared.count(entry) > 1] == []


def test_no_letter_has_more_than_three_meanings():
    meanings: dict[str, set[str]] = {}
    for letter in read_notation(BOOK.source, BOOK.editions[0].framework):
        for plain in set(re.findall(r"\$(\\ell|[a-zA-Z])\b", letter.symbol)):
            meanings.setdefault(plain, set()).add(letter.meaning)
    assert {plain: said for plain, said in meanings.items() if len(said) > 3} == {}


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
def test_the_name_of_a_letter_in_code_stands_in_the_code_of_its_chapter(edition):
    code = {
        number_of(chapter.name): "\n".join(
            cell.source for cell in chapter.notebook.cells if cell.cell_type == "code"
        )
        for chapter in chapters(edition)
    }
    code[None] = "\n".join(code.values())
    letters = read_notation(BOOK.source, edition.framework)
    missing = [
        f"{letter.symbol} of chapter {chapter}: {name}"
        for letter in letters
        for name, chapter in product(letter.names, letter.chapters)
        if name != "…" and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code[chapter])
    ]
    assert not missing, "\n".join(["", *missing])


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda e: e.framework)
def test_every_term_of_the_index_is_explained_where_it_first_appears(edition):
    found = early_uses(pages(edition))
    assert not found, "\n".join(["", *found])
