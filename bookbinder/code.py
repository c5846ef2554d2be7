"""What the code of a notebook says: names that it binds and uses, and checks of answers."""

import ast
import contextlib
import re
import symtable
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode

STAR = re.compile(r"(?<=import )\*")


class Code(NamedTuple):
    """Statements, the names that they bind for later cells, import among them, and use."""

    body: list[ast.stmt]
    bound: set[str]
    imported: set[str]
    used: set[str]


def read_code(source: str) -> Code:
    """Return the code of a cell; what is no Python, such as magics, binds and uses all words."""
    with contextlib.suppress(Exception):
        scopes = [symtable.symtable(source, "", "exec")]  # refuses `global x` below x, too
        for scope in scopes:
            scopes += scope.get_children()
        names = [x for scope in scopes for x in scope.get_symbols() if x.is_global()]
        imported = {x.get_name() for x in names if x.is_imported()}
        bound = {x.get_name() for x in names if x.is_assigned()} | {*STAR.findall(source)}
        used = {x.get_name() for x in names if x.is_referenced()}
        return Code(ast.parse(source).body, bound | imported, imported, used)
    words = set(re.findall(r"\w+", source))
    return Code([], words | {"*"}, set(), words)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def checks_in(notebook: NotebookNode) -> dict[str, tuple[str, int]]:
    """Return number -> answer, an expression, of its last check, and which code cell that is."""
    sources = (cell.source for cell in code_cells(notebook))
    return {
        number: (answer, at)
        for at, source in enumerate(sources)
        for node in read_code(source).body
        for number, answer in checks_of(node)
    }


def checks_of(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield number and answer of a check: `check("6.2", attend)`, also in an assert."""
    simple = isinstance(node, ast.Expr | ast.Assign | ast.Assert)
    for call in ast.walk(node) if simple else ():
        match call:
            case ast.Call(ast.Name("check"), [ast.Constant(number), answer, *_]) | ast.Call(
                ast.Name("check"), [ast.Constant(number)], [ast.keyword("answer", answer), *_]
            ):
                yield str(number), ast.unparse(answer)
