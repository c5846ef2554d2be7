"""`make test-cpus` says which cells differ under which setting, and fails where one does."""

import re
import sys

import cpus
import pytest

# In the place of pytest, a program that says what pytest says, and fails under one setting.
PROGRAM = """
import os
if "PLAIN" in os.environ:
    print("a long report")
    print("FAILED notebooks/pytorch/01_keys.ipynb::Cell 19 - Notebook cell execution failed")
    print("FAILED notebooks/pytorch/08_more.ipynb::Cell 4 - Notebook cell execution failed")
    raise SystemExit(1)
if "BROKEN" in os.environ:
    raise SystemExit("no such option")
"""


@pytest.fixture(autouse=True)
def program(monkeypatch):
    monkeypatch.setattr(cpus, "PYTEST", [sys.executable, "-c", PROGRAM])
    settings = {"plain": {"PLAIN": "1"}, "broken": {"BROKEN": "1"}, "as-it-is": {}}
    monkeypatch.setattr(cpus, "SETTINGS", settings)


def lines(capsys):
    return re.sub(r" +[\d.]+ s +", ": ", capsys.readouterr().out).splitlines()


def test_a_setting_under_which_all_agree_has_one_line(capsys):
    assert cpus.main(["as-it-is"]) == 0
    assert lines(capsys) == ["as-it-is: as stored"]


def test_the_cells_that_differ_are_named_after_their_report(capsys):
    assert cpus.main([]) == 1
    printed = lines(capsys)
    plain = printed.index("plain: differs in 01_keys::Cell 19, 08_more::Cell 4")
    assert "a long report" in printed[:plain]
    assert printed[-1] == "as-it-is: as stored"


def test_what_fails_without_a_cell_fails(capsys):
    assert cpus.main(["broken"]) == 1
    assert {"no such option", "broken: failed"} <= set(lines(capsys))


def test_a_setting_that_there_is_not_is_an_error():
    with pytest.raises(SystemExit, match="no such setting: other; there are plain, broken, as-it"):
        cpus.main(["plain", "other"])
