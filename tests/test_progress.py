"""The class's progress: what checks note, and what the teacher sees of it."""

import json
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

from bookbinder.__main__ import main
from bookbinder.classroom.progress import standing
from d2l_attention.practice import Exercise, check
from d2l_attention.practice import progress as notes

SUM = Exercise("99.1", 7)


def lines(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


PASSED, OPEN = ["6.2", "passed", None], ["6.2", "not attempted", None]
NO_SCALE = ["6.2", "wrong", "no scale"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A student's home, and a kernel that has just started."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    notes.students_word.cache_clear()
    notes.say_once.cache_clear()
    return home


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "the class"
    folder.mkdir()
    monkeypatch.setenv("D2L_PROGRESS", str(folder))
    return folder


def test_the_class_is_told_in_one_line_for_each_exercise_in_their_order():
    files = [
        lines(OPEN, NO_SCALE, PASSED),
        lines(PASSED, NO_SCALE, ["10.1", "error", "exception"]),  # once passed stays passed
        lines(NO_SCALE, ["6.1", "passed", None]),
        lines(NO_SCALE, ["6.2", "wrong", "gradient"], NO_SCALE),
        lines(OPEN),
    ]
    assert list(standing(files)) == [
        "6.1  1 of 1 right",
        "6.2  2 of 4 right; 2: no scale",
        "10.1 0 of 1 right; 1: exception",
    ]


def test_the_most_frequent_mistakes_come_first_and_a_wrong_answer_without_a_name_counts():
    mistakes = ["one", "two", "two", None, None, None, "four", "four", "four", "four"]
    (line,) = standing([lines(["6.2", "wrong", mistake]) for mistake in mistakes])
    assert line == "6.2  0 of 10 right; 4: four; 3: wrong; 2: two"


@pytest.mark.parametrize(
    "broken",
    [
        "[6.2, ",
        "[" * 100_000,
        '"6.2"',
        '["6.2", "passed"]',
        '["6.2", "brilliant", null]',
        '["6.2", "wrong", 5]',
        '["6.2", "wrong", "\\u001b[2Jhello"]',
        json.dumps(["6.2", "wrong", "x" * 200]),
    ],
)
def test_a_line_that_no_check_writes_is_counted_and_loses_no_other(broken):
    expected = ["6.2  1 of 1 right", "lines that no check has written: 1"]
    assert list(standing([f"{broken}\n{lines(PASSED)}"])) == expected


def test_checks_of_a_student_go_to_one_file_without_answer_or_name(home, folder, capsys):
    check(SUM, 123456)
    notes.students_word.cache_clear()  # another kernel
    check(SUM, 7)
    check(SUM, None)
    (file,) = folder.iterdir()
    noted = [json.loads(line) for line in file.read_text().splitlines()]
    statuses = ["99.1", "wrong"], ["99.1", "passed"], ["99.1", "not attempted"]
    assert [entry[:2] for entry in noted] == [*statuses]
    assert noted[1:] == [["99.1", "passed", None], ["99.1", "not attempted", None]]
    assert "123456" not in file.read_text()
    assert file.stem == (home / notes.WORD).read_text()
    assert main(["progress", str(folder), "--once"]) == 0
    assert capsys.readouterr().out.endswith("99.1 1 of 1 right\n")


def test_two_students_are_two(home, folder, capsys, tmp_path, monkeypatch):
    check(SUM, 7)
    (tmp_path / "another").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "another"))
    notes.students_word.cache_clear()
    check(SUM, 7)
    assert list(standing(path.read_text() for path in folder.iterdir())) == ["99.1 2 of 2 right"]


def test_nothing_is_noted_where_no_teacher_asks_for_it(home, monkeypatch):
    monkeypatch.delenv("D2L_PROGRESS", raising=False)
    assert check(SUM, 7).passed
    assert list(home.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_once_and_the_check_goes_on(
    home, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("D2L_PROGRESS", str(tmp_path / "nowhere"))
    assert check(SUM, 7).passed
    assert not check(SUM, 8).passed
    assert capsys.readouterr().out.count("cannot be written") == 1


@pytest.mark.parametrize("word", ["", "../outside"])
def test_a_home_that_cannot_keep_the_word_gives_each_kernel_its_own(word, home, folder):
    (home / notes.WORD).write_text(word)
    check(SUM, 7)
    (file,) = folder.iterdir()
    assert file.stem.isalnum()


def test_an_empty_folder_says_so_and_a_missing_one_is_an_error(folder, capsys):
    assert main(["progress", str(folder), "--once"]) == 0
    assert capsys.readouterr().out == f"no check yet in {folder}\n"
    for wrong, said in (("", "which folder?"), (str(folder / "no"), "is no folder")):
        assert main(["progress", wrong, "--once"]) == 1
        assert said in capsys.readouterr().err


def test_a_folder_among_the_files_does_not_stop_the_viewer(folder, capsys):
    (folder / "a.jsonl").mkdir()
    (folder / "b.jsonl").write_text(lines(PASSED))
    assert main(["progress", str(folder), "--once"]) == 0
    assert capsys.readouterr().out == "6.2  1 of 1 right\n"


def test_the_viewer_shows_what_comes_and_ends_quietly_on_ctrl_c(folder):
    command = [sys.executable, "-m", "bookbinder", "progress", str(folder)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT, "text": True}
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, **options) as viewer:
        assert "no check yet" in viewer.stdout.readline()
        (folder / "a.jsonl").write_text(lines(PASSED))
        until = time.monotonic() + 20
        while "6.2  1 of 1 right" not in (said := viewer.stdout.readline()):
            assert time.monotonic() < until, said
        viewer.send_signal(signal.SIGINT)
        assert viewer.wait(timeout=20) == 0
        assert viewer.stderr.read() == ""
