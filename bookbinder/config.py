"""Read book.toml, the one description of the book."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bookbinder.errors import BookError
from d2l_attention.frameworks import known

FILE = "book.toml"
CHAPTER = re.compile(r"\d\d_[a-z0-9_]+")
LANGUAGES = ("en",)
BOOK_KEYS = {
    "title": str,
    "source": str,
    "seconds_per_cell": int,
    "chapters": list,
    "frameworks": dict,
    "languages": list,
}
OPTIONAL_KEYS = {"repository": str, "two_hours": list}  # where it is published; a short path
REPOSITORY = re.compile(r"(https|file)://[^\s\"'\\]+")  # for pip after "git+", inside quotes
FRAMEWORK_KEYS = {"name": str, "module": str}
OPTIONAL_FRAMEWORK_KEYS = {"without": list}  # chapters that this framework's editions leave out


@dataclass(frozen=True)
class Edition:
    """One framework in one language, and where its generated files go."""

    framework: str  # as folders and commands name it
    language: str
    notebooks: Path
    module: Path
    name: str  # as readers name it
    without: tuple[str, ...] = ()  # chapters that it leaves out


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

    def chapters_of(self, edition: Edition) -> list[str]:
        """Return the chapters of an edition, in the order of the book."""
        return [name for name in self.chapters if name not in edition.without]

    def overlay_file(self, edition: Edition, name: str) -> Path | None:
        """Return where an edition has what differs from a chapter; None for the first framework."""
        if edition.framework == self.editions[0].framework:
            return None
        return self.source / edition.framework / f"{name}.md"

    def edition(self, framework: str) -> Edition:
        """Return the first edition of a framework."""
        known = list(dict.fromkeys(e.framework for e in self.editions))
        if framework not in known:
            raise BookError(
                f"no framework {framework!r} in {FILE}{guess(framework, known)}; "
                f"known: {', '.join(known)}"
            )
        return next(e for e in self.editions if e.framework == framework)

    def named(self, path: Path) -> str:
        """Return `path` as it is written in messages: from the root of the book."""
        return path.relative_to(self.root).as_posix()


def read_book(root: Path) -> Book:
    """Return the book that `root`/book.toml describes.

    Raises BookError for a key or chapter that is missing, misspelt or of the wrong type, for an
    unknown language, and for a chapter file or an overlay that book.toml does not list.
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
        editions=read_editions(root, table["frameworks"], table["languages"]),
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
    check_places(book)
    check_chapters(book)
    return book


def read_editions(root: Path, frameworks: dict, languages: list) -> tuple[Edition, ...]:
    """Return each framework in each language; the first ones are those of the book's source."""
    for what, listed in (("frameworks", frameworks), ("languages", languages)):
        if not listed:
            raise BookError(f"{FILE}: {what} must have at least one entry")
    for language in languages:
        if language not in LANGUAGES:
            raise BookError(
                f"{FILE}: unknown language {language!r}{guess(language, LANGUAGES)}; "
                f"known: {', '.join(LANGUAGES)}"
            )
    editions = []
    for framework, entry in frameworks.items():
        where = f"{FILE}: [frameworks.{framework}]"
        if framework not in known():
            names = ", ".join(known())
            raise BookError(f"{where}: not in d2l_attention/frameworks/; known: {names}")
        if not isinstance(entry, dict):
            raise BookError(f"{where} must be a table, got {entry!r}")
        check_keys(
            {key: kind() for key, kind in OPTIONAL_FRAMEWORK_KEYS.items()} | entry,
            FRAMEWORK_KEYS | OPTIONAL_FRAMEWORK_KEYS,
            where,
        )
        for language in languages:
            folder = framework if language == languages[0] else f"{framework}-{language}"
            editions.append(
                Edition(
                    framework,
                    language,
                    root / "notebooks" / folder,
                    root / entry["module"],
                    entry["name"],
                    tuple(map(str, entry.get("without", ()))),
                )
            )
    return tuple(editions)


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
    """Raise BookError where a path leads out of the book, or two frameworks share a module."""
    modules = {edition.framework: edition.module for edition in book.editions}
    for path in [book.source, *modules.values()]:
        if not path.resolve().is_relative_to(book.root):
            raise BookError(f"{FILE}: {path} is outside the folder of the book")
    for module in modules.values():
        if list(modules.values()).count(module) > 1:
            raise BookError(f"{FILE}: two frameworks write to {book.named(module)}")


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
    for edition in book.editions:
        check_overlays(book, edition)


def check_overlays(book: Book, edition: Edition) -> None:
    """Raise BookError for an overlay of no chapter, and where what is left out does not exist."""
    for name in edition.without:
        if name not in book.chapters:
            raise BookError(
                f"{FILE}: [frameworks.{edition.framework}]: without names no chapter: {name!r}"
                f"{guess(name, book.chapters)}"
            )
    there = book.chapters_of(edition)
    for path in sorted((book.source / edition.framework).glob("*.md")):
        if edition.framework == book.editions[0].framework:
            raise BookError(
                f"{book.named(path)}: the chapters of {edition.framework}, the first framework, "
                f"stand in {book.named(book.source)}/ itself"
            )
        if path.stem not in there:
            raise BookError(
                f"{book.named(path)}: the edition has no chapter {path.stem!r}"
                f"{guess(path.stem, there)}"
            )


def guess(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" where a known word is close, else nothing."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
