"""Functions and layers of d2l 1.0.3, word for word, without what its modules import for others."""

import ast
import importlib.util
from pathlib import Path
from types import SimpleNamespace

NAMES = ("masked_softmax", "DotProductAttention", "AdditiveAttention", "MultiHeadAttention")


def d2l_of(file: str, **imported) -> SimpleNamespace:
    """Return d2l as one of its files defines it, with the names that the file imports."""
    path = Path(importlib.util.find_spec("d2l").origin).with_name(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) in NAMES]
    d2l = SimpleNamespace(Module=imported.pop("Module", object))  # the base of its own classes
    names = imported | {"d2l": d2l, "__name__": "d2l"}
    exec(compile(tree, path, "exec"), names)
    vars(d2l).update({name: names[name] for name in NAMES})
    return d2l
