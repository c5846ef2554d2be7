"""Bring notebooks to a reader's folder, and never touch what the reader has changed.

JupyterLab shows stored pictures and runs stored scripts only in notebooks that it trusts; the
copies are the book's own, so they are signed as its `trust` command does.
"""

import contextlib
import hashlib
import json
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat.sign import NotebookNotary

from bookbinder.description import Book
from bookbinder.diagrams import FOLDER
from bookbinder.errors import BookError
from bookbinder.notebook_files import as_text, read_notebook, write_whole

RECORD = ".brought.json"  # file name -> digest of the version that was brought last


def bring_copies(book: Book, folder: Path) -> None:
    """Copy the notebooks of the first edition into `folder`; print what is new.

    A copy that the reader has not changed follows the book. Beside one that was changed the new
    version is put under a name of its own, once; nothing of the reader's is overwritten or deleted.
    """
    brought = read_record(folder / RECORD)
    sources = [book.editions[0].notebooks / f"{name}.ipynb" for name in book.chapters]
    for source in sources:
        read_notebook(source)  # nothing is brought where one is missing or broken
    for picture in sorted((book.editions[0].notebooks / FOLDER).glob("*.svg")):
        write_whole(folder / FOLDER / picture.name, picture.read_text(encoding="utf-8"))
    versions = []
    for source in sources:
        text = as_opened(source.read_text(encoding="utf-8"))
        copy = folder / source.name
        if copy.exists() and digest_of(copy) not in (brought.get(copy.name), digest(text)):
            if brought.get(copy.name) == digest(text):
                continue  # changed by the reader, and there is no newer version
            new = free_name(copy, text)
            print(f"{copy.name} is yours and stays; the new version is {new.name}")
            write_whole(new, text)
        else:
            write_whole(copy, text)
        brought[copy.name] = digest(text)
        write_whole(folder / RECORD, json.dumps(brought, indent=1) + "\n")
        versions.append(text)
    trust(versions)


def as_opened(text: str) -> str:
    """Return a notebook with the metadata that JupyterLab writes when it starts this kernel.

    Without them it marks a notebook as changed that the reader has only opened.
    """
    notebook = nbformat.reads(text, as_version=4)
    kernel = notebook.metadata.get("kernelspec")
    if kernel:
        with contextlib.suppress(NoSuchKernel):
            kernel.display_name = KernelSpecManager().get_kernel_spec(kernel.name).display_name
        notebook.metadata.language_info = nbformat.from_dict(IPythonKernel.language_info)
    return as_text(notebook)


def trust(texts: list[str]) -> None:
    """Let JupyterLab show the stored outputs of these versions of notebooks."""
    try:
        notary = NotebookNotary()
        with contextlib.closing(notary.store):
            for text in texts:
                notebook = nbformat.reads(text, as_version=4)
                if not notary.check_signature(notebook):
                    notary.sign(notebook)
    except OSError as error:
        print(f"the copies are not signed ({error}): pictures appear when you run their cells")


def free_name(copy: Path, text: str) -> Path:
    """Return the first of NAME.new.ipynb, NAME.new-2.ipynb, ... that is free or holds `text`."""
    number = 1
    while True:
        suffix = ".new" if number == 1 else f".new-{number}"
        path = copy.with_name(f"{copy.stem}{suffix}{copy.suffix}")
        if not path.exists() or digest_of(path) == digest(text):
            return path
        number += 1


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
    try:
        cells = nbformat.reads(text, as_version=4).cells
        text = json.dumps([(cell.cell_type, cell.source) for cell in cells])
    except (ValueError, AttributeError, nbformat.ValidationError):
        pass
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(path: Path) -> str:
    return digest(path.read_text(encoding="utf-8", errors="replace"))
