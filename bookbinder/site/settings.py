"""The settings of Sphinx for one edition."""

import json
import posixpath
import re
import tomllib
from pathlib import Path

from bookbinder.book import ENGLISH, LANGUAGES, Book, Edition
from bookbinder.language.catalog import README, worded
from bookbinder.language.say import Language

HERE = Path(__file__).parent
SAID = re.compile(r'\bsay\("([^"]+)"\)')  # in the scripts of the pages
LESS = "\\u003c"  # in a script that stands in a page
SCRIPTS = [["book.js", {"priority": 300}], ["previews.js", {"priority": 301}]]
SETTINGS = tomllib.loads((HERE / "sphinx.toml").read_text(encoding="utf-8"))  # of every edition
LAUNCHERS = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
    "notebook_interface": "jupyterlab",
}
# The words of our templates, and those of Sphinx and its theme that their own catalogs lack.
WORDS = (
    worded("Code under the {mit}, text and pictures under {by}."),
    worded("Color mode"),
    worded("Dark"),
    worded("Download this chapter as a notebook"),
    worded("Edition"),
    worded("Index"),
    worded("Language"),
    worded("Light"),
    worded("Link to this definition"),
    worded("Link to this heading"),
    worded("Notebook"),
    worded("Please activate JavaScript to enable the search functionality."),
    worded("Repository"),
    worded("Search Page"),
    worded("Search..."),
    worded("Section Navigation"),
    worded("Site navigation"),
    worded("Skip to main content"),
    worded("System Settings"),
    worded("Version warning"),
)
# How the index names functions: without the one module there is.
IN_INDEX = {"%s() (in module %s)": "%s()%.0s", "%s (class in %s)": "%s%.0s"}


def folder_of(edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return the folder of an edition in the site: none for the first of the book."""
    return "" if edition == editions[0] else f"{edition.framework}-{edition.language}"


def address_of(goal: Edition, edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return where the pages of an edition are, from those of another one."""
    there, here = (folder_of(e, editions) or "." for e in (goal, edition))
    return f"{posixpath.relpath(there, here)}/"


def sphinx_settings(
    book: Book, edition: Edition, editions: tuple[Edition, ...], language: Language
) -> dict:
    """Return Sphinx's own settings for an edition, as plain values; menus lead to `editions`."""
    title = language.said(book.title, README)
    options = SETTINGS["html_theme_options"] | {"search_bar_text": language.said("Search...")}
    if repository := book.repository:
        options |= {"repository_url": repository, "use_repository_button": True}
        if edition.language == ENGLISH:  # a translated notebook is in no repository
            where = {"repository_branch": "main", "path_to_docs": book.named(edition.notebooks)}
            options |= where | {"launch_buttons": LAUNCHERS}
    own = HERE / f"look-{edition.language}"  # where a language has a look of its own
    looks = {"book.css": HERE / "look"} | ({"language.css": own} if own.exists() else {})
    return SETTINGS | {
        "project": title,
        "templates_path": [str(HERE / "templates")],
        "html_title": title,
        "language": edition.tag.replace("-", "_"),
        "html_theme_options": options,
        "html_static_path": list(map(str, looks.values())),
        "html_css_files": list(looks),
        "html_js_files": [*words_scripts(language), *SCRIPTS],
        "html_context": {"default_mode": "auto", "header": header(book, edition, editions)},
    }


def header(book: Book, here: Edition, editions: tuple[Edition, ...]) -> dict:
    """Return what the head of each page says: its notebook, and where it is in other editions."""

    def entry(edition: Edition, name: str) -> dict:
        of_page = {"address": address_of(edition, here, book.editions), "here": edition == here}
        return {"name": name, "tag": edition.tag, **of_page}

    alike = [e for e in editions if e.framework == here.framework]
    return {
        "chapters": book.chapters,
        "notebooks": f"notebooks/{here.framework}",
        "editions": [entry(e, e.name) for e in editions if e.language == here.language],
        "languages": [entry(e, LANGUAGES[e.language]) for e in alike],
    }


def own_words(language: Language) -> dict[str, str]:
    """Return what Sphinx and the templates are to say for some of their words."""
    words = {} if language.tag == ENGLISH else {word: language.said(word) for word in WORDS}
    return words | IN_INDEX


def words_scripts(language: Language) -> list:
    """Return the script that tells the others their words; English ones need none."""
    if language.tag == ENGLISH:
        return []
    scripts = [path.read_text(encoding="utf-8") for path in (HERE / "look").glob("*.js")]
    said = sorted({text for script in scripts for text in SAID.findall(script)})
    words = json.dumps({text: language.said(text) for text in said}, ensure_ascii=False)
    body = f"globalThis.d2lWords = {words.replace('<', LESS)};"
    return [[None, {"body": body, "priority": 299}]]
