"""Overlays: what a framework has of its own, and every way in which it can be out of date."""

from pathlib import Path

import pytest

from bookbinder.__main__ import main
from bookbinder.chapters import read_chapter
from bookbinder.config import read_book
from bookbinder.files import BookError
from bookbinder.overlay import ALONE, WAS, labels_of, lay_over, overlays_of
from tests.conftest import ROOT, TINY, code_cell, write_files

BASE = (
    "# 0. Title\n\nThe first line.\nPyTorch has a word for it.\nThe last line.\n"
    + code_cell("import numpy as np")
    + code_cell("x = torch.zeros(3)", 'tags=["solution"]')
    + "\n## Look before you clear\n\nIn place.\n"
    + code_cell("x.zero_()")
    + "\n### A part of it\n\nMore.\n\n## Next\n"
    + code_cell("same = 1") * 2
)
BOOK, JAX = "book/00_x.md", "book/jax/00_x.md"


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "00_x.md"
    path.write_text(BASE)
    return read_chapter(path, BOOK)


@pytest.fixture
def lay(base, tmp_path):
    """Lay a text over the chapter; {name} in it is the label of the cell with this name."""
    path = tmp_path / "overlay.md"

    def named(text):
        for label in labels_of(base.notebook.cells):
            text = text.replace(f"{{{label.rpartition(' @')[0]}}}", label)
        return text

    def laid_over(text):
        path.write_text(named(text))
        return lay_over(base, path, JAX)

    laid_over.named = named
    return laid_over


WHOLE = (
    "<!-- was: PyTorch has a word for it. -->\nJAX has two.\nThis is the other.\n"
    + code_cell("x = jnp.zeros(3)", 'was="{x}"')
    + "\n<!-- drop section: ## Look before you clear -->\n"
)
DROPPED = '```python was="{x.zero_}"\n```\n```python was="{x}"\n```\n'


def test_each_line_has_its_place_in_the_chapter_or_in_the_overlay(lay):
    chapter = lay(WHOLE)
    places = [chapter.where(*spot) for spot in [(0, 2), (0, 3), (0, 5), (2,), (3,)]]
    assert places == [f"{BOOK}:3", f"{JAX}:2", f"{BOOK}:5", f"{JAX}:6", f"{BOOK}:27"]


