"""Binding a book: all that is made of a sample is as expected; nothing stale or half-written."""

import contextlib
import difflib
import errno
import io
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from bookbinder import commands, compose
from bookbinder.__main__ import main
from bookbinder.book import BookError, read_book, read_notebook, write_whole
from bookbinder.compose import stale_files
from bookbinder.notebook import KEYS
from tests.conftest import DATA, ROOT, assert_stored, write_files

BOUND = ("bind", "worksheets", "worksheets --framework jax --no-outputs", "lab mine")
CALLS = (  # of these, who does what is recorded
    "bind 1 sec --framework jax",
    "bind --languages zh en",
    "grade done --chapter 2 --exercises own.py",
    "site --languages en zh",
    "site --framework jax --language zh",
    "slides",
)
PARTS = "bind_edition update_messages grade_folder stale_files"
LIKE = {  # what is shown is how a file differs from another one
    "d2l_attention/jax.py": "d2l_attention/torch.py",
    "notebooks/jax": "notebooks/pytorch/{0}",
    "_build/worksheets": "notebooks/pytorch/{0}",
    "_build/worksheets-no-outputs/jax": "_build/worksheets/{0}",
    "mine": "notebooks/pytorch/{0}",
}
FIRST, SECOND = (f"notebooks/pytorch/{name}.ipynb" for name in ("01_first", "02_second"))
MODULE = "d2l_attention/torch.py"


def lines_of(path):
    """Return a file, or what a notebook holds, as lines."""
    if path.suffix != ".ipynb":
        return path.read_text().splitlines()
    notebook = read_notebook(path)
    lines = [f"{name}: {len(value)}" for name, value in sorted(notebook.metadata.items())]
    for cell in notebook.cells:
        data = {k: [c.id for c in v] if k in KEYS else v for k, v in cell.metadata.items()}
        lines += [f"--- {cell.cell_type} {json.dumps(data)}", *cell.source.splitlines()]
        for output in cell.get("outputs", []):
            output = {k: len(v) if k == "traceback" else v for k, v in output.items()}
            lines.append(f"> {json.dumps(output, sort_keys=True, ensure_ascii=False)}")
        lines += [f"[{cell.execution_count}]"] if cell.get("execution_count") else []
    return lines


