"""What is measured, the same in every framework, and d2l, beside which it is measured."""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

CASES = [  # kind, and sizes b, n, m and d
    ("masked softmax", 8, 512, 512, 0),
    ("masked softmax", 4, 1024, 2048, 0),
    ("dot product", 8, 512, 512, 64),
    ("dot product", 4, 1024, 2048, 64),
    ("additive", 4, 256, 512, 128),
]
NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention")


def cases() -> Iterator[tuple[str, str, list[np.ndarray]]]:
    """Yield titles, kinds and inputs: scores, or queries, keys and values, and lengths."""
    rng = np.random.default_rng(0)
    for kind, b, n, m, d in CASES:
        shapes = [(b, n, d), (b, m, d), (b, m, d)] if d else [(b, n, m)]
        arrays = [rng.normal(size=shape).astype("float32") for shape in shapes]
        lens = rng.integers(1, m + 1, b).astype("int32")
        yield f"{kind} {(b, n, m)}" + (f", d={d}" if d else ""), kind, [*arrays, lens]


def d2l_of(file: str, **imported) -> ModuleType:
    """Return functions and layers of d2l, word for word, without what others of its file need."""
    path = Path(importlib.util.find_spec("d2l").origin).with_name(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    d2l = sys.modules[f"d2l_of_{path.stem}"] = ModuleType(f"d2l_of_{path.stem}")  # for compilers
    vars(d2l).update({"Module": object} | imported | {"d2l": d2l})
    exec(compile(tree, path, "exec"), vars(d2l))
    return d2l
