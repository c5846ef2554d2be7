"""A language that no one speaks: every letter with a mark, so that what stays English is seen.

`pseudo_book` is this book with catalogs in it for one of its languages.
"""

import copy
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from this_book import BOOK

from bookbinder.catalogs import as_po, catalog_file
from bookbinder.config import FILE, Book, read_book
from bookbinder.files import write_whole
from bookbinder.messages import templates
from bookbinder.sentences import WORDS_IN_FORMULA

LANGUAGE = "id"  # in whose place it stands
PLAIN, MARKED = "aeiouycnsztlrgkdAEIOUYCNSZTLRGKD", "áéíóúýčñšžťĺŕğķďÁÉÍÓÚÝČÑŠŽŤĹŔĞĶĎ"
MARKS = str.maketrans(PLAIN, MARKED)
AS_WRITTEN = re.compile(
    r"\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|<[^>]*>|\{\{?\w+\}\}?|\]\((?:[^()]|\([^()]*\))*\)|https?://\S+"
)
# What of the book a copy shares; the catalogs and all that is built are its own.
SHARED = ("bookbinder", "d2l_attention", "notebooks", "README.md")


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


def pseudo_book(root: Path, names: Iterable[str] | None = None) -> Book:
    """Return this book in a folder of its own, with a translation in the pseudo-language.

    `names` are the catalogs that are complete; the others are not there.
    """
    for name in SHARED:
        (root / name).symlink_to(BOOK.root / name)
    (root / "book").mkdir()
    for path in BOOK.source.iterdir():
        if path.name != "locale":
            (root / "book" / path.name).symlink_to(path)
    shutil.copy(BOOK.root / FILE, root / FILE)
    book = replace(read_book(root), languages=("en", LANGUAGE))
    for name in messages() if names is None else names:
        write_catalog(book, name)
    return book


def write_catalog(book: Book, name: str, **other: str) -> None:
    """Write a catalog in the pseudo-language; `other` is what some English texts become."""
    catalog = copy.deepcopy(messages()[name])
    for message in catalog:
        if message.id:
            message.string = other.get(message.id, pseudo(message.id))
    write_whole(catalog_file(book, LANGUAGE, name), as_po(catalog, LANGUAGE))
