"""Bring notebooks to a reader's folder, and never touch what the reader has changed.

JupyterLab shows stored pictures and runs stored scripts only in notebooks that it trusts; the
copies are the book's own, so they are signed as its `trust` command does.
"""

import contextlib
import hashlib
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from bookbinder.binding import notebook_path, read_edition_chapters
from bookbinder.config import Book, Edition
from bookbinder.diagrams import FOLDER
from bookbinder.errors import BookError
from bookbinder.files import as_text, read_notebook, write_whole
from bookbinder.left_out import without_links_elsewhere
from bookbinder.publish import covered, unexecuted
from bookbinder.words import Say
from bookbinder.worksheets import sheets, students

RECORD = ".brought.json"  # file name -> digest of the version that was brought last


def bring_copies(
    book: Book,
    edition: Edition,
    folder: Path,
    worksheets: bool = False,
    outputs: bool = True,
    say: Say = str,
) -> None:
    """Copy the notebooks of an edition, or its worksheets, into `folder`; print what is new.

    A copy that the reader has not changed follows the book. Beside one that was changed the new
    version is put under a name of its own, once; nothing of the reader's is overwritten or deleted.
    """
    brought = read_record(folder / RECORD)
    whole = {
        name: read_notebook(notebook_path(edition, name)) for name in book.chapters_of(edition)
    }
    if worksheets:  # made here: the book may be another user's, where nothing can be written
        whole = sheets(book, edition, read_edition_chapters(book, edition), students, say)
    bring_pictures(edition, folder)
    versions = []
    for name, notebook in whole.items():
        text = as_opened(notebook if outputs else unexecuted(notebook), say)
        copy = folder / f"{name}.ipynb"
        if copy.exists() and not cells_of(copy.read_text(encoding="utf-8", errors="replace")):
            told = say("{yours} cannot be read; `make fresh CHAPTER={name}` brings a new one")
            print(told.format(yours=copy.name, name=name))
        if copy.exists() and digest_of(copy) not in (brought.get(copy.name), digest(text)):
            if brought.get(copy.name) == digest(text):
                continue  # changed by the reader, and there is no newer version
            names = names_beside(copy, "new")  # the first that is free or holds this version
            new = next(p for p in names if not p.exists() or digest_of(p) == digest(text))
            told = say("{yours} is yours and stays; the new version is {new}")
            print(told.format(yours=copy.name, new=new.name))
            write_whole(new, text)
        else:
            write_whole(copy, text)
        brought[copy.name] = digest(text)
        write_whole(folder / RECORD, json.dumps(brought, indent=1) + "\n")
        versions.append(text)
    trust(versions, say)


def bring_pictures(edition: Edition, folder: Path) -> None:
    for picture in sorted((edition.notebooks / FOLDER).glob("*.svg")):
        write_whole(folder / FOLDER / picture.name, picture.read_text(encoding="utf-8"))


def bring_fresh(edition: Edition, folder: Path, name: str, say: Say = str) -> None:
    """Bring one chapter as the book has it; a copy that is there is kept under another name."""
    text = as_opened(read_notebook(notebook_path(edition, name)), say)
    bring_pictures(edition, folder)  # there are none before the first `make lab`
    copy = folder / f"{name}.ipynb"
    told, kept = say("{yours} is as the book has it"), ""
    if copy.exists() and copy.read_bytes() != text.encode():
        old = next(path for path in names_beside(copy, "old") if not path.exists())
        shutil.copy2(copy, old)  # copied, not moved: at no moment is the reader's work gone
        told, kept = say("{yours} is as the book has it; yours is kept as {old}"), old.name
    write_whole(copy, text)
    brought = read_record(folder / RECORD)
    write_whole(folder / RECORD, json.dumps(brought | {copy.name: digest(text)}, indent=1) + "\n")
    trust([text], say)
    print(told.format(yours=copy.name, old=kept))


def as_opened(notebook: NotebookNode, say: Say = str) -> str:
    """Return a notebook as it opens alone, with the metadata that JupyterLab gives it then.

    Without them it marks a notebook as changed that the reader has only opened.
    """
    notebook = covered(without_links_elsewhere(notebook), say)
    kernel = notebook.metadata.get("kernelspec")
    if kernel:
        with contextlib.suppress(NoSuchKernel):
            kernel.display_name = KernelSpecManager().get_kernel_spec(kernel.name).display_name
        notebook.metadata.language_info = nbformat.from_dict(IPythonKernel.language_info)
    return as_text(notebook)


def trust(texts: list[str], say: Say = str) -> None:
    """Let JupyterLab show the stored outputs of these versions of notebooks."""
    try:
        notary = NotebookNotary()
        with contextlib.closing(notary.store):
            for text in texts:
                notebook = nbformat.reads(text, as_version=4)
                if not notary.check_signature(notebook):
                    notary.sign(notebook)
    except OSError as error:
        told = say("the copies are not signed ({error}): pictures appear when you run their cells")
        print(told.format(error=error))


def names_beside(copy: Path, kind: str) -> Iterator[Path]:
    """Yield NAME.kind.ipynb, NAME.kind-2.ipynb, ..."""
    for number in itertools.count(1):
        suffix = f".{kind}" if number == 1 else f".{kind}-{number}"
        yield copy.with_name(f"{copy.stem}{suffix}{copy.suffix}")


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


def digest_of(path: Path) -> str:
    return digest(path.read_text(encoding="utf-8", errors="replace"))
