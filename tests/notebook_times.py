"""A plugin for the time of notebooks: the limit of a cell, and at the end what took longest."""

from collections import Counter
from pathlib import Path

from bookbinder.config import read_book

BOOK = read_book(Path(__file__).resolve().parent.parent)
LIMIT = BOOK.seconds_per_cell
NBVALS_OWN_LIMIT = 2000  # seconds, where the command line names none
LONGEST = 5


def pytest_configure(config):
    if config.option.nbval_cell_timeout == NBVALS_OWN_LIMIT:
        config.option.nbval_cell_timeout = LIMIT
    config.pluginmanager.register(NotebookTimes())


class NotebookTimes:
    """Adds up the seconds of each notebook and prints them, and those of the longest cells."""

    def __init__(self):
        self.notebooks: Counter[str] = Counter()
        self.cells: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report):
        file = report.nodeid.split("::")[0]
        if file.endswith(".ipynb"):
            self.notebooks[file] += report.duration  # with the start and the end of its kernel
            if report.when == "call":
                self.cells[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        if self.cells:
            terminalreporter.section("seconds per notebook, and of the longest cells")
            for line in summary(self.notebooks, self.cells):
                terminalreporter.write_line(line)


def summary(notebooks: Counter[str], cells: Counter[str]) -> list[str]:
    """Return the lines: all notebooks, the longest cells, and a warning where the limit is near."""
    lines = [f"{seconds:7.1f}  {name}" for name, seconds in notebooks.items()]
    lines.append("")
    for name, seconds in cells.most_common(LONGEST):
        lines.append(f"{seconds:7.1f}  {name}")
        if seconds * 10 > LIMIT:
            lines[-1] += f": more than a tenth of its {LIMIT} s"
    return lines
