"""A reader's copies follow the book until the reader changes them: the story of data/copies.txt."""

from contextlib import closing

import nbformat
from nbformat.sign import NotebookNotary

from bookbinder import copies
from bookbinder.book import BookError, read_book
from tests.conftest import assert_stored, write_files

FIRST, SECOND, NEW = "00_first.ipynb", "01_second.ipynb", "00_first.new.ipynb"
# Version of the book's first chapter, what the reader did, to which file.
STORY = [("v1", "came", ""), ("v2", "opened and ran", FIRST), ("v3", "edited", FIRST)]
STORY += [("v3", "deleted", NEW), ("v3", "edited", SECOND), ("v4", "wrote", "notes.txt")]
STORY += [("v5", "edited", NEW), ("v5", "lost", copies.RECORD), ("v6", "renamed", FIRST)]
STORY += [("v7", "broke", FIRST), ("v7", "deleted", SECOND), ("v8", "renamed", FIRST)]
STORY += [("v8", "broke", copies.RECORD)]


def notebook(text, count=None):
    cell = nbformat.v4.new_code_cell(text, execution_count=count, id="one")
    return nbformat.v4.new_notebook(cells=[cell])


def publish(root, version):
    for file, text in ((FIRST, f"first {version}"), (SECOND, "second v1")):
        write_files(root, {f"notebooks/pytorch/{file}": nbformat.writes(notebook(text))})


def act(path, did):
    """Do with a reader's file what the reader did."""
    if did in ("opened and ran", "edited"):
        text = nbformat.read(path, 4).cells[0].source
        made = notebook(f"{text}, edited") if did == "edited" else notebook(text, count=7)
        nbformat.write(made, path)
    elif did in ("broke", "wrote"):
        path.write_text("my own words")
    elif did == "renamed":
        path.rename(path.with_name(f"old {len([*path.parent.iterdir()])}.ipynb"))
    elif did in ("deleted", "lost"):
        path.unlink()


def held(folder):
    """Yield what stands in each file of a reader, and whether JupyterLab trusts it."""
    with closing((notary := NotebookNotary()).store):
        for path in sorted(folder.glob("[!.]*")):
            try:
                copy = nbformat.read(path, 4)
                trust = "trusted" if notary.check_signature(copy) else "not trusted"
                yield f"    {path.name}: {copy.cells[0].source} ({trust})"
            except nbformat.reader.NotJSONError:
                yield f"    {path.name}: {path.read_text()}"


def bring(root):
    book = read_book(root)
    try:
        copies.bring_copies(book, book.editions[0], root / "mine")
    except BookError as error:
        print(str(error).replace(str(root), ""))


def test_nothing_of_a_readers_is_lost_and_the_rest_follows_the_book(tiny, monkeypatch, capsys):
    monkeypatch.setattr(copies, "language_of", lambda *_: "said: {}".format)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "jupyter"))
    story = []
    for version, did, file in STORY:
        act(tiny / "mine" / file, did)
        publish(tiny, version)
        bring(tiny)
        story += [f"The reader {did} {file}".strip() + f", the book has {version}:"]
        story += [*capsys.readouterr().out.splitlines(), *held(tiny / "mine")]
    assert_stored("\n".join(story), "copies.txt")


def test_a_link_to_another_folder_of_notebooks_is_plain_text():
    cell = nbformat.v4.new_markdown_cell("Of [one *a*](../x/a.ipynb#A) and [b](b.ipynb)")
    copy = copies.as_opened(nbformat.v4.new_notebook(cells=[cell]), "")
    assert copy.cells[0].source == "Of one *a* and [b](b.ipynb)"


def test_copies_come_where_nothing_can_be_signed(tiny, monkeypatch, capsys):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tiny / "book.toml/no folder"))
    publish(tiny, "v1")
    bring(tiny)
    assert "copies are not signed (" in capsys.readouterr().out
    assert nbformat.read(tiny / "mine" / FIRST, 4).cells[0].source == "first v1"
