"""The letters of the book: read from notation.toml, made into a table."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from bookbinder.book import BookError
from bookbinder.chapters import Chapter, number_of
from bookbinder.language.catalog import worded

FILE = "notation.toml"
PAGE = "notation"  # the page without a number that shows it


@dataclass(frozen=True)
class Letter:
    """One entry of notation.toml."""

    symbol: str
    meaning: str
    shape: str
    code: str
    chapters: tuple[int | None, ...] = (None,)

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
    where, code = f"{FILE}: {entry.get('symbol', entry)}", entry.get("code")
    try:
        code = code[framework] if isinstance(code, dict) else code
        return Letter(**entry | {"code": code, "chapters": tuple(entry.get("chapters", [None]))})
    except KeyError:
        raise BookError(f"{where}: code has no name for {framework}") from None
    except TypeError as error:  # which names the key
        raise BookError(f"{where}: {error}") from None


def table(letters: list[Letter], chapters: list[Chapter]) -> str:
    """Return the notation table of the book in Markdown: common letters, then each chapter's."""
    titles = {None: worded("**In every chapter**")}
    numbers = [n for c in chapters if (n := number_of(c.name)) is not None]
    titles |= {n: worded("**Only in chapter {number}**").format(number=n) for n in numbers}
    rows: dict[int | None, list[str]] = {number: [] for number in titles}
    for x in letters:
        names = ", ".join(f"`{name}`" if name != "…" else name for name in x.names)
        for number in rows.keys() & {*x.chapters}:
            rows[number].append(f"| {x.symbol} | {x.meaning} | {x.shape} | {names} |")
    head = worded("| Symbol | Meaning | Shape | In code |") + "\n|---|---|---|---|"
    blocks = ["\n".join([title, "", head, *rows[n]]) for n, title in titles.items() if rows[n]]
    return "\n\n".join(blocks)
