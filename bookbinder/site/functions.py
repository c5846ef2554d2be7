"""Write the page of the module's functions from its syntax tree: nothing is imported."""

import ast
import inspect
import re

from bookbinder.chapters import Chapter, title_of
from bookbinder.page import jupyter_anchor
from bookbinder.words import Say, worded

ORIGIN = re.compile(r"^# From \S*?(\w+)\.md, (.*)$")
SECTION = re.compile(r"^(Args|Returns|Raises|Yields):$")
SECTION_NAMES = {
    "Args": worded("Arguments"),
    "Returns": worded("Returns"),
    "Raises": worded("Raises"),
    "Yields": worded("Yields"),
}
SHORT = re.compile(r"^(Args|Raises): (\S.*(?:\n +.*)*)", re.MULTILINE)
NAMES = re.compile(r"^(\w+(?: and \w+)*),? ")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)$", re.DOTALL)


def functions_page(
    text: str,
    module: str,
    chapters: list[Chapter],
    helpers: dict[str, str],
    say: Say = str,
    headings: dict[tuple[str, str], str] | None = None,
) -> str:
    """Return the page of all public functions and classes, chapter by chapter.

    `text` is that of the module; `helpers` has those of the modules that it imports from, and
    `headings` the headings of chapters in the language of the page, by their English.
    """
    titles = {chapter.name: title_of(chapter) for chapter in chapters}
    package, _, file = module.rpartition(".")
    lines = [
        "# " + say("Functions of {module}").format(module=module),
        "",
        say("The chapters derive these functions; {code} gives all of them.").format(
            code=f"`from {package} import {file} as d2l`"
        ),
        say(
            "In shapes, $b$ is the number of examples, $n$ of queries, $m$ of keys, $d$ the size "
            "of a query and of a key, and $v$ of a value."
        ),
        "",
        f"```{{py:module}} {module}\n```",
        "",
    ]
    shown = None
    tree = ast.parse(text)
    names = public_names(tree)
    for node, (chapter, heading) in origins(text, tree):
        if node.name not in names:
            continue
        if chapter != shown:
            lines += [f"## {titles.get(chapter, chapter)}", ""]
            shown = chapter
        heading = (headings or {}).get((chapter, heading), heading)
        link = f"[{heading}]({chapter}.ipynb#{jupyter_anchor(heading)})"
        lines += [definition(node, say("Derived in {section}.").format(section=link), say), ""]
    ready = [
        node
        for helper in ast.walk(tree)
        if isinstance(helper, ast.ImportFrom) and helper.module in helpers
        for node in ast.parse(helpers[helper.module]).body
        if getattr(node, "name", None) in names
    ]
    if ready:
        lines += ["## " + say("Ready-made"), "", say("Figures, memory and machine."), ""]
        lines += [f"{definition(node, say=say)}\n" for node in ready]
    return "\n".join(lines)


def public_names(tree: ast.Module) -> list[str]:
    """Return the names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def origins(text: str, tree: ast.Module) -> list[tuple[ast.stmt, tuple[str, str]]]:
    """Return functions and classes with (chapter, heading), as the comments above them tell."""
    lines, found = text.splitlines(), []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        above = (ORIGIN.match(line) for line in reversed(lines[: node.lineno - 1]))
        origin = next((match for match in above if match), None)
        if origin:
            found.append((node, (origin[1], origin[2])))
    return found


def definition(node: ast.stmt, derived: str = "", say: Say = str) -> str:
    """Return the directive of a function, of a method, or of a class with its methods."""
    body = docstring_as_markdown(ast.get_docstring(node, clean=False) or "", say)
    if isinstance(node, ast.ClassDef):
        methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
        init = methods.pop("__init__", None)
        signature = f"{node.name}({arguments(init, drop_self=True) if init else ''})"
        shown = [m for name, m in methods.items() if not name.startswith("_")]
        inner = "\n\n".join(method(m, say) for m in shown)
        return f"`````{{py:class}} {signature}\n{body}\n\n{derived}\n\n{inner}\n`````"
    return f"````{{py:function}} {signature_of(node)}\n{body}\n\n{derived}\n````"


def method(node: ast.FunctionDef, say: Say = str) -> str:
    body = docstring_as_markdown(ast.get_docstring(node, clean=False) or "", say)
    return f"````{{py:method}} {signature_of(node, drop_self=True)}\n{body}\n````"


def signature_of(node: ast.FunctionDef, drop_self: bool = False) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments(node, drop_self)}){result}"


def arguments(node: ast.FunctionDef, drop_self: bool) -> str:
    text = ast.unparse(node.args)
    return re.sub(r"^self(, )?", "", text) if drop_self else text


def docstring_as_markdown(docstring: str, say: Say = str) -> str:
    """Return a docstring of Google's form as Markdown."""
    lines, section = [], None
    for block in paragraphs(SHORT.sub(long_form, inspect.cleandoc(docstring))):
        if match := SECTION.match(block[0]):
            section = match[1]
            lines += ["", f"**{say(SECTION_NAMES[section])}**", ""]
            entries = entries_of(block[1:])
            lines += map(entry, entries) if section in ("Args", "Raises") else entries
        else:
            lines += ["", " ".join(line.strip() for line in block)]
    return "\n".join(lines).strip()


def long_form(short: re.Match) -> str:
    """Return `Args: a, the first; b and c in inches.` with a line for each entry."""
    entries = " ".join(short[2].split()).rstrip(".").split("; ")
    lines = [NAMES.sub(lambda n: f"{n[1].replace(' and ', ', ')}: ", e) for e in entries]
    return "\n".join(["", f"{short[1]}:", *lines])


def paragraphs(text: str) -> list[list[str]]:
    return [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]


def entries_of(lines: list[str]) -> list[str]:
    """Return the entries of a section: a line that is indented further goes on with the last."""
    least = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    entries: list[str] = []
    for line in lines:
        deeper = len(line) - len(line.lstrip()) > least
        if entries and (deeper or not ENTRY.match(line.strip())):
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line.strip())
    return entries


def entry(text: str) -> str:
    match = ENTRY.match(text)
    if not match:
        return f"- {text}"
    names = ", ".join(f"`{name}`" for name in match[1].split(", "))
    return f"- {names}: {match[2]}"
