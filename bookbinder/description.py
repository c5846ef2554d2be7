"""Read book.toml, the one description of the book."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bookbinder.errors import BookError

FILE = "book.toml"
CHAPTER = re.compile(r"\d\d_[a-z0-9_]+")
FRAMEWORKS = ("pytorch", "jax", "tensorflow", "mxnet")
LANGUAGES = ("en",)
BOOK_KEYS = {
    "title": str,
    "source": str,
    "seconds_per_cell": int,
    "chapters": list,
    "editions": list,
}
OPTIONAL_KEYS = {"repository": str, "two_hours": list}  # where it is published; a short path
REPOSITORY = re.compile(r"(https|file)://[^\s\"'\\]+")  # for pip after "git+", inside quotes
EDITION_KEYS = {"framework": str, "language": str, "notebooks": str, "module": str}


@dataclass(frozen=True)
class Edition:
    """One framework in one language, and where its generated files go."""

    framework: str
    language: str
    notebooks: Path
    module: Path


@dataclass(frozen=True)
class Book:
    """The book as book.toml describes it; all paths are absolute."""

    root: Path
    title: str
    source: Path
    seconds_per_cell: int
    chapters: tuple[str, ...]
    editions: tuple[Edition, ...]
    repository: str = ""
    two_hours: tuple[str, ...] = ()  # "chapter", or "chapter#Heading"

    def chapter_file(self, name: str) -> Path:
        return self.source / f"{name}.md"

    def named(self, path: Path) -> str:
        """Return `path` as it is written in messages: from the root of the book."""
        return path.relative_to(self.root).as_posix()


def read_book(root: Path) -> Book:
    """Return the book that `root`/book.toml describes.

    Raises BookError for a key or chapter that is missing, misspelt or of the wrong type, for an
    unknown framework, and for a chapter file that book.toml does not list.
    """
    root = root.resolve()
    try:
        table = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BookError(
            f"{FILE}: not found in {root}; run this from the root of the book"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BookError(f"{FILE}: {error}") from None
    check_keys(
        {key: kind() for key, kind in OPTIONAL_KEYS.items()} | table,
        BOOK_KEYS | OPTIONAL_KEYS,
        FILE,
    )
    book = Book(
        root=root,
        title=table["title"],
        source=root / table["source"],
        seconds_per_cell=table["seconds_per_cell"],
        chapters=tuple(table["chapters"]),
        editions=tuple(read_edition(root, entry) for entry in table["editions"]),
        repository=table.get("repository", ""),
        two_hours=tuple(map(str, table.get("two_hours", ()))),
    )
    if book.seconds_per_cell <= 0:
        raise BookError(f"{FILE}: seconds_per_cell must be positive, got {book.seconds_per_cell}")
    if book.repository and not REPOSITORY.fullmatch(book.repository):
        raise BookError(
            f"{FILE}: repository must be an address like 'https://github.com/owner/name', "
            f"got {book.repository!r}"
        )
    if not book.editions:
        raise BookError(f"{FILE}: editions must list at least one edition")
    check_places(book)
    check_chapters(book)
    return book


def read_edition(root: Path, entry: object) -> Edition:
    if not isinstance(entry, dict):
        raise BookError(f"{FILE}: editions must be tables, [[editions]], got {entry!r}")
    check_keys(entry, EDITION_KEYS, f"{FILE}: [[editions]]")
    for key, known in (("framework", FRAMEWORKS), ("language", LANGUAGES)):
        if entry[key] not in known:
            raise BookError(
                f"{FILE}: unknown {key} {entry[key]!r}{guess(entry[key], known)}; "
                f"known: {', '.join(known)}"
            )
    return Edition(
        entry["framework"], entry["language"], root / entry["notebooks"], root / entry["module"]
    )


def check_keys(table: dict, expected: dict[str, type], where: str) -> None:
    for key in table:
        if key not in expected:
            raise BookError(f"{where}: unknown key {key!r}{guess(key, expected)}")
    for key, kind in expected.items():
        if key not in table:
            raise BookError(f"{where}: missing key {key!r}")
        if not isinstance(table[key], kind) or isinstance(table[key], bool):
            raise BookError(f"{where}: {key} must be of type {kind.__name__}, got {table[key]!r}")


def check_places(book: Book) -> None:
    """Raise BookError where a path leads out of the book, or two editions write to one place."""
    folders = [edition.notebooks for edition in book.editions]
    for path in [book.source, *folders, *(edition.module for edition in book.editions)]:
        if not path.resolve().is_relative_to(book.root):
            raise BookError(f"{FILE}: {path} is outside the folder of the book")
    for folder in folders:
        if folders.count(folder) > 1:
            raise BookError(f"{FILE}: two editions write to {book.named(folder)}")


def check_chapters(book: Book) -> None:
    """Raise BookError unless book.toml lists just the files in the source folder."""
    written = {path.stem for path in book.source.glob("*.md")}
    seen = set()
    for name in book.chapters:
        if not isinstance(name, str):
            raise BookError(f"{FILE}: chapters must be names, got {name!r}")
        if not CHAPTER.fullmatch(name):
            raise BookError(f"{FILE}: chapters are named like '04_masked_softmax', got {name!r}")
        if name in seen:
            raise BookError(f"{FILE}: chapter {name!r} is listed twice")
        if name not in written:
            file = book.named(book.chapter_file(name))
            raise BookError(
                f"{FILE}: chapter {name!r} has no file {file}{guess(name, written - seen)}"
            )
        seen.add(name)
    for name in sorted(written - seen):
        file = book.named(book.chapter_file(name))
        raise BookError(f"{file}: not listed under chapters in {FILE}")


def guess(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" where a known word is close, else nothing."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
