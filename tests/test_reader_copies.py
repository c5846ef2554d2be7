"""A reader's copies follow the book until the reader changes them."""

import json

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from bookbinder import reader_copies
from bookbinder.config import read_book
from bookbinder.files import BookError
from bookbinder.publish import DECIDE
from bookbinder.reader_copies import RECORD, STAYS
from tests.conftest import write_files
from tests.pseudo import PSEUDO, pseudo


def notebook(text, count=None):
    cell = nbformat.v4.new_code_cell(text, execution_count=count, id="one")
    return nbformat.v4.new_notebook(cells=[cell])


@pytest.fixture
def root(tiny, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    for name in ("00_first", "01_second"):
        publish(tiny, "v1", name)
    return tiny


def bring(root):
    book = read_book(root)
    reader_copies.bring_copies(book, book.editions[0], root / "mine")


def publish(root, version, name="00_first"):
    text = nbformat.writes(notebook(f"{name} {version}"))
    write_files(root, {f"notebooks/pytorch/{name}.ipynb": text})


def copies(root):
    return {p.name: text_of(p) for p in (root / "mine").glob("*.*") if p.name != RECORD}


def text_of(path):
    text = path.read_text()
    return "".join(json.loads(text)["cells"][0]["source"]) if text.startswith("{") else text


def is_trusted(version):
    notary = NotebookNotary()
    trusted = notary.check_signature(notebook(version))
    notary.store.close()
    return trusted


def write(root, text, name="00_first"):
    write_files(root, {f"mine/{name}.ipynb": text})


def test_a_copy_follows_the_book_when_opened_and_run_but_not_when_edited(root):
    write_files(root, {"notebooks/pytorch/figures/way.svg": "<svg/>"})
    bring(root)
    assert (root / "mine/figures/way.svg").exists()
    write(root, nbformat.writes(notebook("00_first v1", count=7)))
    publish(root, "v2")
    bring(root)
    assert copies(root)["00_first.ipynb"] == "00_first v2"
    write(root, nbformat.writes(notebook("00_first v2, edited")))
    publish(root, "v3")
    bring(root)
    assert copies(root)["00_first.ipynb"] == "00_first v2, edited"
    assert copies(root)["00_first.new.ipynb"] == "00_first v3"


def test_what_the_reader_wrote_stays_and_a_new_version_is_put_beside_it_once(root, capsys):
    bring(root)
    write(root, "my work")
    write_files(root, {"mine/notes.txt": "mine"})
    mine = {"00_first.ipynb": "my work", "notes.txt": "mine", "01_second.ipynb": "01_second v1"}
    bring(root)
    assert copies(root) == mine
    publish(root, "v2")
    bring(root)
    said = capsys.readouterr().out
    assert "00_first.ipynb is yours and stays; the new version is 00_first.new.ipynb" in said
    assert "00_first.ipynb cannot be read: rename or delete it, and `make lab` brings" in said
    (root / "mine/00_first.new.ipynb").unlink()
    bring(root)
    assert copies(root) == mine
    write(root, "my second work", "00_first.new")
    publish(root, "v3")
    (root / "mine" / RECORD).unlink()
    bring(root)
    new = {"00_first.new.ipynb": "my second work", "00_first.new-2.ipynb": "00_first v3"}
    assert copies(root) == mine | new


@pytest.mark.parametrize("text", ["my work", nbformat.writes(notebook("my work"))])
def test_renamed_or_deleted_a_copy_is_brought_again_and_follows_the_book(root, text):
    bring(root)
    write(root, text)
    (root / "mine/00_first.ipynb").rename(root / "mine/old.ipynb")
    (root / "mine/01_second.ipynb").unlink()
    for version in ("v1", "v2"):
        publish(root, version)
        bring(root)
        brought = {"00_first.ipynb": f"00_first {version}", "01_second.ipynb": "01_second v1"}
        assert copies(root) == brought | {"old.ipynb": "my work"}


def test_a_broken_record_is_named(root):
    write_files(root, {f"mine/{RECORD}": "{"})
    with pytest.raises(BookError, match="delete it to start afresh"):
        bring(root)


def test_what_the_book_brings_is_trusted_and_what_the_reader_writes_is_not(root):
    assert not is_trusted("00_first v1")
    bring(root)
    assert is_trusted("00_first v1")
    assert is_trusted("01_second v1")
    write(root, nbformat.writes(notebook("mine")))
    publish(root, "v2")
    bring(root)
    assert is_trusted("00_first v2")
    assert not is_trusted("mine")


def test_copies_are_brought_where_nothing_can_be_signed(root, monkeypatch, capsys):
    write_files(root, {"file": ""})
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(root / "file/no folder"))
    bring(root)
    assert copies(root)["00_first.ipynb"] == "00_first v1"
    assert "the copies are not signed" in capsys.readouterr().out


def test_what_is_new_is_said_and_covered_in_the_readers_language(root, monkeypatch, capsys):
    monkeypatch.setattr(reader_copies, "language_of", lambda *_: PSEUDO)
    answer = nbformat.v4.new_output("stream", text="seven")
    made = notebook("00_first v2")
    made.cells = [nbformat.v4.new_code_cell("f()", outputs=outputs) for outputs in ([answer], [])]
    for cell in made.cells:
        cell.metadata = {"jupyter": {"source_hidden": True, "outputs_hidden": True}}
    write_files(root, {"notebooks/pytorch/00_first.ipynb": nbformat.writes(made)})
    write(root, "my work")
    bring(root)
    said = pseudo(STAYS).format(yours="00_first.ipynb", new="00_first.new.ipynb")
    assert said in capsys.readouterr().out
    closed, empty = nbformat.read(root / "mine/00_first.new.ipynb", as_version=4).cells
    assert closed.metadata.jupyter.outputs_hidden
    assert closed.outputs[0].data == {"text/plain": pseudo(DECIDE)}
    assert closed.outputs[1:] == [answer]
    assert empty.metadata == {"jupyter": {"source_hidden": True}}  # its first output is seen
