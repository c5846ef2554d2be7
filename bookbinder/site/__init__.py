"""Bind the executed notebooks into a site of static files that works without a network."""

from bookbinder.book import Book, Edition


def folder_of(book: Book, edition: Edition) -> str:
    """Return the folder of an edition in the site: none for the first of the book."""
    return "" if edition == book.editions[0] else f"{edition.framework}-{edition.language}"
