"""The words of the binder itself, which catalogs translate like the sentences of the book.

`worded` marks such a text in Python, a call of `say` in a script.
"""

from collections.abc import Iterator
from pathlib import Path

KEYWORDS = {"say": None, "worded": None}
SCRIPTS = {".py": "python", ".js": "javascript"}


def worded(text: str) -> str:
    """Return the text; where it stands in the source, it is found for the catalogs."""
    return text


def words_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts in calls of `say` and `worded` below a folder, each with its file."""
    from babel.messages.extract import extract_from_file  # only translators need it

    for path in sorted(folder.rglob("*")):
        if kind := SCRIPTS.get(path.suffix):
            for _, text, _, _ in extract_from_file(kind, path, KEYWORDS):
                yield text, path.relative_to(folder.parent).as_posix()
