"""Bring notebooks to a reader's folder, and never touch what the reader has changed."""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelspec import get_kernel_dict
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from bookbinder.book import Book, BookError, Edition, as_text, read_notebook, write_whole
from bookbinder.language.catalog import Language, language_of, worded
from bookbinder.markdown import LINK
from bookbinder.notebook import DECIDE, covered, with_own_pictures
from bookbinder.pictures import bring_pictures

BROKEN = worded("{yours} cannot be read: rename or delete it, and `make lab` brings it anew")
STAYS = worded("{yours} is yours and stays; the new version is {new}")
NO_NOTEBOOK = "no notebook"  # in place of a digest
RECORD = ".brought.json"  # file name -> digest of the version that was brought last


def bring_copies(book: Book, edition: Edition, folder: Path) -> None:
    """Copy the notebooks of an edition to a folder, beside what was changed; print what is new."""
    _, record = language_of(book, edition.language), folder / RECORD
    try:
        brought = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    except (OSError, ValueError) as error:
        raise BookError(f"{record}: cannot be read ({error}); delete it to start afresh") from None
    paths = [edition.notebook(name) for name in book.chapters]
    notebooks = [as_opened(read_notebook(path), _(DECIDE)) for path in paths]
    bring_pictures(book, notebooks, folder, _)
    for path, notebook in zip(paths, notebooks, strict=True):
        for message in bring(notebook, folder / path.name, brought.get(path.name, ""), _):
            print(message)
        brought[path.name] = digest(notebook)
        write_whole(record, json.dumps(brought, indent=1) + "\n")
    try:  # JupyterLab shows stored pictures and runs stored scripts in what is signed
        with contextlib.closing((notary := NotebookNotary()).store):
            for notebook in notebooks:
                notary.sign(notebook)
    except OSError as error:
        text = _("the copies are not signed ({error}): pictures appear when you run their cells")
        print(text.format(error=error))


def as_opened(notebook: NotebookNode, decide: str) -> NotebookNode:
    """Return a notebook with what JupyterLab adds: else it calls one that was opened changed."""
    notebook = covered(with_own_pictures(notebook), decide)
    for cell in notebook.cells:  # no other folder of notebooks comes along
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda m: m[2] if m[3][:3] == "../" else m[0], cell.source)
    if "kernelspec" in notebook.metadata:
        notebook.metadata.kernelspec.display_name = get_kernel_dict()["display_name"]
        notebook.metadata.language_info = nbformat.from_dict(IPythonKernel.language_info)
    return notebook


def bring(notebook: NotebookNode, copy: Path, last: str, _: Language) -> Iterator[str]:
    """Write a version of a notebook to a copy, or beside it; yield what the reader must know."""
    version, held = digest(notebook), digest_of(copy)
    if held in ("", last, version):
        write_whole(copy, as_text(notebook))
        return
    if held == NO_NOTEBOOK:
        yield _(BROKEN).format(yours=copy.name)
    if last != version:
        new, number = copy.with_suffix(".new.ipynb"), 1
        while digest_of(new) not in ("", version):  # the reader's own, too
            number += 1
            new = copy.with_suffix(f".new-{number}.ipynb")
        write_whole(new, as_text(notebook))
        yield _(STAYS).format(yours=copy.name, new=new.name)


def digest_of(path: Path) -> str:
    try:
        return digest(read_notebook(path)) if path.exists() else ""
    except (BookError, AttributeError):  # the latter where a cell lacks its source
        return NO_NOTEBOOK


def digest(notebook: NotebookNode) -> str:
    """Return what tells two notebooks apart for a reader: type and source of each cell."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()
