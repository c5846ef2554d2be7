"""Build the site: write what Sphinx reads, run it, and put the new pages in place of the old."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from bookbinder.binding import bind_translation, notebook_path, read_edition_chapters
from bookbinder.chapters import Chapter
from bookbinder.config import ENGLISH, Book, Edition
from bookbinder.diagrams import pictures_shown
from bookbinder.files import BookError, write_whole
from bookbinder.language import language_of
from bookbinder.outputs import SVG
from bookbinder.site.equations import NEEDED, Typeset
from bookbinder.site.finishing import finish
from bookbinder.site.settings import folder_of, neighbors
from bookbinder.site.sources import edition_sources, source_line
from bookbinder.site.svg import slim
from bookbinder.solutions import KEYS

WARNING = re.compile(
    r"^(?:(?P<file>/[^:]*):)?(?:(?P<line>\d+):)? *(?:WARNING|ERROR): (?P<text>.*)$"
)
CELL = 10_000  # myst-nb counts lines as 10000 times the cell, plus the line
TOOL = Path(__file__).parents[2]  # the folder of bookbinder, whose extension Sphinx loads


def site_folder(book: Book) -> Path:
    return book.root / "_build" / "site"


def build_site(book: Book, languages: Iterable[str] = (ENGLISH,)) -> None:
    """Build all editions in English, and those of further languages: the whole site."""
    further = [language for language in dict.fromkeys(languages) if language != ENGLISH]
    build(book, [*book.editions, *(e for one in further for e in book.editions_in(one))], [])


def build_alone(book: Book, edition: Edition) -> None:
    """Build one edition; the others of the site stay as they are."""
    known = (e for language in book.languages for e in book.editions_in(language))
    there = [e for e in known if e != edition and (edition_folder(book, e) / "index.html").exists()]
    build(book, [edition], there)


def edition_folder(book: Book, edition: Edition, site: Path | None = None) -> Path:
    return (site or site_folder(book)) / folder_of(edition, book.editions)


def build(book: Book, wanted: list[Edition], there: list[Edition]) -> None:
    """Build editions beside the site, bring those that are there, and change places at last."""
    begun = time.monotonic()
    goal, new = site_folder(book), site_folder(book).with_name("site.new")
    shutil.rmtree(new, ignore_errors=True)
    known = (e for language in book.languages for e in book.editions_in(language))
    editions = tuple(e for e in known if e in wanted or e in there)
    beside = [e for e in there if any(e in neighbors(one, editions) for one in wanted)]
    try:
        for edition in wanted:
            if edition.language != ENGLISH:
                bind_translation(book, edition)
        read = {e: read_edition_chapters(book, e) for e in editions if e in wanted or e in beside}
        for edition in wanted:
            build_edition(book, edition, edition_folder(book, edition, new), read)
        found = (p for e in wanted for p in edition_folder(book, e, new).glob("*.html"))
        pages = [path.read_text(encoding="utf-8") for path in found]
        equations = Typeset(pages)
        for edition in wanted:
            language = language_of(book, edition.language)
            finish(edition_folder(book, edition, new), equations, language.said)
        bring_others(book, wanted, there, new)
        change_places(new, goal)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    home = edition_folder(book, wanted[0]) / "index.html"
    size = sum(path.stat().st_size for path in goal.rglob("*") if path.is_file())
    print(
        f"{book.named(home)}: {len(pages)} new pages, in all {size / 1e6:.1f} MB, "
        f"{time.monotonic() - begun:.1f} s"
    )


def bring_others(book: Book, wanted: list[Edition], there: list[Edition], new: Path) -> None:
    """Link the files of the editions that stay into the new site; the old one keeps them, too."""
    folders = {folder_of(e, book.editions) for e in (*wanted, *there)} - {""}
    for edition in there:
        old, folder = edition_folder(book, edition), edition_folder(book, edition, new)
        inside = folders if folder == new else ()  # the first edition holds the others
        others = shutil.ignore_patterns(*inside)
        shutil.copytree(old, folder, ignore=others, copy_function=os.link, dirs_exist_ok=True)


def build_edition(
    book: Book, edition: Edition, goal: Path, read: dict[Edition, list[Chapter]]
) -> None:
    """Build one edition into the folder `goal`, its equations as TeX."""
    chapters = read[edition]
    name = f"{edition.framework}-{edition.language}"
    source = book.root / "_build" / "site-source" / name
    write_sources(source, edition_sources(book, edition, read), edition, chapters)
    run_sphinx(source, goal, chapters)
    shutil.rmtree(goal.parent / "jupyter_execute", ignore_errors=True)  # myst-nb's own copies
    downloads = goal / "notebooks" / edition.framework
    downloads.mkdir(parents=True)
    for chapter in chapters:
        text = light_notebook(notebook_path(edition, chapter.name).read_text(encoding="utf-8"))
        (downloads / f"{chapter.name}.ipynb").write_text(text, encoding="utf-8")


def light_notebook(text: str) -> str:
    """Return a notebook with light pictures, without what only the tests unfold."""
    notebook = json.loads(text)
    for data in (o.get("data", {}) for c in notebook["cells"] for o in c.get("outputs", [])):
        if SVG in data:
            data[SVG] = slim("".join(data[SVG]))
    for cell in notebook["cells"]:
        for key in KEYS:
            cell["metadata"].pop(key, None)
        cell["source"] = "".join(cell["source"])
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))  # a tenth lighter


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


def run_sphinx(source: Path, goal: Path, chapters: list[Chapter]) -> None:
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
    for message in filter(None, warnings.splitlines()):
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
