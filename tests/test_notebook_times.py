"""The time of notebooks: one limit for their cells, and what the summary of a run says."""

from collections import Counter
from types import SimpleNamespace
from unittest.mock import MagicMock

import nbval.plugin
import notebook_times
import pytest
from conftest import ROOT
from notebook_times import LIMIT, NBVALS_OWN_LIMIT, NotebookTimes

from bookbinder.config import read_book


def limit_after(named):
    plugins = SimpleNamespace(register=lambda plugin: None)
    config = SimpleNamespace(
        option=SimpleNamespace(nbval_cell_timeout=named), pluginmanager=plugins
    )
    notebook_times.pytest_configure(config)
    return config.option.nbval_cell_timeout


def test_a_cell_has_the_limit_of_book_toml_unless_the_command_line_names_one():
    nbval.plugin.pytest_addoption(parser := MagicMock())
    options = parser.getgroup.return_value.addoption.call_args_list
    defaults = {option.args: option.kwargs.get("default") for option in options}
    assert limit_after(defaults["--nbval-cell-timeout",]) == read_book(ROOT).seconds_per_cell
    assert limit_after(NBVALS_OWN_LIMIT + 1) == NBVALS_OWN_LIMIT + 1


@pytest.mark.parametrize("file", ["Makefile", ".ci/run", ".github/workflows/test.yml"])
def test_the_limit_stands_in_book_toml_alone(file):
    assert "cell-timeout" not in (ROOT / file).read_text(encoding="utf-8")


def report(name, when, seconds):
    return SimpleNamespace(nodeid=name, when=when, duration=seconds)


def test_the_summary_adds_up_notebooks_and_names_the_longest_cells():
    times = NotebookTimes()
    for i in range(7):
        times.pytest_runtest_logreport(report(f"a.ipynb::Cell {i}", "call", i))
    times.pytest_runtest_logreport(report("b.ipynb::Cell 0", "setup", 2.5))
    times.pytest_runtest_logreport(report("b.ipynb::Cell 0", "call", LIMIT / 5))
    times.pytest_runtest_logreport(report("test_c.py::test_c", "call", 999))
    assert notebook_times.summary(times.notebooks, times.cells) == [
        "   21.0  a.ipynb",
        f"{2.5 + LIMIT / 5:7.1f}  b.ipynb",
        "",
        f"{LIMIT / 5:7.1f}  b.ipynb::Cell 0: more than a tenth of its {LIMIT} s",
        "    6.0  a.ipynb::Cell 6",
        "    5.0  a.ipynb::Cell 5",
        "    4.0  a.ipynb::Cell 4",
        "    3.0  a.ipynb::Cell 3",
    ]


def test_a_run_without_notebooks_has_no_summary():
    times = NotebookTimes()
    times.pytest_runtest_logreport(report("test_c.py::test_c", "call", 999))
    times.pytest_terminal_summary(terminalreporter=None)  # which would be an error if it were used
    assert times.notebooks == Counter()
