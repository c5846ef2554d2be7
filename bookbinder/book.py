"""The book as book.toml describes it; its notebooks read, its files written whole or not at all."""

import contextlib
import difflib
import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from d2l_attention.frameworks import known, load

FILE = "book.toml"
COMMAND = "make notebooks"
PACKAGE = "d2l_attention"  # with the modules, and what they import that is written by hand
ENGLISH = "en"  # the language of the source
# What a book may be in, and how its readers name it.
LANGUAGES = {ENGLISH: "English", "zh": "中文", "ko": "한국어"}
LANGUAGES |= {"vi": "Tiếng Việt", "id": "Bahasa Indonesia"}
# Keys of book.toml, and those that it must have.
OPTIONAL = {"appendices": [], "parts": {}, "repository": "", "alone": {}}
ALONE = {"chapters", "sections", "wheels"}
NEEDED = ("title", "seconds_per_cell", "languages", "chapters", "frameworks")


class BookError(Exception):
    """A mistake in the book or its surroundings; the command line shows its text and stops."""


@dataclass(frozen=True)
class Edition:
    """One framework in one language, and where its generated files go."""

    root: Path
    framework: str  # as folders and commands name it
    language: str = ENGLISH
    words: tuple[tuple[str, str], ...] = ()  # what it says where a chapter has {{array}}

    @property
    def name(self) -> str:
        return load(self.framework).NAME

    @property
    def notebooks(self) -> Path:
        """The folder of its notebooks; those of a translation are made anew when asked for."""
        if self.language == ENGLISH:
            return self.root / "notebooks" / self.framework
        return self.root / "_build" / "notebooks" / f"{self.framework}-{self.language}"

    def notebook(self, name: str) -> Path:
        return self.notebooks / f"{name}.ipynb"

    @property
    def tag(self) -> str:
        """The language as HTML names it."""
        return "zh-CN" if self.language == "zh" else self.language

    @property
    def module(self) -> Path:
        return self.root / PACKAGE / f"{load(self.framework).PACKAGE}.py"


@dataclass(frozen=True)
class Book:
    """The book as book.toml describes it; all paths are absolute."""

    root: Path
    title: str
    seconds_per_cell: int
    languages: tuple[str, ...]
    chapters: tuple[str, ...]
    editions: tuple[Edition, ...]  # in English, one for each framework
    appendices: tuple[str, ...]  # the last chapters, named by letters in the contents
    parts: tuple[tuple[str, str], ...]  # titles, each with its first chapter
    repository: str  # where it is published
    alone: tuple["Book", ...] = ()  # frameworks with chapters of their own, each a book by itself
    folder: str = ""  # of such a one, in book/
    sections: tuple[tuple[str, str], ...] = ()  # its own, each for a chapter of the whole book

    @property
    def guests(self) -> dict[str, Edition]:  # after the appendices
        return {name: one.editions[0] for one in self.alone for name in one.chapters}

    @property
    def source(self) -> Path:
        return self.root / "book" / self.folder

    def chapter_file(self, name: str) -> Path:
        return self.source / f"{name}.md"

    def overlay_file(self, edition: Edition, name: str) -> Path | None:
        """Return where an edition has what differs from a chapter; None for the first framework."""
        is_first = edition.framework == self.editions[0].framework
        return None if is_first else self.source / edition.framework / f"{name}.md"

    def edition(self, framework: str, language: str = ENGLISH) -> Edition:
        one_of(self.languages, language, f"no language {language!r} in {FILE}", is_listed=True)
        english = {edition.framework: edition for edition in self.editions}
        one_of(english, framework, f"no framework {framework!r} in {FILE}", is_listed=True)
        return replace(english[framework], language=language)

    def editions_in(self, language: str) -> tuple[Edition, ...]:
        return tuple(self.edition(edition.framework, language) for edition in self.editions)

    def named(self, path: Path) -> str:
        """Return `path` as messages have it: from the root of the book."""
        return path.relative_to(self.root).as_posix()


@dataclass(frozen=True)
class Goal:
    """What is being made: an edition of the book; `_` says the binder's words in its language."""

    book: Book
    edition: Edition
    _: Callable[..., str]


