"""Catalogs of translations: book/locale/<language>/<name>.po, one for each chapter and a few more.

A language is called as `_`, as in `_("{n} minutes").format(n=5)`. What is missing in a catalog, or
fuzzy because the English has changed, is said in English.
"""

import ast
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unicodedata import east_asian_width

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po
from nbformat import NotebookNode

from bookbinder.book import Book, BookError
from bookbinder.chapters import Chapter, lines_of
from bookbinder.code import read_code
from bookbinder.markdown import REFERENCE, Line, inline, markdown_lines

WORDS_IN_FORMULA = re.compile(r"\\text\{([^}]*)\}")
NOT_WORDS = re.compile(r"\{\{\w+\}\}|\\\w+|https?://\S+")
WORD = re.compile(r"[A-Za-z]{2}|\ba\b")
SPOKEN = ("caption", "question")  # arguments of explore(...) and draw_arcs(...)
YOURS = "your turn"  # in a comment: the cell is the reader's to fill in
INTERFACE, PRACTICE, FIGURES, SCREEN = "interface", "practice", "figures", "screen"
PAGES = (README := "readme", "teaching", "exercises")  # files beside the book
BESIDE = (INTERFACE, PRACTICE, FIGURES, SCREEN, *PAGES)  # the catalogs of no chapter
AS_WRITTEN = ("code_inline", "math_inline", "math_inline_double", "html_inline")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
PLACE = re.compile(r"\{\{?\w+\}\}?")  # what the binder fills in

Message = tuple[str, str]  # text, the file it is from


def worded(text: str) -> str:
    """Mark a text of the binder that `_` says later."""
    return text


@dataclass(frozen=True)
class Language:
    """What the catalogs of one language say; English has none and says everything as it is."""

    tag: str
    read: Callable[[str], dict[str, str]]  # name of a catalog -> its messages and translations

    def __call__(self, text: str, *names: str) -> str:
        """Return a message by the first of some catalogs that has it, or as it is."""
        catalogs = map(self.read, names or (INTERFACE,))
        return next(filter(None, (catalog.get(text) for catalog in catalogs)), text)


def language_of(book: Book, tag: str) -> Language:
    """Return a language; a catalog is read, and refused if it is wrong, when it is asked for."""

    @cache
    def read(name: str) -> dict[str, str]:
        catalog = read_catalog(book, tag, name)
        if wrong := next(disagreements(catalog, book.named(catalog_file(book, tag, name))), None):
            raise BookError(wrong)
        return translations(catalog)

    return Language(tag, read)


def catalog_file(book: Book, language: str, name: str) -> Path:
    return book.source / "locale" / language / f"{name}.po"


def read_catalog(book: Book, language: str, name: str) -> Catalog:
    """Return a catalog, empty where there is no file; a broken one raises BookError."""
    path = catalog_file(book, language, name)
    if not path.exists():
        return Catalog(fuzzy=False)
    return parsed(path.read_bytes(), book.named(path))


@cache
def parsed(data: bytes, file: str) -> Catalog:
    try:
        data.decode("utf-8")
        return read_po(io.BytesIO(data), abort_invalid=True, charset="utf-8")
    except PoFileError as error:
        raise BookError(f"{file}:{error.lineno + 1}: {error}") from None
    except (ValueError, SyntaxError) as error:  # no UTF-8, a quote that does not end
        raise BookError(f"{file}: {error}") from None


def translations(catalog: Catalog) -> dict[str, str]:
    return {m.id: m.string for m in catalog if m.id and m.string and not m.fuzzy}


