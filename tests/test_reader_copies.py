"""A reader's copies follow the book until the reader changes them."""

import json

import nbformat
import pytest
from conftest import write_files
from nbformat.sign import NotebookNotary

from bookbinder.__main__ import main
from bookbinder.reader_copies import RECORD


def notebook(text):
    return nbformat.v4.new_notebook(metadata={"text": text})


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
    return json.loads(text)["metadata"]["text"] if text.startswith("{") else text


def is_trusted(version):
    notary = NotebookNotary()
    trusted = notary.check_signature(notebook(version))
    notary.store.close()
    return trusted


def test_the_first_time_everything_is_brought(book):
    bring()
    assert copies(book) == {"00_first.ipynb": "00_first v1", "01_second.ipynb": "01_second v1"}


def test_an_untouched_copy_follows_the_book(book):
    bring()
    publish(book, "v2")
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v2"


def test_a_changed_copy_stays_and_the_new_version_is_put_beside_it_once(book, capsys):
    bring()
    write_files(book, {"mine/00_first.ipynb": "my work"})
    bring()
    assert copies(book)["00_first.ipynb"] == "my work"
    assert len(copies(book)) == 2
    publish(book, "v2")
    bring()
    assert "00_first.ipynb is yours and stays; the new version is 00_first.new.ipynb" in (
        capsys.readouterr().out
    )
    (book / "mine/00_first.new.ipynb").unlink()
    bring()
    assert copies(book) == {"00_first.ipynb": "my work", "01_second.ipynb": "01_second v1"}


def test_a_changed_new_version_stays_too(book):
    bring()
    write_files(book, {"mine/00_first.ipynb": "my work"})
    publish(book, "v2")
    bring()
    write_files(book, {"mine/00_first.new.ipynb": "my second work"})
    publish(book, "v3")
    bring()
    assert copies(book)["00_first.ipynb"] == "my work"
    assert copies(book)["00_first.new.ipynb"] == "my second work"
    assert copies(book)["00_first.new-2.ipynb"] == "00_first v3"


def test_a_deleted_copy_is_brought_again_and_own_files_stay(book):
    bring()
    (book / "mine/00_first.ipynb").unlink()
    write_files(book, {"mine/notes.txt": "mine"})
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v1"
    assert copies(book)["notes.txt"] == "mine"


def test_without_the_record_a_changed_copy_still_stays(book):
    bring()
    write_files(book, {"mine/00_first.ipynb": "my work"})
    (book / "mine" / RECORD).unlink()
    bring()
    assert copies(book)["00_first.ipynb"] == "my work"


def test_a_broken_record_is_named(book, capsys):
    write_files(book, {f"mine/{RECORD}": "{"})
    assert main(["copies", "mine"]) == 1
    assert "delete it to start afresh" in capsys.readouterr().err


def test_missing_notebooks_are_named(tiny, capsys):
    assert main(["copies", "mine"]) == 1
    assert "run `make notebooks` first" in capsys.readouterr().err


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


def test_copies_are_brought_where_nothing_can_be_signed(book, monkeypatch, capsys):
    write_files(book, {"file": ""})
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(book / "file/no folder"))
    bring()
    assert copies(book)["00_first.ipynb"] == "00_first v1"
    assert "the copies are not signed" in capsys.readouterr().out