PLACED = f"# 0. Title\n\n{DROPPED}\n### A part of it\n\n<!-- was: More. -->\nLess.\n"
PLACED += "\n<!-- drop section: ## Next -->\n"
FIRST = "<!-- drop section: ## Look before you clear -->\n"
MISTAKES = {  # text of an overlay -> the message
    code_cell("1", 'was="x.zero @0"'): "no cell is 'x.zero @0'; most like it, at book/00_x.md:20",
    DROPPED + code_cell("1", 'was="{x}"'): f"{BOOK}:12 is replaced or left out at {JAX}:3",
    code_cell("# was: y = 1", 'was="{x}"'): "3: no line of the cell, from here on, is 'y = 1'",
    "<!-- was: PyTorch has the word for it. -->\nJAX.\n": "no place has the line 'PyTorch has the "
    "word for it.'; most like it, at book/00_x.md:4: 'PyTorch has a word for it.'",
    f"{FIRST}<!-- was: More. -->\n": f"2: {BOOK}:25 is replaced or left out at {JAX}:1",
    "<!-- drop section: ## Later -->\n": "00_x.md:1: no place has the line '## Later'",
    "<!-- drop: Next -->\n": "00_x.md:1: write <!-- was: … -->, <!-- after: … --> or <!-- drop",
    "# 0. Title\n\nA new line.\n": "00_x.md:3: this line replaces nothing: 'A new line.'",
    "```python\n1\n```\n": "00_x.md:1: this cell replaces nothing",
    '```python was="{x}"\n1\n': "00_x.md:1: this code cell has no end",
    DROPPED + code_cell("1") + code_cell("1", 'tags=["solutoin"]'): "unknown tag 'solutoin'",
    f"=======\n{WHOLE}": "00_x.md:1: a conflict of a merge is not resolved: '======='",
    WHOLE.replace("jnp", "torch"): "00_x.md must replace or drop this cell, which says 'torch'",
    PLACED.replace("part", "port"): "8: no place has the line '### A port of it'; "
    "most like it, at book/00_x.md:23: '### A part of it'",
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_what_fits_nowhere_is_named_with_file_and_line(lay, text, message):
    with pytest.raises(BookError) as failure:
        lay(text)
    assert lay.named(message) in str(failure.value)


FILE = Path("book/jax/00_first.md")


@pytest.fixture
def two(tiny):
    """A book of one chapter in two frameworks, and its overlay, which fits."""
    toml = TINY["book.toml"].replace(', "01_second"', "") + "[frameworks.jax]\n"
    (tiny / "book/01_second.md").unlink()
    torch = [code_cell(f"x = torch.ones({n})") for n in (1, 2)]
    chapter = f"# 0. First\n\nSome words.\n{torch[0]}\n## Next\n{torch[1]}"
    write_files(tiny, {"book.toml": toml, "book/00_first.md": chapter})
    ports = [code_cell(f"x = jnp.ones({n})", f'was="{x}"') for n, x in enumerate(labels(), 1)]
    text = f"# 0. First\n\n<!-- was: Some words. -->\nOther words.\n{ports[0]}\n## Next\n{ports[1]}"
    write_files(tiny, {str(FILE): text})
    return tiny


def labels():
    return list(labels_of(read_chapter(Path("book/00_first.md"), "").notebook.cells))


def change(old, new):
    path = Path("book/00_first.md")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.usefixtures("two")
def test_drift_shows_all_that_fits_no_more_and_nothing_is_bound(capsys):
    assert main(["drift", "jax"]) == 0
    assert capsys.readouterr().out == "every entry of jax has its place\n"
    old, _ = labels()
    change("Some words.", "Some new words.")
    change("torch.ones(1)", "torch.zeros(1)")
    assert main(["drift", "jax"]) == 1
    (new, _), (told, error) = labels(), capsys.readouterr()
    assert told.splitlines() == [
        f"{FILE}:3: no place has the line 'Some words.'; most like it, at book/00_first.md:3: "
        "'Some new words.'",
        f"{FILE}:6: {old!r} is now {new!r}, at book/00_first.md:6; compare, and renew it:",
        "  < x = torch.zeros(1)",
        "  > x = jnp.ones(1)",
    ]
    assert error == "error: jax: 2 to look at\n"
    assert main(["bind", "--framework", "jax"]) == 1
    assert capsys.readouterr().err == f"error: {told.splitlines()[0]} (and 1 more)\n"
    assert not Path("notebooks").exists()


def one_sided(overlays):
    """Return what is wrong with the marks of lines that one overlay of a chapter alone changes."""
    wrong = []
    for overlay in overlays:
        others = [other.changed.keys() for other in overlays if other is not overlay]
        for change in overlay.changes:
            spots = [spot for spot, other in overlay.changed.items() if other is change]
            alone = any(spot not in other for other in others for spot in spots)
            if change.kind in (WAS, ALONE) and alone != (change.kind == ALONE):
                wrong.append(f"{change.place}: {ALONE if alone else WAS}")
    return wrong


@pytest.mark.slow
def test_lines_that_one_edition_alone_replaces_have_been_looked_at_in_the_others():
    """Where this fails: is the line right in the other editions? Then write what it says."""
    book, chapters = read_book(ROOT), {}
    for edition in book.editions:
        for overlay in overlays_of(book, edition):
            chapters.setdefault(overlay.chapter.name, []).append(overlay)
    assert not [line for overlays in chapters.values() for line in one_sided(overlays)]
