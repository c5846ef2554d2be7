"""Drift: a change of a chapter leaves its overlays behind; ids of reviewed entries are renewed."""

from pathlib import Path

import pytest
from conftest import TINY, code_cell, write_files

from bookbinder.__main__ import main
from bookbinder.chapters import read_chapter

CHAPTER = (
    "# 0. First\n\nSome words.\n"
    + code_cell("x = torch.ones(1)")
    + code_cell("shared = 1")
    + code_cell("x = torch.ones(2)")
    + "\n## Next\n"
    + code_cell("x = torch.ones(3)")
    + code_cell("shared = 2")
)
FILE = Path("book/jax/00_first.md")


@pytest.fixture
def two(tiny):
    """A book of one chapter in two frameworks, and its overlay, which fits."""
    toml = TINY["book.toml"].replace(', "01_second"', "") + "[frameworks.jax]\n"
    (tiny / "book/01_second.md").unlink()
    write_files(tiny, {"book.toml": toml, "book/00_first.md": CHAPTER})
    ports = [
        code_cell(f"x = jnp.ones({n})", f'was="{old}"') for n, old in enumerate(ids("torch"), 1)
    ]
    text = "# 0. First\n\n<!-- was: Some words. -->\nOther words.\n" + "".join(ports[:2])
    write_files(tiny, {str(FILE): f"{text}\n## Next\n{ports[2]}"})
    return tiny


def ids(word):
    """Return the ids of the chapter's cells that say this word."""
    chapter = read_chapter(Path("book/00_first.md"), "book/00_first.md")
    return [c.id for c in chapter.notebook.cells if c.cell_type == "code" and word in c.source]


def change(old, new):
    path = Path("book/00_first.md")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.usefixtures("two")
def test_drift_lists_all_that_fits_no_more_and_nothing_is_bound(capsys):
    assert main(["drift", "jax"]) == 0
    assert capsys.readouterr().out == "every entry of jax has its place\n"
    old = ids("torch")[0]
    change("Some words.", "Some new words.")
    change("torch.ones(1)", "torch.zeros(1)")
    assert main(["drift", "jax"]) == 1
    new = ids("torch")[0]
    told, error = capsys.readouterr()
    assert told.splitlines() == [
        f"{FILE}:3: no place has the line 'Some words.'; most like it, at book/00_first.md:3: "
        "'Some new words.'",
        f"{FILE}:6: under '0. First', no cell has the id {old!r}; nearest, at "
        f"book/00_first.md:6: {new!r}, 'x = torch.zeros(1)'",
        f"book/00_first.md:6: {FILE} must replace or drop this cell, which says 'torch' "
        f"(was={new!r})",
    ]
    assert error == "error: jax: 3 to look at\n"
    assert main(["bind", "--framework", "jax"]) == 1
    assert capsys.readouterr().err == f"error: {told.splitlines()[0]} (and 2 more)\n"
    assert not Path("notebooks").exists()


@pytest.mark.usefixtures("two")
def test_entries_with_a_sure_place_are_renewed_and_no_other_byte_changes(capsys):
    before, old = FILE.read_text(), ids("torch")
    change("torch.ones(1)", "torch.zeros(1)")
    change("torch.ones(2)", "torch.zeros(2)")
    assert main(["drift", "jax", "--stamp"]) == 0
    new = ids("torch")
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == [
        f"{FILE}:6: {old[0]} is now {new[0]}, at book/00_first.md:6; compare:",
        "  < x = torch.zeros(1)",
        "  > x = jnp.ones(1)",
    ]
    assert told[6:] == ["every entry of jax has its place"]
    assert FILE.read_text() == before.replace(old[0], new[0]).replace(old[1], new[1])


UNSURE = {  # what became of one cell, or two -> why no id is renewed
    "x = torch.ones(3)": "x = torch.ones(4)\n```\n\n```python\ny = torch.zeros(3)",  # which one?
    "x = torch.ones(2)\n```\n\n## Next\n": "pass\n```\n\n## Next\n"
    "\n```python\ny = torch.ones(5)\n```\n",  # the new one is of another section
}


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("old", UNSURE)
def test_an_unsure_place_is_for_a_person_to_find(old):
    before = FILE.read_text()
    change(old, UNSURE[old])
    assert main(["drift", "jax", "--stamp"]) == 1
    assert FILE.read_text() == before


@pytest.mark.usefixtures("two")
def test_equal_cells_get_their_number():
    change("torch.ones(1)", "torch.ones(9)")
    change("torch.ones(3)", "torch.ones(9)")
    assert main(["drift", "jax", "--stamp"]) == 0
    first = ids("torch")[0]
    assert f'was="{first}-1"' in FILE.read_text()
    assert f'was="{first}-2"' in FILE.read_text()