def read_book(root: Path, framework: str = "") -> Book:
    """Return the book of `root`/book.toml, or a framework's own; BookError: what is wrong there."""
    root = root.resolve()
    try:
        table = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        problem = f"{FILE}: not found in {root}; run this from the root of the book"
        raise BookError(problem) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BookError(f"{FILE}: {error}") from None
    for key in table:
        one_of((*NEEDED, *OPTIONAL), key, f"{FILE}: unknown key {key!r}")
    for key in NEEDED:
        one_of(table, key, f"{FILE}: missing key {key!r}")
    table = OPTIONAL | table
    editions = read_editions(root, table.pop("frameworks"))
    alone = table.pop("alone")
    table["chapters"] += table["appendices"]
    table["parts"] = list(table["parts"].items())
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    book = Book(root=root, editions=editions, **table | lists)
    book = replace(book, alone=tuple(alone_book(book, *entry) for entry in alone.items()))
    for one in (book, *book.alone):
        check_names(one)
    return next((one for one in book.alone if one.folder == framework), book)


def alone_book(book: Book, framework: str, entry: dict) -> Book:
    """Return the book that a framework has by itself, in English: [alone.<framework>]."""
    sections, where = entry.get("sections", {}), f"{FILE}: [alone.{framework}]"
    for names, wanted in ((ALONE & {*entry}, (*entry, "chapters")), (book.chapters, sections)):
        for name in wanted:
            one_of(names, name, f"{where}: unknown or missing {name!r}")
    edition, chapters = read_editions(book.root, {framework: {}}), tuple(entry["chapters"])
    sections = tuple(sections.items())
    book = replace(book, folder=framework, editions=edition, chapters=chapters, sections=sections)
    return replace(book, languages=(ENGLISH,), appendices=(), parts=())


def read_editions(root: Path, frameworks: dict) -> tuple[Edition, ...]:
    """Return the English edition of each framework; the first one is that of the source."""
    editions = []
    for framework, entry in frameworks.items():
        where = f"{FILE}: [frameworks.{framework}]"
        one_of(known(), framework, f"{where}: not in {PACKAGE}/frameworks/", is_listed=True)
        for key in entry:
            one_of(("words",), key, f"{where}: unknown key {key!r}")
        words = entry.get("words", {})
        editions.append(Edition(root, framework, words=tuple(words.items())))
        if words.keys() != dict(editions[0].words).keys():
            raise BookError(f"{where}: words must be those of [frameworks.{editions[0].framework}]")
    return tuple(editions)


def check_names(book: Book) -> None:
    if book.languages[:1] != (ENGLISH,) or set(book.languages) - set(LANGUAGES):
        must = f"must begin with {ENGLISH!r}, and be of: {', '.join(LANGUAGES)}"
        raise BookError(f"{FILE}: languages {must}")
    for part, first in book.parts:
        one_of(book.chapters, first, f"{FILE}: [parts]: {part!r} begins with no chapter: {first!r}")
    first, *others = (edition.framework for edition in book.editions)
    for folder in ("", first, *others):
        for path in sorted((book.source / folder).glob("*.md")):
            chapters = () if folder == first else book.chapters  # its code stands in the chapters
            one_of(chapters, path.stem, f"{book.named(path)}: {FILE} has no chapter for it")


def one_of(names: Iterable[str], name: str, problem: str, is_listed: bool = False) -> None:
    """Raise BookError with a problem where a name is none of these; say which may be meant."""
    if name not in names:
        listed = f"; known: {', '.join(names)}" if is_listed else ""
        raise BookError(f"{problem}{guess(name, names)}{listed}")


def guess(word: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" where a name is close to a word, else nothing."""
    close = difflib.get_close_matches(str(word), [str(name) for name in names], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def chapter_named(name: str, known: Sequence[str]) -> str:
    """Return the chapter that has this number, or beginning or other part of a name."""
    name = name.removesuffix(".ipynb")
    begin = f"{int(name):02}_" if name.isdecimal() else name
    fitting = [c for c in known if c.startswith(begin)] or [c for c in known if name in c]
    if len(fitting) != 1:
        several = f": {' or '.join(fitting)}?" if fitting else guess(name, known)
        raise BookError(f"no chapter {name!r} in this edition{several}")
    return fitting[0]


def as_text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook) + "\n"


def read_notebook(path: Path) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise BookError(f"{path} is missing; run `{COMMAND}` first") from None
    except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise BookError(f"{path} is no notebook ({reason}); `{COMMAND}` makes it anew") from None


def write_whole(path: Path, content: str | bytes) -> bool:
    """Write a file by way of one beside it, whole or not at all; return whether it changed."""
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".{path.name}.new")
    try:
        if path.exists() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data)
        os.replace(new, path)
    except OSError as error:
        raise BookError(f"{path}: cannot be written ({error.strerror}); it is unchanged") from None
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    return True
