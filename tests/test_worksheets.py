"""Worksheets: no solution is left in them, and they still run from top to bottom."""

import os
import re

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.chapters import read_chapter, tags_of
from bookbinder.colab import INSTALL
from bookbinder.execution import run_to_the_end
from bookbinder.files import BookError
from bookbinder.worksheets import READ, REASON, apart, by_exercise, checks_in, sheets, students
from d2l_attention.practice.exercises import find
from tests.conftest import ROOT, SAMPLE, TINY, write_files
from tests.this_book import BOOK, chapters

EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")
ASKS_FOR_CODE = re.compile(
    r"few lines|Then (let|change|compute|check|train)|try |find out|measure|a faulty"
)
NAMED = 'repository = "https://github.com/someone/book"\n        '


@pytest.fixture(scope="module")
def root(tmp_path_factory, shared_kernel):
    """The root of a book of one chapter, executed, with its worksheet."""
    root = tmp_path_factory.mktemp("sheets")
    book = TINY["book.toml"].replace(', "01_second"', "").replace("seconds", f"{NAMED}seconds")
    write_files(root, {"book.toml": book, "book/00_first.md": SAMPLE})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("bookbinder.execution.NotebookClient", shared_kernel)
        assert main(["bind"]) == 0
        assert main(["worksheets"]) == 0
    return root


def read(root, folder="_build/worksheets"):
    notebook = nbformat.read(root / folder / "00_first.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


def code(notebook):
    """Return the code cells of a chapter, below the silent one that installs the book."""
    install, *cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert (tags_of(install), install.outputs) == ([INSTALL], [])
    return cells


def test_a_worksheet_keeps_tasks_hints_and_stubs_and_nothing_of_a_solution(root, shared_kernel):
    notebook = read(root)
    for secret in ("secret", "math.pi", "12.5664", "symmetry", "turns * 2"):
        assert secret in str(read(root, "notebooks/pytorch"))
        assert secret not in str(notebook)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert prose.startswith("<!-- Made from book/00_first.md by `make worksheets`")
    assert "It has a square in it." in prose
    assert "Why?\n*Your answer:*\n## Summary" in prose  # in cells of their own
    cells = code(notebook)
    assert ["source_hidden" in str(c.metadata) for c in cells[:3]] == [False, True, False]
    assert cells[1].outputs[0].data["text/plain"] == "42"
    assert (
        cells[3].outputs[0].text == "not attempted\n"
    )  # the reader's cell is there: no stub is needed
    assert cells[4].source == "...  # your turn"
    assert not cells[4].outputs
    resources = {"metadata": {"path": str(root)}}
    run_to_the_end(shared_kernel(notebook, timeout=20, resources=resources))  # unanswered


def test_worksheets_without_outputs_keep_all_else(root, monkeypatch):
    monkeypatch.chdir(root)
    whole = read(root)
    assert any(cell.outputs for cell in code(whole))
    assert main(["worksheets", "--no-outputs"]) == 0
    bare = read(root, "_build/worksheets-no-outputs")
    assert not any(cell.outputs or cell.execution_count for cell in code(bare))
    assert [cell.source for cell in bare.cells] == [cell.source for cell in whole.cells]
    assert read(root) == whole


@pytest.mark.parametrize("lost", ["\n</details>", "<summary>Solution</summary>"])
def test_a_fold_that_might_tell_a_solution_is_named(lost, tmp_path):
    write_files(tmp_path, {"00_first.md": SAMPLE.replace(lost, "")})
    chapter = read_chapter(tmp_path / "00_first.md", "book/00_first.md")
    with pytest.raises(BookError, match=r"^book/00_first.md.*</details> in one cell"):
        students(chapter, chapter.notebook)


def test_an_answer_and_its_check_stand_in_cells_of_their_own():
    shown = nbformat.v4.new_output("display_data", {"text/plain": "1.1 not attempted."})
    source = "%time\ndef area(r):\n    ...  # your turn\n\n\ncheck(\n    '1.1', vmap(area)\n)"
    cell = nbformat.v4.new_code_cell(source, outputs=[shown], execution_count=3)
    answer, check = apart(cell)
    assert (answer.source, answer.outputs) == (source.partition("\n\n\n")[0], [])
    assert (check.source, check.outputs) == (source.partition("\n\n\n")[2], [shown])
    worksheet = nbformat.v4.new_notebook()
    worksheet.cells = [answer, check]
    assert checks_in(worksheet) == {"1.1": ("vmap(area)", 1)}
    for other in ("x = 1  # your turn", "check('1.1', lambda r: r)", "# your turn"):
        cell = nbformat.v4.new_code_cell(other)
        assert apart(cell) == [cell]


def test_each_cell_of_a_worksheet_is_asked_for_and_none_needs_a_folder():
    edition = BOOK.edition(os.environ["D2L_FRAMEWORK"])
    for sheet in sheets(BOOK, edition, chapters(edition)).values():
        assert "](figures/" not in str(sheet)
        checks = checks_in(sheet)
        assert any(READ in cell.source for cell in sheet.cells) == bool(checks)
        exercises = by_exercise(sheet)
        assert not re.search("^## ", str(exercises.pop("5.2", "")), re.MULTILINE)
        for number in exercises.keys() - {"", "22.3"}:  # of which there is no solution
            sources = [cell.source for cell in exercises[number]]
            answers = [at for at, source in enumerate(sources) if "# your turn" in source]
            is_run = any("check(" not in (*sources, "")[at + 1] for at in answers)
            task = re.sub("<details.*?</details>", "", "\n".join(sources), flags=re.DOTALL)
            assert not is_run or re.search(ASKS_FOR_CODE, task), number
            is_function = number in checks and find(number).inputs is not None
            on_paper = re.search(rf"^\| {number} \|[^|]*\|.*paper", EXERCISES, re.MULTILINE)
            is_worded = not is_function or is_run or on_paper is not None
            assert ("*Your answer:*" in sources) == is_worded, number
            assert (REASON in sources) == (number in checks and not is_function), number
