"""Markdown, parsed once into lines that know what they are.

A role follows from the place of a part in its page or from the class of its fold, not from its
words, so that a translated page has the roles of its original.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin

INLINE = MarkdownIt("commonmark").use(dollarmath_plugin, double_inline=True)
INLINE.normalizeLink = str  # an address stays as it is written
BLOCKS = MarkdownIt("commonmark").use(dollarmath_plugin).enable("table").disable("inline")
LEAVES = ("inline", "fence", "code_block", "math_block", "html_block")
# The kind of the lines of a leaf, by the innermost of these blocks around it.
KINDS = {"heading": "heading", "tr": "row", "list_item": "item", "blockquote": "quote"}
KINDS |= {"fence": "fence", "code_block": "fence", "math_block": "formula", "html_block": "html"}
KINDS["root"] = "paragraph"
ANSWER = "answer"  # the role of a fold without a class
TERM = re.compile(r"[a-z][\w-]*(?: [\w-]+){0,3}")  # as the index takes them
TAG = re.compile(r"\\tag\{([^}]*)\}")
EQUATION = re.compile(r"\((\d+\.\d+)\)")
TARGET = r"[^()\s]*(?:\([^()\s]*\)[^()\s]*)*"
WORDS_OF_LINK = r"(?:[^\[\]]|\[[^\[\]]*\])*"
LINK = re.compile(rf"(!?)\[({WORDS_OF_LINK})\]\(({TARGET})\)")  # where a source is rewritten
CITATION = re.compile(rf"\[\[(\d+)\]\]\(#{TARGET}\)")
DECIMAL = re.compile(r"\d+\.\d+")
REFERENCE = re.compile(r"^(\d+)\. ")


class Link(NamedTuple):
    words: str  # its alt text
    target: str
    kind: str


@dataclass(frozen=True)
class Line:
    """A line of Markdown: its block, its text without marks, its role, where it stands."""

    text: str
    kind: str = ""  # of its block; none of a blank line, and of one that only draws a table
    content: str = ""
    level: int = 0  # of a heading
    is_first: bool = False  # of its block
    fold: str = ""  # the role of the fold around it
    role: str = ""
    section: str = ""  # the role of the section around it
    where: str = ""
    cell: int = 0
    number: int = 0  # in its cell

    @property
    def nodes(self) -> list[SyntaxTreeNode]:
        return [] if self.kind in ("fence", "formula") else inline(self.content)

    @property
    def bold(self) -> list[str]:
        return [words_of(node) for node in self.nodes if node.type == "strong"]

    @property
    def label(self) -> str:
        return next(iter(self.bold), "") if self.content.startswith("**") else ""

    @property
    def links(self) -> list[Link]:
        return [
            Link(words_of(node), str(node.attrs.get("href") or node.attrs["src"]), node.type)
            for node in self.nodes
            if node.type in ("link", "image")
        ]

    @property
    def citations(self) -> list[str]:
        """The numbers of the references that the line cites: "[[3]](#References)"."""
        return [link.words[1:-1] for link in self.links if link.words[:1] == "["]

    @property
    def plain(self) -> str:
        """The words of the line outside of code, formulas and links."""
        words = [node for node in self.nodes if node.type == "text"]
        return "".join(n.content for n in words if n.parent.type not in ("link", "image"))

    @property
    def in_references(self) -> bool:
        return self.section == "references"

    @property
    def title(self) -> str:
        return self.text.lstrip("#").strip()


@cache
def inline(text: str) -> list[SyntaxTreeNode]:
    return list(SyntaxTreeNode(INLINE.parseInline(text)).walk())[2:]


def words_of(node: SyntaxTreeNode) -> str:
    return "".join(inner.content for inner in node.walk() if not inner.children)


@cache
def markdown_lines(source: str) -> tuple[Line, ...]:
    lines = [Line(text) for text in source.splitlines()]
    for leaf in SyntaxTreeNode(BLOCKS.parse(source)).walk():
        if leaf.type not in LEAVES:
            continue
        block = leaf
        while block.type not in KINDS:
            block = block.parent
        begin, end = leaf.map
        contents = [line.text.strip() for line in lines[begin:end]]
        if leaf.type == "inline" and block.type != "tr":
            contents = leaf.content.split("\n")
        level = int(block.tag[1]) if block.type == "heading" else 0
        for at, content in enumerate(contents, begin):
            lines[at] = Line(lines[at].text, KINDS[block.type], content, level, at == begin)
    fold = ""  # its role is its class, or that it answers
    for at, line in enumerate(lines):
        html = line.content if line.kind == "html" else ""
        if "<details" in html:
            fold = html.partition('class="')[2].partition('"')[0] or ANSWER
        lines[at] = replace(line, fold=fold)
        if "</details>" in html:
            fold = ""
    return tuple(lines)


def roles_of(lines: list[Line]) -> dict[int, str]:
    """Return the roles of the lines that have one, by their number.

    A page begins with its title and a quotation, the question; its last sections are the exercises,
    which have numbers, the summary and the list of references.
    """
    roles = {at: "title" for at, line in enumerate(lines) if line.level == 1}
    sections = [at for at, line in enumerate(lines) if line.level == 2]
    if sections and next((x.kind for x in lines[sections[-1] + 1 :] if x.kind), "") == "item":
        roles |= dict(zip(reversed(sections), ("references", "summary"), strict=False))
        if len(sections) > 2 and any(map(exercise_of, lines[sections[-3] : sections[-2]])):
            roles[sections[-3]] = "exercises"
    labelled = [at for at, line in enumerate(lines) if line.is_first and line.label]
    quotes = [at for at in labelled if lines[at].kind == "quote"]
    roles |= dict.fromkeys(quotes, "note")
    if quotes and quotes[0] < min(sections, default=len(lines)):
        roles[quotes[0]] = "question"
        below = (at for at in labelled if at > quotes[0] and lines[at].kind == "paragraph")
        roles |= dict(zip(below, ("time",), strict=False))
    return roles


def exercise_of(line: Line) -> str:
    """Return the number of the exercise, "4.1", whose heading a line is, or nothing."""
    number = DECIMAL.search(line.content) if line.level == 3 else None
    return number[0] if number else ""


def jupyter_anchor(title: str) -> str:
    """Return the anchor that JupyterLab gives a heading which shows this title."""
    return title.strip().replace(" ", "-")


def slug(title: str) -> str:
    """Return the anchor that sites of repositories give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
