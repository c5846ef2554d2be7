"""Binding a book: the same bytes every time, nothing half-written, and stale files found."""

import os
import resource
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from conftest import ROOT, TINY, write_files

from bookbinder.__main__ import main
from bookbinder.binding import stale_files
from bookbinder.chapters import Chapter
from bookbinder.config import read_book
from bookbinder.errors import BookError
from bookbinder.files import write_whole
from bookbinder.publish import published

pytestmark = pytest.mark.usefixtures("in_shared_kernel")  # but processes start their own
FIRST = "notebooks/pytorch/00_first.ipynb"


def everything(root):
    """Return what is kept of a bind; the seconds noted in _build/ differ from run to run."""
    files = {p.relative_to(root).as_posix(): p for p in root.rglob("*") if p.is_file()}
    return {name: p.read_bytes() for name, p in files.items() if not name.startswith("_build/")}


def stale(root):
    book = read_book(root)
    return stale_files(book, book.editions[0])


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture(scope="module")
def bound_files(tmp_path_factory):
    root = tmp_path_factory.mktemp("bound")
    write_files(root, TINY)
    done = bookbinder("bind", cwd=root)
    assert done.returncode == 0, done.stderr
    return everything(root)


@pytest.fixture
def bound(tiny, bound_files):
    for name, data in bound_files.items():
        path = tiny / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tiny


def bookbinder(*arguments, cwd, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bookbinder", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, **options
    )


def test_a_bound_book_has_origin_lines_and_reproducible_metadata(bound):
    notebook = nbformat.read(bound / FIRST, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith(
        "<!-- Made from book/00_first.md by `make notebooks`"
    )
    assert "version" not in notebook.metadata.language_info
    assert (
        (bound / "d2l_attention/torch.py")
        .read_text()
        .startswith("# Made from the #@save cells of book/")
    )


def test_a_traceback_shows_the_cell_and_the_error_and_no_paths(bound):
    notebook = nbformat.read(bound / "notebooks/pytorch/01_second.ipynb", as_version=4)
    traceback = "\n".join(notebook.cells[1].outputs[0].traceback)
    assert "on purpose" in traceback
    assert "JSONDecodeError" in traceback
    assert "/" not in traceback


def test_code_that_only_draws_is_folded_and_its_picture_is_not():
    cell = nbformat.v4.new_code_cell("draw()", metadata={"tags": ["drawing"]})
    chapter = Chapter("00_c", "book/00_c.md", notebook_of("# 0. T", cell))
    folds = published(chapter, chapter.notebook).cells[1].metadata.jupyter
    assert folds == {"source_hidden": True}


def notebook_of(title, cell):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(title), cell])


def test_binding_again_changes_no_byte(bound):
    before = everything(bound)
    assert main(["bind"]) == 0
    assert everything(bound) == before
    assert stale(bound) == []


def test_a_failing_cell_leaves_the_old_notebook_and_is_one_message(bound, capsys):
    before = (bound / FIRST).read_bytes()
    change(bound / "book/00_first.md", "double(21)", "double(21) / 0")
    assert main(["bind", "00_first"]) == 1
    assert (bound / FIRST).read_bytes() == before
    error = capsys.readouterr().err.strip().splitlines()
    assert error[-2].startswith("error: book/00_first.md:13: code cell 2 of 00_first: ZeroDivision")
    assert error[-1] == "    double(21) / 0"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("book/00_first.md", "Some words.", "Some word.", f"{FIRST} differs from book/00_first.md"),
        (
            "book/00_first.md",
            "2 * x",
            "3 * x",
            "d2l_attention/torch.py differs from the #@save cells",
        ),
        (
            "d2l_attention/torch.py",
            "2 * x",
            "3 * x",
            "d2l_attention/torch.py differs from the #@save cells",
        ),
        (FIRST, "Some words.", "Some word.", f"{FIRST} differs from book/00_first.md"),
        (FIRST, '"name": "python3"', '"name": "python2"', f"{FIRST} differs from book/00_first.md"),
    ],
)
def test_a_stale_file_is_named(bound, file, old, new, message):
    assert stale(bound) == []
    change(bound / file, old, new)
    assert any(line.startswith(message) for line in stale(bound))


def test_a_broken_notebook_is_named_and_bound_anew(bound, capsys):
    before = (bound / FIRST).read_bytes()
    (bound / FIRST).write_text("<<<<<<< HEAD\n{")  # as a merge leaves it
    for command in (["copies", "mine"], ["worksheets"], ["site"]):
        assert main(command) == 1
        (error,) = capsys.readouterr().err.splitlines()
        assert f"{FIRST} is no notebook" in error
        assert "`make notebooks` makes it anew" in error
    assert not (bound / "mine").exists()
    assert main(["bind", "00_first"]) == 0
    assert (bound / FIRST).read_bytes() == before


def test_a_module_that_is_no_text_is_stale_and_bound_anew(bound):
    before = (bound / "d2l_attention/torch.py").read_bytes()
    (bound / "d2l_attention/torch.py").write_bytes(b"\xff")
    assert any(line.startswith("d2l_attention/torch.py differs") for line in stale(bound))
    assert main(["bind", "00_first"]) == 0
    assert (bound / "d2l_attention/torch.py").read_bytes() == before


def test_missing_and_left_over_files_are_named(bound):
    (bound / FIRST).rename(bound / "notebooks/pytorch/05_old.ipynb")
    assert stale(bound) == [
        f"{FIRST} is missing",
        "notebooks/pytorch/05_old.ipynb belongs to no chapter",
    ]


