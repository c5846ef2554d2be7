"""Compose the module from the definitions that chapters mark with #@save.

The mark stands alone on the first line of a cell, which it saves whole, or at the end of the first
line of a definition, an assignment or an import. No other line may end with it.
"""

import ast
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from bookbinder.book import PACKAGE, BookError
from bookbinder.chapters import Chapter
from bookbinder.markdown import headings_of

MARK = "#@save"
PRIVATE = "#@save private"  # saved, but no public name of the module
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
IMPORTS = (ast.Import, ast.ImportFrom)
LINE_LENGTH = 100

Place = Callable[[int], str]  # line of a cell, from 1 -> "file:line"


@dataclass(frozen=True)
class Saved:
    """What one cell gives to the module."""

    origin: str  # where a reader finds it: chapter and heading
    imports: list[str]
    source: str  # everything but the imports; may be empty
    names: dict[str, str]  # name -> "file:line" of its definition
    public: list[str]  # the names that readers are to use


def saved_in(chapter: Chapter) -> list[Saved]:
    """Return what the cells of a chapter save, in order; in every language it is the same."""
    saved = []
    headings = headings_of(chapter)
    for index, cell in enumerate(chapter.notebook.cells):
        if cell.cell_type == "code" and "save" in cell.source.lower():
            above = [heading.title for heading in headings if heading.cell < index]
            origin = f"{chapter.file}, {[chapter.name, *above][-1]}"
            if found := saved_in_cell(
                cell.source, lambda n, i=index: chapter.where(i, n - 1), origin
            ):
                saved.append(found)
    return saved


def saved_in_cell(source: str, at: Place, origin: str) -> Saved | None:
    """Return what a cell saves, or None where it has no mark."""
    marks = marked_lines(source, at)
    if not marks:
        return None  # not ours to judge: executing the cell will say what is wrong
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        where = at(error.lineno or 1)
        raise BookError(f"{where}: a cell with {MARK} does not parse: {error.msg}") from None
    text = source.splitlines()
    for line, mark in marks.items():
        text[line - 1] = text[line - 1].rstrip().removesuffix(mark).rstrip()
    whole = not text[0]
    saved = {1: body} if whole else {node.lineno: [node] for node in body}
    wanted: dict[ast.stmt, str] = {}
    for line, mark in marks.items():
        if not saved.get(line):
            raise BookError(
                f"{at(line)}: cannot place {MARK}: put it alone on the first line of the cell, or "
                "at the end of the first line of a top-level def, class, assignment or import"
            )
        wanted |= dict.fromkeys(saved[line], mark)
    for node in wanted:
        if not isinstance(node, DEFINITIONS + ASSIGNMENTS + IMPORTS):
            got = repr(ast.unparse(node).splitlines()[0])
            raise BookError(f"{at(node.lineno)}: a saved cell holds definitions only, got {got}")
    imports = [node for node in wanted if isinstance(node, IMPORTS)]
    rest = [node for node in wanted if node not in imports]
    gone = {line for node in imports for line in range(node.lineno, node.end_lineno + 1)}
    lines = [line for number, line in enumerate(text, 1) if number not in gone]
    if not whole:
        lines = [line for node in rest for line in ["", "", *lines_of(node, text)]]
    return Saved(
        origin,
        imports=[ast.unparse(node) for node in imports],
        source="\n".join(lines).strip("\n"),
        names={name: at(node.lineno) for node in rest for name in names_of(node)},
        public=[name for node in wanted if wanted[node] == MARK for name in names_of(node)],
    )


def marked_lines(source: str, at: Place) -> dict[int, str]:
    """Return line -> mark, where a line of `source` ends with one."""
    lines = {}
    for number, line in enumerate(source.splitlines(), 1):
        mark = "#" + line.rpartition("#")[2].rstrip()
        if mark in (MARK, PRIVATE):
            lines[number] = mark
        elif mark.replace(" ", "").lower() in (MARK, PRIVATE.replace(" ", "")):
            raise BookError(f"{at(number)}: write {MARK} or {PRIVATE}, got {mark!r}")
    return lines


def lines_of(node: ast.stmt, text: list[str]) -> list[str]:
    """Return the lines of a statement with the comments that stand directly above it."""
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    while start > 1 and text[start - 2].startswith("#"):
        start -= 1
    return text[start - 1 : node.end_lineno]


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
    """Return the text of the module: header, imports, public names, blocks under their origin.

    Raises BookError where two cells save one name, or the result uses a name that is not saved.
    """
    places: dict[str, str] = {}
    for block in saved:
        for name, place in block.names.items():
            if name in places:
                raise BookError(f"{place}: {name!r} is already saved at {places[name]}")
            places[name] = place
    imports = "\n".join(line for block in saved for line in block.imports)
    public = ", ".join(f'"{name}"' for block in saved for name in block.public)
    listed = textwrap.fill(f"__all__ = [{public}]", LINE_LENGTH, subsequent_indent="    ")
    blocks, above = [], ""
    for block in (b for b in saved if b.source):
        origin = f"# From {block.origin}\n" if block.origin != above else ""
        blocks.append(f"{origin}{block.source}")
        above = block.origin
    text = "\n\n\n".join([f"{header}\n\n{imports}\n\n{listed}  # fmt: skip", *blocks]) + "\n"
    text = ruff(["check", "--fix", "--exit-zero", "--select=I,F401"], text)
    text = ruff(["format", "--config=format.skip-magic-trailing-comma=true"], text)
    check_names(text)
    return text


def check_names(text: str) -> None:
    """Raise BookError where the module uses a name that no cell saves."""
    report = ruff(["check", "--exit-zero", "--select=F821,F811", "--output-format=json"], text)
    for finding in json.loads(report):
        above = text.splitlines()[: finding["location"]["row"]]
        origins = ["the imports", *(x[7:] for x in above if x.startswith("# From "))]
        what = f"saved code cannot stand alone: {finding['message']}"
        raise BookError(f"{origins[-1]}: {what}; save its definition or import too")


def ruff(command: list[str], text: str) -> str:
    """Run ruff on `text` and return what it prints."""
    options = ["--isolated", f"--line-length={LINE_LENGTH}", "--target-version=py311"]
    options += ["--quiet", "--no-cache", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *options],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise BookError(f"the composed module cannot be formatted: {done.stderr.strip()}")
    return done.stdout
