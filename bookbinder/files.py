"""Read notebooks, and write files whole or not at all; what is wrong is a BookError."""

import contextlib
import os
from pathlib import Path

import nbformat
from nbformat import NotebookNode

COMMAND = "make notebooks"


class BookError(Exception):
    """A mistake in the book or its surroundings; the command line shows its text and stops."""


def as_text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook) + "\n"


def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook in `path`; raise BookError where there is none, or a broken one."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise BookError(f"{path} is missing; run `{COMMAND}` first") from None
    except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise BookError(f"{path} is no notebook ({reason}); `{COMMAND}` makes it anew") from None


def write_whole(path: Path, content: str | bytes) -> bool:
    """Write a file by way of one beside it; return whether anything changed.

    Interrupted or failing, it leaves the old file as it was and nothing beside it.
    """
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".{path.name}.new")
    try:
        if path.exists() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_bytes(data)
            os.replace(new, path)
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
    except OSError as error:
        raise BookError(f"{path}: cannot be written ({error.strerror}); it is unchanged") from None
    return True
