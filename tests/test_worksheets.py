"""Worksheets: no solution is left in them, and they still run from top to bottom."""

import nbformat
import pytest
from conftest import TINY, write_files

from bookbinder.__main__ import main
from bookbinder.errors import BookError
from bookbinder.execution import run_to_the_end
from bookbinder.worksheets import names_in, stubs, without_answers

CHAPTER = '''
    # 0. First

    Some words.

    ```python
    import math

    unrelated = 7
    radius = 2
    ```

    ```python
    unrelated * 6
    ```

    ## Exercises

    ### Exercise 0.1

    Write the area of a circle.

    <details>
    <summary>Hint</summary>

    It has a square in it.
    </details>

    ```python
    def area(r):
        """Return the area."""
        raise NotImplementedError  # your turn


    try:
        print(area(radius))
    except NotImplementedError:
        print("not attempted")
    ```

    ```python tags=["solution"]
    def area(r):
        """Return the area."""
        return math.pi * r**2  # the secret formula


    print(f"secret {area(radius):.4f}")
    ```

    ### Exercise 0.2

    ```python tags=["solution"]
    import functools


    @functools.cache
    def length(
        r: float, turns: int = 1
    ) -> float:  # of a spiral
        # the secret of spirals
        return turns * 2 * math.pi * r
    ```

    ```python
    try:
        shown = f"{length(radius):.4f}"
    except NotImplementedError:
        shown = "not attempted"
    print(shown)
    ```

    ```python alt="the secret picture"
    shown * 2
    ```

    ### Exercise 0.3

    Why?

    <details>
    <summary>Solution</summary>

    The secret is symmetry.
    </details>

    ## References

    1. Nobody.
'''


@pytest.fixture(scope="module")
def sheets(tmp_path_factory, shared_kernel):
    """The students' and the teachers' edition of a chapter, and the executed one."""
    root = tmp_path_factory.mktemp("sheets")
    book = TINY["book.toml"].replace(', "01_second"', "")
    write_files(root, {"book.toml": book, "book/00_first.md": CHAPTER})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("bookbinder.execution.NotebookClient", shared_kernel)
        assert main(["bind"]) == 0
        assert main(["worksheets"]) == 0
        assert main(["worksheets", "--solutions-only"]) == 0
    return root


