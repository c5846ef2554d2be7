"""Cells of a notebook, run again in this process: what they show."""

import ast
from collections.abc import Iterator

import matplotlib
import numpy as np
import torch
from matplotlib import pyplot as plt

from bookbinder.solutions import read_bound
from tests.this_book import BOOK

CELLS = {  # by chapter: up to its explorer, or as far as they take little time
    "01": range(29),
    "04": [0, 22],
    "08": range(17),
    "09": range(14),
    "10": range(26),
    "14": range(28),
    "17": range(10),
}


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
