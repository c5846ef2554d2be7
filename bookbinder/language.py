"""What a reader's language says: the last step of whatever goes to a reader.

Everything before it works on English. A text is a message of a catalog, word for word, or a message
with fields (`"about {minutes} minutes to read"`) whose fields may be messages again; what the
binder or practice has composed is said part by part: the cells of a row, sentence by sentence.
"""

import copy
import functools
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape, unescape

from babel.messages.catalog import Catalog
from nbformat import NotebookNode

from bookbinder.catalogs import (
    BESIDE,
    INTERFACE,
    PRACTICE,
    catalog_file,
    disagreements,
    is_said,
    messages_of,
    read_catalog,
    said,
    sentences_of,
    spoken,
    worded,
)
from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell
from bookbinder.colab import INSTALL, LANGUAGE
from bookbinder.config import ENGLISH, Book
from bookbinder.files import BookError
from bookbinder.outputs import SVG
from bookbinder.page import LINK, REFERENCE, jupyter_anchor
from bookbinder.publish import as_comment, what_it_draws
from bookbinder.steps import ELSEWHERE, LED, prose_changed
from d2l_attention.practice.explorer import as_json

COMPOSED = "composed"  # of the binder's own words those that stand in chapters, not on the site
FIELD = re.compile(r"\{(\w+)\}")
PLACE = re.compile(r"\{\{(\w+)\}\}")  # the fields of a chapter's messages: braces are TeX's there
EMPHASIZED = re.compile(r"(\*+)([^*]+)\1")
LINKS = re.compile(rf"{LINK.pattern}(?:, {LINK.pattern})*")
GAP = re.compile(r"(?<=[.:?!)”]) ")  # between sentences
COLUMN = re.compile(r"(\S+(?: \S+)*)( *)")
# In an output in HTML, what is said stands behind one of these; other texts are data.
IN_HTML = re.compile(r'( alt="|<(?:p|b|summary|caption|figcaption)\b[^>]*>|</b> )([^<>"]+)')
IN_ARCS = re.compile(r'(<th scope="row">)([^<>"]+)')
WORDS = re.compile(r'(?<= data-words=")[^"]*')  # what a script says
WIDTH = 76  # letters of a string in code; a Han letter is as wide as two
STALE = worded("{count} of the {all} sentences of this chapter are in English still.")


@dataclass(frozen=True)
class Language:
    """The catalogs of one language; English has none and says everything as it is."""

    tag: str
    read: Callable[[str], Catalog]  # name -> catalog

    def said(self, text: str, *names: str) -> str:
        """Return a text in this language by the first of the catalogs that has it, else as it is.

        Without names, by the catalog of the binder's own words.
        """
        names = names or (INTERFACE,)
        whole = self.whole(text, *names)
        return self.by_parts(text, *names) if whole is None else whole

    def whole(self, text: str, *names: str) -> str | None:
        if self.tag == ENGLISH:
            return text
        ways = (self.exactly, self.with_fields)
        answers = (way(text, name, names) for way in ways for name in names)
        return next((answer for answer in answers if answer is not None), None)

    def exactly(self, text: str, name: str, _: tuple[str, ...] = ()) -> str | None:
        catalog = self.read(name)
        return said(catalog, text) if is_said(catalog, text) else None

    def has(self, text: str, *names: str) -> bool:
        """Say whether a text, or a part of it, is said in other words."""
        return self.whole(text, *names) is not None or self.by_parts(text, *names) != text

    def with_fields(self, text: str, name: str, names: tuple[str, ...]) -> str | None:
        """Return a text that is a message with something in its fields, with these in words."""
        if (match := EMPHASIZED.fullmatch(text)) and (inner := self.whole(match[2], *names)):
            return f"{match[1]}{inner}{match[1]}"
        for pattern, message in patterns(self, name):
            if match := pattern.fullmatch(text):
                fields = {key: self.listed(part, *names) for key, part in match.groupdict().items()}
                return filled(said(self.read(name), message), field_of(name), fields)
        return None

    def listed(self, text: str, *names: str) -> str:
        """Return a text that may be a list of messages."""
        parts = [self.whole(part, *names) for part in text.split(", ")]
        return self.said(text, *names) if None in parts else ", ".join(parts)

    def by_parts(self, text: str, *names: str) -> str:
        """Return a text with those of its parts in words that are messages."""
        if text.startswith("|"):
            cells = [(cell, cell.strip()) for cell in text.split("|")]
            said = [
                cell.replace(bare, self.said(bare, *names)) if bare else cell
                for cell, bare in cells
            ]
            return "|".join(said)
        if match := EMPHASIZED.fullmatch(text):
            return f"{match[1]}{self.said(match[2], *names)}{match[1]}"
        if LINKS.fullmatch(text):
            links = [m[1] + self.link(*m.group(2, 3), *names) for m in LINK.finditer(text)]
            return self.said(", ").join(links)
        parts = [(text[: gap.start()], text[gap.end() :]) for gap in GAP.finditer(text)]
        for before, after in parts:
            if (end := self.whole(after, *names)) is not None:
                return f"{self.said(before, *names)} {end}"
        for before, after in reversed(parts):
            if (begin := self.whole(before, *names)) is not None:
                return f"{begin} {after}"
        return text

    def link(self, title: str, target: str, *names: str) -> str:
        """Return a link whose words are the title of what it leads to."""
        file = target.partition("#")[0].removesuffix(".ipynb")
        bare = REFERENCE.sub("", title)  # without the number of a chapter
        number = title.removesuffix(bare)
        return f"[{number}{self.said(bare, file or names[0], *names)}]({target})"


