"""Solutions are closed folds in every viewer, and run like all other cells."""

import pytest

from bookbinder.binding import notebook_path
from bookbinder.files import read_notebook
from bookbinder.page import markdown_lines
from tests.this_book import BOOK, pages


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_no_viewer_shows_a_solution_before_it_is_opened(edition):
    seen = 0
    for page in pages(edition):
        solved = [
            c for c in page.executed.cells if c.get("metadata", {}).get("tags") == ["solution"]
        ]
        stored = read_notebook(notebook_path(edition, page.name)).cells
        shown = "\n".join(x.text for c in stored for x in markdown_lines(c.source) if not x.fold)
        lines = {line for c in solved for line in c.source.splitlines() if len(line) > 40}
        given = {
            line for c in page.executed.cells if c not in solved for line in c.source.splitlines()
        }
        assert not [line for line in lines - given if line in shown]
        seen += len(lines)
    assert seen > 100
