"""Compare SVG pictures as pictures: what they hold exactly, where and in what color nearly.

The last digits of a coordinate depend on the CPU that computed it; a reader sees no difference.
"""

import base64
import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

SVG = "image/svg+xml"  # the type of such a picture among the outputs of a cell
ROOT = "{http://www.w3.org/2000/svg}svg"
LENGTHS = {
    *("d", "points", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry"),
    *("width", "height", "viewBox", "translate"),
    *("stroke-width", "stroke-dasharray", "stroke-dashoffset", "font-size"),
}
COLORS = {"fill", "stroke", "color", "stop-color", "flood-color"}
OPACITIES = {"opacity", "fill-opacity", "stroke-opacity", "stop-opacity", "flood-opacity"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
HEX_COLOR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", re.IGNORECASE)
PNG = "data:image/png;base64,"
# matplotlib names clip paths, markers, hatches, images and collections by a hash of what they hold
HASHED_ID = re.compile(r"(m|p|h|image|C[0-9a-f]+_[0-9a-f]+_)[0-9a-f]{10}")


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may lie apart: coordinates in points, color channels in 1/255."""

    points: float = 0.01
    channels: float = 2

    def __post_init__(self):
        for name, value in vars(self).items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a number of at least 0, got {value}")


STANDARD = Tolerance()


def pictures_difference(
    new: list[str], stored: list[str], tolerance: Tolerance = STANDARD
) -> str | None:
    """Say in one line how the pictures of a cell differ from the stored ones, or return None."""
    if len(new) != len(stored):
        return f"the number of pictures is {len(new)}, stored {len(stored)}"
    for number, pair in enumerate(zip(new, stored, strict=True), 1):
        if reason := picture_difference(*pair, tolerance):
            return f"picture {number} of {len(new)}: {reason}" if len(new) > 1 else reason
    return None


def picture_difference(new: str, stored: str, tolerance: Tolerance = STANDARD) -> str | None:
    """Say in one line which element of an SVG text differs from the stored one, and by how much.

    Equal pictures give None: the same elements in the same order, with the same attributes, ids
    and texts, and all coordinates and colors within the tolerance. Ids that are hashes are compared
    by the order in which they are defined.
    """
    trees = []
    for name, text in (("new", new), ("stored", stored)):
        try:
            trees.append(parse(text))
        except ValueError as error:
            return f"the {name} picture is no SVG: {error}"
    return element_difference(*trees, "svg", tolerance)


def parse(text: str) -> ET.Element:
    """Return the root of an SVG text, comments included, with hashed ids replaced by numbers."""
    if "<!ENTITY" in text:
        raise ValueError("it declares entities of its own")
    builder = ET.TreeBuilder(insert_comments=True, insert_pis=True)
    try:
        root = ET.fromstring(text, ET.XMLParser(target=builder))
    except ET.ParseError as error:
        raise ValueError(f"{error}") from None
    if root.tag != ROOT:
        raise ValueError(f"its root is <{local_name(root.tag)}>")
    names, counts = {}, {}
    for element in root.iter():
        if hashed := HASHED_ID.fullmatch(element.get("id", "")):
            kind = hashed[1]
            counts[kind] = counts.get(kind, 0) + 1
            names[hashed[0]] = element.attrib["id"] = f"{kind}-{counts[kind]}"
    for element in root.iter():
        for key, value in element.items():
            if "#" in value:  # url(#p...) or a link to #m...
                element.set(key, re.sub(r"(?<=#)[\w.-]+", lambda m: names.get(m[0], m[0]), value))
    return root


def local_name(tag) -> str:
    """Return a tag or an attribute's name without its namespace."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else tag.__name__.lower()


def element_difference(
    new: ET.Element, stored: ET.Element, path: str, tolerance: Tolerance
) -> str | None:
    """Say what differs in an element that stands at `path`, or else in those inside it."""
    if new.tag != stored.tag:
        return f"{path}: <{local_name(new.tag)}>, stored <{local_name(stored.tag)}>"
    if new.get("id") != stored.get("id"):
        return f"{path}: id {new.get('id')!r}, stored {stored.get('id')!r}"
    for what in ("text", "tail"):  # the tail is the text after the element
        text, counterpart = ((getattr(e, what) or "").strip() for e in (new, stored))
        if text != counterpart:
            return f"{path}: {what} {text!r}, stored {counterpart!r}"
    if new.attrib.keys() != stored.attrib.keys():
        names, names_of_stored = ([*map(local_name, e.keys())] for e in (new, stored))
        return f"{path}: attributes {names}, stored {names_of_stored}"
    for key, value in new.items():
        name = local_name(key)
        if reason := value_difference(name, value, stored.get(key), tolerance):
            return f"{path}: {name}: {reason}"
    return children_difference(new, stored, path, tolerance)


def children_difference(
    new: ET.Element, stored: ET.Element, path: str, tolerance: Tolerance
) -> str | None:
    steps = child_names(max(new, stored, key=len))
    for child, counterpart, step in zip(new, stored, steps, strict=False):
        reason = element_difference(child, counterpart, f"{path}/{step}", tolerance)
        if reason and len(new) == len(stored):
            return reason
        if reason:
            break
    else:
        if len(new) == len(stored):
            return None
        step = steps[min(len(new), len(stored))]
    longer = "stored" if len(stored) > len(new) else "new"
    return (
        f"{path}: {len(new)} elements, stored {len(stored)}; "
        f"the first that differs is {step} of the {longer} ones"
    )


def child_names(parent: ET.Element) -> list[str]:
    """Name the elements inside another as a path does: "g[2]#axes_1" is the second <g>."""
    counts: dict[str, int] = {}
    names = []
    for child in parent:
        tag = local_name(child.tag)
        counts[tag] = counts.get(tag, 0) + 1
        names.append(f"{tag}[{counts[tag]}]" + (f"#{child.get('id')}" if child.get("id") else ""))
    return names


def value_difference(name: str, new: str, stored: str, tolerance: Tolerance) -> str | None:
    """Say how an attribute, or an entry of a style, differs from the stored one, or return None."""
    if new == stored:
        return None
    if name == "style":
        return entries_difference(entries(new, ";", ":"), entries(stored, ";", ":"), tolerance)
    if name == "transform":  # factors and angles have no length: they are compared exactly
        return entries_difference(entries(new, ")", "("), entries(stored, ")", "("), tolerance)
    if name in LENGTHS:
        return numbers_difference(new, stored, tolerance.points)
    if name in OPACITIES:
        return numbers_difference(new, stored, tolerance.channels / 255)
    if name in COLORS and HEX_COLOR.fullmatch(new) and HEX_COLOR.fullmatch(stored):
        channels = (HEX_COLOR.fullmatch(color).groups() for color in (new, stored))
        apart = max(abs(int(a, 16) - int(b, 16)) for a, b in zip(*channels, strict=True))
        return (
            f"{new}, stored {stored}: a channel is {apart} of 255 apart"
            if apart > tolerance.channels
            else None
        )
    if name == "href" and new.startswith(PNG) and stored.startswith(PNG):
        return pixels_difference(new, stored, tolerance.channels)
    return f"{new!r}, stored {stored!r}"


def entries(text: str, end: str, middle: str) -> list[tuple[str, str]]:
    """Split "fill: #ffffff; opacity: 0.5" or "translate(1 2) scale(3)" into names and values."""
    parts = (entry.partition(middle) for entry in text.split(end) if entry.strip())
    return [(name.strip(), value.strip()) for name, _, value in parts]


def entries_difference(
    new: list[tuple[str, str]], stored: list[tuple[str, str]], tolerance: Tolerance
) -> str | None:
    names_of_new, names_of_stored = [name for name, _ in new], [name for name, _ in stored]
    if names_of_new != names_of_stored:
        return f"{names_of_new}, stored {names_of_stored}"
    for (name, value), (_, counterpart) in zip(new, stored, strict=True):
        if reason := value_difference(name, value, counterpart, tolerance):
            return f"{name}: {reason}"
    return None


def numbers_difference(new: str, stored: str, allowed: float) -> str | None:
    """Say how far the numbers in two strings lie apart that are otherwise equal."""
    numbers, counterparts = NUMBER.findall(new), NUMBER.findall(stored)
    if len(numbers) != len(counterparts):
        return f"{len(numbers)} numbers, stored {len(counterparts)}"
    if NUMBER.split(new) != NUMBER.split(stored):
        return f"{shortened(new)}, stored {shortened(stored)}"
    pairs = zip(numbers, counterparts, strict=True)
    gaps = [0.0 if a == b else abs(float(a) - float(b)) for a, b in pairs]
    worst = max(range(len(gaps)), key=gaps.__getitem__)
    if gaps[worst] <= allowed + 1e-9:  # 0.32 - 0.31 is a little more than 0.01
        return None
    return (
        f"number {worst + 1} of {len(gaps)} is {numbers[worst]}, stored {counterparts[worst]}: "
        f"{gaps[worst]:.6g} apart, {allowed:.4g} is allowed"
    )


def pixels_difference(new: str, stored: str, allowed: float) -> str | None:
    """Say how two bitmaps inside a picture differ: compressed in another way, they are equal."""
    import numpy as np  # here, because most pictures have no bitmap
    from matplotlib.image import imread

    bitmaps = []
    for name, text in (("new", new), ("stored", stored)):
        try:
            png = base64.b64decode(text.removeprefix(PNG))
            bitmaps.append(imread(io.BytesIO(png), format="png"))
        except (ValueError, OSError, SyntaxError) as error:
            return f"the {name} bitmap is no PNG: {error}"
    if bitmaps[0].shape != bitmaps[1].shape:
        return f"a bitmap of shape {bitmaps[0].shape}, stored {bitmaps[1].shape}"
    gaps = np.abs(bitmaps[0] - bitmaps[1]) * 255
    row, column = np.unravel_index(gaps.argmax(), gaps.shape)[:2]
    apart = round(float(gaps.max()))
    if apart <= allowed:
        return None
    return f"the pixel in row {row}, column {column} has a channel {apart} of 255 apart"


def shortened(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else text[: width - 3] + "...")
