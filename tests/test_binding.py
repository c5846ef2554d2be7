"""Binding a book: the same bytes every time, nothing half-written, and stale files found."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pytest

from bookbinder import binding
from bookbinder.__main__ import main
from bookbinder.binding import stale_files
from bookbinder.config import read_book
from bookbinder.files import BookError, write_whole
from tests.conftest import ROOT, TINY, write_files

pytestmark = pytest.mark.usefixtures("in_shared_kernel")  # but processes start their own
FIRST, MODULE = "notebooks/pytorch/00_first.ipynb", "d2l_attention/torch.py"


def everything(root):
    """Return all files of a bound book but those in _build/, which are made from them."""
    files = {p.relative_to(root).as_posix(): p for p in root.rglob("*") if p.is_file()}
    return {name: p.read_bytes() for name, p in files.items() if not name.startswith("_build/")}


def stale(root):
    book = read_book(root)
    return stale_files(book, book.editions[0])


def text_of(path):
    """Return the text of a notebook without the ids of cells, which depend on their words."""
    return re.sub(r'"id": "[^"]*"', "", path.read_text())


def stop():
    raise BookError("it would be executed")


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture(scope="module")
def bound_files(tmp_path_factory):
    root = tmp_path_factory.mktemp("bound")
    write_files(root, TINY)
    process = bookbinder("bind", cwd=root)
    error = process.communicate()[1]
    assert process.returncode == 0, error
    return root


@pytest.fixture
def bound(tiny, bound_files):
    shutil.copytree(bound_files, tiny, dirs_exist_ok=True)
    return tiny


def bookbinder(*arguments, cwd, path=(), **options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [*path, ROOT]))}
    command = [sys.executable, "-m", "bookbinder", *arguments]
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True, **options
    )


def test_a_traceback_names_no_file_of_the_machine(bound):
    second = nbformat.read(bound / "notebooks/pytorch/01_second.ipynb", as_version=4)
    traceback = "\n".join(second.cells[1].outputs[0].traceback)
    assert ("on purpose" in traceback, "/" in traceback) == (True, False)


def test_a_chapter_is_executed_again_only_where_its_code_or_what_it_stands_on_changed(
    bound, monkeypatch
):
    executed = []
    monkeypatch.setattr(
        binding, "execute", lambda chapter, *_: executed.append(chapter.name) or stop()
    )
    stored = text_of(bound / FIRST)
    change(bound / "book/00_first.md", "Some words.", "Some other words.")
    assert main(["bind"]) == 0
    assert text_of(bound / FIRST) == stored.replace("Some words.", "Some other words.")
    write_files(bound, {"d2l_attention/practice/chapter_01.py": "pass"})
    assert main(["bind"]) == 1
    write_files(bound, {"d2l_attention/checks.py": "pass"})
    assert main(["bind"]) == 1
    assert executed == ["01_second", "00_first"]


def test_a_failing_cell_leaves_the_old_notebook_and_is_one_message(bound, capsys):
    before = (bound / FIRST).read_bytes()
    change(bound / "book/00_first.md", "double(21)", "double(21) / 0")
    assert main(["bind", "00_first"]) == 1
    assert (bound / FIRST).read_bytes() == before
    error = capsys.readouterr().err.strip().splitlines()
    assert error[-2].startswith("error: book/00_first.md:13: code cell 2 of 00_first: ZeroDivision")
    assert error[-1] == "    double(21) / 0"


@pytest.mark.parametrize(
    ("file", "old", "new", "stale_file"),
    [
        ("book/00_first.md", "Some words.", "Some word.", FIRST),
        ("book/00_first.md", "2 * x", "3 * x", MODULE),
        (MODULE, "2 * x", "3 * x", MODULE),
        (FIRST, '"name": "python3"', '"name": "python2"', FIRST),
        (FIRST, '"execution_count": 2', '"execution_count": 3', FIRST),
    ],
)
def test_a_stale_file_is_named(bound, file, old, new, stale_file):
    message = {FIRST: "book/00_first.md", MODULE: "the #@save cells of the chapters"}[stale_file]
    assert stale(bound) == []
    change(bound / file, old, new)
    assert f"{stale_file} differs from {message}" in stale(bound)


def test_a_broken_notebook_is_named_and_bound_anew(bound, capsys):
    before = (bound / FIRST).read_bytes()
    (bound / FIRST).write_text("<<<<<<< HEAD\n{")  # as a merge leaves it
    for command in (["lab", "mine"], ["worksheets"], ["site"]):
        assert main(command) == 1
        (error,) = capsys.readouterr().err.splitlines()
        assert f"{FIRST} is no notebook" in error
        assert "`make notebooks` makes it anew" in error
    assert not (bound / "mine").exists()
    assert not (bound / "_build/worksheets").exists()
    assert main(["bind", "00_first"]) == 0
    assert (bound / FIRST).read_bytes() == before


def test_a_module_that_cannot_be_imported_does_not_replace_the_old_one(bound, capsys):
    before = (bound / MODULE).read_bytes()
    change(bound / "book/00_first.md", "double(x):", "double(x=1 / 0):")
    assert main(["bind"]) == 1
    assert (bound / MODULE).read_bytes() == before
    assert f"{MODULE}: cannot be imported: ZeroDivisionError" in capsys.readouterr().err


def test_ctrl_c_stops_with_one_line_and_leaves_whole_files(bound):
    busy = "import pathlib, time; pathlib.Path('busy').touch(); time.sleep(60)"
    change(bound / "book/00_first.md", "double(21)", busy)
    before = everything(bound / "notebooks")
    process = bookbinder(
        "bind",
        "00_first",
        cwd=bound,
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
    in_the_way = bound / MODULE
    in_the_way.unlink()
    in_the_way.mkdir()
    assert main(["bind"]) == 1
    assert capsys.readouterr().err == f"error: {in_the_way}: Is a directory\n"


def test_ctrl_c_while_the_commands_are_loaded_is_one_line(tiny):
    slow = "raise KeyboardInterrupt  # as Ctrl-C does, in any of the modules that are loaded"
    write_files(tiny, {"slow/jupytext.py": slow})
    process = bookbinder("bind", cwd=tiny, path=[tiny / "slow"])
    (error,) = process.communicate()[1].splitlines()
    assert process.returncode == 130
    assert error.startswith("interrupted: every file is whole")
