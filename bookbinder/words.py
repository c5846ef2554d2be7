"""The words that the binder itself writes, in the reader's language."""

from collections.abc import Callable

from bookbinder.config import Book

Say = Callable[[str], str]


def worded(text: str) -> str:
    """Return the text: it marks a literal that is said elsewhere."""
    return text


def say_in(book: Book, language: str) -> Say:
    return str
