"""Read book.toml, the one description of the book; every path follows from the names in it."""

import difflib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bookbinder.files import BookError
from d2l_attention.frameworks import known, load

FILE = "book.toml"
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
    "repository": "",
    "unlinked": [],
}


@dataclass(frozen=True)
class Edition:
    """One framework in one language, and where its generated files go."""

    root: Path
    framework: str  # as folders and commands name it
    language: str = ENGLISH
    without: tuple[str, ...] = ()  # chapters that it leaves out
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
    unlinked: tuple[str, ...] = ()  # terms whose later uses do not link to their explanation

    @property
    def source(self) -> Path:
        return self.root / "book"

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

    def edition(self, framework: str, language: str = ENGLISH) -> Edition:
        """Return the edition of a framework in a language."""
        if language not in self.languages:
            raise BookError(
                f"no language {language!r} in {FILE}; known: {', '.join(self.languages)}"
            )
        names = list(dict.fromkeys(e.framework for e in self.editions))
        if framework not in names:
            raise BookError(
                f"no framework {framework!r} in {FILE}{guess(framework, names)}; "
                f"known: {', '.join(names)}"
            )
        edition = next(e for e in self.editions if e.framework == framework)
        return replace(edition, language=language)

    def editions_in(self, language: str) -> tuple[Edition, ...]:
        """Return the editions of all frameworks in a language."""
        return tuple(self.edition(edition.framework, language) for edition in self.editions)

    def named(self, path: Path) -> str:
        """Return `path` as it is written in messages: from the root of the book."""
        return path.relative_to(self.root).as_posix()


def read_book(root: Path) -> Book:
    """Return the book that `root`/book.toml describes.

    Raises BookError for a key that is missing or misspelt, for an unknown framework, and where
    book.toml and the files of chapters and overlays disagree.
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
    table["chapters"] += table["appendices"]
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    book = Book(root=root, editions=editions, **table | lists)
    if unknown := set(book.languages) - set(LANGUAGES):
        known = ", ".join(LANGUAGES)
        raise BookError(f"{FILE}: unknown language {min(unknown)!r}; known: {known}")
    if book.languages[:1] != (ENGLISH,):
        raise BookError(f"{FILE}: languages must begin with {ENGLISH!r}")
    check_chapters(book)
    for edition in book.editions:
        check_overlays(book, edition)
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
        entry = completed(entry, {"without": [], "words": {}}, where)
        without, words = tuple(entry["without"]), tuple(entry["words"].items())
        editions.append(Edition(root, framework, ENGLISH, without, words))
        if dict(words).keys() != dict(editions[0].words).keys():
            raise BookError(f"{where}: words must be those of [frameworks.{editions[0].framework}]")
    return tuple(editions)


def check_chapters(book: Book) -> None:
    """Raise BookError unless book.toml lists just the files in the source folder."""
    written = {path.stem for path in book.source.glob("*.md")}
    for name in book.chapters:
        if name not in written:
            file, near = book.named(book.chapter_file(name)), written - set(book.chapters)
            raise BookError(f"{FILE}: chapter {name!r} has no file {file}{guess(name, near)}")
    for name in sorted(written - set(book.chapters)):
        file = book.named(book.chapter_file(name))
        raise BookError(f"{file}: not listed under chapters in {FILE}")


def check_overlays(book: Book, edition: Edition) -> None:
    """Raise BookError for an overlay of no chapter, and where what is left out does not exist."""
    if unknown := set(edition.without) - set(book.chapters):
        where = f"{FILE}: [frameworks.{edition.framework}]"
        name = min(unknown)
        hint = guess(name, book.chapters)
        raise BookError(f"{where}: without names no chapter: {name!r}{hint}")
    first = edition.framework == book.editions[0].framework
    there = [] if first else book.chapters_of(edition)
    for path in sorted((book.source / edition.framework).glob("*.md")):
        if path.stem not in there:
            of = f"the edition has no chapter {path.stem!r}{guess(path.stem, there)}"
            raise BookError(f"{book.named(path)}: {of}")


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
