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

from bookbinder.binding import notebook_path
from bookbinder.catalogs import worded
from bookbinder.config import Book, Edition
from bookbinder.diagrams import FOLDER
from bookbinder.files import BookError, as_text, read_notebook, write_whole
from bookbinder.language import Language, language_of
from bookbinder.publish import DECIDE, covered, unexecuted
from bookbinder.steps import english_chapters, title_in_contents, without_links_elsewhere
from bookbinder.worksheets import sheets

BROKEN = worded("{yours} cannot be read; `make fresh CHAPTER={name}` brings a new one")
STAYS = worded("{yours} is yours and stays; the new version is {new}")
FRESH = worded("{yours} is as the book has it")
FRESH_BESIDE_OLD = worded("{yours} is as the book has it; yours is kept as {old}")
NOT_SIGNED = worded("the copies are not signed ({error}): pictures appear when you run their cells")
PANEL = "book_contents"
PANEL_SCRIPT = Path(__file__).parent / "lab" / "contents.js"
PANEL_FILE = "static/contents.js"
PANEL_WORDS = ("Contents of the book", "Contents")  # in calls of `say`

RECORD = ".brought.json"  # file name -> digest of the version that was brought last


def bring_copies(
    book: Book,
    edition: Edition,
    folder: Path,
    worksheets: bool = False,
    outputs: bool = True,
) -> None:
    """Copy the notebooks of an edition, or its worksheets, into `folder`; print what is new.

    A copy that the reader has not changed follows the book. Beside one that was changed the new
    version is put under a name of its own, once; nothing of the reader's is overwritten or deleted.
    """
    brought, language = read_record(folder / RECORD), language_of(book, edition.language)
    whole = {
        name: read_notebook(notebook_path(edition, name)) for name in book.chapters_of(edition)
    }
    if worksheets:  # made here: the book may be another user's, where nothing can be written
        whole = sheets(book, edition, english_chapters(book, edition))
    bring_pictures(edition, folder)
    versions = []
    for name, notebook in whole.items():
        text = as_opened(notebook if outputs else unexecuted(notebook), language)
        copy = folder / f"{name}.ipynb"
        if copy.exists() and not cells_of(copy.read_text(encoding="utf-8", errors="replace")):
            print(language.said(BROKEN.format(yours=copy.name, name=name)))
        if copy.exists() and digest_of(copy) not in (brought.get(copy.name), digest(text)):
            if brought.get(copy.name) == digest(text):
                continue  # changed by the reader, and there is no newer version
            names = names_beside(copy, "new")  # the first that is free or holds this version
            new = next(p for p in names if not p.exists() or digest_of(p) == digest(text))
            print(language.said(STAYS.format(yours=copy.name, new=new.name)))
            write_whole(new, text)
        else:
            write_whole(copy, text)
        note(folder, copy.name, text)
        versions.append(text)
    trust(versions, language)


def bring_pictures(edition: Edition, folder: Path) -> None:
    for picture in sorted((edition.notebooks / FOLDER).glob("*.svg")):
        write_whole(folder / FOLDER / picture.name, picture.read_text(encoding="utf-8"))


def bring_fresh(book: Book, edition: Edition, folder: Path, name: str) -> None:
    """Bring one chapter as the book has it; a copy that is there is kept under another name."""
    language = language_of(book, edition.language)
    text = as_opened(read_notebook(notebook_path(edition, name)), language)
    bring_pictures(edition, folder)  # there are none before the first `make lab`
    copy = folder / f"{name}.ipynb"
    told = FRESH.format(yours=copy.name)
    if copy.exists() and copy.read_bytes() != text.encode():
        old = next(path for path in names_beside(copy, "old") if not path.exists())
        shutil.copy2(copy, old)  # copied, not moved: at no moment is the reader's work gone
        told = FRESH_BESIDE_OLD.format(yours=copy.name, old=old.name)
    write_whole(copy, text)
    note(folder, copy.name, text)
    trust([text], language)
    print(language.said(told))


def as_opened(notebook: NotebookNode, language: Language) -> str:
    """Return a notebook as it opens alone, with the metadata that JupyterLab gives it then.

    Without them it marks a notebook as changed that the reader has only opened.
    """
    notebook = covered(without_links_elsewhere(notebook), language.said(DECIDE))
    kernel = notebook.metadata.get("kernelspec")
    if kernel:
        with contextlib.suppress(NoSuchKernel):
            kernel.display_name = KernelSpecManager().get_kernel_spec(kernel.name).display_name
        notebook.metadata.language_info = nbformat.from_dict(IPythonKernel.language_info)
    return as_text(notebook)


def trust(texts: list[str], language: Language) -> None:
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


def note(folder: Path, name: str, text: str) -> None:
    """Write into the record which version of a notebook was brought."""
    brought = read_record(folder / RECORD) | {name: digest(text)}
    write_whole(folder / RECORD, json.dumps(brought, indent=1) + "\n")


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


def write_contents_panel(book: Book, edition: Edition) -> None:
    """Write the extension to `_build/lab/`, where `make lab` shows it to JupyterLab."""
    folder = book.root / "_build" / "lab" / PANEL
    language = language_of(book, edition.language)
    chapters = [contents_of(book, edition, name, language) for name in book.chapters_of(edition)]
    script = PANEL_SCRIPT.read_text(encoding="utf-8")
    for word in PANEL_WORDS:
        script = script.replace(
            f'say("{word}")', json.dumps(language.said(word), ensure_ascii=False)
        )
    listed = json.dumps(chapters, ensure_ascii=False)
    script = script.replace("CHAPTERS = []", f"CHAPTERS = {listed}")
    write_whole(folder / PANEL_FILE, script.replace("NAME", PANEL))
    build = {"load": PANEL_FILE, "extension": "./extension"}
    description = {"name": PANEL, "version": "1.0.0"}
    description["jupyterlab"] = {"extension": True, "_build": build}
    write_whole(folder / "package.json", json.dumps(description, indent=1) + "\n")


def contents_of(
    book: Book, edition: Edition, name: str, language: Language
) -> tuple[str, str, list[str]]:
    """Return file, title and sections of a chapter of an edition."""
    cells = read_notebook(notebook_path(edition, name)).cells
    prose = [line for c in cells if c.cell_type == "markdown" for line in c.source.splitlines()]
    title = next((line[2:] for line in prose if line.startswith("# ")), name)
    sections = [line[3:] for line in prose if line.startswith("## ")]
    return f"{name}.ipynb", language.said(title_in_contents(book, name, title)), sections
