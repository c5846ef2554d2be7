"""Which statements of a notebook its answers need, and where it checks each of them.

What no answer depends on, such as a figure or the training of a model, is not run: that makes
seconds of minutes.
"""

import ast
import contextlib
from dataclasses import dataclass
from functools import cached_property

from nbformat import NotebookNode

from bookbinder.chapters import tags_of
from bookbinder.worksheets import CHECKS, DEFINITIONS, names_in, python_of

IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell."""

    node: ast.stmt

    @cached_property
    def source(self) -> str:
        return ast.unparse(self.node)

    @cached_property
    def names(self) -> tuple[set[str], set[str]]:
        """The names that it binds, and those that it uses."""
        cell = NotebookNode(cell_type="code", metadata={}, source=self.source)
        return names_in(cell)

    @cached_property
    def changes(self) -> set[str]:
        """The names whose values it may change: `rows.append(1)`, `scores[0] = 0`, `@to(Layer)`."""
        if isinstance(self.node, IMPORTS):
            return set()
        if isinstance(self.node, DEFINITIONS):
            inner = [n for decorator in self.node.decorator_list for n in ast.walk(decorator)]
            return {node.id for node in inner if isinstance(node, ast.Name)}
        inner = list(ast.walk(self.node))
        calls = [node.value for node in inner if isinstance(node, ast.Expr)]
        of = [c.func for c in calls if isinstance(c, ast.Call) and not isinstance(c.func, ast.Name)]
        of += [n for n in inner if isinstance(getattr(n, "ctx", None), ast.Store | ast.Del)]
        return {root.id for root in map(root_of, of) if isinstance(root, ast.Name)}

    @property
    def always(self) -> bool:
        """Whether it does something for all that follow: a star import, one from `__future__`."""
        node = self.node
        whole = isinstance(node, ast.ImportFrom)
        return whole and (node.names[0].name == "*" or node.module == "__future__")

    @property
    def check(self) -> tuple[str, str] | None:
        """Number and answer of an exercise that it checks: `check("6.2", f)`, also in an assert."""
        simple = isinstance(self.node, ast.Expr | ast.Assign | ast.Assert)
        for call in ast.walk(self.node) if simple else ():
            if isinstance(call, ast.Call) and call.args and ast.unparse(call.func) == "check":
                number, *answer = call.args
                answer += [k.value for k in call.keywords if k.arg == "answer"]
                if isinstance(number, ast.Constant):
                    return str(number.value), "".join(map(ast.unparse, answer[:1]))
        return None


def root_of(node: ast.expr) -> ast.expr:
    """Return `rows` of `rows[0].append(1)`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def statements_of(cell: NotebookNode) -> list[Statement] | None:
    """Return the statements of a code cell; None where it does not parse."""
    if cell.source.startswith("%%writefile"):
        return None
    for read in (lambda: cell.source, lambda: python_of(cell), lambda: transformed(cell.source)):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return [Statement(node) for node in ast.parse(read()).body]
    return None


def transformed(source: str) -> str:
    """Return Python in which IPython's own, `softmax?`, is calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def checks_in(notebook: NotebookNode) -> dict[str, tuple[int, str]]:
    """Return number -> where the last code cell is that checks this exercise, and which answer."""
    checks: dict[str, tuple[int, str]] = {}
    for at, cell in enumerate(code_cells(notebook)):
        marked = [(str(cell.metadata[CHECKS]), "")] if CHECKS in cell.metadata else []
        called = [s.check for s in statements_of(cell) or [] if s.check]
        for number, answer in [*marked, *called]:
            checks[number] = at, answer or checks.get(number, (0, ""))[1]
    return checks


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def needed_sources(notebook: NotebookNode, answers: list[str]) -> list[str]:
    """Return of each code cell what the answers, expressions, need of it.

    A cell that does not parse is needed: its error tells why there is no answer. So is a file.
    """
    code = code_cells(notebook)
    cells = [[] if "raises-exception" in tags_of(cell) else statements_of(cell) for cell in code]
    every = [statement for cell in cells for statement in cell or [] if not statement.check]
    imported = {n for s in every if isinstance(s.node, IMPORTS) for n in s.names[0]}
    needed = {name for text in answers for name in Statement(ast.parse(text).body[0]).names[1]}
    kept = {s for s in every if s.always}
    while more := {s for s in every if s.names[0] & needed or s.changes & needed - imported} - kept:
        kept |= more
        needed |= {name for statement in more for name in statement.names[1]}
    return [
        cell.source if statements is None else "\n".join(s.source for s in statements if s in kept)
        for cell, statements in zip(code, cells, strict=True)
    ]
