"""Environment of all tests, a tiny book to bind, and the time that each notebook took."""

import os
import textwrap
from pathlib import Path

import nbval_pictures
import pytest
import torch

from bookbinder.execution import kernel_environment

os.environ.update(kernel_environment())  # nbval's kernels inherit it
ROOT = Path(__file__).resolve().parent.parent
NO_GPU = "DEVICE=cuda was asked for, and torch sees no CUDA device on this machine"

TINY = {
    "book.toml": """
        title = "Tiny"
        source = "book"
        seconds_per_cell = 20
        chapters = ["00_first", "01_second"]
        [[editions]]
        framework = "pytorch"
        language = "en"
        notebooks = "notebooks/pytorch"
        module = "tiny/torch.py"
    """,
    "book/00_first.md": """
        # 0. First

        Some words.

        ```python
        def double(x):  #@save
            return 2 * x
        ```

        ## Results

        ```python
        double(21)
        ```
    """,
    "book/01_second.md": """
        # 1. Second

        ```python tags=["raises-exception"]
        import json
        json.loads("on purpose")
        ```
    """,
}


def gpu_is_missing() -> bool:
    return os.environ["D2L_DEVICE"].startswith("cuda") and not torch.cuda.is_available()


def pytest_collection_modifyitems(items):
    if gpu_is_missing():
        for item in items:
            if item.path.suffix == ".ipynb":
                item.add_marker(pytest.mark.skip(reason=NO_GPU))


def pytest_configure(config):
    config.pluginmanager.register(NotebookTimes())  # a conftest's own hooks see tests/ only
    config.pluginmanager.register(nbval_pictures)


class NotebookTimes:
    """Adds up the seconds of each notebook's cells and prints them at the end."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        file = report.nodeid.split("::")[0]
        if file.endswith(".ipynb"):
            self.seconds[file] = self.seconds.get(file, 0.0) + report.duration

    def pytest_terminal_summary(self, terminalreporter):
        if self.seconds:
            terminalreporter.section("seconds per notebook")
        if gpu_is_missing():
            terminalreporter.write_line(f"notebooks skipped: {NO_GPU}")
        for file, duration in self.seconds.items():
            terminalreporter.write_line(f"{duration:7.1f}  {file}")


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The root of a book of two chapters, in a folder with a space; it is the current folder."""
    root = tmp_path / "a book"
    write_files(root, TINY)
    monkeypatch.chdir(root)
    return root
