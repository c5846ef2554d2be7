"""The table of contents beside the chapters in JupyterLab: an extension of one small script."""

import json
import re
from pathlib import Path

from bookbinder.config import Book, Edition
from bookbinder.files import write_whole
from bookbinder.words import Say

NAME = "book_contents"
SCRIPT = Path(__file__).parent / "lab" / "contents.js"
LOADED = "static/contents.js"
SAID = re.compile(r'\bsay\(("[^"]*")\)')  # in the script
HEADING = re.compile(r"^(##?) (.+)$", re.MULTILINE)


def write_contents_panel(book: Book, edition: Edition, say: Say = str) -> None:
    """Write the extension to `_build/lab/`, where `make lab` shows it to JupyterLab."""
    folder = book.root / "_build" / "lab" / NAME
    chapters = [contents_of(book, edition, name, say) for name in book.chapters_of(edition)]
    listed = json.dumps(chapters, ensure_ascii=False)

    def said(words: re.Match) -> str:
        return json.dumps(say(json.loads(words[1])), ensure_ascii=False)

    script = SAID.sub(said, SCRIPT.read_text(encoding="utf-8"))
    script = script.replace("CHAPTERS = []", f"CHAPTERS = {listed}")
    write_whole(folder / LOADED, script.replace("NAME", NAME))
    description = {
        "name": NAME,
        "version": "1.0.0",
        "jupyterlab": {"extension": True, "_build": {"load": LOADED, "extension": "./extension"}},
    }
    write_whole(folder / "package.json", json.dumps(description, indent=1) + "\n")


def contents_of(
    book: Book, edition: Edition, name: str, say: Say = str
) -> tuple[str, str, list[str]]:
    """Return file, title and sections of a chapter of an edition."""
    notebook = json.loads((edition.notebooks / f"{name}.ipynb").read_text("utf-8"))
    prose = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    headings = HEADING.findall("\n".join(prose))
    title = next((text for marks, text in headings if marks == "#"), name)
    sections = [text for marks, text in headings if marks == "##"]
    return f"{name}.ipynb", book.listed(name, title, say), sections
