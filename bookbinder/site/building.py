"""Build the site: write what Sphinx reads, run it, and put the new pages in place of the old."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bookbinder.book import Book, BookError, Edition, write_whole
from bookbinder.language.catalog import language_of
from bookbinder.site import folder_of
from bookbinder.site.equations import Typeset
from bookbinder.site.finishing import finish

TOOL = Path(__file__).parents[2]  # the folder of bookbinder, whose extension Sphinx loads


def site_folder(book: Book) -> Path:
    return book.root / "_build" / "site"


def edition_folder(book: Book, edition: Edition, site: Path | None = None) -> Path:
    return (site or site_folder(book)) / folder_of(book, edition)


def editions_of_site(book: Book, wanted: Sequence[Edition], alone: bool) -> list[Edition]:
    """Return the editions that the site will have: with one alone, those that are there, too."""
    known = [e for language in book.languages for e in book.editions_in(language)]
    there = [e for e in known if alone and (edition_folder(book, e) / "index.html").exists()]
    return [e for e in known if e in wanted or e in there]


def build(
    book: Book,
    sources: Iterable[tuple[Edition, dict[str, str | bytes]]],
    editions: Sequence[Edition],
) -> None:
    """Build editions beside the site, and put them in their places when all are whole.

    Those of `editions`, the site's, that have no `sources` stay as they are.
    """
    begun, built, pages = time.monotonic(), [], []
    new = site_folder(book).with_name("site.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        for edition, files in sources:
            built.append(edition)
            folder = edition_folder(book, edition, new)
            run_sphinx(write_sources(book, edition, files), folder)
            pages += [path.read_text(encoding="utf-8") for path in folder.glob("*.html")]
        equations = Typeset(pages)
        for edition in built:
            _ = language_of(book, edition.language)
            finish(edition_folder(book, edition, new), equations, _)
        staying = [folder_of(book, edition) for edition in editions if edition not in built]
        put_in_place(site_folder(book), new, staying)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    home = edition_folder(book, built[0]) / "index.html"
    size = sum(path.stat().st_size for path in site_folder(book).rglob("*") if path.is_file())
    print(
        f"{book.named(home)}: {len(pages)} new pages, in all {size / 1e6:.1f} MB, "
        f"{time.monotonic() - begun:.1f} s"
    )


def write_sources(book: Book, edition: Edition, files: dict[str, str | bytes]) -> Path:
    """Write what has changed, remove what is no longer there, and return the folder."""
    folder = book.root / "_build" / "site-source" / f"{edition.framework}-{edition.language}"
    for name, content in files.items():
        write_whole(folder / name, content)
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()
    return folder


def run_sphinx(source: Path, goal: Path) -> None:
    """Run Sphinx; raise BookError for what it warns of."""
    doctrees = source.with_name(f"{source.name}.doctrees")
    warnings = source.with_name(f"{source.name}.warnings")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-j", "auto", "--keep-going"]
    command += ["-W", "-w", str(warnings), "-d", str(doctrees), str(source), str(goal)]
    environment = os.environ | {"PYTHONPATH": str(TOOL), "NO_COLOR": "1"}
    warnings.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    shutil.rmtree(goal.parent / "jupyter_execute", ignore_errors=True)  # myst-nb's own copies
    text = warnings.read_text(encoding="utf-8") if warnings.exists() else ""
    if done.returncode or text.strip():
        shutil.rmtree(doctrees, ignore_errors=True)  # a page that warned is to warn again
        message = (text or done.stderr or done.stdout).strip()
        raise BookError(message.replace(f"{source}/", "") or "Sphinx failed")


def put_in_place(site: Path, new: Path, staying: Sequence[str]) -> None:
    """Put new editions in place of the old ones; those whose folders are to stay are left alone."""
    site.mkdir(exist_ok=True)
    first_stays = "" in staying  # beside the pages of the first edition the others have folders
    for path in site.iterdir():
        if (new / path.name).exists() or not (first_stays or path.name in staying):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in new.iterdir():
        os.replace(path, site / path.name)
