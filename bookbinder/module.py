"""Compose the module from the definitions that chapters mark with #@save.

The mark stands alone on the first line of a cell, which it saves whole, or at the end of the first
line of a definition, an assignment or an import. No other line may end with it.
"""

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bookbinder.book import COMMAND, PACKAGE, Book, BookError, Edition, write_whole
from bookbinder.chapters import Chapter
from d2l_attention.frameworks import load

MARK = "#@save"
PRIVATE = "#@save private"  # saved, but no public name of the module
MODEL = "#@save model"  # saved in the module of Part I's model
MARKED = re.compile(r"[ \t]*(# *@ *save *(?:private|model)?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
CAN_BE_SAVED = (*DEFINITIONS, *IMPORTS, ast.Assign, ast.AnnAssign)
OPTIONS = ["--isolated", "--line-length=100", "--target-version=py311", "--quiet", "--no-cache"]


@dataclass
class Saved:
    origin: str  # where a reader finds it: the file of its chapter
    imports: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # everything but the imports
    names: dict[str, str] = field(default_factory=dict)  # name -> "file:line" of its definition
    public: list[str] = field(default_factory=list)  # the names that readers are to use
    is_model: bool = False


def bind_modules(book: Book, edition: Edition, chapters: list[Chapter]) -> None:
    """Write the modules, each after a Python of its own has run it."""
    for path, text in module_texts(book, edition, chapters).items():
        if path.exists() and path.read_bytes() == text.encode():
            continue
        trial = subprocess.run([sys.executable], input=text, capture_output=True, encoding="utf-8")
        if trial.returncode:
            reason = trial.stderr.strip().splitlines()[-1]
            raise BookError(f"{book.named(path)}: cannot be imported: {reason}")
        write_whole(path, text)


def module_texts(book: Book, edition: Edition, chapters: list[Chapter]) -> dict[Path, str]:
    """Return the module, and that of the model where a chapter saves one."""
    saved = [block for chapter in chapters for block in saved_in(chapter)]
    others = [block for block in saved if not block.is_model]
    imports = [line for block in others for line in block.imports]  # both keep what they use
    header = f"# Made from the #@save cells of book/ by `{COMMAND}`: change these, not this file.\n"
    header += f'"""{book.title} in {edition.name}: %s."""'
    first = header % "the functions that the chapters derive"
    if {line.split()[1].split(".")[0] for line in imports} & set(load(edition.framework).PACKAGES):
        first += "\n\nfrom d2l_attention.frameworks import check_installed"
        first += f'\n\ncheck_installed("{edition.framework}")'
    texts = {edition.module: compose_module(others, first)}
    if model := [block for block in saved if block.is_model]:
        ours, names = ({n for b in blocks for n in b.names} for blocks in (model, others))
        names, path = ", ".join(sorted(names - ours)), edition.module
        imports.append(f"from {PACKAGE}.{path.stem} import {names}")
        text = compose_module([Saved("", imports), *model], header % "Part I's model")
        texts[path.parent / "model" / path.name] = text
    return texts


def saved_in(chapter: Chapter) -> list[Saved]:
    """Return what the cells of a chapter save, in order; in every language it is the same."""
    return [
        saved_in_cell(cell.source, partial(chapter.where, index), chapter.file)
        for index, cell in enumerate(chapter.notebook.cells)
        if cell.cell_type == "code" and MARKED.search(cell.source)
    ]


def saved_in_cell(source: str, where: Callable[[int], str], origin: str) -> Saved:
    """Return what the marks of a cell save: statements with the comments above them."""
    saved, end = Saved(origin), 0
    marks = {source.count("\n", 0, mark.start()): mark[1] for mark in MARKED.finditer(source)}
    for line, mark in marks.items():
        if mark not in (MARK, PRIVATE, MODEL):
            raise BookError(f"{where(line)}: write {MARK}, {PRIVATE} or {MODEL}, got {mark!r}")
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        at = where((error.lineno or 1) - 1)
        raise BookError(f"{at}: a cell with {MARK} does not parse: {error.msg}") from None
    lines = MARKED.sub("", source).splitlines()
    whole = marks.pop(0, "") if body and not lines[0] else ""
    for node in body:
        above, end, at = end, node.end_lineno, where(node.lineno - 1)
        if mark := whole or marks.pop(node.lineno - 1, ""):
            if not isinstance(node, CAN_BE_SAVED):
                got = repr(ast.unparse(node).splitlines()[0])
                raise BookError(f"{at}: a saved cell holds definitions only, got {got}")
            if isinstance(node, IMPORTS):
                saved.imports.append(ast.unparse(node))
            else:
                saved.lines += lines[above:end]
                saved.names |= dict.fromkeys(names_of(node), at)
                saved.is_model |= mark == MODEL
            saved.public += names_of(node) if mark == MARK else []
    if marks:
        at = where(min(marks))
        raise BookError(
            f"{at}: cannot place {MARK}: put it alone on the first line of the cell, or "
            "at the end of the first line of a top-level def, class, assignment or import"
        )
    return saved


def names_of(node: ast.stmt) -> list[str]:
    """Return the names that a statement gives the module; imports, only those of this project."""
    if isinstance(node, DEFINITIONS):
        return [node.name]
    if isinstance(node, IMPORTS):
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}.")
        return [alias.asname or alias.name for alias in node.names] if ours else []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def compose_module(saved: list[Saved], header: str) -> str:
    """Return the module's text; BookError where a name is saved twice, or used but not saved."""
    places: dict[str, str] = {}
    for block in saved:
        for name, place in block.names.items():
            if name in places:
                raise BookError(f"{place}: {name!r} is already saved at {places[name]}")
            places[name] = place
    imports = "\n".join(line for block in saved for line in block.imports)
    public = ", ".join(f'"{name}"' for block in saved for name in block.public)
    listed = textwrap.fill(f"__all__ = [{public}]", 100, subsequent_indent="    ")
    listed = f"\n{listed}  # fmt: skip\n" if public else ""
    text, above = f"{header}\n\n{imports}\n{listed}", ""
    for block in saved:
        if block.lines:
            text += "\n\n" if block.origin == above else f"\n\n# From {block.origin}\n"
            text += "\n".join(block.lines).strip("\n") + "\n"
            above = block.origin
    text = ruff(["check", "--fix", "--select=I,F401,F811,F821", "--output-format=concise"], text)
    return ruff(["format", "--config=format.skip-magic-trailing-comma=true"], text)


def ruff(command: list[str], text: str) -> str:
    """Return what ruff makes of a text; BookError where that uses a name that no cell saves."""
    command = [sys.executable, "-m", "ruff", *command, *OPTIONS, "-"]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    if match := re.match(r"-:(\d+):\d+: \w+ (.*)", done.stderr):
        above = done.stdout.splitlines()[: int(match[1])]
        origins = ["the imports", *(x[7:] for x in above if x.startswith("# From "))]
        what = f"saved code cannot stand alone: {match[2]}"
        raise BookError(f"{origins[-1]}: {what}; save its definition or import too")
    done.check_returncode()
    return done.stdout