def read(root, folder):
    return nbformat.read(root / folder / "00_first.ipynb", as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run(notebook, shared_kernel, folder):
    resources = {"metadata": {"path": str(folder)}}
    run_to_the_end(shared_kernel(notebook, timeout=20, resources=resources))


def printed(cell):
    return "".join(o.get("text", "") for o in cell.outputs)


def test_nothing_of_a_solution_is_left_in_a_worksheet(sheets):
    text = (sheets / "_build/worksheets/00_first.ipynb").read_text()
    for secret in ("secret", "math.pi", "12.5664", "symmetry", "turns * 2"):
        assert secret in (sheets / "notebooks/pytorch/00_first.ipynb").read_text()
        assert secret not in text
    nbformat.validate(read(sheets, "_build/worksheets"))


def test_a_worksheet_keeps_tasks_hints_stubs_and_outputs_that_solutions_do_not_change(sheets):
    notebook = read(sheets, "_build/worksheets")
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert prose.startswith("<!-- Made from book/00_first.md by `make worksheets`")
    assert "It has a square in it." in prose
    assert "Why?\n\n*Your answer:*" in prose
    cells = code(notebook)
    assert cells[1].outputs[0].data["text/plain"] == "42"
    assert printed(cells[2]) == "not attempted\n"  # the reader's cell is there: no stub is needed
    assert cells[3].source == (
        "import functools\n\n\n"
        "@functools.cache\ndef length(\n    r: float, turns: int = 1\n"
        ") -> float:  # of a spiral\n"
        "    raise NotImplementedError  # your turn"
    )
    assert len(cells) == 6
    assert [c.outputs for c in cells[3:]] == [[], [], []]


def test_a_worksheet_runs_from_top_to_bottom_unanswered(sheets, shared_kernel):
    notebook = read(sheets, "_build/worksheets")
    run(notebook, shared_kernel, sheets)
    assert [printed(cell) for cell in code(notebook)][2::2] == ["not attempted\n"] * 2


def test_solutions_are_folded_in_the_notebook_and_open_for_teachers(sheets, shared_kernel):
    folded = [
        "area" in c.source and "source_hidden" in str(c.metadata)
        for c in code(read(sheets, "notebooks/pytorch"))
    ]
    assert folded == [False, False, False, True, False, False, False]
    teachers = read(sheets, "_build/solutions")
    nbformat.validate(teachers)
    assert "source_hidden" not in str(teachers)
    text = "\n".join(c.source for c in teachers.cells)
    for kept in ("# 0. First: tasks and solutions", "secret formula", "symmetry", "radius = 2"):
        assert kept in text
    for left_out in ("unrelated * 6", "Some words.", "Nobody", "your turn"):
        assert left_out not in text
    run(teachers, shared_kernel, sheets)


def test_binding_worksheets_again_changes_no_byte(sheets, monkeypatch):
    monkeypatch.chdir(sheets)
    path = sheets / "_build/worksheets/00_first.ipynb"
    before = path.read_bytes()
    assert main(["worksheets"]) == 0
    assert path.read_bytes() == before


def test_no_worksheet_is_written_where_one_cannot_be(sheets, tmp_path, monkeypatch, capsys):
    for name in ("book.toml", "book/00_first.md", "notebooks/pytorch/00_first.ipynb"):
        write_files(tmp_path, {name: (sheets / name).read_text()})
    toml = (tmp_path / "book.toml").read_text().replace('"00_first"', '"00_first", "01_next"')
    write_files(tmp_path, {"book.toml": toml, "book/01_next.md": "# 1. Next\n"})
    monkeypatch.chdir(tmp_path)
    assert main(["worksheets"]) == 1
    assert "01_next.ipynb is missing" in capsys.readouterr().err
    assert not (tmp_path / "_build").exists()


def test_worksheets_are_made_of_notebooks_that_match_the_book(tiny, capsys):
    assert main(["worksheets"]) == 1
    assert "00_first.ipynb is missing; run `make notebooks` first" in capsys.readouterr().err


@pytest.mark.usefixtures("in_shared_kernel")
def test_a_solution_in_an_output_above_it_stops_the_binding(sheets, tmp_path, monkeypatch, capsys):
    write_files(tmp_path, {"book.toml": (sheets / "book.toml").read_text()})
    telling = CHAPTER.replace(
        "unrelated * 6", "print('return math.pi * r**2  # the secret formula')"
    )
    write_files(tmp_path, {"book/00_first.md": telling})
    monkeypatch.chdir(tmp_path)
    assert main(["bind"]) == 0
    assert main(["worksheets"]) == 1
    assert "shows a line of a solution, 'return math.pi" in capsys.readouterr().err
    assert not (tmp_path / "_build/worksheets").exists()


def test_a_class_keeps_its_methods_and_their_docstrings():
    source = '''
class Shares(nn.Module):
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
    kept = stubs(source, "x.md:1")
    assert "secret" not in kept
    assert kept.count("raise NotImplementedError  # your turn") == 3
    names = {"nn": __import__("torch").nn}
    exec(kept, names)
    assert names["Shares"].size.fget.__doc__ == "The size."


def test_a_solution_without_definitions_leaves_a_place():
    assert stubs("secret = 3\nprint(secret)", "x.md:1") == "...  # your turn"


def test_names_are_those_of_the_cell_and_not_of_its_functions():
    cell = nbformat.v4.new_code_cell(
        "import a.b as c\nx = y\ndef f(z):\n    inner = z + free\n    return [i for i in inner]\n"
        "%time x += 1"
    )
    bound, used = names_in(cell, "x.md:1")
    assert bound == {"c", "x", "f"}
    assert {"y", "free"} <= used
    assert not used & {"z", "inner", "i"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<details>\n<summary>More</summary>\nx\n</details>", "begins with Solution, Answer or"),
        ("<details>\n<summary>Solution</summary>\nx", "in one cell"),
        ("<details>\nx\n</details>", "in one cell"),
    ],
)
def test_folded_text_that_might_be_a_solution_is_named(text, message):
    with pytest.raises(BookError, match=f"x.md:1: .*{message}"):
        without_answers(text, "x.md:1")
