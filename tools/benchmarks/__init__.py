"""d2l, beside which is measured; a file for each framework says how the cases run there."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention")


def d2l_of(file: str, **imported) -> ModuleType:
    """Return functions and layers of d2l, word for word, without what others of its file need."""
    path = Path(importlib.util.find_spec("d2l").origin).with_name(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    d2l = sys.modules[f"d2l_of_{path.stem}"] = ModuleType(f"d2l_of_{path.stem}")  # for compilers
    vars(d2l).update({"Module": object} | imported | {"d2l": d2l})
    exec(compile(tree, path, "exec"), vars(d2l))
    return d2l
