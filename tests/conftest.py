"""Environment and plugins of all tests, and a tiny book to bind."""

import atexit
import os
import shutil
import tempfile
import textwrap
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

from bookbinder.book import read_book
from bookbinder.execution import kernel_environment
from d2l_attention.frameworks import known, load
from tests import nbval_plugin

os.environ.update(kernel_environment())  # nbval's kernels inherit it
FRAMEWORK = load(os.environ["D2L_FRAMEWORK"])
# The tests of a module need its framework, and their files have the same names.
collect_ignore = [name for name in known() if not FRAMEWORK.__name__.endswith(f".{name}")]
ROOT = Path(__file__).resolve().parent.parent
NBVALS_OWN_LIMIT = 2000  # seconds of a cell, where the command line names none
# Nothing is read from the user's home, nor written there: perhaps nobody can.
HOMES = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
NO_GPU = "DEVICE=cuda was asked for, and the framework sees no such device on this machine"

DATA = ROOT / "tests" / "data"
TINY = {
    path.relative_to(DATA / "tiny").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((DATA / "tiny").rglob("*.*"))
}


def code_cell(source: str, options: str = "") -> str:
    """Return a code cell as chapters and overlays have it."""
    return f"\n```python {options}".rstrip() + f"\n{source}\n```\n"


def gpu_is_missing() -> bool:
    return os.environ["D2L_DEVICE"].startswith("cuda") and not FRAMEWORK.has_gpu()


def pytest_configure(config):
    if config.option.nbval_cell_timeout == NBVALS_OWN_LIMIT:
        config.option.nbval_cell_timeout = read_book(ROOT).seconds_per_cell
    reach_kernels_by_files()
    # A conftest's own hooks see the reports of tests/ only; those of plugins see all.
    config.pluginmanager.register(nbval_plugin)


def reach_kernels_by_files():
    """Let kernels have sockets that are files: two processes may be given the same free port."""
    usual = tempfile.gettempdir()  # the path of a socket has 103 letters on some systems
    folder = tempfile.mkdtemp(prefix="kernels-", dir=usual if len(usual) < 60 else "/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ |= dict.fromkeys(HOMES, folder)
    write = KernelManager.write_connection_file

    def write_connection_file(manager, **options):
        manager.transport, manager.ip = "ipc", f"{folder}/{id(manager)}"
        write(manager, **options)

    KernelManager.write_connection_file = write_connection_file


def pytest_collection_modifyitems(items):
    for item in items if gpu_is_missing() else ():
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.skip(reason=NO_GPU))


def pytest_terminal_summary(terminalreporter):
    if gpu_is_missing():
        terminalreporter.write_line(f"notebooks skipped: {NO_GPU}")


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


def assert_stored(text: str, name: str) -> None:
    """Assert that tests/data has this text; EXPECTED=write stores it there, to be read."""
    path, text = DATA / name, "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("EXPECTED") == "write":
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The root of a book of two chapters, in a folder with a space; it is the current folder."""
    root = tmp_path / "a book"
    write_files(root, TINY)
    monkeypatch.chdir(root)
    return root
