"""Code as it fits a wall: without docstrings, and in parts of few lines."""

import ast
import re

MOST_LINES = 16
SAVE = re.compile(r"[ \t]*#@save.*\n?")
BLANKS = re.compile(r"\n{3,}")


def for_a_wall(source: str) -> list[str]:
    """Return the code of a cell in parts of at most 16 lines, cut where lines are blank."""
    source = cut(SAVE.sub("\n", source), is_docstring)
    if count(source) > MOST_LINES:  # the talk is about what the function does when all is well
        source = cut(source, is_validation)
    parts: list[str] = []
    for block in re.split(r"\n{2,}(?=\S)|\n\n", source):
        if parts and count(parts[-1]) + 1 + count(block) <= MOST_LINES:
            parts[-1] += f"\n\n{block}"
        else:
            parts.append(block)
    return parts


def count(source: str) -> int:
    return source.count("\n") + 1


def cut(source: str, is_cut) -> str:
    """Return code without the statements of functions and classes that `is_cut` picks."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic of the notebook
        return source.strip("\n")
    lines = source.split("\n")
    for around in ast.walk(tree):
        if isinstance(around, ast.FunctionDef | ast.ClassDef):
            picked = [node for node in around.body if is_cut(node)]
            for node in picked if len(picked) < len(around.body) else ():
                lines[node.lineno - 1 : node.end_lineno] = [None] * (
                    node.end_lineno - node.lineno + 1
                )
    kept = [line for at, line in enumerate(lines) if line is not None and not after_cut(lines, at)]
    return BLANKS.sub("\n\n", "\n".join(kept)).strip("\n")


def after_cut(lines: list, at: int) -> bool:
    """Say whether a line is blank and follows one that was taken out."""
    return at > 0 and lines[at - 1] is None and lines[at].strip() == ""


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_validation(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return all(isinstance(inner, ast.Raise) for inner in node.body) and not node.orelse
    called = node.value if isinstance(node, ast.Expr) else None
    return isinstance(called, ast.Call) and ast.unparse(called.func).startswith("check_")