@cache
def kept(text: str) -> tuple[Counter, set[str]]:
    """Return what a translation keeps as it is written, and its numbers."""
    found = Counter(PLACE.findall(WORDS_IN_FORMULA.sub("", text)))
    found["|"] = text.count("|") if text.startswith("|") else 0
    if not text[:1].isalpha() and (kind := markdown_lines(text)[0].kind) != "paragraph":
        found[kind] += 1  # another part of the page: an entry of a list
    if "$" not in text and WORDS_IN_FORMULA.search(text):  # a line of a longer formula
        found[without_words(text)] += 1
        return found, set()
    numbers: set[str] = set()
    for node in inline(text):
        if node.type == "text":
            numbers.update(NUMBER.findall(node.content))
        elif node.type in AS_WRITTEN:
            found[node.markup + without_words(node.content)] += 1
        else:  # the stars of emphasis, the target of a link
            found[node.attrs.get("href") or node.attrs.get("src") or node.markup] += 1
    return found, numbers


def without_words(formula: str) -> str:
    return "".join(WORDS_IN_FORMULA.sub("", formula).split())


def disagreement(original: str, translation: str) -> str:
    if "\n" in translation:
        return "a translation is one line"
    (old, old_numbers), (new, new_numbers) = kept(original), kept(translation)
    large = {number for number in new_numbers if len(number) > 2}  # a small one may be a word
    differences = {
        "lacks": [*sorted((old - new).elements()), *sorted(old_numbers - new_numbers)],
        "adds": [*sorted((new - old).elements()), *sorted(large - old_numbers)],
    }
    return "; ".join(f"{what} {', '.join(parts)}" for what, parts in differences.items() if parts)


def disagreements(catalog: Catalog, file: str) -> Iterator[str]:
    for original, translation in translations(catalog).items():
        if wrong := disagreement(original, translation):
            yield f"{file}: {original[:60]!r}: {wrong}"


def width(text: str) -> int:
    """Return how wide a text is, in letters: those of Chinese and Korean are twice as wide."""
    return sum(1 + (east_asian_width(letter) in ("W", "F")) for letter in text)


def is_prose(text: str) -> bool:
    """Say whether a text has words, in a formula, too, and not code and addresses alone."""
    words = [x.content for x in inline(text) if x.type == "text"] + WORDS_IN_FORMULA.findall(text)
    return bool(WORD.search(NOT_WORDS.sub(" ", " ".join(words))))


def sentences_of(chapter: Chapter) -> Iterator[tuple[Line, str]]:
    """Yield the lines of a chapter that say something, each with its words: without its marks."""
    for line in lines_of(chapter):
        text = line.content.removeprefix("<summary>").removesuffix("</summary>")
        text = REFERENCE.sub("", text) if line.level else text  # the number of a chapter
        is_entry = line.in_references and REFERENCE.match(line.text)
        is_letters = line.kind == "formula" and not WORDS_IN_FORMULA.search(text)
        if text and not is_entry and not is_letters and is_prose(text):
            yield line, text


def messages_of(chapter: Chapter) -> Iterator[Message]:
    """Yield the messages of a chapter, those of its code behind the prose above it."""
    messages = [(line.cell, text, line.where) for line, text in sentences_of(chapter)]
    for index, cell in enumerate(chapter.notebook.cells):
        if cell.cell_type == "code":
            texts = [cell.metadata.get("alt"), *(node.value for node in spoken(cell))]
            messages += [(index, text, chapter.where(index)) for text in texts if text]
    for _, text, where in sorted(messages, key=lambda message: message[0]):
        yield text, where.rpartition(":")[0]


def spoken(cell: NotebookNode) -> list[ast.Constant]:
    """Return the captions and questions of a cell's explorers, the docstrings of its stubs."""
    if not any(word in cell.source for word in (*SPOKEN, YOURS)):
        return []
    nodes = [node for part in read_code(cell.source).body for node in ast.walk(part)]
    words = [n.value for n in nodes if isinstance(n, ast.keyword) and n.arg in SPOKEN]
    stubs = [n for n in nodes if YOURS in cell.source and isinstance(n, ast.FunctionDef)]
    words += [stub.body[0].value for stub in stubs if ast.get_docstring(stub)]
    constants = [word for word in words if isinstance(word, ast.Constant)]
    return [word for word in constants if is_prose(word.value) and "\n" not in word.value]
