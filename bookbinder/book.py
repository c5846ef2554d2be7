"""The book as book.toml describes it; its notebooks read, its files written whole or not at all."""

import contextlib
import difflib
import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from d2l_attention.frameworks import known, load

FILE = "book.toml"
COMMAND = "make notebooks"
PACKAGE = "d2l_attention"  # with the modules, and what they import that is written by hand
ENGLISH = "en"  # the language of the source
LANGUAGES = {  # what a book may be in, and how its readers name it
    ENGLISH: "English",
    "zh": "中文",
    "ko": "한국어",
    "vi": "Tiếng Việt",
    "id": "Bahasa Indonesia",
}
TAGS = {"zh": "zh-CN"}  # of the language in HTML, where it is another
KEYS = {  # of book.toml, with what stands there where one is left out; None: it must be there
    "title": None,
    "seconds_per_cell": None,
    "languages": None,
    "chapters": None,
    "frameworks": None,
    "appendices": [],
    "parts": {},
    "repository": "",
}


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
        """The framework as readers name it."""
        return load(self.framework).NAME

    @property
    def notebooks(self) -> Path:
        """The folder of its notebooks; those of a translation are made anew when asked for."""
        if self.language == ENGLISH:
            return self.root / "notebooks" / self.framework
        return self.root / "_build" / "notebooks" / f"{self.framework}-{self.language}"

    @property
    def tag(self) -> str:
        """The language as HTML names it."""
        return TAGS.get(self.language, self.language)

    @property
    def module(self) -> Path:
        return self.root / PACKAGE / f"{load(self.framework).PACKAGE}.py"


@dataclass(frozen=True)
class Book:
    """The book as book.toml describes it; all paths are absolute."""

    root: Path
    title: str
    seconds_per_cell: int
    chapters: tuple[str, ...]
    editions: tuple[Edition, ...]  # in English, one for each framework
    languages: tuple[str, ...] = (ENGLISH,)
    repository: str = ""  # where it is published
    appendices: tuple[str, ...] = ()  # the last chapters, named by letters in the contents
    parts: tuple[tuple[str, str], ...] = ()  # titles, each with its first chapter

    @property
    def source(self) -> Path:
        return self.root / "book"

    def chapter_file(self, name: str) -> Path:
        return self.source / f"{name}.md"

    def overlay_file(self, edition: Edition, name: str) -> Path | None:
        """Return where an edition has what differs from a chapter; None for the first framework."""
        if edition.framework == self.editions[0].framework:
            return None
        return self.source / edition.framework / f"{name}.md"

    def edition(self, framework: str, language: str = ENGLISH) -> Edition:
        """Return the edition of a framework in a language."""
        if language not in self.languages:
            known = ", ".join(self.languages)
            raise BookError(f"no language {language!r} in {FILE}; known: {known}")
        english = {edition.framework: edition for edition in self.editions}
        if framework not in english:
            hint = f"{guess(framework, english)}; known: {', '.join(english)}"
            raise BookError(f"no framework {framework!r} in {FILE}{hint}")
        return replace(english[framework], language=language)

    def editions_in(self, language: str) -> tuple[Edition, ...]:
        """Return the editions of all frameworks in a language."""
        return tuple(self.edition(edition.framework, language) for edition in self.editions)

    def named(self, path: Path) -> str:
        """Return `path` as it is written in messages: from the root of the book."""
        return path.relative_to(self.root).as_posix()


def read_book(root: Path) -> Book:
    """Return the book that `root`/book.toml describes.

    Raises BookError for a key that is missing or misspelt, for an unknown framework, and for a
    file of a chapter or overlay that it does not list.
    """
    root = root.resolve()
    try:
        table = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        where = f"not found in {root}; run this from the root of the book"
        raise BookError(f"{FILE}: {where}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BookError(f"{FILE}: {error}") from None
    table = completed(table, KEYS, FILE)
    editions = read_editions(root, table.pop("frameworks"))
    table["parts"] = list(table["parts"].items())
    table["chapters"] += table["appendices"]
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    book = Book(root=root, editions=editions, **table | lists)
    if book.languages[:1] != (ENGLISH,) or set(book.languages) - set(LANGUAGES):
        known = ", ".join(LANGUAGES)
        raise BookError(f"{FILE}: languages must begin with {ENGLISH!r}, and be of: {known}")
    check_chapters(book)
    return book


def completed(table: dict, keys: dict, where: str) -> dict:
    """Return a table with what stands for keys that are left out."""
    for key in table:
        if key not in keys:
            raise BookError(f"{where}: unknown key {key!r}{guess(key, keys)}")
    values = {key: table.get(key, default) for key, default in keys.items()}
    for key, value in values.items():
        if value is None:
            raise BookError(f"{where}: missing key {key!r}")
    return values


def read_editions(root: Path, frameworks: dict) -> tuple[Edition, ...]:
    """Return the English edition of each framework; the first one is that of the source."""
    editions = []
    for framework, entry in frameworks.items():
        where = f"{FILE}: [frameworks.{framework}]"
        if framework not in known():
            there = f"not in {PACKAGE}/frameworks/{guess(framework, known())}"
            raise BookError(f"{where}: {there}; known: {', '.join(known())}")
        words = tuple(completed(entry, {"words": {}}, where)["words"].items())
        editions.append(Edition(root, framework, ENGLISH, words))
        if dict(words).keys() != dict(editions[0].words).keys():
            raise BookError(f"{where}: words must be those of [frameworks.{editions[0].framework}]")
    return tuple(editions)


def check_chapters(book: Book) -> None:
    """Raise BookError where a file in the source, or the first one of a part, is no chapter."""
    for part, first in book.parts:
        if first not in book.chapters:
            hint = guess(first, book.chapters)
            raise BookError(f"{FILE}: [parts]: {part!r} begins with no chapter: {first!r}{hint}")
    first, *others = (edition.framework for edition in book.editions)
    folders = [book.source, *(book.source / framework for framework in (first, *others))]
    for folder in folders:
        names = () if folder.name == first else book.chapters  # its code stands in the chapters
        for path in sorted(folder.glob("*.md")):
            if path.stem not in names:
                hint = guess(path.stem, names)
                raise BookError(f"{book.named(path)}: {FILE} has no chapter for it{hint}")


def chapter_named(name: str, known: Sequence[str]) -> str:
    """Return the chapter that has this name, number, or beginning or other part of a name."""
    name = name.removesuffix(".ipynb")
    number = f"{int(name):02}_" if name.isdecimal() else name
    ways = (name.__eq__, lambda c: c.startswith(number), lambda c: name in c)
    fitting = next(filter(None, ([c for c in known if fits(c)] for fits in ways)), [])
    if len(fitting) == 1:
        return fitting[0]
    several = f": {' or '.join(fitting)}?" if fitting else guess(name, known)
    raise BookError(f"no chapter {name!r} in this edition{several}")


def guess(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" where a known word is close, else nothing."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def as_text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook) + "\n"


def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook in `path`; raise BookError where there is none, or a broken one."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise BookError(f"{path} is missing; run `{COMMAND}` first") from None
    except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise BookError(f"{path} is no notebook ({reason}); `{COMMAND}` makes it anew") from None


def write_whole(path: Path, content: str | bytes) -> bool:
    """Write a file by way of one beside it; return whether anything changed.

    Interrupted or failing, it leaves the old file as it was and nothing beside it.
    """
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".{path.name}.new")
    try:
        if path.exists() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_bytes(data)
            os.replace(new, path)
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
    except OSError as error:
        raise BookError(f"{path}: cannot be written ({error.strerror}); it is unchanged") from None
    return True
