"""What a translation has in common with its original: formulas, code, links, emphasis, numbers."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from babel.messages.catalog import Catalog
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bookbinder.sentences import MARKS, WORDS_IN_FORMULA

MARKDOWN = MarkdownIt("commonmark").use(dollarmath_plugin, double_inline=True)
AS_WRITTEN = ("code_inline", "math_inline", "math_inline_double", "html_inline")
EMPHASIS = ("strong_open", "em_open")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SMALL = re.compile(r"\d\d?")  # may stand for a word: "zeros"
PLACE = re.compile(r"\{\{?\w+\}\}?")  # what the binder fills in
MANY = re.compile(r"[*_`$<\[\\&!]")  # without one of these, a text is words and numbers


def kept(text: str) -> tuple[Counter, set[str]]:
    """Return what a translation keeps as it is written, and its numbers."""
    found = Counter(PLACE.findall(WORDS_IN_FORMULA.sub("", text)))
    found["|"] = text.count("|") if text.startswith("|") else 0
    if marks := MARKS.match(text)[1]:  # they would make the line another part of the page
        found[marks] += 1
    if not MANY.search(text):
        return found, set(NUMBER.findall(text))
    if "$" not in text and WORDS_IN_FORMULA.search(text):  # a line of a longer formula
        found[without_words(text)] += 1
        return found, set()
    numbers: set[str] = set()
    for token in MARKDOWN.parseInline(text)[0].children:
        if token.type in AS_WRITTEN:
            found[token.markup + without_words(token.content)] += 1
        elif token.type in EMPHASIS:
            found[token.markup] += 1
        elif token.type in ("link_open", "image"):
            found[token.attrs.get("href") or token.attrs["src"]] += 1
        elif token.type == "text":
            numbers.update(NUMBER.findall(token.content))
    return found, numbers


def without_words(formula: str) -> str:
    return re.sub(r"\s", "", WORDS_IN_FORMULA.sub("", formula))


kept_of_original = cache(kept)


def disagreement(original: str, translation: str) -> str:
    """Say what a translation lacks or adds, or nothing."""
    if "\n" in translation:
        return "a translation is one line"
    (old, old_numbers), (new, new_numbers) = kept_of_original(original), kept(translation)
    lacks = [*sorted((old - new).elements()), *sorted(old_numbers - new_numbers)]
    adds = [*sorted((new - old).elements())]
    adds += sorted(number for number in new_numbers - old_numbers if not SMALL.fullmatch(number))
    told = [f"lacks {', '.join(lacks)}"] * bool(lacks) + [f"adds {', '.join(adds)}"] * bool(adds)
    return "; ".join(told)


def disagreements(catalog: Catalog, file: str) -> Iterator[str]:
    """Yield a line for each translation that is not like its original."""
    for message in catalog:
        holds = message.id and message.string and not message.fuzzy
        if holds and (wrong := disagreement(message.id, message.string)):
            yield f"{file}: {message.id[:60]!r}: {wrong}"
