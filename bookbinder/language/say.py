"""What a reader's language says: the last step of whatever goes to a reader.

Everything before it works on English. A text is a message of a catalog, word for word, or a message
with fields (`"about {minutes} minutes to read"`) whose fields may be messages again; what the
binder or practice has composed is said part by part: the cells of a row, sentence by sentence.
"""

import copy
import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape, unescape

from nbformat import NotebookNode

from bookbinder.book import ENGLISH, Book, BookError
from bookbinder.chapters import Chapter, fold_of, tags_of, title_cell
from bookbinder.colab import INSTALL, LANGUAGE
from bookbinder.compare import SVG
from bookbinder.language.catalog import (
    BESIDE,
    INTERFACE,
    PAGES,
    PRACTICE,
    SCREEN,
    catalog_file,
    disagreements,
    messages_of,
    read_catalog,
    sentences_of,
    spoken,
    translations,
    worded,
)
from bookbinder.language.screen import printed, said_on_screen
from bookbinder.markdown import LINK, jupyter_anchor, slug
from bookbinder.publish import as_comment, what_it_draws, width
from d2l_attention.practice.explorer import as_json

COMPOSED = "composed"  # of the binder's own words those that stand in chapters, not on the site
FIELD = re.compile(r"\{(\w+)\}")
PLACE = re.compile(r"\{\{(\w+)\}\}")  # the fields of a chapter's messages: braces are TeX's there
EMPHASIZED = re.compile(r"(\*+)([^*]+)\1")
GAP = re.compile(r"(?<=[.:?!)”]) ")  # between sentences
# In an output in HTML, what is said stands behind one of these; other texts are data.
IN_HTML = re.compile(r'( alt="|<(?:p|b|summary|caption|figcaption)\b[^>]*>|</b> )([^<>"]+)')
WORDS = re.compile(r'(?<= data-words=")[^"]*')  # what a script says
WIDTH = 76  # letters of a string in code
READ_BY_MODELS = {"bread", "guest", "melon"}  # in chapters 2 and 5; elsewhere foods, a person
STALE = worded("{count} of the {all} sentences of this chapter are in English still.")


@dataclass(frozen=True)
class Language:
    """What the catalogs of one language say; English has none and says everything as it is."""

    tag: str
    read: Callable[[str], dict[str, str]]  # name of a catalog -> its messages and translations

    def said(self, text: str, *names: str) -> str:
        """Return a text in this language by the first of the catalogs that has it, else as it is.

        Without names, by the catalog of the binder's own words.
        """
        names = names or (INTERFACE,)
        return self.whole(text, *names) or self.by_parts(text, *names)

    def whole(self, text: str, *names: str) -> str:
        """Return a text that is a message, or one with something in its fields; or nothing."""
        if self.tag == ENGLISH:
            return text
        exact = (self.exactly(text, name) for name in names)
        return next(filter(None, exact), "") or self.with_fields(text, *names)

    def exactly(self, text: str, name: str) -> str:
        return self.read(name).get(text, "")

    def with_fields(self, text: str, *names: str) -> str:
        if (match := EMPHASIZED.fullmatch(text)) and (inner := self.whole(match[2], *names)):
            return f"{match[1]}{inner}{match[1]}"
        known = (pattern for name in names for pattern in patterns(self, name))
        for pattern, translation in known:
            if match := pattern.fullmatch(text):
                fields = {key: self.listed(part, *names) for key, part in match.groupdict().items()}
                parts = enumerate(translation)
                return "".join(fields[part] if at % 2 else part for at, part in parts)
        return ""

    def listed(self, text: str, *names: str) -> str:
        """Return a text that may be a list of messages, or of sliders with their values."""
        if " = " in text:
            return re.sub(r"\w[^,=]*\w", lambda m: self.exactly(m[0], SCREEN) or m[0], text)
        parts = [self.whole(part, *names) for part in text.split(", ")]
        return ", ".join(parts) if all(parts) else self.said(text, *names)

    def by_parts(self, text: str, *names: str) -> str:
        """Return a text with those of its parts in words that are messages."""
        if text.startswith("|"):
            return "|".join(
                cell.replace(bare, self.said(bare, *names)) if (bare := cell.strip()) else cell
                for cell in text.split("|")
            )
        if match := LINK.fullmatch(text):  # its words may be the title of what it leads to
            mark, title, target = match.groups()
            goal = target.partition("#")[0].removesuffix(".ipynb") or names[0]
            return f"{mark}[{self.said(title, goal, *names)}]({target})"
        parts = [(text[: gap.start()], text[gap.end() :]) for gap in GAP.finditer(text)]
        for before, after in parts:
            if end := self.whole(after, *names):
                return f"{self.said(before, *names)} {end}"
        for before, after in reversed(parts):
            if begin := self.whole(before, *names):
                return f"{begin} {after}"
        return text


def language_of(book: Book, tag: str) -> Language:
    """Return a language of the book; its catalogs are read when they are asked for.

    Reading one raises BookError where it is broken, or has lost what it must keep.
    """

    @functools.cache
    def read(name: str) -> dict[str, str]:
        file = INTERFACE if name == COMPOSED else name
        catalog = read_catalog(book, tag, file)
        if wrong := next(disagreements(catalog, book.named(catalog_file(book, tag, file))), None):
            raise BookError(wrong)
        said = translations(catalog)
        if name != COMPOSED:
            return said
        site = {m.id for m in catalog if any("/site/" in file for file, _ in m.locations)}
        return {text: translation for text, translation in said.items() if text not in site}

    return Language(tag, read)


