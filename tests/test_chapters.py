"""Chapters: cells, their lines, tags and ids."""

import pytest

from bookbinder.chapters import read_chapter
from bookbinder.files import BookError
from tests.conftest import code_cell, write_files

SHARED = code_cell("shared = 1")
CHAPTER = (
    f"# 0. Title\n{SHARED}" + code_cell("import torch", 'tags=["drawing"]') + f"\n## Next\n{SHARED}"
)


@pytest.fixture
def path(tmp_path):
    write_files(tmp_path, {"00_x.md": CHAPTER})
    return tmp_path / "00_x.md"


def test_ids_depend_on_the_source_alone_and_differ(path):
    first = read_chapter(path, "a").notebook.cells
    path.write_text("# Before\n\n```python\nnew = 0\n```\n\n" + path.read_text())
    later = read_chapter(path, "a").notebook.cells
    assert len({cell.id for cell in later}) == len(later)
    assert [cell.id for cell in later][2:] == [cell.id for cell in first]


def test_a_misspelt_tag_is_named(path):
    path.write_text(path.read_text().replace('"drawing"', '"raise-exception"'))
    with pytest.raises(BookError, match=r"md:8: unknown tag 'raise-exception' .*raises-"):
        read_chapter(path, "book/00_x.md")


@pytest.mark.parametrize("mark", "<|=>")
def test_a_conflict_of_a_merge_is_named(path, mark):
    path.write_text(CHAPTER.replace("shared", f"{mark * 7} x\nshared", 1))
    with pytest.raises(BookError, match=rf"^book/00_x.md:4: a conflict .*: '[{mark}]{{7}} x'$"):
        read_chapter(path, "book/00_x.md")


def test_an_empty_or_missing_chapter_is_named(path):
    path.write_text("\n")
    with pytest.raises(BookError, match=r"^book/00_x.md: is empty$"):
        read_chapter(path, "book/00_x.md")
    path.unlink()
    with pytest.raises(BookError, match=r"^book/00_x.md: cannot be read: .*No such file"):
        read_chapter(path, "book/00_x.md")
