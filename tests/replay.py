"""Cells of a notebook, run again in this process, and what a stored widget holds."""

import ast
import base64
import json
import re
from collections.abc import Iterator
from html import unescape

import matplotlib
import numpy as np
import torch
from matplotlib import pyplot as plt

from bookbinder.compare import WEIGHTS
from bookbinder.notebook import read_bound
from tests.this_book import BOOK

# By chapter: up to its explorer, or as far as they take little time.
ENDS = {"01": 22, "08": 17, "09": 14, "10": 27, "14": 29, "17": 10}
CELLS = {"04": [0, 11, 15]} | {number: range(end) for number, end in ENDS.items()}


def code_cells(number: str) -> list:
    (path,) = BOOK.editions[0].notebooks.glob(f"{number}_*.ipynb")
    return [cell for cell in read_bound(path).cells if cell.cell_type == "code"]


def replayed(number: str) -> Iterator:
    """Yield each of these cells, and the value of its last line."""
    known, kind = {"__name__": number}, torch.get_default_dtype()
    with matplotlib.rc_context(), np.printoptions():
        for cell in map(code_cells(number).__getitem__, CELLS[number]):
            if "raises-exception" not in cell.metadata.get("tags", []):
                body = ast.parse(cell.source).body
                body += [] if isinstance(body[-1], ast.Expr) else ast.parse("None").body
                exec(compile(ast.Module(body[:-1], []), "a cell", "exec"), known)
                yield cell, eval(compile(ast.Expression(body[-1].value), "a cell", "eval"), known)
    plt.close("all")
    torch.set_default_dtype(kind)  # which a chapter sets


def held_by(html: str) -> dict:
    """Return what a widget of a model tells its script."""
    return json.loads(unescape(re.search(r' data-held="([^"]*)"', html)[1]))


def unpacked(html: str) -> list[tuple[int, list[np.ndarray]]]:
    """Return the training steps of each snapshot that a widget holds, with its arrays."""
    held = held_by(html)
    ends = np.cumsum([int(np.prod(shape)) for shape in held["shapes"]])
    flat = [
        np.split(np.frombuffer(base64.b64decode(text), "<f2").astype(float), ends)
        for text in WEIGHTS.search(html)[0].split()
    ]
    arrays = [[p.reshape(s) for p, s in zip(f, held["shapes"], strict=False)] for f in flat]
    return list(zip(held["steps"], arrays, strict=True))
