"""Say a chapter in a reader's language: its text before anything is composed of it, its outputs.

These tell of which messages they are composed; what else they show has its numbers as fields.
"""

import functools
import json
import re
from collections.abc import Callable
from html import escape, unescape

from nbformat import NotebookNode

from bookbinder.chapters import SVG, Chapter
from bookbinder.language import catalog as po
from bookbinder.language.catalog import Language, width
from bookbinder.markdown import LINK, jupyter_anchor, slug
from d2l_attention.practice.explorer import as_json

GAP = re.compile(r"(?<=[.:?!)”]) ")  # between sentences
# In an output in HTML, what is said stands behind one of these; other texts are data.
IN_HTML = re.compile(r'( alt="|<(?:p|b|summary|caption|figcaption)\b[^>]*>|</b> )([^<>"]+)')
WORDS = re.compile(r'(?<= data-words=")[^"]*')  # what a script says
BARE = re.compile(r"\S(?:.*\S)?", re.DOTALL)
WORDS_OF_LIST = re.compile(r"\w[^,=]*\w")  # "letters = 3, mask = causal", "q, k"
ROOM = 76  # letters of a string in code
READ_BY_MODELS = {"bread", "guest", "melon"}  # in chapters 2 and 5; elsewhere foods, a person
VALUE = re.compile(
    r"(?:tensor|Array)\([^)]*\)?|[\[({](?:[^a-zA-Z]|nan|inf|True|False)*(?:[\])}]|$)|'[^']*'|\b(?:True|False|nan|inf|None|\w+Error|[Ww]_\w)\b(?![./])"
    r"|(?<![\w.])[-+−]?\d(?:[\d.,/]*\d)?(?:e[-+]?\d+)?(?![a-zA-Z])"
)
FIELD = re.compile(r"\{(\d+)\}")
NO_MESSAGE = re.compile(
    r"(?!.*[A-Za-z]{3})|.*([][_<>|\\$`{]|=(?! [:, ]|\s*$)|\w[.(](?!s\))\w|[a-z][AC-Z]|\w{19}|.{60})"
)
COLUMN = re.compile(  # words up to a gap, the end, or the values that end a column
    r"(\S+(?: \S+)*?)( {2,}| (?=[-+\d.,%()\[\] ]*(?:  |$)|\[*(?:nan|inf|tensor|Array)\b)|(?= ?$) ?)"
)
LABEL = re.compile(  # in a picture of matplotlib: a comment, and its letters as paths
    r'((?:<g id="text_\d+">|</g>)\s*<!-- )([^$]*?)( -->\s*<g [^>]*>(?:\s*<defs>.*?</defs>)?)'
    r"(?:\s*<use [^>]*?(?:translate\(([\d.]+)[^>]*)?/>)+(?=\s*</g>)",
    re.DOTALL,
)
PART = re.compile(r'<g id="(legend|axes|[xy]tick)_|</g>\s*<g id="(patch)_')
SHOWN = re.compile(  # by an explorer
    r'(<(?:t[hd]|text|caption)\b[^>]*>|%3Ctext\b[^<>"]*?%3E|</svg>(?=[^<]+</li>)|\sdata-name=")([^<>%"]+)()'
)
SLIDERS, QUOTED = map(re.compile, (r' data-(?:sliders|frames)="[^"]*', r"(&quot;)(.*?)(&quot;)"))

Say = Callable[[str], str]


def translated(chapter: Chapter, _: Language) -> Chapter:
    """Put a chapter into a language, in place: its lines, its links, what its code says."""
    name, cells = chapter.name, chapter.notebook.cells
    for line, text in [*po.sentences_of(chapter)]:
        lines = cells[line.cell].source.split("\n")
        lines[line.number] = line.text.replace(text, _(text, name), 1)
        cells[line.cell].source = "\n".join(lines)
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = with_links(cell.source, _, name)
        else:
            cell.source = with_spoken(cell, lambda text: _(text, name))
            if alt := cell.metadata.get("alt"):
                cell.metadata["alt"] = _(alt, name)
    return chapter


def with_links(text: str, _: Language, name: str) -> str:
    def link(match: re.Match) -> str:
        picture, title, target = match.groups()
        file, mark, anchor = target.partition("#")
        shown = anchors(_, file.removesuffix(".ipynb") or name)
        return f"{picture}[{title}]({file}{mark}{shown.get(anchor, anchor)})"

    return LINK.sub(link, text)


@functools.cache
def anchors(_: Language, name: str) -> dict[str, str]:
    """Return the anchors of a chapter's headings by those of their English."""
    anchor = slug if name in po.PAGES else jupyter_anchor
    return {anchor(text): anchor(translation) for text, translation in _.read(name).items()}


def with_spoken(cell: NotebookNode, say: Say) -> str:
    """Return the code of a cell with what it says to readers in other words."""
    lines = cell.source.split("\n")
    for node in sorted(po.spoken(cell), key=lambda node: -node.lineno):
        begin = lines[node.lineno - 1].encode()[: node.col_offset].decode()
        end = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        new = say(node.value)
        if new != node.value:
            indent = len(begin) - len(begin.lstrip())
            literal = f"\n{' ' * indent}".join(literals(new, ROOM - len(begin)))
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


