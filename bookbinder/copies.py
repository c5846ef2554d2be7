"""Bring notebooks to a reader's folder, and never touch what the reader has changed.

JupyterLab shows stored pictures and runs stored scripts only in notebooks that it trusts; the
copies are the book's own, so they are signed as its `trust` command does.
"""

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelspec import get_kernel_dict
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from bookbinder.book import Book, BookError, Edition, as_text, read_notebook, write_whole
from bookbinder.language.catalog import worded
from bookbinder.language.say import Language, language_of
from bookbinder.notebook import notebook_path
from bookbinder.pictures import FOLDER
from bookbinder.publish import DECIDE, covered

BROKEN = worded("{yours} cannot be read: rename or delete it, and `make lab` brings it anew")
STAYS = worded("{yours} is yours and stays; the new version is {new}")
NOT_SIGNED = worded("the copies are not signed ({error}): pictures appear when you run their cells")
RECORD = ".brought.json"  # file name -> digest of the version that was brought last


def bring_copies(book: Book, edition: Edition, folder: Path) -> None:
    """Copy the notebooks of an edition into `folder`; print what is new.

    A copy that the reader has not changed follows the book. Beside one that was changed the new
    version is put under a name of its own, once; nothing of the reader's is overwritten or deleted.
    """
    language, brought = language_of(book, edition.language), read_record(folder / RECORD)
    chapters = [notebook_path(edition, name) for name in book.chapters]
    versions = {path.name: as_opened(read_notebook(path), language) for path in chapters}
    for picture in sorted((edition.notebooks / FOLDER).glob("*.svg")):
        write_whole(folder / FOLDER / picture.name, picture.read_text(encoding="utf-8"))
    for name, text in versions.items():
        for message in bring(text, folder / name, brought.get(name, "")):
            print(language.said(message))
        brought[name] = digest(text)
        write_whole(folder / RECORD, json.dumps(brought, indent=1) + "\n")
    trust(versions.values(), language)


def bring(text: str, copy: Path, last: str) -> Iterator[str]:
    """Write a version of a notebook to a copy, or beside it; yield what the reader must know.

    `last` is the digest of the version that was brought before.
    """
    if copy.exists() and not cells_of(text_of(copy)):
        yield BROKEN.format(yours=copy.name)
    if not copy.exists() or digest(text_of(copy)) in (last, digest(text)):
        write_whole(copy, text)
    elif last != digest(text):
        new = place_beside(copy, text)
        write_whole(new, text)
        yield STAYS.format(yours=copy.name, new=new.name)


def place_beside(copy: Path, text: str) -> Path:
    """Return NAME.new.ipynb, or NAME.new-2.ipynb, ...: the first that is free or has this text."""
    for number in itertools.count(1):
        suffix = ".new" if number == 1 else f".new-{number}"
        path = copy.with_name(f"{copy.stem}{suffix}{copy.suffix}")
        if not path.exists() or digest(text_of(path)) == digest(text):
            return path


def as_opened(notebook: NotebookNode, language: Language) -> str:
    """Return a notebook as it opens alone, with the metadata that JupyterLab gives it then.

    Without them it marks a notebook as changed that the reader has only opened.
    """
    notebook = covered(notebook, language.said(DECIDE))
    if "kernelspec" in notebook.metadata:
        notebook.metadata.kernelspec.display_name = get_kernel_dict()["display_name"]
        notebook.metadata.language_info = nbformat.from_dict(IPythonKernel.language_info)
    return as_text(notebook)


def trust(texts: Iterable[str], language: Language) -> None:
    """Let JupyterLab show the stored outputs of these versions of notebooks."""
    try:
        notary = NotebookNotary()
        with contextlib.closing(notary.store):
            for text in texts:
                notebook = nbformat.reads(text, as_version=4)
                if not notary.check_signature(notebook):
                    notary.sign(notebook)
    except OSError as error:
        print(language.said(NOT_SIGNED.format(error=error)))


def read_record(path: Path) -> dict[str, str]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BookError(f"{path}: cannot be read ({error}); delete it to start afresh") from None


def digest(text: str) -> str:
    """Return what tells two notebooks apart for a reader: the type and source of each cell.

    JupyterLab writes metadata when it opens a notebook, and outputs when it runs one; neither is
    work that could be lost. A file that is no notebook counts as it stands.
    """
    return hashlib.sha256((cells_of(text) or text).encode()).hexdigest()


def cells_of(text: str) -> str:
    """Return type and source of a notebook's cells; nothing, if it is no notebook."""
    with contextlib.suppress(ValueError, AttributeError, nbformat.ValidationError):
        cells = nbformat.reads(text, as_version=4).cells
        return json.dumps([(cell.cell_type, cell.source) for cell in cells])
    return ""


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
