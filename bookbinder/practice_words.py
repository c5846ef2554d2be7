"""What practice says: for the catalogs, and in outputs that were stored in English.

A translated notebook has the outputs of the English one. In those of checks, explorers and arcs,
the words of practice are replaced where they stand; what an author wrote there (questions,
captions, labels), code and numbers stay.
"""

import functools
import importlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from bookbinder.words import Say, words_in
from d2l_attention.practice import words
from d2l_attention.practice.exercises import exercises_in
from d2l_attention.practice.explorer import as_json
from d2l_attention.practice.recurring_mistakes import RECURRING

Messages = Iterable[tuple[str, str]]

CODE = Path("d2l_attention", "practice")
WORDS = re.compile(r'(?<= data-words=")[^"]*')  # what a script says
COLUMN = re.compile(r"(\S+(?: \S+)*)( *)")


@dataclass(frozen=True)
class Kind:
    """A kind of output: how it is known, the files with its words, and what these stand behind."""

    html: str
    text: re.Pattern
    files: str
    behind: tuple[str, ...]


EXPLORER = Kind(
    '<div class="d2l-explorer"',
    re.compile(r".* \(sliders at "),
    "explorer",
    (' alt="', '<p class="still">', "<summary>"),
)
ARCS = Kind(
    '<div class="d2l-arcs"',
    re.compile(r"(.*\n)+(Its output names|It writes|It sings on): .*$"),
    "arcs",
    ('<p class="out">', '<p class="still">', '<th scope="row">'),
)
CHECK = Kind(
    '<p style="border-left:4px solid',
    re.compile(r"(.*\n)*\d+\.\d+ (passed|wrong|error|not attempted)\. .*$"),
    "",
    ("<b>", "</b> ", "<p>", "<caption>"),
)


def practice_messages(root: Path) -> list[tuple[str, str]]:
    """Return all that practice says, each text once, with the first file that says it."""
    found = [(t, f"{CODE.parent}/{f}") for t, f in words_in(root / CODE) if f.endswith(".py")]
    for path in sorted((root / CODE).glob("*.js")):
        found += [(text, f"{CODE}/{path.name}") for text in words.script_words(path.name)]
    found += [(text, f"{CODE}/recurring_mistakes.py") for text in RECURRING.values()]
    for path in sorted((root / CODE).glob("chapter_*.py")):
        module = importlib.import_module(".".join([*CODE.parts, path.stem]))
        for exercise in exercises_in(module):
            found += [(mistake.say, f"{CODE}/{path.name}") for mistake in exercise.mistakes]
    first: dict[str, str] = {}
    for text, file in found:
        first.setdefault(text, file)
    return list(first.items())


def with_words(output: str, say: Say, messages: Messages) -> str:
    """Return a stored output of practice, HTML or text, in other words; another one as it is."""
    for kind in (EXPLORER, ARCS, CHECK):
        if kind.html in output or kind.text.match(output):
            said = Said(say, [t for t, f in messages if Path(f).name.startswith(kind.files)])
            return (in_html if kind.html in output else in_text)(output, kind, said)
    return output


class Said:
    """Messages, and what they are in other words."""

    def __init__(self, say: Say, messages: list[str]) -> None:
        self.say = say
        self.plain = {text for text in messages if "{" not in text}
        self.fields = sorted({*messages} - self.plain, key=len, reverse=True)

    def whole(self, text: str) -> str | None:
        """Return a text in other words if it is a message, also with something in its fields."""
        if text in self.plain:
            return self.say(text)
        for message in self.fields:
            if found := pattern(message).fullmatch(text):
                inner = Said(self.say, self.fields)  # a list of weights has words of its own
                fields = {
                    name: ", ".join(map(inner.sentences, value.split(", ")))
                    for name, value in found.groupdict().items()
                }
                return self.say(message).format(**fields)
        return None

    def sentences(self, text: str) -> str:
        """Return a text in other words that is a message, or ends or else begins with one."""
        if (said := self.whole(text)) is not None:
            return said
        parts = [(text[: gap.start()], text[gap.end() :]) for gap in re.finditer(" ", text)]
        for before, after in parts:
            if (said := self.whole(after)) is not None:
                return f"{self.sentences(before)} {said}"
        for before, after in reversed(parts):
            if (said := self.whole(before)) is not None:
                return f"{said} {after}"
        return text


@functools.cache
def pattern(message: str) -> re.Pattern:
    """Return what matches a message with something in each of its fields."""
    literals = re.split(r"\{(\w+)\}", message)
    parts = [f"(?P<{p}>.+)" if i % 2 else re.escape(p) for i, p in enumerate(literals)]
    return re.compile("".join(parts))


def in_html(html: str, kind: Kind, said: Said) -> str:
    behind = "|".join(f"(?<={re.escape(mark)})" for mark in kind.behind)
    html = re.sub(
        rf'(?:{behind})[^<>"]+', lambda text: escape(said.sentences(unescape(text[0]))), html
    )
    return WORDS.sub(lambda held: escape(in_script(json.loads(unescape(held[0])), said.say)), html)


def in_script(said: dict[str, str], say: Say) -> str:
    return as_json({name: say(text) for name, text in said.items()})


def in_text(text: str, kind: Kind, said: Said) -> str:
    """Return what stands in place of HTML in other words: of an explorer the first line."""
    *above, last = text.split("\n")
    if kind is EXPLORER:
        first, *rest = text.split("\n")
        return "\n".join([said.sentences(first), *rest])
    if kind is ARCS:
        return "\n".join(map(said.sentences, [*above, last]))

    def column(found: re.Match) -> str:
        name = said.whole(found[1])
        if name is None or not found[2]:
            return name or found[0]
        return f"{name}  ".ljust(len(found[0]))

    return "\n".join([*(COLUMN.sub(column, line) for line in above), said.sentences(last)])
