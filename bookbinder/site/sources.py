"""Compose everything that Sphinx reads for one edition from its notebooks; nothing is written."""

import json
import posixpath
import re
import tomllib
from collections.abc import Container, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode

from bookbinder.book import ENGLISH, LANGUAGES, Book, Edition, as_text, read_notebook
from bookbinder.chapters import Chapter, fold_of, lines_of, shown_words, tags_of
from bookbinder.colab import INSTALL
from bookbinder.language.catalog import README, language_of, worded
from bookbinder.markdown import CITATION, REFERENCE, TAG, TERM, slug
from bookbinder.notebook import ANSI, with_own_pictures
from bookbinder.pictures import FOLDER, diagram_text, pictures_shown
from bookbinder.site import folder_of
from bookbinder.site.pages import PICTURE, Say, functions_page, home_page, references_page

HERE = Path(__file__).parent
FILLED = re.compile(r"(?<=.{50})\n(?=\S)")  # where `fill` has broken a line of prose
STEP = re.compile(r"((?:^.+\n)+)\n(!\[.*/strip_.*)$", re.MULTILINE)  # it comes up with its picture
CODE = (worded("Show the code"), worded("Hide the code"))
IMPORTS = (worded("Show the imports"), worded("Hide the imports"))
FOLDS = {"imports": IMPORTS, "drawing": CODE, "validation": CODE}  # texts on the fold, if open
SAID = re.compile(r"""\b(?:say|_)\(["'](.+?)["']\)""")  # in scripts and templates
# Words of Sphinx and its theme, which their own catalogs lack.
WORDS = worded("Color mode"), worded("Dark"), worded("Index"), worded("Light")
WORDS += worded("Link to this definition"), worded("Link to this heading")
WORDS += (worded("Please activate JavaScript to enable the search functionality."),)
WORDS += worded("Repository"), worded("Search Page"), worded("Search..."), worded("Version warning")
WORDS += worded("Section Navigation"), worded("Site navigation"), worded("Skip to main content")
WORDS += (worded("System Settings"),)
# How the index names functions: without the one module there is.
IN_INDEX = {"%s() (in module %s)": "%s()%.0s", "%s (class in %s)": "%s%.0s"}


def edition_sources(
    book: Book, edition: Edition, editions: Sequence[Edition]
) -> dict[str, str | bytes]:
    """Return file name -> content for one edition; `editions` are those of the site."""
    if (first := book.editions[0]) not in editions:  # that one has them as guests
        book = replace(book, alone=())
    _, chapters = language_of(book, edition.language), written_chapters(book, edition)
    root = posixpath.relpath(".", folder_of(book, edition) or ".")
    guests = [c for one in book.alone for c in written_chapters(one, one.editions[0])]
    pages = chapters + guests * (edition == first)
    english = written_chapters(book, book.edition(edition.framework))
    pairs = list(zip(english, chapters, strict=True))
    cards = (PICTURE.format(number) for number, _part in enumerate(book.parts, 1))
    cards = [card for card in cards if (book.root / "notebooks" / card).exists()]
    cards = {card: diagram_text(book, Path(card).name, _) for card in cards}
    files = {
        "index.md": home_page(book, chapters + guests, cards, root, _),
        "functions.md": functions_page(edition, pairs, _),
        "references.md": references_page(chapters, _),
    }
    for chapter in pages:
        path = (of := book.guests.get(chapter.name, edition)).notebook(chapter.name)
        files[path.name] = as_text(as_myst_nb(chapter, _)).replace(f"](../{first.framework}/", "](")
        files[f"downloads/notebooks/{of.framework}/{path.name}"] = path.read_bytes()
    for name in pictures_shown(chapter.notebook for chapter in pages):
        files[f"{FOLDER}/{name}"] = diagram_text(book, name, _)
    lines = ((chapter.name, line) for chapter in chapters for line in lines_of(chapter))
    settings = sphinx_settings(book, edition, editions, _)
    settings["book"] = {  # what the extension asks for
        "words": words_said_in("templates", _) | {word: _(word) for word in WORDS} | IN_INDEX,
        "equations": {n: name for name, line in lines for n in TAG.findall(line.text)},
        "terms": {english.name: terms_of(english, chapter) for english, chapter in pairs},
        "roles": shown_words(pages),
    }
    conf = [f"{name} = {value!r}" for name, value in settings.items()]
    return files | cards | {"conf.py": "\n".join(["# Written by `make site`.", *conf, ""])}


def written_chapters(book: Book, edition: Edition) -> list[Chapter]:
    """Return the chapters of an edition as their notebooks are written, with outputs."""
    paths = map(edition.notebook, book.chapters)
    notebooks = {path.stem: with_own_pictures(read_notebook(path)) for path in paths}
    return [Chapter(name, name, n, [[name]] * len(n.cells)) for name, n in notebooks.items()]


