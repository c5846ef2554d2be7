"""Solutions are closed folds in every viewer, and run like all other cells."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbinder.binding import notebook_path
from bookbinder.files import read_notebook
from bookbinder.page import markdown_lines
from bookbinder.publish import hidden_in_lab
from bookbinder.solutions import counted, folded, unfolded
from tests.this_book import BOOK, pages

WORDS = "<details>\n<summary>Solution</summary>\n\nIn words.\n</details>"
SECOND = "<details>\n<summary>Solution</summary>\n\n```python\nanswer\n```\n\n```text\n7\n```\n\n"
BELOW = "<details>\n<summary>Solution</summary>\n\nIn words.\n\n```python\nanswer\n```"


def solution(source="answer", shown="7"):
    output = new_output("execute_result", {"text/plain": shown}, execution_count=2)
    return new_code_cell(
        source, metadata={"tags": ["solution"]}, outputs=[output], execution_count=2
    )


def notebook(*cells):
    error = new_output("error", ename="E", evalue="", traceback=["Cell In[1], line 1", "In [3]: x"])
    first = new_code_cell("task", execution_count=1)
    last = new_code_cell("later", execution_count=3, outputs=[error])
    return new_notebook(cells=[first, *cells, last])


@pytest.mark.parametrize(
    ("cells", "begins"),
    [
        ([solution(), new_markdown_cell(f"{WORDS}\n\n### Next")], SECOND + "In words."),
        ([new_markdown_cell(f"A hint.\n\n{WORDS}"), solution()], f"A hint.\n\n{BELOW}"),
        ([new_markdown_cell("No fold."), solution(), new_markdown_cell("Next")], "No fold."),
        ([solution(), solution("more")], SECOND + "```python\nmore\n```"),
    ],
)
def test_a_solution_is_text_in_one_fold_and_its_cells_come_back(cells, begins):
    whole = notebook(*cells)
    made = folded(whole)
    nbformat.validate(made)
    assert [c.source for c in made.cells if c.cell_type == "code"] == ["task", "later"]
    prose = [c.source for c in made.cells if c.cell_type == "markdown"]
    assert prose[0].startswith(begins)
    text = "\n".join(prose)
    assert text.count("```python\nanswer\n```") == text.count("<summary>Solution") == 1
    assert made.cells[-1].execution_count == 2
    assert made.cells[-1].outputs[0].traceback == ["Cell In[1], line 1", "In [2]: x"]
    assert unfolded(made) == counted(whole)


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


def test_what_is_to_be_predicted_is_closed_in_jupyterlab():
    cell = new_code_cell("draw()", metadata={"tags": ["decide", "drawing"]})
    assert hidden_in_lab(cell) == {"source_hidden": True, "outputs_hidden": True}
    assert not hidden_in_lab(new_code_cell("import a"))
    assert hidden_in_lab(new_code_cell("import a\nimport b\n\na.b()")) == {"source_hidden": True}
