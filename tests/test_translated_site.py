"""The site of the pseudo-language: it has all that the English site has, and says nothing plain."""

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
SAME = (  # what a page has as often as in English
    "section[id], section[class*=role-], .box, details, .cell_output, img, table, .book-card",
    "[id^=equation-], [id^=reference-], a[href*='#reference-'], a.equation, strong[id^=term-]",
    ".genindextable li",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of both editions, by name: (English, translated)."""
    book = pseudo_book(tmp_path_factory.mktemp("a site"))
    build_site(replace(book, editions=book.editions[:1]), ("en", LANGUAGE))
    site, first = site_folder(book), book.editions[0].framework

    def page(path):
        return bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")

    folders = site, site / f"{first}-{LANGUAGE}"
    return {name: [page(folder / f"{name}.html") for folder in folders] for name in NAMES}


def test_a_translated_page_has_all_that_the_english_one_has(pages):
    for what in ", ".join(SAME).split(", "):
        counts = {name: [len(page.select(what)) for page in both] for name, both in pages.items()}
        assert any(english for english, _ in counts.values()), what
        assert not {name: both for name, both in counts.items() if both[0] != both[1]}, what


def test_nothing_of_a_translated_page_is_plain_english(pages):
    found = Counter()
    for name, (_, page) in pages.items():
        assert page.html["lang"] == LANGUAGE
        hidden = {id(text) for part in page.select(ENGLISH) for text in part.find_all(string=True)}
        for text in page.body.find_all(string=True):
            words = re.findall(r"(?<![\w“])[A-Za-z]{3,}(?!\w)", text)
            plain = [word for word in words if set(word) & set(PLAIN)]
            shown = type(text) is bs4.NavigableString and id(text) not in hidden
            if shown and len(plain) > 2 and not set(text) & set(MARKED):
                found[name, text.strip()[:80]] += 1
    assert found == {}
