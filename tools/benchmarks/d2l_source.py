"""Functions and layers of d2l 1.0.3, word for word, without what its modules import for others."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention", "MultiHeadAttention")


def d2l_of(file: str, **imported) -> ModuleType:
    """Return d2l as one of its files defines it, with the names that the file imports."""
    path = Path(importlib.util.find_spec("d2l").origin).with_name(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    d2l = ModuleType(f"d2l_of_{path.stem}")
    sys.modules[d2l.__name__] = d2l  # compilers look up a function's module by its name
    vars(d2l).update({"Module": object} | imported | {"d2l": d2l})
    exec(compile(tree, path, "exec"), vars(d2l))
    return d2l
