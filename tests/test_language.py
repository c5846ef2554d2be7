"""The field's language: homemade words stay out, terms are explained where they first appear."""

import re
from itertools import chain, product

import pytest

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
HOMEMADE = {  # what readers would not find in another text -> what they would
    r"stand-ins?\b": "tracer, fake tensor or batched tensor",
    r"blend(s|ed|ing)?\b": "weighted sum",
    r"chang(ed|es|e) vectors": "feature maps",
    r"thin matri(x|ces)": "low-rank factors",
    r"practice points": "validation set",
    r"babbl(e|es|ing)\b": "predict",
    r"\bbends?\b": "nonlinearity",
    r"\blids?\b": "bound",
    r"\b(referees?|oracles?)\b": "reference implementation",
    r"empty rows?\b": "fully masked row",
    r"plain steps": "math backend",
    r"graphics processors?": "GPU",
    r"way back\b": "backward pass",
    r"dictat(e|es|ed|ing|ion)\b": "teacher-force, teacher forcing",
    r"cut to a norm": "gradient clipping",
    r"step sizes?\b": "learning rate",
    r"do not vary together|vary together": "uncorrelated",
    r"misses by": "bias",
    r"\bWhoever\b": "whoever: say who does it",
    r"\b(can|may|has to|is to) be had\b": "be had: say it as a lecturer would",
    r"\b(obviously|simply)\b": "nothing",
    r"\bNote that\b": "nothing",
}
ALLOWED = {  # file name -> what may stand there, and why
    # Once, as an image for the weighted sum: a heading, a sentence, and the comment they make.
    "01_queries_keys_values.md": {"Blend", "blends"},
    "torch.py": {"Blend"},
    "jax.py": {"Blend"},
    "tensorflow.py": {"Blend"},
    "08_kernels.md": {"bend"},  # of a curve
}


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


@pytest.mark.slow
def test_homemade_words_stay_out():
    found = [
        f"{path.name}:{number}: {match[0]!r}: {instead}"
        for path in WRITTEN
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for word, instead in HOMEMADE.items()
        for match in re.finditer(word, line, re.IGNORECASE if word.islower() else 0)
        if match[0] not in ALLOWED.get(path.name, ())
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
