"""The letters of the book: read from notation.toml, made into a table, looked up in equations."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bookbinder.chapters import Chapter, number_of
from bookbinder.errors import BookError
from bookbinder.text import Page
from bookbinder.words import Say

FILE = "notation.toml"
PAGE = "notation"  # the page without a number that shows it
KEYS = ("symbol", "meaning", "shape")
MATH = re.compile(r"\$\$(.*?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
# What holds words or names and no letters of the book.
NO_LETTERS = re.compile(
    r"\\(text|textit|mathrm|operatorname|tag|begin|end|href)\*?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
)
FACES = {"mathbf": "bold", "boldsymbol": "bold", "mathcal": "script", "mathbb": "double"}
FACE = re.compile(
    r"\\(mathbf|boldsymbol|mathcal|mathbb)\s*(?:\{\s*(\\?[A-Za-z]+)\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
)
GREEK = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|lambda|mu|nu|xi|pi|rho|sigma|tau"
    r"|phi|varphi|chi|psi|omega|kappa|ell|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega)(?![A-Za-z])"
)
COMMAND = re.compile(r"\\[A-Za-z]+|\\.")
INDEX = re.compile(r"[_^]\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\?[A-Za-z]+|.))")
CONSTANTS = {"double R", "double E"}  # real numbers, expectation


@dataclass(frozen=True)
class Letter:
    """One entry of notation.toml."""

    symbol: str
    meaning: str
    shape: str
    code: str
    chapter: int | None = None

    @property
    def letters(self) -> set[str]:
        return letters_in(self.symbol)

    @property
    def names(self) -> list[str]:
        """The names in code; the comma of `A[i, j]` separates nothing."""
        return [name for name in re.split(r", (?![^\[]*\])", self.code) if name]


def read_notation(folder: Path, framework: str) -> list[Letter]:
    """Return the letters of the book in their order, with their names in the framework's code.

    There are none where there is no notation.toml.

    Raises:
        BookError: An entry lacks a key, has one too many, or lacks the framework's name.
    """
    path = folder / FILE
    if not path.exists():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["letter"]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError) as error:
        raise BookError(f"{FILE}: {error}") from None
    return [read_letter(entry, framework) for entry in entries]


def read_letter(entry: dict, framework: str) -> Letter:
    code, where = entry.get("code"), f"{FILE}: {entry.get('symbol', entry)}"
    if unknown := sorted(set(entry) - {*KEYS, "code", "chapter"}):
        raise BookError(f"{where}: unknown {unknown}")
    if isinstance(code, dict) and framework not in code:
        raise BookError(f"{where}: code has no name for {framework}")
    values = entry | {"code": code[framework] if isinstance(code, dict) else code}
    for key in (*KEYS, "code"):
        if not isinstance(values.get(key), str):
            raise BookError(f"{where}: {key} must be a string")
    return Letter(**values)


def two_meanings(letters: list[Letter]) -> list[str]:
    """Name the letters that have two meanings in one chapter."""
    found, seen = [], {}
    for letter in letters:
        for name in sorted(letter.letters):
            for chapter in {letter.chapter, None} & {at for other, at in seen if other == name}:
                where = "general" if letter.chapter is None else f"chapter {letter.chapter}"
                both = f"{seen[name, chapter]!r} and {letter.meaning!r}"
                found.append(f"{FILE}: {name} has two meanings ({where}): {both}")
            seen[name, letter.chapter] = letter.meaning
    return found


def letters_in(text: str) -> set[str]:
    """Return the letters of the equations in Markdown: "m", "alpha", "bold Q"."""
    return {
        letter
        for match in MATH.finditer(CODE.sub(" ", text))
        for letter in letters_of(match[1] or match[2])
    } - CONSTANTS


def letters_of(equation: str) -> Iterable[str]:
    """Yield the letters of one equation; an index of a single letter is left out."""
    bare = NO_LETTERS.sub(" ", equation)
    for index in INDEX.finditer(bare):
        inner = index[1] if index[1] is not None else index[2]
        yield from letters_of(inner) if len(COMMAND.sub("", inner).strip()) > 1 else ()
    bare = INDEX.sub(" ", bare)
    for match in FACE.finditer(bare):
        yield f"{FACES[match[1]]} {(match[2] or match[3]).lstrip(chr(92))}"
    bare = FACE.sub(" ", bare)
    yield from (match[1] for match in GREEK.finditer(bare))
    yield from re.findall(r"[A-Za-z]", COMMAND.sub(" ", bare))


def used_letters(letters: list[Letter], chapters: list[Chapter]) -> list[Letter]:
    """Return the common letters, and those of one chapter that this edition of it uses."""
    numbered = [c for c in chapters if number_of(c.name) is not None]
    used = {number_of(c.name): set(where_letters(Page(c, c.notebook))) for c in numbered}
    return [x for x in letters if x.chapter is None or x.letters & used.get(x.chapter, set())]


def table(letters: list[Letter], chapters: list[Chapter], say: Say = str, mean: Say = str) -> str:
    """Return the notation table of the book in Markdown: common letters, then each chapter's.

    A chapter's letter that this edition of it does not use is left out. `say` has the words of the
    table in another language, `mean` the meanings of the letters.
    """
    titles = {None: say("**In every chapter**")}
    numbers = [n for c in chapters if (n := number_of(c.name)) is not None]
    titles |= {n: say("**Only in chapter {number}**").format(number=n) for n in numbers}
    rows: dict[int | None, list[str]] = {number: [] for number in titles}
    for x in used_letters(letters, chapters):
        names = ", ".join(f"`{name}`" if name != "…" else name for name in x.names)
        rows[x.chapter].append(f"| {x.symbol} | {mean(x.meaning)} | {mean(x.shape)} | {names} |")
    head = say("| Symbol | Meaning | Shape | In code |") + "\n|---|---|---|---|"
    blocks = ["\n".join([title, "", head, *rows[n]]) for n, title in titles.items() if rows[n]]
    return "\n\n".join(blocks)


def where_letters(page: Page) -> dict[str, str]:
    """Return the letters of a page's equations, each with the place where it comes first.

    The references are left out.
    """
    told = [line for line in page.lines() if line.section != "references"]
    passages = [(line.where, line.text) for line in told]
    for _, lines in groupby(told, key=lambda line: line.cell):  # equations span lines
        passages.append((page.chapter.file, "\n".join(line.text for line in lines)))
    used: dict[str, str] = {}
    for where, text in passages:
        for letter in letters_in(text):
            used.setdefault(letter, where)
    return used


def letter_problems(letters: list[Letter], pages: list[Page]) -> list[str]:
    """Name letters that a chapter uses undeclared, and those declared for it that it lacks."""
    found = two_meanings(letters)
    known = {None, *(page.number for page in pages)}
    found += [f"{FILE}: no chapter {x.chapter}" for x in letters if x.chapter not in known]
    for page in pages:
        if page.number is None:
            continue  # the table itself
        allowed = {None, page.number}
        declared = {x for letter in letters if letter.chapter in allowed for x in letter.letters}
        used = where_letters(page)
        found += [
            f"{where}: the letter {letter} is not in {FILE}, for this chapter or for all"
            for letter, where in used.items()
            if letter not in declared
        ]
        found += [
            f"{FILE}: chapter {page.number} does not use {letter.symbol}"
            for letter in letters
            if letter.chapter == page.number and not letter.letters <= set(used)
        ]
    return found
