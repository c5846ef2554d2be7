"""The words on the screen: labels of pictures and explorers, heads of tables, what cells print.

A message is such a text with its numbers as fields; names of code and tensors are none.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from nbformat import NotebookNode

from bookbinder.compare import SVG
from bookbinder.publish import width

VALUE = re.compile(
    r"(?:tensor|Array)\(.*|[\[({](?:[^a-zA-Z]|nan|inf)*(?:[\])}]|$)|'[^']*'|\b(?:True|False|nan|inf|None)\b"
    r"|(?<![\w.])[-+−]?\d(?:[\d.,/]*\d)?(?:e[-+]?\d+)?(?![a-zA-Z])"
)
FIELD = re.compile(r"\{(\d+)\}")
NO_MESSAGE = re.compile(
    r"(?!.*[A-Za-z]{3})|.*([][_<>|\\$`{]|=(?! [:,]|\s*$)|\w[.(](?!s\))\w|[a-z][AC-Z]|\w{19}|.{60})"
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
    r'(<t[hd]\b[^>]*>|%3Ctext\b[^<>"]*?%3E|</svg>(?=[^<]+</li>)| data-name=")([^<>%"]+)()'
)
SLIDERS, QUOTED = re.compile(r' data-sliders="[^"]*'), re.compile(r"(&quot;)(.*?)(&quot;)")


def said_on_screen(output: NotebookNode, say: Callable[[str], str]) -> None:
    """Put an output into other words: `say` gets each of its messages."""

    def shown(match: re.Match) -> str:
        return f"{match[1]}{escape(worded(unescape(match[2]), say))}{match[3]}"

    data = output.get("data", {})
    if SVG in data:
        data[SVG] = LABEL.sub(lambda found: label(found, say), data[SVG])
    if html := data.get("text/html"):
        data["text/html"] = SLIDERS.sub(lambda m: QUOTED.sub(shown, m[0]), SHOWN.sub(shown, html))
    if "text" in output:
        output.text = printed(output.text, lambda text: worded(text, say))


def worded(text: str, say: Callable[[str], str]) -> str:
    """Return a text in other words, which have its numbers where their fields are."""
    values: list[str] = []
    message = VALUE.sub(lambda m: values.append(m[0]) or f"{{{len(values)}}}", text)
    if NO_MESSAGE.match(FIELD.sub("", message)):
        return text
    return FIELD.sub(lambda field: values[int(field[1]) - 1], say(message))


def printed(text: str, say: Callable[[str], str]) -> str:
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


def label(found: re.Match, say: Callable[[str], str]) -> str:
    """Return a label as text, which begins or ends where the English does, or has its middle."""
    if (new := worded(old := unescape(found[2]), say)) == old:
        return found[0]
    part = "".join([*PART.findall(found.string, 0, found.start()), ("axes", "")][-2])
    long = float(found[4] or 0) + 60  # with the last letter, in hundredths of an em
    places = {"legend": (0, "start"), "xtick" if "rotate" in found[3] else "ytick": (long, "end")}
    at, anchor = places.get(part, (long / 2, "middle"))
    style = f"font:100px 'DejaVu Sans',sans-serif;text-anchor:{anchor}"
    text = f'<text transform="scale(1 -1)" x="{at:.0f}" style="{style}">{escape(new)}</text>'
    return f"{found[1]}{found[2]}{found[3]}{text}"
