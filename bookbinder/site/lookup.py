"""Compose the pages to look things up: the module's functions, and all references."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path

from bookbinder.book import BookError
from bookbinder.chapters import Chapter, title_of
from bookbinder.language.catalog import worded
from bookbinder.markdown import REFERENCE, Page, jupyter_anchor
from bookbinder.site.equations import NEEDED

try:
    import griffe  # comes with the packages of the site, which binding does without
except ImportError:
    griffe = None

ORIGIN = "# From "  # book/04_masked_softmax.md, The softmax
TITLES = {
    "parameters": worded("Arguments"),
    "returns": worded("Returns"),
    "raises": worded("Raises"),
    "yields": worded("Yields"),
}
SHORT = re.compile(r"^(Args|Raises): (\S.*(?:\n +.*)*)", re.MULTILINE)
NAMES = re.compile(r"^(\w+(?: and \w+)*),? ")
INTRODUCTION = (
    worded("The chapters derive these functions; {code} gives all of them."),
    worded(
        "In shapes, $b$ is the number of examples, $n$ of queries, $m$ of keys, $d$ the size "
        "of a query and of a key, and $v$ of a value."
    ),
)


def functions_page(module: str, chapters: list[Chapter], texts: dict[str, str]) -> str:
    """Return the page of all public functions and classes of a module, chapter by chapter.

    `texts` are those of the module and of the modules beside it; nothing is imported.
    """
    if griffe is None:
        raise BookError(f"{NEEDED} (no griffelib)")
    package, _, file = module.rpartition(".")
    code = f"`from {package} import {file} as d2l`"
    lines = ["# " + worded("Functions of {module}").format(module=module), ""]
    lines += [line.format(code=code) for line in INTRODUCTION]
    lines += ["", f"```{{py:module}} {module}\n```", ""]
    titles, above = {chapter.name: title_of(chapter) for chapter in chapters}, None
    tree = parsed(module, texts)
    origins = dict(origins_of(texts[module], tree))
    names = [name for name in tree.exports or () if name in origins]
    for name in sorted(names, key=lambda name: tree[name].lineno):
        chapter, heading = origins[name]
        lines += [f"## {titles.get(chapter, chapter)}", ""] if chapter != above else []
        above, link = chapter, f"[{heading}]({chapter}.ipynb#{jupyter_anchor(heading)})"
        derived = worded("Derived in {section}.").format(section=link)
        lines += [definition(tree[name], derived), ""]
    if ready := [n for n in tree.exports or () if n not in origins]:
        lines += ["## " + worded("Ready-made"), "", worded("Figures, memory and machine."), ""]
        homes = (tree.members[name].target_path.rpartition(".")[0] for name in ready)
        found = [parsed(home, texts)[n] for home, n in zip(homes, ready, strict=True)]
        lines += [f"{definition(item)}\n" for item in found]
    return "\n".join(lines)


def parsed(module: str, texts: dict[str, str]) -> "griffe.Module":
    return griffe.visit(module, filepath=Path(f"{module}.py"), code=texts[module])


def origins_of(text: str, tree: "griffe.Module") -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the functions and classes, each with the chapter and heading that a comment names."""
    lines = enumerate(text.splitlines(), 1)
    comments = {n: line.removeprefix(ORIGIN) for n, line in lines if line.startswith(ORIGIN)}
    for name, item in tree.members.items():
        if not item.is_alias and (item.is_function or item.is_class):
            above = [line for line in comments if line < item.lineno]
            if above:
                file, _, heading = comments[above[-1]].partition(", ")
                yield name, (Path(file).stem, heading)


