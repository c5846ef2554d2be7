"""A language that no one speaks: every letter with a mark, so that what stays English is seen.

`PSEUDO` says this book's messages in it; `pseudo_book` is this book with catalogs in it for one of
its languages.
"""

import copy
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog

from bookbinder.catalogs import INTERFACE, WORDS_IN_FORMULA, as_po, catalog_file, translations
from bookbinder.config import FILE, Book, read_book
from bookbinder.files import write_whole
from bookbinder.language import COMPOSED, Language
from bookbinder.messages import templates
from tests.this_book import BOOK

LANGUAGE = "id"  # in whose place it stands
PLAIN, MARKED = "aeiouycnsztlrgkdAEIOUYCNSZTLRGKD", "áéíóúýčñšžťĺŕğķďÁÉÍÓÚÝČÑŠŽŤĹŔĞĶĎ"
MARKS = str.maketrans(PLAIN, MARKED)
AS_WRITTEN = re.compile(
    r"\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|<[^>]*>|\{\{?\w+\}\}?|\]\((?:[^()]|\([^()]*\))*\)|https?://\S+"
)
# What of the book a copy shares; the catalogs and all that is built are its own.
SHARED = ("bookbinder", "d2l_attention", "notebooks", "README.md", "TEACHING.md", "EXERCISES.md")


def pseudo(text: str) -> str:
    if "$" not in text and WORDS_IN_FORMULA.search(text):
        return WORDS_IN_FORMULA.sub(lambda found: f"\\text{{{pseudo(found[1])}}}", text)
    parts, at = [], 0
    for kept in AS_WRITTEN.finditer(text):
        parts += [text[at : kept.start()].translate(MARKS), kept[0]]
        at = kept.end()
    return "".join([*parts, text[at:].translate(MARKS)])


@cache
def messages() -> dict:
    return templates(BOOK)


@cache
def catalog(name: str) -> Catalog:
    """Return a catalog of this book in the pseudo-language, empty where there is none."""
    made = copy.deepcopy(messages().get(name, Catalog(fuzzy=False)))
    for message in made:
        message.string = message.id and pseudo(message.id)
    return made


@cache
def said(name: str) -> dict[str, str]:
    return translations(catalog(INTERFACE if name == COMPOSED else name))


PSEUDO = Language(LANGUAGE, said)


def pseudo_book(root: Path) -> Book:
    """Return this book in a folder of its own, with a translation in the pseudo-language."""
    for name in SHARED:
        (root / name).symlink_to(BOOK.root / name)
    (root / "book").mkdir()
    for path in BOOK.source.iterdir():
        if path.name != "locale":
            (root / "book" / path.name).symlink_to(path)
    shutil.copy(BOOK.root / FILE, root / FILE)
    book = replace(read_book(root), languages=("en", LANGUAGE))
    for name in messages():
        write_whole(catalog_file(book, LANGUAGE, name), as_po(catalog(name), LANGUAGE))
    return book
