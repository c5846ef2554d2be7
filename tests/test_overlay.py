"""Overlays: what a framework has of its own, and every way in which it can be out of date."""

import re

import pytest

from bookbinder.book import BookError
from bookbinder.chapters import read_chapter
from bookbinder.overlay import lay_over
from tests.conftest import DATA, code_cell

TEXTS = (DATA / "overlay.md").read_text("utf-8")
_, BASE, WHOLE, RESULT = re.split(r"^=== .*\n", TEXTS, flags=re.MULTILINE)
TEXT, JAX = "book/00_x.md", "book/jax/00_x.md"
X = 'was="x @7156ed53"'
DROPPED = f'```python was="x.zero_ @ac2707f0"\n```\n```python {X}\n```\n'
MISTAKES = {  # text of an overlay -> the message
    code_cell("1", 'was="x.zero @0"'): "no cell is 'x.zero @0'; most like it, at book/00_x.md:20",
    DROPPED + code_cell("1", X): f"{TEXT}:12 is replaced or left out at {JAX}:3",
    code_cell("# was: y = 1", X): "3: no line of the cell, from here on, is 'y = 1'",
    "<!-- was: PyTorch has the word for it. -->\nJAX.\n": "no place has the line 'PyTorch has the "
    "word for it.'; most like it, at book/00_x.md:4: 'PyTorch has a word for it.'",
    "<!-- was: Same line. -->\n": f"two places have the line, {TEXT}:39, {TEXT}:41: 'Same line.'",
    "<!-- drop: Next -->\n": "00_x.md:1: write <!-- was: … --> or <!-- after: … -->, got",
    "# 0. Title\n\nA new line.\n": "00_x.md:3: this line replaces nothing: 'A new line.'",
    "```python\n1\n```\n": "00_x.md:1: this cell replaces nothing",
    f"```python {X}\n1\n": "00_x.md:1: this code cell has no end",
    DROPPED + code_cell("1") + code_cell("1", 'tags=["solutoin"]'): "unknown tag 'solutoin'",
    f"=======\n{WHOLE}": "00_x.md:1: a conflict of a merge is not resolved: '======='",
    WHOLE.replace("Next", "Nexd"): "no place has the line '## Nexd'; most like it, at",
    WHOLE.replace("jnp", "torch"): "00_x.md must replace or drop this cell, which says 'torch'",
}


def lay(text, folder):
    """Return the chapter in a folder with a text laid over it."""
    for name, content in (("base.md", BASE), ("overlay.md", text)):
        (folder / name).write_text(content)
    return lay_over(read_chapter(folder / "base.md", TEXT), folder / "overlay.md", JAX)


def test_a_chapter_under_its_overlay_has_each_line_from_where_it_stands(tmp_path):
    chapter, lines = lay(WHOLE, tmp_path), []
    for cell, places in zip(chapter.notebook.cells, chapter.places, strict=True):
        lines.append(f"{cell.cell_type} {dict(cell.metadata) or ''}".rstrip())
        for text, place in zip(cell.source.split("\n"), places, strict=False):
            lines.append(f"{place.removeprefix('book/'):16} {text}".rstrip())
    assert lines == RESULT.splitlines()


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_what_fits_nowhere_is_named_with_file_and_line(tmp_path, text, message):
    with pytest.raises(BookError, match=re.escape(message)):
        lay(text, tmp_path)
