"""What a reader's language says: the last step of whatever goes to a reader.

Everything before it works on English. A line is a message of a catalog, word for word, or a message
with fields (`"about {minutes} minutes to read"`) whose fields may be messages again.
"""

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from babel.messages.catalog import Catalog

from bookbinder.catalogs import INTERFACE, is_said, read_catalog, said
from bookbinder.config import ENGLISH, Book

FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Language:
    """The catalogs of one language; English has none and says everything as it is."""

    tag: str
    read: Callable[[str], Catalog] = field(compare=False)  # name -> catalog

    def said(self, text: str, *names: str) -> str:
        """Return a text in this language by the first of the catalogs that has it, else as it is.

        Without names, by the catalog of the binder's own words.
        """
        if self.tag == ENGLISH:
            return text
        ways = (self.exactly, self.with_fields)
        answers = (way(text, name) for way in ways for name in names or (INTERFACE,))
        return next((answer for answer in answers if answer is not None), text)

    def exactly(self, text: str, name: str) -> str | None:
        catalog = self.read(name)
        return said(catalog, text) if is_said(catalog, text) else None

    def with_fields(self, text: str, name: str) -> str | None:
        """Return a text that is a message with something in its fields, with these in words."""
        for pattern, message in patterns(self, name):
            if match := pattern.fullmatch(text):
                fields = {key: self.said(part, name) for key, part in match.groupdict().items()}
                return said(self.read(name), message).format(**fields)
        return None


def language_of(book: Book, tag: str) -> Language:
    """Return a language of the book; its catalogs are read when they are asked for."""
    return Language(tag, functools.cache(lambda name: read_catalog(book, tag, name)))


@functools.cache
def patterns(language: Language, name: str) -> list[tuple[re.Pattern, str]]:
    """Return the messages with fields of a catalog, those with most words first, as patterns."""
    messages = [m.id for m in language.read(name) if m.id and FIELD.search(m.id)]
    return [(re.compile("".join(parts(m))), m) for m in sorted(messages, key=len, reverse=True)]


def parts(message: str) -> Iterator[str]:
    """Yield the parts of a pattern: a message's words as they are, and groups for its fields."""
    for at, part in enumerate(FIELD.split(message)):
        yield f"(?P<{part}>.+)" if at % 2 else re.escape(part)