def terms_of(english: Chapter, chapter: Chapter) -> dict[str, str]:
    """Return the terms that a chapter explains, as it shows them in bold, with their English."""
    terms = zip(bold_in(english), bold_in(chapter), strict=True)
    return {words: term for term, words in reversed(list(terms)) if TERM.fullmatch(term)}


def bold_in(chapter: Chapter) -> list[str]:
    return [words for line in lines_of(chapter) if line.kind != "row" for words in line.bold]


def as_myst_nb(chapter: Chapter, _: Say) -> NotebookNode:
    """Return a notebook as myst-nb shows it: with folds, alt texts, links to references."""
    page = deepcopy(chapter.notebook)
    page.cells = [cell for cell in page.cells if INSTALL not in tags_of(cell)]
    entries = {line.text for line in lines_of(chapter) if line.in_references}
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = with_references(cell.source, entries)
            cell.metadata = NotebookNode()
        elif cell.cell_type == "code":
            cell.metadata = metadata_of(cell, _)
            for output in cell.outputs:
                if output.output_type == "error":  # all calls stand in the notebook
                    calls = [x for x in output.traceback if ANSI.sub("", x).startswith("Cell In")]
                    output.traceback = [*calls[-1:], output.traceback[-1]]
                if "prose" in cell.metadata.tags:
                    output.text = FILLED.sub(" ", output.text)
    return page


def with_references(source: str, entries: Container[str]) -> str:
    """Return Markdown whose citations lead to their entry in the list of references."""
    lines = [
        REFERENCE.sub(r"\1. []{#reference-\1}", line) if line in entries else line
        for line in STEP.sub(r"\2\n\n\1", source).split("\n")
    ]
    return CITATION.sub(r"[[\1]](#reference-\1)", "\n".join(lines))


def metadata_of(cell: NotebookNode, _: Say) -> NotebookNode:
    """Return the metadata that myst-nb needs: folds, and the alt text of pictures."""
    metadata = NotebookNode(tags=[*tags_of(cell)], mystnb=NotebookNode())
    if texts := FOLDS.get(fold_of(cell)):
        metadata.tags.append("hide-input")
        metadata.mystnb.code_prompt_show, metadata.mystnb.code_prompt_hide = map(_, texts)
    if alt := cell.metadata.get("alt"):
        metadata.mystnb.image = NotebookNode(alt=alt)
    return metadata


def sphinx_settings(book: Book, edition: Edition, editions: Sequence[Edition], _: Say) -> dict:
    """Return the settings of an edition as plain values; its menus lead to `editions`."""
    settings = tomllib.loads((HERE / "sphinx.toml").read_text("utf-8"))
    options, launchers = settings["html_theme_options"], settings.pop("launchers")
    here = folder_of(book, edition) or "."
    menu = [
        {
            "framework": e.framework,
            "name": e.name,
            "language": LANGUAGES[e.language],
            "tag": e.tag,
            "folder": posixpath.relpath(folder_of(book, e) or ".", here),
            "here": e == edition,
        }
        for e in editions
    ]
    alone = [
        {"name": one.editions[0].name, "framework": one.folder, "page": one.chapters[0]}
        | {"sections": {chapter: slug(title) for chapter, title in one.sections}}
        for one in book.alone
    ]
    translated = edition.language != ENGLISH
    options["search_bar_text"] = _("Search...")
    if book.repository:
        options |= {"repository_url": book.repository, "use_repository_button": True}
        if not translated:  # a translated notebook is in no repository
            options |= launchers | {"path_to_docs": book.named(edition.notebooks)}
    looks = {"book.css": HERE / "look", "language.css": HERE / f"look-{edition.language}"}
    looks = {style: str(folder) for style, folder in looks.items() if folder.exists()}
    return settings | {
        "project": _(book.title, README),
        "html_title": _(book.title, README),
        "language": edition.tag.replace("-", "_"),
        "templates_path": [str(HERE / "templates")],
        "html_static_path": list(looks.values()),
        "html_css_files": list(looks),
        "html_js_files": settings["html_js_files"] + [words_script(_)] * translated,
        "html_context": {"default_mode": "auto", "chapters": book.chapters, "editions": menu}
        | {"alone": alone, "root": posixpath.relpath(".", here)},
    }


def words_script(_: Say) -> list:
    """Return the script that tells the others their words."""
    words = json.dumps(words_said_in("look", _), ensure_ascii=False, sort_keys=True)
    body = f"globalThis.d2lWords = {words};".replace("<", "\\u003c")
    return [None, {"body": body, "priority": 299}]


def words_said_in(folder: str, _: Say) -> dict[str, str]:
    """Return what the scripts or templates of a folder say, as keys, in the reader's language."""
    texts = (path.read_text("utf-8") for path in (HERE / folder).glob("*.*"))
    return {said: _(said) for text in texts for said in SAID.findall(text)}
