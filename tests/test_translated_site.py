"""The site of the pseudo-language: it has all that the English site has, and says nothing plain."""

import copy
import re
from collections import Counter
from dataclasses import replace

import bs4
import pytest

from bookbinder.site.building import build_site, site_folder
from tests.pseudo import LANGUAGE, MARKED, PLAIN, pseudo_book
from tests.this_book import BOOK

NAMES = [*BOOK.chapters, "index", "functions", "references", "genindex", "search"]
# Code, formulas, cited works, labels of explorers, docstrings: English in every edition.
ENGLISH = (
    "pre, code, script, style, .math, svg, kbd, .role-references li, .d2l-explorer, dl.py dd, "
    "dl.py dt, .out, .onlyprint, .book-languages, .genindextable, .bd-article li p:has(a.external)"
)
SAME = {  # what a page has as often as in English
    "sections": "section[id]",
    "chapters' roles": "section[class*=role-]",
    "boxes": ".box",
    "folds": "details",
    "numbered equations": "[id^=equation-]",
    "references": "[id^=reference-]",
    "citations": "a[href*='#reference-']",
    "links to equations": "a.equation",
    "terms": "strong[id^=term-]",
    "outputs": ".cell_output",
    "pictures": "img",
    "tables": "table",
    "cards": ".book-card",
    "index entries": ".genindextable li",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    book = pseudo_book(tmp_path_factory.mktemp("a site"))
    book = replace(book, editions=book.editions[:1])
    build_site(book, ("en", LANGUAGE))
    return site_folder(book)


@pytest.fixture(scope="module")
def pages(site):
    """The pages of both editions, by name: (English, translated)."""

    def page(path):
        return bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")

    folder = site / f"{BOOK.editions[0].framework}-{LANGUAGE}"
    return {name: (page(site / f"{name}.html"), page(folder / f"{name}.html")) for name in NAMES}


def test_a_translated_page_has_all_that_the_english_one_has(pages):
    for what, selector in SAME.items():
        counts = {
            name: tuple(len(page.select(selector)) for page in both) for name, both in pages.items()
        }
        assert any(english for english, _ in counts.values()), what
        assert not {name: both for name, both in counts.items() if both[0] != both[1]}, what


def test_nothing_of_a_translated_page_is_plain_english(pages):
    found = Counter()
    for name, (_, whole) in pages.items():
        page = copy.deepcopy(whole)
        assert page.html["lang"] == LANGUAGE
        for part in page.select(ENGLISH):
            part.decompose()
        for text in page.body.find_all(string=True):
            words = re.findall(r"(?<![\w“])[A-Za-z]{3,}(?!\w)", text)
            plain = [word for word in words if set(word) & set(PLAIN)]
            if type(text) is bs4.NavigableString and len(plain) > 2 and not set(text) & set(MARKED):
                found[name, text.strip()[:80]] += 1
    assert found == {}