def in_outputs(cell: NotebookNode, _: Language, name: str) -> None:
    """Put what the outputs of a chapter's cell say into a language, in place."""
    kept = READ_BY_MODELS if name[:2] in ("02", "05") else ()

    def word(text: str) -> str:
        return text if text in kept else _(text, po.SCREEN)

    def message(text: str) -> str:
        return _(text, name, po.PRACTICE)

    def of_script(match: re.Match) -> str:
        texts = json.loads(unescape(match[0]))
        return escape(as_json({key: _(text, po.PRACTICE) for key, text in texts.items()}))

    for output in cell.get("outputs", ()):
        composed = output.get("metadata", {}).pop("composed", {})
        say = functools.partial(in_parts, composed=composed, message=message, word=word)
        data = output.get("data", {})
        if html := data.get("text/html"):
            html = IN_HTML.sub(lambda m, say=say: m[1] + escape(say(unescape(m[2]))), html)
            data["text/html"] = WORDS.sub(of_script, html)
            lines = data["text/plain"].split("\n")  # of columns, or of sentences
            lines = (printed(line, say) if "  " in line else say(line) for line in lines)
            data["text/plain"] = "\n".join(lines)
        said_on_screen(output, word)


def in_parts(text: str, composed: dict[str, list], message: Say, word: Say) -> str:
    """Return a text of an output in other words: a message, or several one after the other."""
    # What is composed has something in its fields: text -> message, fields.
    keys = sorted((key for key in composed if key in text), key=len, reverse=True)
    if not keys or message(text) != text:
        return BARE.sub(lambda bare: in_sentences(bare[0], message), text)

    def field(value: str, key: str) -> str:
        others = {k: v for k, v in composed.items() if k != key}
        said = in_parts(value, others, message, word)
        return said if said != value else WORDS_OF_LIST.sub(lambda words: word(words[0]), value)

    parts = re.split(f"({'|'.join(map(re.escape, keys))})", text)
    for at, part in enumerate(parts):
        if at % 2:
            of, fields = composed[part]
            values = {name: field(value, part) for name, value in fields.items()}
            parts[at] = message(of).format(**values)
        else:
            parts[at] = in_parts(part, {}, message, word)
    return "".join(parts)


def in_sentences(text: str, message: Say) -> str:
    """Return a text with those of its messages said that stand between gaps of sentences."""
    gaps = [gap.start() for gap in GAP.finditer(text)]
    for end in [len(text), *reversed(gaps)]:
        if (said := message(text[:end])) != text[:end]:
            return f"{said} {in_sentences(text[end + 1 :], message)}".rstrip()
    first = gaps[0] + 1 if gaps else len(text)
    return text[:first] + (in_sentences(text[first:], message) if gaps else "")


def said_on_screen(output: NotebookNode, say: Say) -> None:
    """Put an output into other words: `say` gets each of its messages."""

    def shown(match: re.Match) -> str:
        return f"{match[1]}{escape(with_values(unescape(match[2]), say))}{match[3]}"

    data = output.get("data", {})
    if SVG in data:
        data[SVG] = LABEL.sub(lambda found: label(found, say), data[SVG])
    if html := data.get("text/html"):
        data["text/html"] = SLIDERS.sub(lambda m: QUOTED.sub(shown, m[0]), SHOWN.sub(shown, html))
    if "text" in output:
        output.text = printed(output.text, lambda text: with_values(text, say))


def with_values(text: str, say: Say) -> str:
    """Return a text in other words, with its numbers where their fields are."""
    values: list[str] = []
    message = VALUE.sub(lambda m: values.append(m[0]) or f"{{{len(values)}}}", text)
    if NO_MESSAGE.match(FIELD.sub("", message)):
        return text
    return FIELD.sub(lambda field: values[int(field[1]) - 1], say(message))


def printed(text: str, say: Say) -> str:
    """Return lines in other words, column below column."""
    wider: dict[int, int] = {}
    found = [m for line in text.split("\n") for m in COLUMN.finditer(line) if m[2]]
    ends = {match.end() for match in found if len(match[2]) > 1}
    table = {match.string for match in found if match.end() in ends}
    for match in (m for m in found if m.string in table):
        more = width(say(match[1])) + min(2, len(match[2])) - len(match[0])
        wider[match.start()] = max(more, wider.get(match.start(), 0))

    def column(match: re.Match) -> str:
        said = say(match[1])
        room = len(match[0]) + wider.get(match.start(), 0) if match.string in table else 0
        return said + (" " * (room - width(said)) or match[2]) * bool(match[2])

    return "\n".join(COLUMN.sub(column, line) for line in text.split("\n"))


def label(found: re.Match, say: Say) -> str:
    """Return a label as text, which begins or ends where the English does, or has its middle."""
    if (new := with_values(old := unescape(found[2]), say)) == old:
        return found[0]
    part = "".join([*PART.findall(found.string, 0, found.start()), ("axes", "")][-2])
    long = float(found[4] or 0) + 60  # with the last letter, in hundredths of an em
    places = {"legend": (0, "start"), "xtick" if "rotate" in found[3] else "ytick": (long, "end")}
    in_list = found.string.count(re.search(r"translate\S+ |$", found[3])[0] or "none") > 2
    at, anchor = places.get(part, (0, "start") if in_list else (long / 2, "middle"))
    style = f"font:100px 'DejaVu Sans',sans-serif;text-anchor:{anchor}"
    text = f'<text transform="scale(1 -1)" x="{at:.0f}" style="{style}">{escape(new)}</text>'
    return f"{found[1]}{found[2]}{found[3]}{text}"
