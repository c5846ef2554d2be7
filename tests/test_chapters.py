"""Chapters: cells, their lines, tags and ids."""

import pytest
from conftest import write_files

from bookbinder.chapters import heading_before, read_chapter
from bookbinder.errors import BookError

TWO_FRAMEWORKS = """
    # 0. Title

    ```python
    shared = 1
    ```

    ```python tags=["pytorch"]
    import torch
    ```

    ```python tags=["jax"]
    import jax
    ```

    ## Next

    ```python
    shared = 1
    ```
"""


@pytest.fixture
def path(tmp_path):
    write_files(tmp_path, {"00_x.md": TWO_FRAMEWORKS})
    return tmp_path / "00_x.md"


def sources(chapter):
    return [cell.source for cell in chapter.notebook.cells]


def test_an_edition_keeps_shared_cells_and_its_own(path):
    chapter = read_chapter(path, "book/00_x.md", "pytorch")
    assert sources(chapter) == ["# 0. Title", "shared = 1", "import torch", "## Next", "shared = 1"]
    assert "import jax" in sources(read_chapter(path, "book/00_x.md", "jax"))


def test_each_cell_knows_its_line(path):
    chapter = read_chapter(path, "book/00_x.md", "pytorch")
    text = path.read_text().splitlines()
    for cell, line in zip(chapter.notebook.cells, chapter.lines, strict=True):
        assert text[line - 1] == cell.source.splitlines()[0]
    assert chapter.where(2) == "book/00_x.md:8"


def test_ids_depend_on_the_source_alone_and_differ(path):
    first = read_chapter(path, "a", "pytorch").notebook.cells
    path.write_text("# Before\n\n```python\nnew = 0\n```\n\n" + path.read_text())
    later = read_chapter(path, "a", "pytorch").notebook.cells
    assert len({cell.id for cell in later}) == len(later)
    assert [cell.id for cell in later][2:] == [cell.id for cell in first]


def test_a_misspelt_tag_is_named(path):
    path.write_text(path.read_text().replace('"jax"', '"raise-exception"'))
    with pytest.raises(BookError, match=r"md:12: unknown tag 'raise-exception' .*raises-"):
        read_chapter(path, "book/00_x.md", "pytorch")


def test_an_empty_chapter_is_named(path):
    path.write_text("\n")
    with pytest.raises(BookError, match=r"^book/00_x.md: is empty$"):
        read_chapter(path, "book/00_x.md", "pytorch")


def test_the_heading_above_a_cell_is_found(path):
    chapter = read_chapter(path, "a", "pytorch")
    assert [heading_before(chapter, i) for i in (1, 4)] == ["0. Title", "Next"]
