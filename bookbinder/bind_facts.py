"""Keep the facts of the last bind: versions, device, and seconds for each chapter."""

import json
import os
import platform
from importlib import metadata
from pathlib import Path

from bookbinder.config import Book, Edition
from bookbinder.files import write_whole
from d2l_attention.frameworks import load

PACKAGES = ("numpy", "matplotlib", "jupyterlab", "nbclient", "ipykernel")


def facts_file(book: Book, edition: Edition) -> Path:
    return book.root / "_build" / f"last-bind-{edition.framework}-{edition.language}.json"


def read_facts(book: Book, edition: Edition) -> dict:
    """Return what is known of the last bind; an empty dict where nothing is."""
    try:
        facts = json.loads(facts_file(book, edition).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def note_seconds(book: Book, edition: Edition, chapter: str, seconds: float) -> None:
    """Remember how long one chapter took, and on what."""
    facts = read_facts(book, edition)
    facts["versions"] = versions(edition.framework)
    facts["device"] = os.environ.get("D2L_DEVICE") or "cpu"
    facts["system"] = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    facts.setdefault("seconds", {})[chapter] = round(seconds, 1)
    write_whole(facts_file(book, edition), json.dumps(facts, indent=1) + "\n")


def packages(framework: str) -> tuple[str, ...]:
    """Return the packages whose versions a reader asks for first."""
    return (*load(framework).PACKAGES, *PACKAGES)


def versions(framework: str) -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in packages(framework):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