@functools.cache
def patterns(language: Language, name: str) -> list[tuple[re.Pattern, list[str]]]:
    """Return the messages with fields of a catalog as patterns, those with most words first.

    Each with its translation, cut: words, the name of a field, words, ...
    """
    said = language.read(name)
    field = FIELD if name in (*BESIDE, COMPOSED) else PLACE
    messages = sorted(filter(field.search, said), key=len)[::-1]
    return [(pattern_of(field.split(text)), field.split(said[text])) for text in messages]


def pattern_of(parts: list[str]) -> re.Pattern:
    """Return what matches a message with something in its fields, as groups; `parts` are cut."""
    groups = (f"(?P<{part}>.+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return re.compile("".join(groups))


def in_language(notebook: NotebookNode, language: Language, name: str) -> NotebookNode:
    """Return a finished English notebook of a chapter in a language, cell by cell and line by line.

    Where the catalogs lack a sentence it stays, and a line under the title says how many do.
    """
    if language.tag == ENGLISH:
        return notebook
    made = said_in(notebook, language, name)
    texts = {text for text, _ in messages_of(as_chapter(notebook, name))}
    missing = [text for text in texts if not language.whole(text, name, COMPOSED)]
    if missing := [text for text in missing if language.said(text, name, COMPOSED) == text]:
        note = language.said(STALE).format(count=len(missing), all=len(texts))
        cell = title_cell(made)
        lines = cell.source.split("\n")
        title = next(at for at, line in enumerate(lines) if line.startswith("# "))
        lines.insert(title + 1, f"\n*{note}*")
        cell.source = "\n".join(lines)
    return made


def said_in(notebook: NotebookNode, language: Language, name: str) -> NotebookNode:
    """Return an English notebook in a language, with the same cells and lines."""
    english = as_chapter(notebook, name)
    made = copy.deepcopy(english.notebook)
    for line, text in sentences_of(english):
        lines = made.cells[line.cell].source.split("\n")
        lines[line.number] = line.text.replace(text, language.said(text, name, COMPOSED), 1)
        made.cells[line.cell].source = "\n".join(lines)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = with_links(cell.source, language, name)
        elif cell.cell_type == "code":
            say_in_code(cell, language, name)
    return made


def translated(chapter: Chapter, language: Language) -> Chapter:
    """Return an English chapter in a language; its lines keep their places."""
    if language.tag == ENGLISH:
        return chapter
    return replace(chapter, notebook=said_in(chapter.notebook, language, chapter.name))


def as_chapter(notebook: NotebookNode, name: str) -> Chapter:
    return Chapter(name, "", notebook, [[""]] * len(notebook.cells))


def with_links(text: str, language: Language, name: str) -> str:
    """Return Markdown whose links lead to headings as they are shown."""

    def link(match: re.Match) -> str:
        picture, title, target = match.groups()
        file, mark, anchor = target.partition("#")
        shown = anchors(language, file.removesuffix(".ipynb") or name)
        return f"{picture}[{title}]({file}{mark}{shown.get(anchor, anchor)})"

    return LINK.sub(link, text)


@functools.cache
def anchors(language: Language, name: str) -> dict[str, str]:
    """Return the anchors of a chapter's headings by those of their English."""
    anchor = slug if name in PAGES else jupyter_anchor
    return {anchor(text): anchor(translation) for text, translation in language.read(name).items()}


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
    kept = READ_BY_MODELS if name[:2] in ("02", "05") else ()
    for output in cell.outputs:
        data = output.get("data", {})
        if SVG in data and "alt" in output.metadata.get(SVG, {}):
            output.metadata[SVG]["alt"] = cell.metadata.get("alt", "")
        if "text/html" in data:
            data["text/html"] = in_html(data["text/html"], language, name)
            plain = data["text/plain"]
            data["text/plain"] = in_text(plain, lambda t: language.said(t, name, PRACTICE))
        said_on_screen(output, lambda t: (t in kept and t) or language.exactly(t, SCREEN) or t)


def with_spoken(cell: NotebookNode, say: Callable[[str], str]) -> str:
    """Return the code of a cell with what it says to readers in other words."""
    lines = cell.source.split("\n")
    for node in sorted(spoken(cell), key=lambda node: -node.lineno):
        begin = lines[node.lineno - 1].encode()[: node.col_offset].decode()
        end = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        new = say(node.value)
        if new != node.value:
            indent = len(begin) - len(begin.lstrip())
            literal = f"\n{' ' * indent}".join(literals(new, WIDTH - len(begin)))
            if lines[node.lineno - 1].lstrip().startswith('"""'):  # a docstring
                literal = f'"""{new}"""'
            lines[node.lineno - 1 : node.end_lineno] = f"{begin}{literal}{end}".split("\n")
    return "\n".join(lines)


def literals(text: str, room: int) -> list[str]:
    """Return a text as literals that Python joins, each within its room where it can be."""
    parts, used = [""], 0
    for letter in text:
        wide = width(letter)
        if used + wide > room and (parts[-1].endswith(" ") or wide == 2):
            parts, used = [*parts, ""], 0
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

    return WORDS.sub(of_script, IN_HTML.sub(said, html))


def in_text(text: str, say: Callable[[str], str]) -> str:
    """Return what stands in place of HTML in other words: sentences, or the heads of columns."""
    lines = text.split("\n")
    return "\n".join(printed(line, say) if "  " in line else say(line) for line in lines)
