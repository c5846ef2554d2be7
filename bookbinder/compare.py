"""Outputs compared as a reader sees them, and pictures made slim.

The last digits of a coordinate or a trained weight depend on the CPU: in pictures near numbers are
equal, and among weights, which are float16s, neighbors. All else is compared exactly.
"""

import base64
import copy
import re
from itertools import zip_longest

import numpy as np
from nbformat import NotebookNode

from bookbinder.chapters import HTML, SVG, tags_of

POINTS, CHANNELS = 0.01, 2  # how far numbers and channels of colors (of 255) may lie apart
RELATIVE, ABSOLUTE = 2**-10, 1e-5  # the gap between two neighbors, and what is nearly 0
WEIGHTS = re.compile(r'(?<= data-weights=")[\w+/= ]+(?=")')
# Scales and angles have no length: they belong to the text.
SHAPE = re.compile(
    r'((?<=\s)(?:d|points|[xyr]|[xy][12]|[cdr][xy]|width|height|viewBox|style|(?:xlink:)?href)="[^"]*"'
    r"|translate\([^)]*\))"
)
NUMBER = re.compile(r"(#[0-9a-fA-F]{6}\b|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
# matplotlib names clip paths, markers, hatches, images and collections by a hash of what they hold
HASHED_ID = re.compile(r'(?<=\sid=")((?:m|p|h|image|C[0-9a-f]+_[0-9a-f]+_)[0-9a-f]{10})(?=")')
AROUND = 30  # letters of a text on each side of a difference
# What is slim has two decimals, and neither a line for each point nor the tool that drew it.
DRAWN_BY = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
PLACES = re.compile(r' d="[^"]*"| transform="translate\([^)]*\)')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
GAP = re.compile(r" ?\n(?=[A-Za-z]|\"|$)|(?<=[A-Z]) ")
INDENT = re.compile(r"^ +", re.MULTILINE)


def slim(svg: str) -> str:
    """Return a picture that looks the same and is a third lighter."""
    svg = INDENT.sub("", DRAWN_BY.sub("", svg))
    return PLACES.sub(lambda place: GAP.sub("", LONG_NUMBER.sub(shorter, place[0])), svg)


def shorter(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def keep_equal_outputs(new: NotebookNode, old: NotebookNode) -> None:
    """Take old outputs that look the same, or that differ by nature, as a tag says."""
    stored = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        if before := stored.get(cell.id):
            tagged = "nbval-ignore-output" in {*tags_of(cell)} & {*tags_of(before)}
            (near, rest), (old_near, old_rest) = apart(cell.outputs), apart(before.outputs)
            if tagged or (rest == old_rest and difference(near, old_near) is None):
                cell.outputs = before.outputs


def apart(outputs: list[NotebookNode]) -> tuple[list[str], list[NotebookNode]]:
    """Return what is compared nearly, pictures and weights, and the outputs without these."""
    near, rest = [], copy.deepcopy(outputs)
    for output in rest:
        data = output.get("data", {})
        output.get("metadata", {}).pop(SVG, None)  # the text for those who do not see it
        near += WEIGHTS.findall(data.get(HTML, ""))
        if HTML in data:
            data[HTML] = WEIGHTS.sub("", data[HTML])
        if SVG in data:
            near.append(slim(data.pop(SVG)))
    return near, rest


def difference(new: list[str], stored: list[str]) -> str | None:
    """Say in one line how pictures and weights of a cell differ from the stored ones, if so."""
    if len(new) != len(stored):
        return f"the number of pictures is {len(new)}, stored {len(stored)}"
    for number, (one, other) in enumerate(zip(new, stored, strict=True), 1):
        compare = picture_difference if "<" in one + other else weights_difference
        if one != other and (reason := compare(one, other)):
            return f"picture {number} of {len(new)}: {reason}" if len(new) > 1 else reason
    return None


def picture_difference(new: str, stored: str) -> str | None:
    parts, wanted = split(new), split(stored)
    for at, (part, other) in enumerate(zip_longest(parts, wanted, fillvalue="")):
        if part == other or (at % 2 and are_near(part, other)):
            continue
        pairs = enumerate(zip_longest(part, other))
        same = next(number for number, (one, another) in pairs if one != another)
        name = "".join([*parts[:at], part[:same]]).rpartition(' id="')[2].partition('"')[0]
        begin = max(same - AROUND, 0)
        shown, before = (text[begin : begin + 2 * AROUND] for text in (part, other))
        return f"after #{name}: {shown!r}, stored {before!r}"
    return None


def split(svg: str) -> list[str]:
    """Return a picture as texts with numbers between them; ids that are hashes are counted."""
    for at, name in enumerate(dict.fromkeys(HASHED_ID.findall(svg))):
        svg = svg.replace(name, f"{name[:-10]}id-{at}")
    parts = [""]
    for at, piece in enumerate(SHAPE.split(svg)):
        text, *more = NUMBER.split(piece) if at % 2 else [piece]
        parts[-1] += text
        parts += more
    return parts


def are_near(new: str, stored: str) -> bool:
    """Say whether two numbers, or colors, lie no farther apart than on another CPU."""
    if new.startswith("#") and stored.startswith("#"):
        channels = zip(bytes.fromhex(new[1:]), bytes.fromhex(stored[1:]), strict=True)
        return all(abs(one - other) <= CHANNELS for one, other in channels)
    try:  # 0.32 - 0.31 is a little more than 0.01
        return abs(float(new) - float(stored)) <= POINTS + 1e-9
    except ValueError:
        return False


def weights_difference(new: str, stored: str) -> str | None:
    parts = (map(base64.b64decode, text.split()) for text in (new, stored))
    values, wanted = (np.frombuffer(b"".join(part), "<f2").astype(np.float64) for part in parts)
    if len(values) != len(wanted):
        return "a model holds another number of weights than the stored one"
    if np.isclose(values, wanted, RELATIVE, ABSOLUTE).all():
        return None
    return f"weights lie up to {np.abs(values - wanted).max():g} from the stored ones"