def language_of(book: Book, tag: str) -> Language:
    """Return a language of the book; its catalogs are read when they are asked for.

    Reading one raises BookError where it is broken, or has lost what it must keep.
    """

    @functools.cache
    def read(name: str) -> Catalog:
        if name == COMPOSED:
            made = Catalog(fuzzy=False)
            for message in read(INTERFACE):
                if message.id and not any("/site/" in file for file, _ in message.locations):
                    made[message.id] = message
            return made
        catalog = read_catalog(book, tag, name)
        file = book.named(catalog_file(book, tag, name))
        if wrong := next(disagreements(catalog, file), None):
            raise BookError(wrong)
        return catalog

    return Language(tag, read)


def field_of(name: str) -> re.Pattern:
    return FIELD if name in (*BESIDE, COMPOSED) else PLACE


def filled(message: str, mark: re.Pattern, fields: dict[str, str]) -> str:
    return mark.sub(lambda at: fields[at[1]], message)


@functools.cache
def patterns(language: Language, name: str) -> list[tuple[re.Pattern, str]]:
    """Return the messages with fields of a catalog, those with most words first, as patterns."""
    mark, catalog = field_of(name), language.read(name)
    messages = [m.id for m in catalog if m.id and mark.search(m.id) and is_said(catalog, m.id)]
    return [(re.compile("".join(parts(m, mark))), m) for m in sorted(messages, key=len)[::-1]]


def parts(message: str, mark: re.Pattern) -> Iterator[str]:
    """Yield the parts of a pattern: a message's words as they are, and groups for its fields."""
    for at, part in enumerate(mark.split(message)):
        yield f"(?P<{part}>.+)" if at % 2 else re.escape(part)


def in_language(notebook: NotebookNode, language: Language, name: str) -> NotebookNode:
    """Return a finished English notebook of a chapter in a language, cell by cell and line by line.

    Where the catalogs lack a sentence it stays, and a line under the title says how many do.
    """
    if language.tag == ENGLISH:
        return notebook
    made = said_in(notebook, language, name)
    english = as_written(notebook, name)
    texts = {text for text, _, _ in messages_of(english)}
    if missing := sum(not language.has(text, name, COMPOSED) for text in texts):
        cell, note = title_cell(made), language.said(STALE).format(count=missing, all=len(texts))
        lines = cell.source.split("\n")
        title = next(at for at, line in enumerate(lines) if line.startswith("# "))
        cell.source = "\n".join([*lines[: title + 1], "", f"*{note}*", *lines[title + 1 :]])
    return made


def said_in(notebook: NotebookNode, language: Language, name: str) -> NotebookNode:
    """Return an English notebook in a language, with the same cells and lines."""
    led = [LED.findall(cell.source) for cell in notebook.cells]
    english = as_written(notebook, name)
    made = copy.deepcopy(english.notebook)
    for index, sentence in sentences_of(english):
        lines = made.cells[index].source.split("\n")
        text = language.said(sentence.text, name, COMPOSED)
        lines[sentence.line] = sentence.marks + text + sentence.end
        made.cells[index].source = "\n".join(lines)
    for cell, elsewhere in zip(made.cells, led, strict=True):
        if cell.cell_type == "markdown":
            cell.source = with_links(cell.source, language, name, elsewhere)
        elif cell.cell_type == "code":
            say_in_code(cell, language, name)
    return made


def translated(chapter: Chapter, language: Language) -> Chapter:
    """Return an English chapter in a language; its lines keep their places."""
    if language.tag == ENGLISH:
        return chapter
    return replace(chapter, notebook=said_in(chapter.notebook, language, chapter.name))


def as_written(notebook: NotebookNode, name: str) -> Chapter:
    """Return a notebook with its links to other editions as they are written, for the catalogs."""

    def link(match: re.Match) -> str:
        title, _, file, anchor = match.groups()
        return f"[{title.rpartition(' (in ')[0]}]({file}.ipynb{anchor or ''})"

    written = prose_changed(notebook, lambda source: LED.sub(link, source))
    return Chapter(name, "", written, [[""]] * len(notebook.cells))


