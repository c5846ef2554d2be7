"""Outputs: reused where nothing changed that they depend on, and compared as a reader sees them.

The last digits of a coordinate, or of a trained weight, depend on the CPU that computed it. So a
picture is split into numbers, which are equal when they are near, and the text around them; weights
that an output holds are float16s, of which one that lies between two may come out as its neighbor.
All else is compared exactly.
"""

import base64
import copy
import hashlib
import io
import re
from itertools import zip_longest

import numpy as np
from nbformat import NotebookNode

from bookbinder.book import Book, Edition
from bookbinder.chapters import Chapter, tags_of
from d2l_attention.frameworks import known, load

MADE_WITH = "made_with"  # in the metadata of a notebook
SVG, HTML = "image/svg+xml", "text/html"  # types of outputs
POINTS, CHANNELS = 0.01, 2  # how far numbers and channels of colors (of 255) may lie apart
RELATIVE, ABSOLUTE = 2**-10, 1e-5  # the gap between two neighbors, and what is nearly 0
PNG = "data:image/png;base64,"
WEIGHTS = re.compile(r'(?<= data-weights=")[\w+/= ]+(?=")')
# Scales and angles have no length: they belong to the text.
SHAPE = re.compile(
    r'((?<=\s)(?:d|points|[xyr]|[xy][12]|[cdr][xy]|width|height|viewBox|style|(?:xlink:)?href)="[^"]*"'
    r"|translate\([^)]*\))"
)
NUMBER = re.compile(
    rf"({PNG}[\w+/=\s]*|#[0-9a-fA-F]{{6}}\b|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
)
# matplotlib names clip paths, markers, hatches, images and collections by a hash of what they hold
HASHED_ID = re.compile(r'(?<=\sid=")((?:m|p|h|image|C[0-9a-f]+_[0-9a-f]+_)[0-9a-f]{10})(?=")')
AROUND = 30  # letters of a text on each side of a difference


def conditions(book: Book, edition: Edition, chapter: Chapter) -> str:
    """Return a hash of what outputs depend on beside their code: our package, and all versions.

    What belongs to another framework, or to the exercises of another chapter, does not count.
    """
    package, others = edition.module.parent, set(known()) - {edition.framework}
    foreign = {f"{name}.py" for other in others for name in (other, load(other).PACKAGE)}
    foreign |= {path.name for path in package.rglob("chapter_*.py")}
    foreign -= {f"chapter_{chapter.name[:2]}.py"}
    files = [*package.rglob("*.py"), *package.rglob("*.js"), *package.rglob("*.css")]
    versions = [path for path in [book.root / "constraints.txt"] if path.exists()]
    digest = hashlib.sha256()
    for path in versions + sorted(path for path in files if path.name not in foreign):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def can_be_reused(stored: NotebookNode, chapter: Chapter, made_with: str) -> bool:
    """Say whether a stored notebook has what an execution would give."""
    same = code_ids(stored) == code_ids(chapter.notebook)
    return same and stored.metadata.get(MADE_WITH) == made_with


def code_ids(notebook: NotebookNode) -> list[str]:
    """Return the ids of the code cells, which tell their English code."""
    return [cell.id for cell in notebook.cells if cell.cell_type == "code"]


def with_outputs(chapter: Chapter, stored: NotebookNode) -> NotebookNode:
    """Return the chapter's notebook with the stored outputs, counted as a run counts them."""
    notebook = copy.deepcopy(chapter.notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    for at, (cell, one) in enumerate(zip(cells, old, strict=False), 1):
        cell.outputs, cell.execution_count = copy.deepcopy(one.outputs), at
    return notebook


def keep_equal_outputs(new: NotebookNode, old: NotebookNode) -> None:
    """Take the old outputs where a reader sees no difference: a re-run changes nothing.

    So it is with outputs that differ by nature, which a tag says.
    """
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
    for data in (output.get("data", {}) for output in rest):
        near += WEIGHTS.findall(data.get(HTML, ""))
        if HTML in data:
            data[HTML] = WEIGHTS.sub("", data[HTML])
        if SVG in data:
            near.append(str(data.pop(SVG)))
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
    """Say in one line where an SVG text differs from the stored one."""
    parts, wanted = split(new), split(stored)
    for at, (part, other) in enumerate(zip_longest(parts, wanted, fillvalue="")):
        if part == other or (at % 2 and are_near(part, other)):
            continue
        letters = enumerate(zip_longest(part, other))
        same = next(number for number, (one, another) in letters if one != another)
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
    """Say whether two numbers, colors or bitmaps lie no farther apart than on another CPU."""
    allowed = CHANNELS if new.startswith(("#", PNG)) else POINTS
    values, wanted = values_of(new), values_of(stored)
    # 0.32 - 0.31 is a little more than 0.01
    return values.shape == wanted.shape and np.abs(values - wanted).max() <= allowed + 1e-9


def values_of(number: str) -> np.ndarray:
    """Return a number as an array of one, a color as its channels, a bitmap as all of its own."""
    if number.startswith("#"):
        return np.array([*bytes.fromhex(number[1:])], float)
    if number.startswith(PNG):
        from matplotlib.image import imread  # here, because most pictures have no bitmap

        png = base64.b64decode(number.removeprefix(PNG))
        return imread(io.BytesIO(png), format="png") * 255.0
    return np.array([float(number or "nan")])


def weights_difference(new: str, stored: str) -> str | None:
    """Say in one line how weights, as base64, differ from the stored ones, or return None."""
    if len(new) != len(stored):
        return "a model holds another number of weights than the stored one"
    values, wanted = decoded(new), decoded(stored)
    if np.isclose(values, wanted, RELATIVE, ABSOLUTE).all():
        return None
    return f"weights lie up to {np.abs(values - wanted).max():g} from the stored ones"


def decoded(text: str) -> np.ndarray:
    parts = (base64.b64decode(part) for part in text.split())
    return np.concatenate([np.frombuffer(part, "<f2") for part in parts]).astype(np.float64)
