"""A chapter as a reader meets it: its prose, headings, equations and outputs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from nbformat import NotebookNode

from bookbinder.chapters import Chapter, number_of
from bookbinder.roles import role_of

TAG = re.compile(r"\\tag\{([^}]*)\}")
EQUATION = re.compile(r"\((\d+\.\d+)\)")
TARGET = r"[^()\s]*(?:\([^()\s]*\)[^()\s]*)*"
WORDS_OF_LINK = r"(?:[^\[\]]|\[[^\[\]]*\])*"
LINK = re.compile(rf"(!?)\[({WORDS_OF_LINK})\]\(({TARGET})\)")
CITATION = re.compile(rf"\[\[(\d+)\]\]\(#{TARGET}\)")
REFERENCE = re.compile(r"^(\d+)\. ")
SHOWN = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
LABEL = re.compile(r"\*\*([^*]*)\*\* ?")


@dataclass(frozen=True)
class Line:
    """One line of prose: where it stands, its text, its role and that of the section around it."""

    where: str
    text: str
    cell: int
    role: str
    section: str

    @property
    def in_references(self) -> bool:
        return self.section == "references"

    @property
    def title(self) -> str:
        """The words of a heading as the chapter shows it."""
        return self.text.lstrip("#").strip()


def lines_of(chapter: Chapter, fenced: bool = False) -> Iterator[Line]:
    """Yield the lines of prose, those of fenced blocks only where they are asked for."""
    inside, section = False, ""
    for index, cell in enumerate(chapter.notebook.cells):
        if cell.cell_type != "markdown":
            continue
        for offset, text in enumerate(cell.source.splitlines()):
            is_fence = text.startswith("```")
            inside ^= is_fence
            role = "" if inside or is_fence else role_of(text)
            role = chapter.roles[index][offset] if chapter.roles else role
            if text.startswith(("# ", "## ")) and not inside:
                section = role
            if fenced or not (inside or is_fence):
                yield Line(chapter.where(index, offset), text, index, role, section)


def headings_of(chapter: Chapter) -> list[Line]:
    return [line for line in lines_of(chapter) if line.text.startswith("#")]


def anchor_of(heading: Line) -> str:
    return jupyter_anchor(heading.title)


def jupyter_anchor(title: str) -> str:
    """Return the anchor that JupyterLab gives a heading which shows this title."""
    return title.strip().replace(" ", "-")


def shown_words(chapters: list[Chapter]) -> dict[str, str]:
    """Return the titles and labels that have a role, as chapters show them, each with its role."""
    lines = [line for chapter in chapters for line in lines_of(chapter)]
    titles = {line.title: line.role for line in lines if line.text.startswith("## ")}
    labels = {LABEL.search(line.text)[1]: line.role for line in lines if line.text[:4] == "> **"}
    return {words: role for words, role in (titles | labels).items() if role}


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
        return prose_of(self.chapter)

    def lines(self) -> Iterator[Line]:
        """Yield the lines of prose, fenced blocks left out."""
        return lines_of(self.chapter)

    def anchors(self) -> list[str]:
        """Return the anchors of the headings as they are shown, in their order."""
        return [jupyter_anchor(heading.title) for heading in headings_of(self.chapter)]

    def passage(self, role: str) -> str:
        """Return the lines that begin with the label of a role, without the label."""
        lines = list(self.lines())
        begin = next((at for at, line in enumerate(lines) if line.role == role), len(lines))
        block = takewhile(str.strip, (line.text for line in lines[begin:]))
        return LABEL.sub("", "\n".join(line.removeprefix("> ") for line in block), count=1)

    def minutes(self) -> tuple[int, int]:
        """Return the minutes that the opening states, to read and for the exercises."""
        stated = [*map(int, re.findall(r"\d+", self.passage("time"))), 0, 0]
        return stated[0], stated[1]

    def equations(self) -> list[str]:
        return TAG.findall(self.text)

    def shown_above(self, cell: int) -> list[float]:
        """Return the numbers that outputs above a cell show."""
        texts = []
        for above in self.executed.cells[:cell]:
            for output in above.get("outputs", []):
                data = output.get("data", {})
                texts += [output.get("text", ""), output.get("evalue", "")]
                texts += [data.get("text/plain", ""), seen_in_html(data.get("text/html", ""))]
        return [float(n) for text in texts for n in SHOWN.findall(text)]

    def given(self) -> list[float]:
        """Return the numbers that stand in the code of the chapter."""
        cells = self.chapter.notebook.cells
        code = "\n".join(c.source for c in cells if c.cell_type == "code")
        return [float(n) for n in SHOWN.findall(code.replace("_", ""))]


def prose_of(chapter: Chapter) -> str:
    cells = chapter.notebook.cells
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def seen_in_html(html: str) -> str:
    """Return the text of an output in HTML, with all frames of an explorer, without its styles."""
    frames = " ".join(re.findall(r'data-(?:frames|curves|sliders)="([^"]*)"', html))
    return re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL) + frames


def without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "", text)
