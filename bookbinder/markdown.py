"""A page: the Markdown of a chapter, parsed once into lines that know what they are.

Headings, lists, formulas, fences, folds, links and roles are found here and nowhere else. A role
follows from the place of a part in its page or from the class of its fold, not from its words, so
that a translated page has the roles of its original.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode

from bookbinder.chapters import Chapter, number_of

INLINE = MarkdownIt("commonmark").use(dollarmath_plugin, double_inline=True)
INLINE.normalizeLink = str  # an address stays as it is written
BLOCKS = MarkdownIt("commonmark").use(dollarmath_plugin).enable("table").disable("inline")
LEAVES = ("inline", "fence", "code_block", "math_block", "html_block")
KINDS = {  # of the lines of a leaf, by the innermost of the blocks around it
    "heading": "heading",
    "tr": "row",
    "list_item": "item",
    "blockquote": "quote",
    "fence": "fence",
    "code_block": "fence",
    "math_block": "formula",
    "html_block": "html",
    "root": "paragraph",
}
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
NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


class Link(NamedTuple):
    """A link or an image: its words or alt text, and where it leads."""

    words: str
    target: str
    kind: str = "link"


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
        """The nodes of the text, and those in them."""
        return [] if self.kind in ("fence", "formula") else inline(self.content)

    @property
    def bold(self) -> list[str]:
        """What the line sets in bold."""
        return [words_of(node) for node in self.nodes if node.type == "strong"]

    @property
    def label(self) -> str:
        """The bold words with which the line begins."""
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
        """The words of a heading as the chapter shows it."""
        return self.text.lstrip("#").strip()


@cache
def inline(text: str) -> list[SyntaxTreeNode]:
    """Return the nodes of a line of text, and those in them."""
    return list(SyntaxTreeNode(INLINE.parseInline(text)).walk())[2:]


def words_of(node: SyntaxTreeNode) -> str:
    return "".join(inner.content for inner in node.walk() if not inner.children)


@cache
def markdown_lines(source: str) -> tuple[Line, ...]:
    """Return the lines of a cell."""
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
    return tuple(with_folds(lines))


def with_folds(lines: list[Line]) -> Iterator[Line]:
    """Yield lines that know the role of the fold around them: its class, or that it answers."""
    fold = ""
    for line in lines:
        html = line.content if line.kind == "html" else ""
        if "<details" in html:
            fold = html.partition('class="')[2].partition('"')[0] or ANSWER
        yield replace(line, fold=fold)
        if "</details>" in html:
            fold = ""


def lines_of(chapter: Chapter, fenced: bool = False) -> list[Line]:
    """Return the lines of prose, those of fenced blocks only where they are asked for."""
    lines = [
        replace(line, where=chapter.where(index, number), cell=index, number=number)
        for index, cell in enumerate(chapter.notebook.cells)
        if cell.cell_type == "markdown"
        for number, line in enumerate(markdown_lines(cell.source))
    ]
    roles, section = roles_of(lines), ""
    for at, line in enumerate(lines):
        role = roles.get(at, "")
        section = role if line.level in (1, 2) else section
        lines[at] = replace(line, role=role, section=section)
    return [line for line in lines if fenced or line.kind != "fence"]


def roles_of(lines: list[Line]) -> dict[int, str]:
    """Return the roles of the lines that have one, by their number.

    A page begins with its title and a quotation, the question; the last section is the list of
    references, before it stands the summary, and before that, the exercises, which have numbers.
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


def headings_of(chapter: Chapter) -> list[Line]:
    return [line for line in lines_of(chapter) if line.level]


def jupyter_anchor(title: str) -> str:
    """Return the anchor that JupyterLab gives a heading which shows this title."""
    return title.strip().replace(" ", "-")


def slug(title: str) -> str:
    """Return the anchor that sites of repositories give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def shown_words(chapters: list[Chapter]) -> dict[str, str]:
    """Return the titles and labels that have a role, as chapters show them, each with its role."""
    lines = [line for chapter in chapters for line in lines_of(chapter) if line.role]
    titles = {line.title: line.role for line in lines if line.level == 2}
    return titles | {line.label: line.role for line in lines if line.kind == "quote"}


@dataclass
class Page:
    """A chapter as a reader meets it: its lines of prose, its code and the outputs above each."""

    chapter: Chapter
    executed: NotebookNode

    @property
    def name(self) -> str:
        return self.chapter.name

    @property
    def number(self) -> int | None:
        return number_of(self.name)

    @property
    def text(self) -> str:
        cells = self.chapter.notebook.cells
        return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of prose, fenced blocks left out."""
        return lines_of(self.chapter)

    def anchors(self) -> list[str]:
        """Return the anchors of the headings as they are shown, in their order."""
        return [jupyter_anchor(line.title) for line in self.lines if line.level]

    def passage(self, role: str) -> str:
        """Return the lines that begin with the label of a role, without the label."""
        below = dropwhile(lambda line: line.role != role, self.lines)
        block = "\n".join(line.content for line in takewhile(lambda line: line.kind, below))
        return block.rpartition("**")[2].lstrip()

    def minutes(self) -> tuple[int, int]:
        """Return the minutes that the opening states, to read and for the exercises."""
        stated = next((line.plain for line in self.lines if line.role == "time"), "")
        read, practised, *_ = [*map(int, numbers_in(stated)), 0, 0]
        return read, practised

    def equations(self) -> list[str]:
        return TAG.findall(self.text)

    @cached_property
    def outputs(self) -> list[list[float]]:
        """The numbers that the outputs of each cell show."""
        return [numbers_in("\n".join(map(seen, c.get("outputs", [])))) for c in self.executed.cells]

    def shown_above(self, cell: int) -> list[float]:
        """Return the numbers that outputs above a cell show."""
        return [number for numbers in self.outputs[:cell] for number in numbers]

    def given(self) -> list[float]:
        """Return the numbers that stand in the code of the chapter."""
        cells = self.chapter.notebook.cells
        code = "\n".join(c.source for c in cells if c.cell_type == "code")
        return numbers_in(code.replace("_", ""))


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def seen(output: NotebookNode) -> str:
    """Return what a reader sees of an output, as text: of an explorer, all its frames."""
    data = output.get("data", {})
    html = data.get("text/html", "")
    frames = " ".join(re.findall(r'data-(?:frames|curves|sliders)="([^"]*)"', html))
    html = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    texts = output.get("text", ""), output.get("evalue", ""), data.get("text/plain", "")
    return "\n".join([*texts, html + frames])


def singular(term: str) -> str:
    return term.removesuffix("s") if not term.endswith("ss") else term


def link_problems(page: Page, pages: dict[str, Page], folder: Path) -> list[str]:
    """Check that links and the equations they name exist, and that pictures have alt text."""
    found = []
    for line in page.lines:
        for link in line.links:
            target, path, _, anchor = link.target, *link.target.partition("#")
            if target.startswith(("https://", "http://")):
                continue
            if link.kind == "image" and not link.words.strip():
                found.append(f"{line.where}: the picture {target} has no alt text")
            goal = pages.get(path.removesuffix(".ipynb")) if path.endswith(".ipynb") else page
            if goal is None or (goal is page and path and not (folder / path).exists()):
                found.append(f"{line.where}: {path} does not exist")
            elif anchor and anchor not in goal.anchors():
                found.append(f"{line.where}: {goal.name} has no heading #{anchor}")
            elif (named := EQUATION.match(link.words)) and named[1] not in goal.equations():
                found.append(f"{line.where}: {goal.name} has no equation {named[0]}")
    return found
