"""The letters of the book: read from notation.toml, made into a table."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from bookbinder.book import BookError, Goal, one_of
from bookbinder.chapters import number_of

FILE = "notation.toml"
COMMA = re.compile(r", (?![^\[]*\])")  # that of `A[i, j]` separates nothing
PAGE = "notation"  # the page without a number that shows it


@dataclass(frozen=True)
class Letter:
    symbol: str
    meaning: str
    shape: str
    names: list[str]  # in code
    chapters: tuple[int | None, ...] = (None,)  # None: every one


def read_notation(folder: Path, framework: str) -> list[Letter]:
    """Return the letters, with the framework's names in code; none without a notation.toml."""
    letters, where = [], FILE
    try:
        for entry in tomllib.loads((folder / FILE).read_text(encoding="utf-8"))["letter"]:
            where = f"{FILE}: {entry.get('symbol', entry)}"
            if isinstance(code := entry.pop("code"), dict):
                one_of(code, framework, f"{where}: code has no name for {framework}")
                code = code[framework]
            names = [*filter(None, COMMA.split(code))]
            letters.append(Letter(names=names, **entry))
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise BookError(f"{where}: {error}") from None  # a TypeError names the wrong key
    return letters


def notation_table(goal: Goal) -> str:
    """Return the table in Markdown: common letters, then each chapter's."""
    _, letters = goal._, read_notation(goal.book.source, goal.edition.framework)
    head = _("| Symbol | Meaning | Shape | In code |") + "\n|---|---|---|---|"
    blocks = []
    for number in dict.fromkeys([None, *map(number_of, goal.book.chapters)]):
        title = _("**In every chapter**")
        if number is not None:
            title = _("**Only in chapter {number}**").format(number=number)
        rows = []
        for x in (letter for letter in letters if number in letter.chapters):
            names = ", ".join(f"`{name}`" if name != "…" else name for name in x.names)
            rows.append(f"| {x.symbol} | {_(x.meaning, PAGE)} | {_(x.shape, PAGE)} | {names} |")
        if rows:
            blocks.append("\n".join([title, "", head, *rows]))
    return "\n\n".join(blocks)
