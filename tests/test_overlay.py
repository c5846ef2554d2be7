"""Overlays: what a framework has of its own, and every way in which it can be out of date."""

import re
from pathlib import Path

import pytest

from bookbinder.__main__ import main
from bookbinder.book import BookError
from bookbinder.chapters import read_chapter
from bookbinder.overlay import labels_of, lay_over
from tests.conftest import DATA, TINY, code_cell, write_files

TEXTS = (DATA / "overlay.md").read_text("utf-8")
_, BASE, WHOLE, RESULT = re.split(r"^=== .*\n", TEXTS, flags=re.MULTILINE)
TEXT, JAX = "book/00_x.md", "book/jax/00_x.md"
FIRST = "<!-- drop section: ## Look before you clear -->\n"
DROPPED = '```python was="{x.zero_}"\n```\n```python was="{x}"\n```\n'
MISTAKES = {  # text of an overlay -> the message
    code_cell("1", 'was="x.zero @0"'): "no cell is 'x.zero @0'; most like it, at book/00_x.md:20",
    DROPPED + code_cell("1", 'was="{x}"'): f"{TEXT}:12 is replaced or left out at {JAX}:3",
    code_cell("# was: y = 1", 'was="{x}"'): "3: no line of the cell, from here on, is 'y = 1'",
    "<!-- was: PyTorch has the word for it. -->\nJAX.\n": "no place has the line 'PyTorch has the "
    "word for it.'; most like it, at book/00_x.md:4: 'PyTorch has a word for it.'",
    "<!-- was: Same line. -->\n": f"two places have the line, {TEXT}:39, {TEXT}:41: 'Same line.'",
    f"{FIRST}<!-- was: More. -->\n": f"2: {TEXT}:25 is replaced or left out at {JAX}:1",
    "<!-- drop section: ## Later -->\n": "00_x.md:1: no place has the line '## Later'",
    "<!-- drop: Next -->\n": "00_x.md:1: write <!-- was: … -->, <!-- after: … --> or <!-- drop",
    "# 0. Title\n\nA new line.\n": "00_x.md:3: this line replaces nothing: 'A new line.'",
    "```python\n1\n```\n": "00_x.md:1: this cell replaces nothing",
    '```python was="{x}"\n1\n': "00_x.md:1: this code cell has no end",
    DROPPED + code_cell("1") + code_cell("1", 'tags=["solutoin"]'): "unknown tag 'solutoin'",
    f"=======\n{WHOLE}": "00_x.md:1: a conflict of a merge is not resolved: '======='",
    WHOLE.replace("Next", "Nexd"): "no place has the line '## Nexd'; most like it, at",
    WHOLE.replace("jnp", "torch"): "00_x.md must replace or drop this cell, which says 'torch'",
}


@pytest.fixture
def lay(tmp_path):
    """Lay a text over the chapter; {name} in it is the label of the cell with this name."""
    (tmp_path / "base.md").write_text(BASE)
    base = read_chapter(tmp_path / "base.md", TEXT)

    def named(text):
        for label in labels_of(base.notebook.cells):
            text = text.replace(f"{{{label.rpartition(' @')[0]}}}", label)
        return text

    def laid_over(text):
        (tmp_path / "overlay.md").write_text(named(text))
        return lay_over(base, tmp_path / "overlay.md", JAX)

    laid_over.named = named
    return laid_over


def test_a_chapter_under_its_overlay_has_each_line_from_where_it_stands(lay):
    chapter, lines = lay(WHOLE), []
    for cell, places in zip(chapter.notebook.cells, chapter.places, strict=True):
        lines.append(f"{cell.cell_type} {dict(cell.metadata) or ''}".rstrip())
        for text, place in zip(cell.source.split("\n"), places, strict=False):
            lines.append(f"{place.removeprefix('book/'):16} {text}".rstrip())
    assert lines == RESULT.splitlines()


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_what_fits_nowhere_is_named_with_file_and_line(lay, text, message):
    with pytest.raises(BookError) as failure:
        lay(text)
    assert lay.named(message) in str(failure.value)


def test_drift_shows_all_that_fits_no_more(tiny, capsys):
    file, chapter = Path("book/jax/00_first.md"), Path("book/00_first.md")
    toml = TINY["book.toml"].replace(', "01_second"', "") + "[frameworks.jax]\n"
    text = f"# 0. First\n\nSome words.\n{code_cell('x = torch.ones(1)')}"
    write_files(tiny, {"book.toml": toml, str(chapter): text})
    Path("book/01_second.md").unlink()

    def label():
        return next(iter(labels_of(read_chapter(chapter, "").notebook.cells)))

    port = code_cell("x = jnp.ones(1)", f'was="{(old := label())}"')
    file.parent.mkdir()
    file.write_text(f"# 0. First\n\n<!-- was: Some words. -->\nOther words.\n{port}")
    assert main(["drift", "jax"]) == 0
    assert capsys.readouterr().out == "every entry of jax has its place\n"
    chapter.write_text(text.replace("Some", "Some new").replace("ones", "zeros"))
    assert main(["drift", "jax"]) == 1
    told, error = capsys.readouterr()
    assert told.splitlines() == [
        f"{file}:3: no place has the line 'Some words.'; most like it, at {chapter}:3: "
        "'Some new words.'",
        f"{file}:6: {old!r} is now {label()!r}, at {chapter}:6; compare, and renew it:",
        "  < x = torch.zeros(1)",
        "  > x = jnp.ones(1)",
    ]
    assert error == "error: jax: 2 to look at\n"
