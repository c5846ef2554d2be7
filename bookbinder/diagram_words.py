"""The words of a finished diagram: messages to translate, and their translations in the drawing.

A message has the markup with which diagrams are drawn (book/figures/kit.py): **bold**, *italic*,
_{subscript}, ^{superscript}.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise
from unicodedata import combining, east_asian_width
from xml.etree import ElementTree

from bookbinder.words import Say

TEXT = re.compile(r"<text ([^>]*)>(.*?)</text>")
NAMED = re.compile(r'(<(title|desc) id="\2">)([^<]*)')
SPAN = re.compile(r"<tspan([^>]*)>(.*?)</tspan>")
SHIFT = re.compile(r'dy="([^"]*)"')
MARKUP = re.compile(r"(\*\*.+?\*\*|\*.+?\*|_\{.+?\}|\^\{.+?\})")
POINT = re.compile(r"(-?[\d.e-]+) (-?[\d.e-]+)")
WORD = re.compile(r"\b[^\W\d_]{2,}\b")
NO_PROSE = re.compile(r"<\w+>|[_^]\{.+?\}|\b(?:tanh|cos|NaN|True|False|km|MiB)\b")
HANGUL, HAN = re.compile("[가-힣]"), re.compile("[一-鿿]")
LAST_FONT = "sans-serif"
KOREAN = "'Noto Sans CJK KR','Apple SD Gothic Neo','Malgun Gothic',"
CHINESE = "'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',"
SUBSCRIPT = 13  # its font size beside TEXT's 17
SMALLEST = 12  # font size
GAP = 4  # between a text and what stands beside it
WIDTHS = {"ijl .,:;'’|!": 0.32, "ftrI[]()/-": 0.41, "mwMW%": 0.92}  # em, as DejaVu Sans has them


def is_prose(message: str) -> bool:
    return bool(WORD.search(NO_PROSE.sub(" ", message)))


def messages_of(svg: str, named: bool = True) -> list[str]:
    """Return the texts of a diagram that are words; if `named`, title and description first."""
    texts = [unescape(words) for _, _, words in NAMED.findall(svg)] if named else []
    texts += [marked(inside) for _, inside in TEXT.findall(svg)]
    return [text for text in dict.fromkeys(texts) if is_prose(text)]


def translated(svg: str, say: Say) -> str:
    """Return a diagram in another language; what is wider than its room is set smaller."""
    shapes = list(shapes_of(svg))  # the first is the card

    def name(found: re.Match) -> str:
        return found[1] + escape(said(unescape(found[3]), say))

    def text(found: re.Match) -> str:
        english = marked(found[2])
        words = said(english, say)
        return found[0] if words == english else fitted(found[1], english, words, shapes)

    made = TEXT.sub(text, NAMED.sub(name, svg))
    more = KOREAN if HANGUL.search(made) else CHINESE if HAN.search(made) else ""
    return made.replace(LAST_FONT, more + LAST_FONT, 1)


def said(message: str, say: Say) -> str:
    return say(message) if is_prose(message) else message


def marked(inside: str) -> str:
    """Return the inside of a <text> as a message: what `spans` was given."""
    shift = 0.0

    def mark(span: re.Match) -> str:
        nonlocal shift
        style, words = span.groups()
        shift += float(found[1]) if (found := SHIFT.search(style)) else 0
        if "font-size" in style:
            return f"{'_' if shift > 0 else '^'}{{{words}}}"
        marks = "**" if "bold" in style else "*" if "italic" in style else ""
        return f"{marks}{words}{marks}"

    return unescape(SPAN.sub(mark, inside))


def spans(message: str, scale: float = 1) -> str:
    """Return a message as the inside of a <text>."""
    parts, shift = [], 0
    for words, style, raised in runs(message):
        if raised:
            style = f' font-size="{SUBSCRIPT * scale:.4g}"'
        if raised != shift:
            style += f' dy="{(raised - shift) * scale:.4g}"'
            shift = raised
        parts.append(f"<tspan{style}>{escape(words)}</tspan>" if style else escape(words))
    return "".join(parts)


def runs(message: str) -> Iterator[tuple[str, str, int]]:
    """Yield the parts of a message: words, style, and how far they are moved down."""
    for part in filter(None, MARKUP.split(message)):
        if part.startswith("**"):
            yield part[2:-2], ' font-weight="bold"', 0
        elif part.startswith("*"):
            yield part[1:-1], ' font-style="italic"', 0
        elif part[:2] in ("_{", "^{"):
            yield part[2:-1], "", 5 if part[0] == "_" else -7
        else:
            yield part, "", 0


def width(message: str, size: float) -> float:
    """Estimate how wide a message is: fonts differ from reader to reader."""
    wide = 0.0
    for words, style, raised in runs(message):
        each = size * (SUBSCRIPT / 17 if raised else 1.12 if "bold" in style else 1)
        wide += each * sum(map(em, words))
    return wide


def em(letter: str) -> float:
    """Return the width of a letter; capitals and digits are as wide as they are on average."""
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1
    return next((w for letters, w in WIDTHS.items() if letter in letters), 0.62)


@dataclass
class Shape:
    """A rectangle, a line, a disc or a text, by its corners."""

    left: float
    top: float
    right: float
    bottom: float
    kind: str = ""

    def beside(self, other: "Shape") -> bool:
        return self.top < other.bottom and other.top < self.bottom

    def holds(self, x: float, y: float) -> bool:
        inside = self.left < x < self.right and self.top < y < self.bottom
        return inside and self.kind == "rect"


def shapes_of(svg: str) -> Iterator[Shape]:
    for element in ElementTree.fromstring(svg):
        kind, given = element.tag.rpartition("}")[2], element.attrib
        if kind == "text":
            yield place_of(given, "".join(element.itertext()))
        elif kind == "rect":
            x, y = float(given.get("x", 0)), float(given.get("y", 0))
            yield Shape(x, y, x + float(given["width"]), y + float(given["height"]), kind)
        elif kind == "circle":
            x, y, r = (float(given[key]) for key in ("cx", "cy", "r"))
            yield Shape(x - r, y - r, x + r, y + r)
        elif kind == "path":
            points = [tuple(map(float, point)) for point in POINT.findall(given["d"])]
            for ends in pairwise(points):
                (left, right), (top, bottom) = (sorted(c) for c in zip(*ends, strict=True))
                yield Shape(left, top - 1, right, bottom + 1)


def place_of(given: dict[str, str], message: str) -> Shape:
    """Return where a text stands, by the attributes of its <text>."""
    x, y, size = (float(given[key]) for key in ("x", "y", "font-size"))
    wide = width(message, size)
    left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[given["text-anchor"]]
    return Shape(left, y - 0.75 * size, left + wide, y + 0.2 * size, "text")


def room_of(given: dict[str, str], english: str, shapes: list[Shape]) -> float:
    """Return how wide a text may be: to the edges of its box, or halfway to the next text.

    It is never less than its English has, which may cross a line.
    """
    place, x = place_of(given, english), float(given["x"])
    middle = (place.left + place.right) / 2, (place.top + place.bottom) / 2
    left, right = -1e9, 1e9
    for shape in shapes:
        if shape.holds(*middle):
            left, right = max(left, shape.left + GAP), min(right, shape.right - GAP)
        elif shape.beside(place):
            share = 0.5 if shape.kind == "text" else 1
            if shape.right <= place.left:
                left = max(left, place.left - share * (place.left - shape.right) + GAP)
            elif shape.left >= place.right:
                right = min(right, place.right + share * (shape.left - place.right) - GAP)
    free = {"start": right - x, "middle": 2 * min(x - left, right - x), "end": x - left}
    card = shapes[0]
    own = min(place.right, card.right) - max(place.left, card.left)
    return max(free[given["text-anchor"]], own)


def fitted(attributes: str, english: str, words: str, shapes: list[Shape]) -> str:
    """Return a <text> with these words: smaller where they need it, and at last narrower."""
    given = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
    size, room = float(given["font-size"]), room_of(given, english, shapes)
    wide = width(words, size)
    scale = min(1, max(SMALLEST / size, room / wide))
    if scale < 1:
        middle = float(given["y"]) - 0.36 * size
        given["font-size"] = f"{size * scale:.4g}"
        given["y"] = f"{middle + 0.36 * size * scale:.4g}"
    if wide * scale > room + 0.1:
        given |= {"textLength": f"{room:.4g}", "lengthAdjust": "spacingAndGlyphs"}
    attributes = " ".join(f'{key}="{value}"' for key, value in given.items())
    return f"<text {attributes}>{spans(words, scale)}</text>"
