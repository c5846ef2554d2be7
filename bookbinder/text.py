"""A chapter as a reader meets it: its prose, headings, equations and outputs."""

import copy
import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from nbformat import NotebookNode

from bookbinder.chapters import Chapter, number_of
from bookbinder.roles import WORDS, role_of

TAG = re.compile(r"\\tag\{([^}]*)\}")
EQUATION = re.compile(r"\((\d+\.\d+)\)")
TARGET = r"[^()\s]*(?:\([^()\s]*\)[^()\s]*)*"
WORDS_OF_LINK = r"(?:[^\[\]]|\[[^\[\]]*\])*"
LINK = re.compile(rf"(!?)\[({WORDS_OF_LINK})\]\(({TARGET})\)")
TO_HEADING = re.compile(rf"\]\(([\w.]*)#({TARGET})\)")
CITATION = re.compile(rf"\[\[(\d+)\]\]\(#{TARGET}\)")
REFERENCE = re.compile(r"^(\d+)\. ")
SHOWN = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
LABEL = re.compile(r"\*\*([^*]*)\*\* ?")
MINUTES = re.compile(
    rf"^{re.escape(WORDS['time'])} about (\d+) minutes to read(?:, (\d+) for the exercises)?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Line:
    """One line of prose: where it stands, its text, its role and that of the section around it."""

    where: str
    text: str
    cell: int
    english: str
    role: str
    section: str

    @property
    def in_references(self) -> bool:
        return self.section == "references"

    @property
    def title(self) -> str:
        """The words of a heading as the chapter shows it."""
        return self.text.lstrip("#").strip()

    @property
    def english_title(self) -> str:
        """The words by which routes and the module name a heading."""
        return self.english.lstrip("#").strip()


def lines_of(chapter: Chapter, fenced: bool = False) -> Iterator[Line]:
    """Yield the lines of prose, those of fenced blocks only where they are asked for."""
    inside, section = False, ""
    cells = zip(chapter.notebook.cells, chapter.english.notebook.cells, strict=True)
    for index, (cell, source) in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        lines = zip(cell.source.splitlines(), source.source.splitlines(), strict=True)
        for offset, (text, english) in enumerate(lines):
            is_fence = english.startswith("```")
            inside ^= is_fence
            role = "" if inside or is_fence else role_of(english)
            if english.startswith(("# ", "## ")) and not inside:
                section = role
            if fenced or not (inside or is_fence):
                yield Line(chapter.where(index, offset), text, index, english, role, section)


def headings_of(chapter: Chapter) -> list[Line]:
    return [line for line in lines_of(chapter) if line.english.startswith("#")]


def anchor_of(heading: Line) -> str:
    """Return the anchor by which links in the source lead to a heading: that of its English."""
    return jupyter_anchor(heading.english_title)


def jupyter_anchor(title: str) -> str:
    """Return the anchor that JupyterLab gives a heading which shows this title."""
    return title.strip().replace(" ", "-")


def with_shown_anchors(chapters: list[Chapter]) -> list[Chapter]:
    """Return chapters whose links lead to headings as they are shown; written, they are English."""
    shown = shown_anchors(chapters)

    def led(chapter: Chapter) -> Chapter:
        notebook = copy.deepcopy(chapter.notebook)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = led_to_shown(cell.source, shown, chapter.name)
        return dataclasses.replace(chapter, notebook=notebook)

    return [led(chapter) if chapter.original else chapter for chapter in chapters]


def shown_anchors(chapters: list[Chapter]) -> dict[str, dict[str, str]]:
    """Return, for each translated chapter, the anchors of its headings by those of the English."""
    return {
        chapter.name: {anchor_of(h): jupyter_anchor(h.title) for h in headings_of(chapter)}
        for chapter in chapters
        if chapter.original
    }


def led_to_shown(text: str, shown: dict[str, dict[str, str]], name: str = "") -> str:
    """Return Markdown of the chapter `name` whose links lead to headings as they are shown."""

    def link(found: re.Match) -> str:
        known = shown.get(found[1].removesuffix(".ipynb") or name, {})
        return f"]({found[1]}#{known.get(found[2], found[2])})"

    return TO_HEADING.sub(link, text)


def shown_words(chapters: list[Chapter]) -> dict[str, str]:
    """Return the titles and labels that have a role, as chapters show them, each with its role."""
    lines = [line for chapter in chapters for line in lines_of(chapter)]
    titles = {line.title: line.role for line in lines if line.english.startswith("## ")}
    labels = {LABEL.search(line.text)[1]: line.role for line in lines if line.english[:4] == "> **"}
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
        stated = MINUTES.search(prose_of(self.chapter.english))
        return (int(stated[1]), int(stated[2] or 0)) if stated else (0, 0)

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