def with_links(text: str, language: Language, name: str, elsewhere: list[tuple[str, ...]]) -> str:
    """Return Markdown whose links lead to headings as they are shown, and to other editions.

    `elsewhere` has the links of its English to other editions, as `LED` finds them.
    """
    led = {f"{file}.ipynb{anchor}": (title, folder) for title, folder, file, anchor in elsewhere}

    def link(match: re.Match) -> str:
        picture, title, target = match.groups()
        file, mark, anchor = target.partition("#")
        shown = anchors(language, file.removesuffix(".ipynb") or name)
        goal = f"{file}{mark}{shown.get(anchor, anchor)}"
        if target in led:
            english, folder = led[target]
            owner = english.rpartition(" (in ")[2].removesuffix(")")
            title = language.said(ELSEWHERE.format(words=title, framework=owner))
            goal = f"../{folder}-{language.tag}/{goal}"
        return f"{picture}[{title}]({goal})"

    return LINK.sub(link, text)


@functools.cache
def anchors(language: Language, name: str) -> dict[str, str]:
    """Return the anchors of a chapter's headings by those of their English."""
    catalog = language.read(name)
    ids = [message.id for message in catalog if message.id]
    return {jupyter_anchor(text): jupyter_anchor(said(catalog, text)) for text in ids}


def say_in_code(cell: NotebookNode, language: Language, name: str) -> None:
    """Put what a code cell and its outputs say to readers in a language."""
    cell.source = with_spoken(cell, lambda text: language.said(text, name))
    if INSTALL in tags_of(cell):
        cell.source += LANGUAGE.format(language=language.tag)
    if alt := cell.metadata.get("alt"):
        cell.metadata["alt"] = language.said(alt, name)
    comment, *code = cell.source.split("\n")
    if fold_of(cell) == "drawing" and comment.startswith("# Draw: "):
        cell.source = "\n".join([as_comment(language.said(what_it_draws(cell))), *code])
    for output in cell.outputs:
        data = output.get("data", {})
        if SVG in data and "alt" in output.metadata.get(SVG, {}):
            output.metadata[SVG]["alt"] = cell.metadata.get("alt", "")
        if "text/html" in data:
            data["text/html"] = in_html(data["text/html"], language, name)
            data["text/plain"] = in_text(data["text/plain"], language, name)


def with_spoken(cell: NotebookNode, say: Callable[[str], str]) -> str:
    """Return the code of a cell with the captions and questions of its explorers in other words."""
    lines = cell.source.split("\n")
    for node in sorted(spoken(cell), key=lambda node: -node.lineno):
        begin = lines[node.lineno - 1].encode()[: node.col_offset].decode()
        end = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        new = say(node.value)
        if new != node.value:
            indent = len(begin) - len(begin.lstrip())
            literal = f"\n{' ' * indent}".join(literals(new, WIDTH - len(begin)))
            lines[node.lineno - 1 : node.end_lineno] = f"{begin}{literal}{end}".split("\n")
    return "\n".join(lines)


def literals(text: str, width: int) -> list[str]:
    """Return a text as literals that Python joins, each within a width where it can be."""
    parts, used = [""], 0
    for letter in text:
        wide = 1 + (unicodedata.east_asian_width(letter) in "WF")
        if used + wide > width and (parts[-1].endswith(" ") or wide == 2):
            parts.append("")
            used = 0
        parts[-1] += letter
        used += wide
    return [json.dumps(part, ensure_ascii=False) for part in parts]


def in_html(html: str, language: Language, name: str) -> str:
    """Return an output of practice in other words; what an author wrote is in the chapter's."""

    def said(match: re.Match) -> str:
        return match[1] + escape(language.said(unescape(match[2]), name, PRACTICE))

    def of_script(match: re.Match) -> str:
        texts = json.loads(unescape(match[0]))
        return escape(as_json({key: language.said(t, PRACTICE) for key, t in texts.items()}))

    html = WORDS.sub(of_script, IN_HTML.sub(said, html))
    return IN_ARCS.sub(said, html) if "d2l-arcs" in html else html


def in_text(text: str, language: Language, name: str) -> str:
    """Return what stands in place of HTML in other words: sentences, or the heads of columns."""

    def column(match: re.Match) -> str:
        said = language.said(match[1], PRACTICE)
        return (
            f"{said}  ".ljust(len(match[0])) if match[2] and said != match[1] else said + match[2]
        )

    return "\n".join(
        COLUMN.sub(column, line) if "  " in line else language.said(line, name, PRACTICE)
        for line in text.split("\n")
    )
