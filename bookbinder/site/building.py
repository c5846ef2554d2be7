"""Build the site: write what Sphinx reads, run it, and put the new pages in place of the old."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from bookbinder.book import ENGLISH, Book, BookError, Edition, write_whole
from bookbinder.chapters import Chapter
from bookbinder.compare import SVG
from bookbinder.language.say import language_of
from bookbinder.notebook import bind_translation, notebook_path, read_edition_chapters
from bookbinder.pictures import pictures_shown
from bookbinder.site.equations import Typeset
from bookbinder.site.finishing import finish
from bookbinder.site.settings import folder_of
from bookbinder.site.sources import edition_sources
from bookbinder.site.svg import slim
from bookbinder.solutions import KEYS

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
    """Build editions beside the site, and put them in their places when all are whole."""
    begun = time.monotonic()
    goal, new = site_folder(book), site_folder(book).with_name("site.new")
    shutil.rmtree(new, ignore_errors=True)
    known = (e for language in book.languages for e in book.editions_in(language))
    editions = tuple(e for e in known if e in wanted or e in there)
    try:
        for edition in wanted:
            if edition.language != ENGLISH:
                bind_translation(book, edition)
        read = {edition: read_edition_chapters(book, edition) for edition in wanted}
        for edition in wanted:
            files = edition_sources(book, edition, read[edition], editions)
            build_edition(book, edition, read[edition], files, edition_folder(book, edition, new))
        found = (p for e in wanted for p in edition_folder(book, e, new).glob("*.html"))
        pages = [path.read_text(encoding="utf-8") for path in found]
        equations = Typeset(pages)
        for edition in wanted:
            language = language_of(book, edition.language)
            finish(edition_folder(book, edition, new), equations, language.said)
        put_in_place(book, new, there)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    home = edition_folder(book, wanted[0]) / "index.html"
    size = sum(path.stat().st_size for path in goal.rglob("*") if path.is_file())
    print(
        f"{book.named(home)}: {len(pages)} new pages, in all {size / 1e6:.1f} MB, "
        f"{time.monotonic() - begun:.1f} s"
    )


def build_edition(
    book: Book, edition: Edition, chapters: list[Chapter], files: dict[str, str], goal: Path
) -> None:
    """Build one edition into the folder `goal`, its equations as TeX."""
    name = f"{edition.framework}-{edition.language}"
    source = book.root / "_build" / "site-source" / name
    write_sources(source, files, edition, chapters)
    run_sphinx(source, goal)
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


def run_sphinx(source: Path, goal: Path) -> None:
    """Run Sphinx; raise BookError for what it warns of."""
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
        message = (text or done.stderr or done.stdout).strip()
        raise BookError(message.replace(f"{source}/", "") or "Sphinx failed")


def put_in_place(book: Book, new: Path, there: list[Edition]) -> None:
    """Put new editions in place of the old ones; those that are to stay are left alone."""
    goal = site_folder(book)
    goal.mkdir(exist_ok=True)
    staying = {folder_of(edition, book.editions) for edition in there}
    pages_stay = "" in staying  # those of the first edition, beside which the others have folders
    for path in goal.iterdir():
        if (new / path.name).exists() or not (pages_stay or path.name in staying):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in new.iterdir():
        os.replace(path, goal / path.name)