def told(root, path):
    """Return a file that was made, or how it differs from the one that is most like it."""
    name = path.relative_to(root).as_posix()
    folder, _, file = name.rpartition("/")
    other = LIKE.get(folder, "").format(file) if path.suffix == ".ipynb" else LIKE.get(name)
    if not other:
        return [f"===== {name}", *lines_of(path)]
    diff = difflib.unified_diff(lines_of(root / other), lines_of(path), n=0, lineterm="")
    changes = [line for line in [*diff][2:] if line[1:].strip() and line[:2] != "@@"]
    return [f"===== {name}, other than {other}", *changes]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The folder of a book with all that was made of it, and what the commands said."""
    root = tmp_path_factory.mktemp("a book") / "sample"
    shutil.copytree(DATA / "sample", root, ignore=shutil.ignore_patterns("expected.txt"))
    # As a user may have one, who ran `python -m ipykernel install` in another project.
    write_files(root, {"kernels/python3/kernel.json": '{"argv": [], "display_name": "other"}'})
    written, said = {*root.rglob("*")}, io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.chdir(root)
        patch.setattr("sys.stderr", said)
        patch.setattr("os.environ", before := dict(os.environ))
        patch.setattr("os.execv", lambda _, command: print(*command[1:], sep="\n"))
        before |= {"JUPYTER_CONFIG_PATH": "before", "JUPYTER_PATH": str(root)}
        for command in BOUND:
            assert main(command.split()) == 0
            print(f"$ {command} in {Path.cwd().name}")
        print("JUPYTER_CONFIG_PATH =", os.environ["JUPYTER_CONFIG_PATH"])
        patch.chdir(root)
        for name in PARTS.split():
            patch.setattr(commands, name, lambda _, *x, name=name: print(name, *x) or [])
        site = lambda _, sources, editions: print("build", *(e.notebooks.name for e in editions))  # noqa: E731
        patch.setattr(commands, "build", site)
        for command in CALLS:
            print(f"$ {command}")
            main(command.split())
    said = re.sub(r"\d+\.\d s|.*encryption.*\n", "", said.getvalue())  # which is not everywhere
    made = sorted(path for path in {*root.rglob("[!.]*.*")} - written)
    lines = [line for path in made for line in told(root, path)]
    return root, [*said.replace(str(root), "HERE").replace(str(ROOT), "ROOT").splitlines(), *lines]


@pytest.fixture
def bound(sample, tmp_path, monkeypatch):
    root = tmp_path / "a book"
    shutil.copytree(sample[0], root, ignore=shutil.ignore_patterns("_build", "mine"))
    monkeypatch.chdir(root)
    return root


def test_all_that_is_made_of_the_sample_is_as_expected(sample):
    assert_stored("\n".join(sample[1]), "sample/expected.txt")


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_stale_files_are_named(bound):
    book = read_book(bound)
    assert [line for edition in book.editions for line in stale_files(book, edition)] == []
    change(bound / SECOND, '"execution_count": 2', '"execution_count": 3')
    change(bound / "book/01_first.md", "Words.", "Other words.")
    change(bound / MODULE, "x / 2", "x / 3")
    (bound / "notebooks/pytorch/old.ipynb").touch()
    assert stale_files(book, book.editions[0]) == [
        f"{MODULE} differs from the #@save cells of the chapters",
        f"{FIRST} differs from book/01_first.md",
        f"{SECOND} differs from book/02_second.md",
        "notebooks/pytorch/old.ipynb belongs to no chapter",
    ]


def test_drift_shows_all_that_fits_no_more(bound, capsys):
    assert main(["drift", "jax"]) == 0
    assert capsys.readouterr().out == "every entry of jax has its place\n"
    change(bound / "book/02_second.md", "A sentence", "The sentence")
    change(bound / "book/02_second.md", "x / 2", "x / 3")
    assert main(["drift", "jax"]) == 1
    told, error = capsys.readouterr()
    assert told.splitlines() == [
        "book/jax/02_second.md:3: no place has the line 'A sentence of PyTorch.'; most like it, "
        "at book/02_second.md:5: 'The sentence of PyTorch.'",
        "book/jax/02_second.md:6: 'half @8273fc90' is now 'half @b04b6724', at "
        "book/02_second.md:8; compare, and renew it:",
        "  < def half(x):  #@save",
        "  <     return x / 3",
        "  > def half(x):  #@save",
        "  >     return 0.5 * x",
    ]
    assert error == "error: jax: 2 to look at\n"


def test_only_changed_code_is_executed_again(bound, monkeypatch, capsys):
    def execute(chapter, *_):
        raise BookError(f"{chapter.name} would be executed")

    monkeypatch.setattr(compose, "execute", execute)
    change(bound / "book/02_second.md", "A sentence", "The sentence")
    change(bound / "book/jax/02_second.md", "A sentence", "The sentence")
    old = (bound / FIRST).read_text()
    assert main(["bind"]) == 0
    assert "The sentence of PyTorch." in (bound / SECOND).read_text()
    capsys.readouterr()
    write_files(bound, {"d2l_attention/practice/chapter_02.py": "pass"})
    assert main(["bind"]) == 1
    change(bound / "book/01_first.md", "secret = 11", "secret = 12")
    assert main(["bind", "1"]) == 1
    assert (bound / FIRST).read_text() == old
    errors = capsys.readouterr().err
    assert errors == "error: 02_second would be executed\nerror: 01_first would be executed\n"


def test_a_module_that_is_broken_or_cannot_be_written_replaces_none(bound, capsys):
    before = (bound / MODULE).read_bytes()
    change(bound / "book/02_second.md", "half(x):", "half(x=1 / 0):")
    assert main(["bind"]) == 1
    assert (bound / MODULE).read_bytes() == before
    assert f"{MODULE}: cannot be imported: ZeroDivisionError" in capsys.readouterr().err
    (bound / MODULE).unlink()
    (bound / MODULE).mkdir()
    assert main(["bind"]) == 1
    assert capsys.readouterr().err == f"error: {bound / MODULE}: Is a directory\n"


def test_ctrl_c_stops_the_kernel_with_one_line_and_leaves_whole_files(bound, monkeypatch, capsys):
    presses = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"
    change(bound / "book/01_first.md", "unsaved = 1", presses)
    before = {path: path.read_bytes() for path in (bound / "notebooks").rglob("*.*")}
    # Whatever starts the tests in the background makes them deaf to Ctrl-C.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert main(["bind", "01_first"]) == 130
    monkeypatch.setattr(commands, "run", lambda _: signal.raise_signal(signal.SIGINT))
    assert main() == 130
    signal.signal(signal.SIGINT, usual)
    said = "interrupted: every file is whole, old or new; run again to go on\n"
    assert capsys.readouterr().err == said * 2
    assert {path: path.read_bytes() for path in (bound / "notebooks").rglob("*.*")} == before


def test_a_full_disk_is_said_in_one_line(tmp_path, monkeypatch):
    def replace(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (path := tmp_path / "file").write_text("old")
    assert [write_whole(path, text) for text in ("old", b"new")] == [False, True]
    monkeypatch.setattr("os.replace", replace)
    with pytest.raises(BookError, match=r"file: cannot be written \(No space .*it is unchanged$"):
        write_whole(path, "newer")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]
