"""Plants faults in Python source: one operator, constant, axis, argument or line at a time.

The faults are changes of the syntax tree; texts, annotations and docstrings are left alone.
"""

# ruff: noqa: N815 -- ast.NodeTransformer wants these names

import ast
import copy
import itertools
import tomllib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Fault:
    function: str  # or the class
    change: str  # "old line -> new line"
    source: str  # of the whole module

    def __str__(self) -> str:
        return f"{self.function}: {self.change}"


def faults(source: str, left_out: Container[str] = ()) -> Iterator[Fault]:
    """Yield every fault in the functions and classes of a module, except in those left out."""
    body = ast.parse(source).body
    texts = [ast.unparse(part) for part in body]
    for i, definition in enumerate(body):
        name = getattr(definition, "name", None)
        planter = Planter(0)
        while name is not None and name not in left_out:
            mutant = planter.visit(copy.deepcopy(definition))
            if not planter.done:
                break
            text = ast.unparse(ast.fix_missing_locations(mutant))
            if text != texts[i]:  # f(x, x) with its arguments swapped is no fault
                change = difference(texts[i].splitlines(), text.splitlines())
                yield Fault(name, change, "\n".join([*texts[:i], text, *texts[i + 1 :]]))
            planter = Planter(planter.number + 1)


def known_equivalents(name: str) -> set[str]:
    """Return the faults that change nothing one could see; a file gives the reason for each."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return {fault for group in tomllib.loads(text).get("group", []) for fault in group["faults"]}


def difference(old: list[str], new: list[str]) -> str:
    """Return the first line that differs, before and after; the last line that was is `end`."""
    pairs = itertools.zip_longest(old, new, fillvalue="end")
    return next(f"{a.strip()} -> {b.strip()}" for a, b in pairs if a != b)


class Planter(ast.NodeTransformer):
    """Makes change `number` of all that are possible."""

    def __init__(self, number: int):
        self.number = self.left = number
        self.done = False

    def turn(self, old: ast.AST, new: ast.AST) -> ast.AST:
        """Return `new` when its turn has come, else `old`."""
        self.left -= 1
        if self.left != -1:
            return old
        self.done = True
        return ast.copy_location(new, old)

    def visit_FunctionDef(self, node):
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        text = node.body[: ast.get_docstring(node) is not None]
        node.body = text + [self.visit(statement) for statement in node.body[len(text) :]]
        return node

    def visit_ClassDef(self, node):
        node.body = [
            self.visit(part) if isinstance(part, ast.FunctionDef) else part for part in node.body
        ]
        return node

    def visit_AnnAssign(self, node):  # not its annotation
        node.value = self.visit(node.value)
        return self.turn(node, ast.Pass())

    def visit_JoinedStr(self, node):
        return node

    def statement(self, node):
        self.generic_visit(node)
        return self.turn(node, ast.Pass())

    visit_Assign = visit_AugAssign = visit_Expr = visit_Raise = visit_Return = statement

    def condition(self, node):
        self.generic_visit(node)
        return self.replaced(node, test=ast.UnaryOp(ast.Not(), node.test))

    visit_If = visit_IfExp = condition

    def replaced(self, node, **fields):
        new = copy.deepcopy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return self.turn(node, new)

    def operation(self, node):
        self.generic_visit(node)
        other = OPERATORS.get(type(node.op))
        return self.replaced(node, op=other()) if other else node

    visit_BinOp = visit_BoolOp = operation

    def visit_Compare(self, node):
        self.generic_visit(node)
        for i, op in enumerate(node.ops):
            ops = [*node.ops[:i], OPERATORS[type(op)](), *node.ops[i + 1 :]]
            node = self.replaced(node, ops=ops)
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.turn(node, node.operand)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            return self.turn(node, ast.Constant(not node.value))
        if isinstance(node.value, int | float):
            return self.turn(node, ast.Constant(node.value + 1))
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        for i in range(len(node.keywords)):
            node = self.replaced(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
        if len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args):
            node = self.replaced(node, args=[node.args[1], node.args[0], *node.args[2:]])
            node = self.replaced(node, args=node.args[:-1])
        return node

    def visit_Name(self, node):
        return self.turn(node, ast.Name(NAMES[node.id])) if node.id in NAMES else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return self.replaced(node, attr=NAMES[node.attr]) if node.attr in NAMES else node
