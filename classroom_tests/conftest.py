"""A class with its teacher, on this machine and without a network.

`make test-classroom` installs what these tests need beside the book.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def worksheets() -> Path:
    """The folder of the worksheets, as `make worksheets` leaves it."""
    subprocess.run([sys.executable, "-m", "bookbinder", "worksheets"], cwd=ROOT, check=True)
    return ROOT / "_build/worksheets"
