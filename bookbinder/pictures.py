"""Compare SVG pictures as pictures: what they hold exactly, where and in what color nearly.

The last digits of a coordinate depend on the CPU that computed it; a reader sees no difference.
So a picture is split into its numbers and a skeleton, which is all of its text but them.
"""

import base64
import io
import itertools
import re

import numpy as np

SVG = "image/svg+xml"  # the type of such a picture among the outputs of a cell
GAP = "\0"  # stands in a skeleton for a number
POINTS, CHANNELS = 0.01, 2  # how far numbers and channels of colors (of 255) may lie apart
PNG = "data:image/png;base64,"
# Scales and angles have no length: they are part of the skeleton.
SHAPES = re.compile(
    r'(?<=\s)(?:d|points|[xyr]|[xy][12]|[cdr][xy]|width|height|viewBox|style|(?:xlink:)?href)="[^"]*"'
    r"|translate\([^)]*\)"
)
NUMBER = re.compile(
    rf"{PNG}[\w+/=\s]*|#[0-9a-fA-F]{{6}}\b|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
)
# matplotlib names clip paths, markers, hatches, images and collections by a hash of what they hold
HASHED_ID = re.compile(r'(?<=\sid=")((?:m|p|h|image|C[0-9a-f]+_[0-9a-f]+_)[0-9a-f]{10})(?=")')
ID = re.compile(r'\sid="([^"]*)"')
AROUND = 30  # letters on each side of a difference


def pictures_difference(new: list[str], stored: list[str]) -> str | None:
    """Say in one line how the pictures of a cell differ from the stored ones, or return None."""
    if len(new) != len(stored):
        return f"the number of pictures is {len(new)}, stored {len(stored)}"
    for number, pair in enumerate(zip(new, stored, strict=True), 1):
        if reason := picture_difference(*pair):
            return f"picture {number} of {len(new)}: {reason}" if len(new) > 1 else reason
    return None


def picture_difference(new: str, stored: str) -> str | None:
    """Say in one line where an SVG text differs from the stored one, and by how much.

    Equal pictures give None: the same text but for numbers within the tolerance.
    """
    if new == stored:
        return None
    (skeleton, numbers), (wanted, counterparts) = split(new), split(stored)
    if skeleton != wanted:
        pairs = enumerate(itertools.zip_longest(skeleton, wanted))
        at = next(i for i, (a, b) in pairs if a != b)
        return f"{place(skeleton, numbers, at)}, stored {around(wanted, counterparts, at)}"
    gaps = (match.start() for match in re.finditer(GAP, skeleton))
    for at, number, counterpart in zip(gaps, numbers, counterparts, strict=True):
        if reason := number_difference(number, counterpart):
            return f"{place(skeleton, numbers, at)}: {reason}"
    return None


def split(svg: str) -> tuple[str, list[str]]:
    """Return the skeleton of a picture, with ids that are hashes counted, and its numbers."""
    names = {}
    for name in HASHED_ID.findall(svg):
        names.setdefault(name, f"{name[:-10]}id-{len(names)}")
    if names:
        svg = re.sub(rf"(?<=[\"#])(?:{'|'.join(names)})(?=[\")])", lambda m: names[m[0]], svg)
    numbers = []

    def taken(number: re.Match) -> str:
        numbers.append(number[0])
        return GAP

    return SHAPES.sub(lambda shape: NUMBER.sub(taken, shape[0]), svg), numbers


def number_difference(new: str, stored: str) -> str | None:
    """Say how far two numbers, colors or bitmaps lie apart, if that is too far."""
    if new == stored:
        return None
    allowed = CHANNELS if new.startswith(("#", PNG)) else POINTS
    values, counterparts = values_of(new), values_of(stored)
    if values.shape != counterparts.shape:
        return f"{new[:40]}, stored {stored[:40]}"
    apart = np.abs(values - counterparts).max()
    if apart <= allowed + 1e-9:  # 0.32 - 0.31 is a little more than 0.01
        return None
    return f"{new[:40]}, stored {stored[:40]}: {apart:.6g} apart, {allowed} is allowed"


def values_of(number: str) -> np.ndarray:
    """Return a number as an array of one, a color as its channels, a bitmap as all of its own."""
    if number.startswith("#"):
        return np.array([*bytes.fromhex(number[1:])], float)
    if number.startswith(PNG):
        from matplotlib.image import imread  # here, because most pictures have no bitmap

        try:
            png = base64.b64decode(number.removeprefix(PNG))
            return imread(io.BytesIO(png), format="png") * 255.0
        except (ValueError, OSError, SyntaxError):
            return np.array([np.nan])  # equals no bitmap
    return np.array([float(number)])


def place(skeleton: str, numbers: list[str], at: int) -> str:
    """Return what stands around a place of a skeleton, and the id of the element before it."""
    name = ["", *ID.findall(skeleton[:at])][-1]
    return f"after #{name}: {around(skeleton, numbers, at)}"


def around(skeleton: str, numbers: list[str], at: int) -> str:
    begin = max(at - AROUND, 0)
    held = iter(numbers[skeleton[:begin].count(GAP) :])
    return repr(re.sub(GAP, lambda _: next(held)[:40], skeleton[begin : at + AROUND]))