def test_a_module_that_cannot_be_imported_does_not_replace_the_old_one(bound, capsys):
    before = (bound / "d2l_attention/torch.py").read_bytes()
    change(bound / "book/00_first.md", "double(x):", "double(x=1 / 0):")
    assert main(["bind"]) == 1
    assert (bound / "d2l_attention/torch.py").read_bytes() == before
    assert (
        "d2l_attention/torch.py: cannot be imported: ZeroDivisionError" in capsys.readouterr().err
    )


def test_a_bad_mark_writes_nothing(tiny, capsys):
    change(tiny / "book/00_first.md", "return 2 * x", "return 2 * x  #@save")
    before = everything(tiny)
    assert main(["bind"]) == 1
    assert everything(tiny) == before
    assert "error: book/00_first.md:7: cannot place #@save" in capsys.readouterr().err


def test_an_output_that_differs_by_nature_is_kept(tiny):
    cell = '\n```python tags=["nbval-ignore-output"]\nimport time  # the clock\ntime.time()\n```\n'
    with open(tiny / "book/00_first.md", "a") as file:
        file.write(cell)
    assert main(["bind", "00_first"]) == 0
    before = (tiny / FIRST).read_bytes()
    assert main(["bind", "00_first"]) == 0
    assert (tiny / FIRST).read_bytes() == before


def test_ctrl_c_stops_with_one_line_and_leaves_whole_files(bound):
    busy = "import pathlib, time; pathlib.Path('busy').touch(); time.sleep(60)"
    change(bound / "book/00_first.md", "double(21)", busy)
    before = everything(bound / "notebooks")
    process = subprocess.Popen(
        [sys.executable, "-m", "bookbinder", "bind", "00_first"],
        cwd=bound,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whatever starts the tests in the background makes them deaf to Ctrl-C, and so this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    marker = bound / "notebooks/pytorch/busy"
    while not marker.exists():
        time.sleep(0.05)
    marker.unlink()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, error = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in error) == (130, False), error
    assert error.strip().splitlines()[-1].startswith("interrupted: every file is whole")
    assert everything(bound / "notebooks") == before


def test_a_file_that_cannot_be_written_is_left_as_it_was(bound, capsys):
    path = bound / FIRST
    (path.parent / f".{path.name}.new").mkdir()  # stands for a full disk or a read-only folder
    before = path.read_bytes()
    change(bound / "book/00_first.md", "Some words.", "Other words.")
    assert main(["bind", "00_first"]) == 1
    assert path.read_bytes() == before
    assert "00_first.ipynb: cannot be written" in capsys.readouterr().err


def test_a_full_disk_is_said_in_one_line(tiny):
    path = tiny / "file"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # no file may grow beyond 100 bytes
    try:
        with pytest.raises(BookError, match=r"file: cannot be written .*; it is unchanged$"):
            write_whole(path, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert not list(tiny.glob(".*"))


def test_an_error_of_the_system_is_one_line(bound, capsys):
    in_the_way = bound / "_build/site-source/pytorch-en.warnings"
    in_the_way.mkdir(parents=True)
    assert main(["site"]) == 1
    assert capsys.readouterr().err == f"error: {in_the_way}: Is a directory\n"


def test_ctrl_c_while_the_commands_are_loaded_is_one_line(tiny):
    slow = "raise KeyboardInterrupt  # as Ctrl-C does, in any of the modules that are loaded"
    write_files(tiny, {"slow/jupytext.py": slow})
    environment = os.environ | {"PYTHONPATH": f"{tiny / 'slow'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "bookbinder", "bind"]
    done = subprocess.run(command, cwd=tiny, env=environment, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.startswith("interrupted: every file is whole")
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_chapter_is_named(tiny, capsys):
    assert main(["bind", "00_frist"]) == 1
    assert "no chapter '00_frist' in the book (did you mean '00_first'?)" in capsys.readouterr().err


def test_a_second_framework_is_bound_from_the_chapters_and_its_overlays(tiny):
    with (tiny / "book.toml").open("a") as toml:
        toml.write("[frameworks.jax]\n")
        toml.write('without = ["01_second"]\n')
    write_files(tiny, {"book/jax/00_first.md": "<!-- was: Some words. -->\nOther words.\n"})
    assert main(["bind", "--framework", "jax"]) == 0
    notebook = nbformat.read(tiny / "notebooks/jax/00_first.ipynb", as_version=4)
    assert "Other words." in notebook.cells[0].source
    assert "return 2 * x" in (tiny / "d2l_attention/jax.py").read_text()
    assert sorted(p.name for p in tiny.glob("notebooks/*/*")) == ["00_first.ipynb"]
    book = read_book(tiny)
    assert stale_files(book, book.edition("jax")) == []


def test_a_changed_chapter_leaves_its_overlay_behind_and_drift_says_where(tiny, capsys):
    with (tiny / "book.toml").open("a") as toml:
        toml.write("[frameworks.jax]\n")
    write_files(tiny, {"book/jax/00_first.md": "<!-- was: Some words. -->\nOther words.\n"})
    assert main(["drift", "jax"]) == 0
    assert capsys.readouterr().out == "all overlays of jax fit\n"
    change(tiny / "book/00_first.md", "Some words.", "Some new words.")
    assert main(["drift", "jax"]) == 1
    mistake = (
        "book/jax/00_first.md:1: no place has the line 'Some words.'; "
        "most like it, at book/00_first.md:3: 'Some new words.'"
    )
    assert capsys.readouterr() == (f"{mistake}\n", "error: jax: 1 to look at\n")
    assert main(["bind", "--framework", "jax"]) == 1
    assert capsys.readouterr().err == f"error: {mistake}\n"
    assert not (tiny / "notebooks").exists()
