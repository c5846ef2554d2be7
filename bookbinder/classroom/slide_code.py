"""Code as it fits a wall: without docstrings, and in parts of few lines."""

import ast
import re
import textwrap
from collections.abc import Callable

MOST_LINES, MOST_LETTERS = 16, 79
SAVE = re.compile(r"[ \t]*#@save.*\n?")
DEFINITION = ast.FunctionDef | ast.ClassDef


def for_a_wall(source: str) -> list[str]:
    """Return the code of a cell in parts of about 16 lines, cut where lines are blank."""
    source = without(SAVE.sub("\n", source), is_docstring)
    if count(source) > MOST_LINES:  # a talk is about what a function does when all is well
        source = with_short_headers(without(source, is_validation))
    parts: list[str] = []
    for block in re.split(r"\n{2,}", source):
        if parts and count(parts[-1]) + 1 + count(block) <= MOST_LINES:
            parts[-1] += f"\n\n{block}"
        else:
            parts.append(block)
    return parts


def count(source: str) -> int:
    return source.count("\n") + 1


def without(source: str, is_cut: Callable[[ast.stmt], bool]) -> str:
    """Return code without the statements of its functions and classes that `is_cut` picks."""
    lines: list[str | None] = source.split("\n")
    for around in definitions(source):
        picked = [node for node in around.body if is_cut(node)]
        for node in picked if len(picked) < len(around.body) else ():
            end = node.end_lineno
            if end < len(lines) and not lines[end].strip():  # the blank line after it, too
                end += 1
            lines[node.lineno - 1 : end] = [None] * (end - node.lineno + 1)
    return "\n".join(line for line in lines if line is not None).strip("\n")


def definitions(source: str) -> list[DEFINITION]:
    """Return all functions and classes; none where a cell has a magic of the notebook."""
    try:
        return [node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITION)]
    except SyntaxError:
        return []


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_validation(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return all(isinstance(inner, ast.Raise) for inner in node.body) and not node.orelse
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith("check_")


def with_short_headers(source: str) -> str:
    """Return code in which headers of several lines have lost their annotations."""
    lines = source.split("\n")
    for node in sorted(definitions(source), key=lambda node: -node.lineno):
        if isinstance(node, ast.ClassDef) or (first := node.body[0].lineno) - node.lineno < 3:
            continue
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        start = f"{' ' * node.col_offset}def {node.name}("
        header = textwrap.wrap(
            f"{ast.unparse(node.args)}):",
            MOST_LETTERS,
            initial_indent=start,
            subsequent_indent=" " * len(start),
        )
        lines[node.lineno - 1 : first - 1] = header
    return "\n".join(lines)
