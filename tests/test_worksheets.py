"""Worksheets: no solution is left in them, and they still run from top to bottom."""

import re

import nbformat
import pytest

from bookbinder.__main__ import main
from bookbinder.chapters import read_chapter, tags_of
from bookbinder.colab import INSTALL
from bookbinder.execution import run_to_the_end
from bookbinder.files import BookError
from bookbinder.worksheets import apart, checked_in, stubs, students
from tests.conftest import SAMPLE, TINY, write_files

NAMED = 'repository = "https://github.com/someone/book"\n        '


@pytest.fixture(scope="module")
def sheets(tmp_path_factory, shared_kernel):
    """The students' and the teachers' edition of a chapter, and the executed one."""
    root = tmp_path_factory.mktemp("sheets")
    book = TINY["book.toml"].replace(', "01_second"', "").replace("seconds", f"{NAMED}seconds")
    write_files(root, {"book.toml": book, "book/00_first.md": SAMPLE})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("bookbinder.execution.NotebookClient", shared_kernel)
        assert main(["bind"]) == 0
        assert main(["worksheets"]) == 0
        assert main(["worksheets", "--solutions-only"]) == 0
    return root


def read(root, folder):
    notebook = nbformat.read(root / folder / "00_first.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


def code(notebook):
    """Return the code cells of a chapter, below the silent one that installs the book."""
    install, *cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert (tags_of(install), install.outputs) == ([INSTALL], [])
    return cells


def run(notebook, shared_kernel, folder):
    resources = {"metadata": {"path": str(folder)}}
    run_to_the_end(shared_kernel(notebook, timeout=20, resources=resources))


def printed(cell):
    return "".join(o.get("text", "") for o in cell.outputs)


def test_a_worksheet_keeps_tasks_hints_and_stubs_and_nothing_of_a_solution(sheets, shared_kernel):
    notebook = read(sheets, "_build/worksheets")
    for secret in ("secret", "math.pi", "12.5664", "symmetry", "turns * 2"):
        assert secret in str(read(sheets, "notebooks/pytorch"))
        assert secret not in str(notebook)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert prose.startswith("<!-- Made from book/00_first.md by `make worksheets`")
    assert "It has a square in it." in prose
    assert "Why?\n*Your answer:*\n## Summary" in prose  # in cells of their own
    cells = code(notebook)
    assert cells[1].outputs[0].data["text/plain"] == "42"
    assert printed(cells[3]) == "not attempted\n"  # the reader's cell is there: no stub is needed
    assert cells[4].source == (
        "import functools\n\n\n"
        "@functools.cache\ndef length(r: float, turns: int=1) -> float:\n"
        "    raise NotImplementedError  # your turn"
    )
    assert not cells[4].outputs
    run(notebook, shared_kernel, sheets)  # from top to bottom, unanswered


def test_solutions_are_folded_in_the_notebook_and_open_for_teachers(sheets, shared_kernel):
    stored = code(read(sheets, "notebooks/pytorch"))
    assert ["source_hidden" in str(c.metadata) for c in stored] == [False, True, False, False]
    teachers = read(sheets, "_build/solutions")
    assert "source_hidden" not in str(teachers)
    text = "\n".join(c.source for c in teachers.cells)
    for kept in (
        "# 1. First: tasks and solutions",
        "secret formula",
        "symmetry",
        "radius = print, 7, 2",
    ):
        assert kept in text
    for left_out in ("unrelated * 6", "word word", "much text", "your turn"):
        assert left_out not in text
    run(teachers, shared_kernel, sheets)


def test_no_worksheet_is_written_where_one_cannot_be(sheets, tmp_path, monkeypatch, capsys):
    for name in ("book/00_first.md", "notebooks/pytorch/00_first.ipynb"):
        write_files(tmp_path, {name: (sheets / name).read_text()})
    toml = TINY["book.toml"].replace("seconds", f"{NAMED}seconds")
    write_files(tmp_path, {"book.toml": toml, "book/01_second.md": "# 1. Next\n"})
    monkeypatch.chdir(tmp_path)
    assert main(["worksheets"]) == 1
    assert "01_second.ipynb is missing; run `make notebooks` first" in capsys.readouterr().err
    assert not (tmp_path / "_build").exists()


def test_worksheets_without_outputs_keep_all_else(sheets, tmp_path, monkeypatch):
    monkeypatch.chdir(sheets)
    with_outputs = read(sheets, "_build/worksheets")
    assert main(["worksheets", "--no-outputs"]) == 0
    bare = read(sheets, "_build/worksheets-no-outputs")
    assert read(sheets, "_build/worksheets") == with_outputs
    assert any(cell.outputs for cell in code(with_outputs))
    assert not any(cell.outputs or cell.execution_count for cell in code(bare))
    assert [cell.source for cell in bare.cells] == [cell.source for cell in with_outputs.cells]


CHAPTERS = {  # part of the chapter -> what stands there instead, and what is wrong with it
    ".\n</details>": (".", "</details> in one cell"),
    "<summary>Solution</summary>": ("", "</details> in one cell"),
}


@pytest.mark.parametrize(("old", "new"), CHAPTERS.items())
def test_what_might_tell_a_solution_is_named(old, new, tmp_path):
    assert old in SAMPLE
    write_files(tmp_path, {"00_first.md": SAMPLE.replace(old, new[0])})
    chapter = read_chapter(tmp_path / "00_first.md", "book/00_first.md")
    with pytest.raises(BookError, match=f"^book/00_first.md.*{re.escape(new[1])}"):
        students(chapter, chapter.notebook)


def test_a_class_keeps_its_methods_and_their_docstrings():
    source = '''
class Shares(Base):
    """Shares."""

    secret = 3

    def __init__(self, size):
        super().__init__()  # secret

    @property
    def size(self) -> int:
        """The size."""
        return secret


def one_line(x): return secret
secret = Shares(2)
'''
    kept = stubs(source)
    assert "secret" not in kept
    assert kept.count("raise NotImplementedError  # your turn") == 3
    names = {"Base": object}
    exec(kept, names)
    assert names["Shares"].size.fget.__doc__ == "The size."
    assert stubs("secret = 3\nprint(secret)") == "...  # your turn"


def test_an_answer_and_its_check_stand_in_cells_of_their_own():
    shown = nbformat.v4.new_output("display_data", {"text/plain": "1.1 not attempted."})
    source = "%time\ndef area(r):\n    ...  # your turn\n\n\ncheck(\n    '1.1', vmap(area)\n)"
    cell = nbformat.v4.new_code_cell(source, outputs=[shown], execution_count=3)
    answer, check = apart(cell)
    assert (answer.source, answer.outputs) == (source.partition("\n\n\n")[0], [])
    assert (check.source, check.outputs) == (source.partition("\n\n\n")[2], [shown])
    worksheet = nbformat.v4.new_notebook()
    worksheet.cells = [answer, check]
    assert checked_in(worksheet) == {"1.1": "vmap(area)"}
    for other in ("x = 1  # your turn", "check('1.1', lambda r: r)", "# your turn"):
        cell = nbformat.v4.new_code_cell(other)
        assert apart(cell) == [cell]
        assert not checked_in(nbformat.v4.new_notebook(cells=[cell]))
