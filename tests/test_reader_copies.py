"""A reader's copies follow the book until the reader changes them."""

import json

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from bookbinder.__main__ import main
from bookbinder.publish import DECIDE
from bookbinder.reader_copies import RECORD
from tests.conftest import write_files
from tests.pseudo import PSEUDO, pseudo


def notebook(text, count=None):
    cell = nbformat.v4.new_code_cell(text, execution_count=count, id="one")
    return nbformat.v4.new_notebook(cells=[cell])


@pytest.fixture
def book(tiny, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    for name in ("00_first", "01_second"):
        publish(tiny, "v1", name)
    return tiny


def bring():
    assert main(["copies", "mine"]) == 0


def publish(book, version, name="00_first"):
    text = nbformat.writes(notebook(f"{name} {version}"))
    write_files(book, {f"notebooks/pytorch/{name}.ipynb": text})


def copies(book):
    return {p.name: text_of(p) for p in (book / "mine").iterdir() if p.name != RECORD}


def text_of(path):
    text = path.read_text()
    return "".join(json.loads(text)["cells"][0]["source"]) if text.startswith("{") else text


def is_trusted(version):
    notary = NotebookNotary()
    trusted = notary.check_signature(notebook(version))
    notary.store.close()
    return trusted


def write(book, text, name="00_first"):
    write_files(book, {f"mine/{name}.ipynb": text})


def test_opening_and_running_a_copy_is_no_change_and_editing_it_is(book):
    bring()
    write(book, nbformat.writes(notebook("00_first v1", count=7)))
    publish(book, "v2")
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v2"
    write(book, nbformat.writes(notebook("00_first v2, edited")))
    publish(book, "v3")
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v2, edited"
    assert copies(book)["00_first.new.ipynb"] == "00_first v3"


def test_what_the_reader_wrote_stays_and_a_new_version_is_put_beside_it_once(book, capsys):
    bring()
    write(book, "my work")
    write_files(book, {"mine/notes.txt": "mine"})
    (book / "mine/01_second.ipynb").unlink()
    mine = {"00_first.ipynb": "my work", "notes.txt": "mine", "01_second.ipynb": "01_second v1"}
    bring()
    assert copies(book) == mine  # deleted, a copy is brought again
    publish(book, "v2")
    bring()
    said = capsys.readouterr().out
    assert "00_first.ipynb is yours and stays; the new version is 00_first.new.ipynb" in said
    assert "00_first.ipynb cannot be read; `make fresh CHAPTER=00_first` brings" in said
    (book / "mine/00_first.new.ipynb").unlink()
    bring()
    assert copies(book) == mine
    write(book, "my second work", "00_first.new")
    publish(book, "v3")
    (book / "mine" / RECORD).unlink()
    bring()
    new = {"00_first.new.ipynb": "my second work", "00_first.new-2.ipynb": "00_first v3"}
    assert copies(book) == mine | new


def test_a_fresh_chapter_keeps_what_was_there_with_its_outputs_under_another_name(book, capsys):
    bring()
    for end, text, count in [("", "my work", None), ("-2", "00_first v1", 7)]:
        write(book, nbformat.writes(notebook(text, count)))
        assert main(["fresh", "mine", "00_first"]) == 0
        assert copies(book)["00_first.ipynb"] == "00_first v1"
        assert copies(book)[f"00_first.old{end}.ipynb"] == text
        told = f"00_first.ipynb is as the book has it; yours is kept as 00_first.old{end}.ipynb\n"
        assert capsys.readouterr().out == told
    publish(book, "v2")
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v2"  # a fresh copy follows the book


def test_a_fresh_chapter_that_is_fresh_or_missing_leaves_nothing_beside_it(book, capsys):
    write_files(book, {"notebooks/pytorch/figures/way.svg": "<svg/>"})
    for name in ("00_first.ipynb", "00_first", "0", "00", "00_f", "first"):
        assert main(["fresh", "mine", name]) == 0
    (book / "mine/figures/way.svg").rename("way.svg")
    (book / "mine/figures").rmdir()
    assert copies(book) == {"00_first.ipynb": "00_first v1"}
    assert capsys.readouterr().out == "00_first.ipynb is as the book has it\n" * 6
    assert is_trusted("00_first v1")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (["00_frist"], "error: no chapter '00_frist' in this edition (did you mean '00_first'?)\n"),
        (["_"], "error: no chapter '_' in this edition: 00_first or 01_second?\n"),
        ([], "error: which chapter? for example: make fresh CHAPTER=4\n"),
    ],
)
def test_a_wrong_name_is_one_line_and_changes_nothing(book, name, message, capsys):
    bring()
    before = copies(book)
    assert main(["fresh", "mine", *name]) == 1
    assert capsys.readouterr().err == message
    assert copies(book) == before


