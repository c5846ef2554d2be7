"""Build the site: write what Sphinx reads, run it, and put the new site in place of the old."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterable
from pathlib import Path

from bookbinder import solutions
from bookbinder.binding import bind_translation, notebook_path, read_edition_chapters
from bookbinder.catalogs import say_in
from bookbinder.chapters import Chapter
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.diagrams import pictures_shown
from bookbinder.errors import BookError
from bookbinder.files import write_whole
from bookbinder.outputs import SVG
from bookbinder.site.equations import NEEDED, Typeset
from bookbinder.site.light_svg import slim
from bookbinder.site.pages import source_line
from bookbinder.site.postprocess import finish
from bookbinder.site.settings import folder_of
from bookbinder.site.sources import edition_sources
from bookbinder.words import Say

WARNING = re.compile(
    r"^(?:(?P<file>/[^:]*):)?(?:(?P<line>\d+):)? *(?:WARNING|ERROR): (?P<text>.*)$"
)
CELL = 10_000  # myst-nb counts lines as 10000 times the cell, plus the line
TOOL = Path(__file__).parents[2]  # the folder of bookbinder, whose extension Sphinx loads


def site_folder(book: Book) -> Path:
    return book.root / "_build" / "site"


def build_site(book: Book, languages: tuple[str, ...] = (ENGLISH,)) -> None:
    """Build all editions beside the site that is there, and change places when all is well.

    English ones are always built; those of further languages are bound first.
    """
    begun = time.monotonic()
    goal, new = site_folder(book), site_folder(book).with_name("site.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        read = read_editions(book, languages)
        folders = {edition: new / folder_of(edition, tuple(read)) for edition in read}
        says = {edition: say_in(book, edition.language) for edition in read}
        for edition, folder in folders.items():
            build_edition(book, edition, folder, read, says[edition])
        chapters = [chapter for chapters in read.values() for chapter in chapters]
        pages = [path.read_text(encoding="utf-8") for path in new.rglob("*.html")]
        equations = Typeset(pages, chapters)
        for edition, folder in folders.items():
            finish(folder, equations, says[edition])
        change_places(new, goal)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    size = sum(path.stat().st_size for path in goal.rglob("*") if path.is_file())
    pages = len(list(goal.rglob("*.html")))
    print(
        f"{book.named(goal)}/index.html: {pages} pages, {size / 1e6:.1f} MB, "
        f"{time.monotonic() - begun:.1f} s"
    )


def read_editions(book: Book, languages: Iterable[str]) -> dict[Edition, list[Chapter]]:
    """Return the editions of a site with their chapters, once the translated ones are bound."""
    further = [language for language in dict.fromkeys(languages) if language != ENGLISH]
    translated = [edition for language in further for edition in book.editions_in(language)]
    for edition in translated:
        bind_translation(book, edition)
    return {e: read_edition_chapters(book, e) for e in (*book.editions, *translated)}


def build_edition(
    book: Book,
    edition: Edition,
    goal: Path,
    read: dict[Edition, list[Chapter]],
    say: Say = str,
) -> None:
    """Build one edition into the folder `goal`, its equations as TeX."""
    chapters = read[edition]
    files = edition_sources(book, edition, read, say)
    name = f"{edition.framework}-{edition.language}"
    source = book.root / "_build" / "site-source" / name
    write_sources(source, files, edition, chapters)
    run_sphinx(book, source, goal, chapters)
    shutil.rmtree(goal.parent / "jupyter_execute", ignore_errors=True)  # myst-nb's own copies
    downloads = goal / "notebooks" / edition.framework
    downloads.mkdir(parents=True)
    for chapter in chapters:
        notebook = json.loads(notebook_path(edition, chapter.name).read_text(encoding="utf-8"))
        for data in (o.get("data", {}) for c in notebook["cells"] for o in c.get("outputs", [])):
            if SVG in data:
                data[SVG] = slim("".join(data[SVG]))
        for cell in notebook["cells"]:  # a reader has no use for what the tests unfold
            for key in solutions.KEYS:
                cell["metadata"].pop(key, None)
            cell["source"] = "".join(cell["source"])
        text = json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))  # a tenth lighter
        (downloads / f"{chapter.name}.ipynb").write_text(text, encoding="utf-8")


def write_sources(
    source: Path, files: dict[str, str], edition: Edition, chapters: list[Chapter]
) -> None:
    """Write what has changed and remove what is no longer there."""
    wanted = {source / name for name in files}
    for name, text in files.items():
        write_whole(source / name, text)
    for name in pictures_shown(chapters):
        copy = source / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(edition.notebooks / name, copy)
        wanted.add(copy)
    for path in source.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def run_sphinx(book: Book, source: Path, goal: Path, chapters: list[Chapter]) -> None:
    """Run Sphinx; raise BookError with the book's own files and lines for what it warns of."""
    doctrees = source.with_name(f"{source.name}.doctrees")
    warnings = source.with_name(f"{source.name}.warnings")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-j", "auto", "--keep-going"]
    command += ["-W", "-w", str(warnings), "-d", str(doctrees), str(source), str(goal)]
    environment = os.environ | {"PYTHONPATH": str(TOOL), "NO_COLOR": "1"}
    warnings.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    text = warnings.read_text(encoding="utf-8") if warnings.exists() else ""
    if done.returncode or text.strip():
        shutil.rmtree(doctrees, ignore_errors=True)  # a page that warned is to warn again
        if "No module named" in done.stderr:
            raise BookError(f"{NEEDED} ({done.stderr.strip().splitlines()[-1]})")
        found = text or done.stderr or done.stdout
        raise BookError("\n".join(in_the_book(found, source, chapters)) or "Sphinx failed")


def in_the_book(warnings: str, source: Path, chapters: list[Chapter]) -> list[str]:
    """Return Sphinx's warnings with the book's own files and lines."""
    by_file = {str(source / f"{chapter.name}.ipynb"): chapter for chapter in chapters}
    messages = []
    for message in filter(None, re.sub(r"\x1b\[[\d;]*m", "", warnings).splitlines()):
        match = WARNING.match(message)
        chapter = by_file.get(match["file"]) if match else None
        if chapter is None:
            messages.append(message.replace(f"{source}/", ""))
            continue
        where = chapter.file
        if match["line"]:
            cell, line = divmod(int(match["line"]), CELL)
            where = source_line(chapter, min(cell, len(chapter.places)) - 1, line)
        messages.append(f"{where}: {match['text']}")
    return messages


def change_places(new: Path, goal: Path) -> None:
    """Put the new site where the old one is; the old one goes only when the new one is there."""
    old = goal.with_name("site.old")
    shutil.rmtree(old, ignore_errors=True)
    if goal.exists():
        os.replace(goal, old)
    try:
        os.replace(new, goal)
    except OSError:
        if old.exists():
            os.replace(old, goal)
        raise
    shutil.rmtree(old, ignore_errors=True)


def open_site(book: Book) -> None:
    """Show the site in the reader's browser."""
    home = site_folder(book) / "index.html"
    if not home.exists():
        raise BookError(f"{book.named(home)} is missing; run `make site` first")
    if not webbrowser.open(home.as_uri()):
        print(f"open this file in a browser: {home}")
