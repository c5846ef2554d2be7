"""A chapter as a reader meets it: its prose, headings, equations and outputs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from bookbinder.chapters import Chapter

TAG = re.compile(r"\\tag\{([^}]*)\}")
EQUATION = re.compile(r"\((\d+\.\d+)\)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")
CITATION = re.compile(r"\[\[(\d+)\]\]\(#References\)")
REFERENCE = re.compile(r"^(\d+)\. ")
SHOWN = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
REFERENCES = "References"
MINUTES = re.compile(
    r"^\*\*Time\*\* about (\d+) minutes to read(?:, (\d+) for the exercises)?$", re.MULTILINE
)


@dataclass(frozen=True)
class Line:
    """One line of prose: where it stands, its text, and whether it is in the list of references."""

    where: str
    text: str
    cell: int
    in_references: bool


@dataclass
class Page:
    """A chapter as a reader meets it: its lines of prose, its code and the outputs above each."""

    chapter: Chapter
    executed: NotebookNode

    @property
    def name(self) -> str:
        return self.chapter.name

    @property
    def number(self) -> int:
        return int(self.name.split("_")[0])

    @property
    def text(self) -> str:
        cells = self.chapter.notebook.cells
        return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")

    def lines(self) -> Iterator[Line]:
        """Yield the lines of prose, fenced blocks left out."""
        fenced = in_references = False
        for index, cell in enumerate(self.chapter.notebook.cells):
            if cell.cell_type != "markdown":
                continue
            for offset, text in enumerate(cell.source.splitlines()):
                if text.startswith("```"):
                    fenced = not fenced
                elif not fenced:
                    if text.startswith("#"):
                        in_references = text.lstrip("# ") == REFERENCES
                    yield Line(self.chapter.where(index, offset), text, index, in_references)

    def anchors(self) -> list[str]:
        """Return the anchors of the headings, in their order."""
        headings = [line.text.lstrip("#") for line in self.lines() if line.text.startswith("#")]
        return [jupyter_anchor(heading) for heading in headings]

    def minutes(self) -> tuple[int, int]:
        """Return the minutes that the opening states, to read and for the exercises."""
        stated = MINUTES.search(self.text)
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


def jupyter_anchor(title: str) -> str:
    """Return the anchor that JupyterLab gives a heading."""
    return title.strip().replace(" ", "-")


def seen_in_html(html: str) -> str:
    """Return the text of an output in HTML, with all frames of an explorer, without its styles."""
    frames = " ".join(re.findall(r'data-(?:frames|sliders)="([^"]*)"', html))
    return re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL) + frames


def without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "", text)