def test_a_broken_record_is_named(book, capsys):
    write_files(book, {f"mine/{RECORD}": "{"})
    assert main(["copies", "mine"]) == 1
    assert "delete it to start afresh" in capsys.readouterr().err


def test_what_the_book_brings_is_trusted_and_what_the_reader_writes_is_not(book):
    assert not is_trusted("00_first v1")
    bring()
    assert is_trusted("00_first v1")
    assert is_trusted("01_second v1")
    write_files(book, {"mine/00_first.ipynb": nbformat.writes(notebook("mine"))})
    publish(book, "v2")
    bring()
    assert is_trusted("00_first v2")
    assert not is_trusted("mine")


def test_copies_are_brought_where_nothing_can_be_signed_and_nothing_written_in_the_book(
    book, monkeypatch, capsys
):
    write_files(book, {"file": "", "_build/lab": ""})
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(book / "file/no folder"))
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v1"
    said = capsys.readouterr().out
    assert "the copies are not signed" in said
    assert "_build/lab/book_contents/static/contents.js: cannot be written" in said


def test_commands_and_the_contents_beside_the_chapters_speak_the_readers_language(
    book, monkeypatch, capsys
):
    monkeypatch.setattr("bookbinder.reader_copies.language_of", lambda *_: PSEUDO)
    prose = nbformat.v4.new_markdown_cell("# 0. First\n\n## Look")
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[prose]))
    write_files(book, {"notebooks/pytorch/00_first.ipynb": text})
    bring()
    folder = book / "_build/lab/book_contents"
    loaded = json.loads((folder / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    panel = (folder / loaded).read_text(encoding="utf-8")
    assert '["00_first.ipynb", "0. First", ["Look"]]' in panel
    assert f'heading.textContent = "{pseudo("Contents")}";' in panel
    assert "say(" not in panel
    write(book, "my work")
    assert main(["fresh", "mine", "00_first"]) == 0
    new = pseudo("{yours} is as the book has it; yours is kept as {old}")
    assert new.format(yours="00_first.ipynb", old="00_first.old.ipynb") in capsys.readouterr().out


def test_what_is_to_be_predicted_is_closed_in_copies_and_their_first_line_tells_nothing(book):
    answer = nbformat.v4.new_output("stream", text="seven")
    made = notebook("00_first v2")
    made.cells = [nbformat.v4.new_code_cell("f()", outputs=outputs) for outputs in ([answer], [])]
    for cell in made.cells:
        cell.metadata = {"jupyter": {"source_hidden": True, "outputs_hidden": True}}
    write_files(book, {"notebooks/pytorch/00_first.ipynb": nbformat.writes(made)})
    bring()
    closed, empty = nbformat.read(book / "mine/00_first.ipynb", as_version=4).cells
    assert closed.metadata.jupyter.outputs_hidden
    assert closed.outputs[0].data == {"text/plain": DECIDE}
    assert closed.outputs[1:] == [answer]
    assert empty.metadata == {"jupyter": {"source_hidden": True}}  # its first output is seen