def definition(item: "griffe.Object", derived: str = "", kind: str = "function") -> str:
    """Return the directive of a function, of a class with its members, or of one of these."""
    parts = [docstring_as_markdown(item.docstring.value if item.docstring else ""), derived]
    fence = "````"
    if item.is_class:
        init = item.members.get("__init__")
        signature = init.signature(name=item.name, return_type=False) if init else f"{item.name}()"
        shown = [m for name, m in item.members.items() if not name.startswith("_")]
        parts += [definition(m, kind="method") for m in shown if m.is_function]
        parts += [definition(m, kind="property") for m in shown if "property" in m.labels]
        kind, fence = "class", "`````"
    elif kind == "property":
        signature = f"{item.name}\n:type: {item.annotation}\n"
    else:
        signature = item.signature()
    body = "\n\n".join(filter(None, parts))
    return f"{fence}{{py:{kind}}} {signature}\n{body}\n{fence}"


def docstring_as_markdown(docstring: str) -> str:
    """Return a docstring of Google's form as Markdown."""
    blocks = []
    text = SHORT.sub(long_form, cleandoc(docstring))
    for section in griffe.Docstring(text).parse("google", warnings=False):
        if section.kind.value == "text":
            blocks += [" ".join(block.split()) for block in section.value.split("\n\n")]
        else:
            blocks.append(f"**{TITLES[section.kind.value]}**")
            blocks.append("\n".join(map(entry, section.value)))
    return "\n\n".join(blocks)


def entry(item: "griffe.DocstringElement") -> str:
    """Return an argument, or an error, with what is said of it, as an entry of a list."""
    names = getattr(item, "name", "") or item.annotation or ""
    quoted = ", ".join(f"`{name}`" for name in str(names).split(", ") if name)
    words = " ".join(item.description.split())
    return f"- {quoted}: {words}" if quoted else f"- {words}"


def long_form(short: re.Match) -> str:
    """Return `Args: a, the first; b and c in inches.` with a line for each entry."""
    entries = " ".join(short[2].split()).rstrip(".").split("; ")
    lines = [NAMES.sub(lambda n: f"{n[1].replace(' and ', ', ')}: ", e) for e in entries]
    return "\n".join(["", f"{short[1]}:", *(f"    {line}" for line in lines)])


@dataclass
class Work:
    """A text that chapters cite: how it is quoted, and what each chapter says about it."""

    quoted: str
    notes: list[tuple[Chapter, str, str]] = field(default_factory=list)  # chapter, number, note


def works(chapters: list[Chapter]) -> list[Work]:
    """Return all cited works, each once, in the order of their authors' names."""
    found: dict[str, Work] = {}
    for chapter in chapters:
        for number, quoted, note in references(chapter):
            title = quoted.partition("“")[2].partition("”")[0] or quoted
            key = "".join(filter(str.isalnum, title)).lower()
            found.setdefault(key, Work(quoted)).notes.append((chapter, number, note))
    return sorted(found.values(), key=lambda work: last_name(work.quoted))


def references(chapter: Chapter) -> list[tuple[str, str, str]]:
    """Return number, text and note of each entry under the heading References.

    The lines below an entry are its note.
    """
    entries: list[tuple[str, str, list[str]]] = []
    for line in Page(chapter, chapter.notebook).lines:
        if line.in_references and (match := REFERENCE.match(line.text)):
            entries.append((match[1], line.text[match.end() :], []))
        elif line.in_references and entries and line.text.startswith(" "):
            entries[-1][2].append(line.text.strip())
    return [(number, quoted, "\n    ".join(note)) for number, quoted, note in entries]


def last_name(quoted: str) -> str:
    for end in (",", " and ", " et al", " “"):
        quoted = quoted.partition(end)[0]
    return quoted.split()[-1].lower() if quoted.split() else ""


def references_page(chapters: list[Chapter]) -> str:
    """Return the page of all references, each with the chapters that cite it."""
    about = worded("Everything that the chapters cite, by author.")
    lines = ["# " + worded("References"), "", about, ""]
    for work in works(chapters):
        lines.append(f"- {work.quoted}")
        for chapter, number, note in work.notes:
            name = worded("Chapter {number}").format(number=title_of(chapter).partition(".")[0])
            link = f'<a href="{chapter.name}.html#reference-{number}">{name}</a>'
            lines += [f"  - {link}:", f"    {note}"] if note else [f"  - {link}"]
    return "\n".join(lines) + "\n"
