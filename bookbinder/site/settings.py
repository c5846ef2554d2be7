"""The settings of Sphinx for one edition."""

import json
import re
from pathlib import Path

from bookbinder.binding import notebook_path
from bookbinder.colab import services
from bookbinder.config import ENGLISH, LANGUAGES, Book, Edition
from bookbinder.site.dates import last_changes
from bookbinder.site.theme_words import theme_words
from bookbinder.words import Say

HERE = Path(__file__).parent
# The scheme of links to other editions: Sphinx looks for no such page in this one.
ELSEWHERE = "edition"
SAID = re.compile(r'\bsay\("([^"]+)"\)')  # in the scripts of the pages
LESS = "\\u003c"  # in a script that stands in a page
SCRIPTS = [["book.js", {"priority": 300}], ["previews.js", {"priority": 301}]]


def folder_of(edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return the folder of an edition in the site: none for the first."""
    return "" if edition == editions[0] else f"{edition.framework}-{edition.language}"


def address_of(goal: Edition, edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return where the pages of an edition are, from those of another one, as a link says it."""
    up = "../" if folder_of(edition, editions) else ""
    folder = folder_of(goal, editions)
    return f"{ELSEWHERE}:{up}{folder}{'/' if folder else ''}"


def neighbors(edition: Edition, editions: tuple[Edition, ...]) -> list[Edition]:
    """Return the editions that differ from one in the framework or in the language alone."""
    return [
        other
        for other in editions
        if (other.framework == edition.framework) != (other.language == edition.language)
    ]


def sphinx_settings(
    book: Book,
    edition: Edition,
    editions: tuple[Edition, ...],
    equations: dict[str, str],
    terms: dict[str, tuple[str, str]],
    index: dict[str, dict[str, str]],
    anchors: dict,
    roles: dict[str, str],
    say: Say = str,
) -> dict:
    """Return Sphinx's settings as plain values."""
    options = {
        "show_navbar_depth": 1,
        "use_download_button": False,
        "use_fullscreen_button": False,
        "back_to_top_button": False,  # on a phone it lies on pictures, and the header stays
        "article_header_end": ["book-tools.html", "article-header-buttons.html"],
        "article_footer_items": ["last-changed.html"],
        "footer_content_items": [],
        "home_page_in_toc": False,
        "navbar_persistent": [],
        "search_bar_text": say("Search..."),
        "pygments_light_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
    }
    days = last_changes(book.source)
    if repository := book.repository:
        options |= {"repository_url": repository, "use_repository_button": True}
    return {
        "project": book.title,
        "html_title": book.title,
        "language": edition.tag.replace("-", "_"),
        "extensions": ["myst_nb", "bookbinder.site.sphinx_extension"],
        "nb_execution_mode": "off",
        "nb_number_source_lines": False,
        "myst_enable_extensions": ["dollarmath", "attrs_inline", "colon_fence"],
        "myst_dmath_double_inline": True,
        "myst_dmath_allow_labels": False,
        "myst_heading_anchors": 4,
        "myst_url_schemes": ["http", "https", "mailto", ELSEWHERE],
        "myst_heading_slug_func": "bookbinder.page.jupyter_anchor",
        "html_math_renderer": "typeset",  # of the extension
        "suppress_warnings": ["misc.highlighting_failure"],  # tracebacks without their files
        "smartquotes": False,
        "html_theme": "sphinx_book_theme",
        "html_theme_options": options,
        "html_context": {"default_mode": "auto"},
        "html_static_path": [str(HERE / "look")],
        "templates_path": [str(HERE / "templates")],
        "html_css_files": ["book.css"],
        "html_js_files": SCRIPTS,
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_permalinks_icon": "#",
        "html_use_index": True,
        "html_domain_indices": False,
        "python_display_short_literal_types": True,
        "add_module_names": False,
        "toc_object_entries": False,
        "book_chapters": book.chapters_of(edition),
        "book_equations": equations,
        "book_terms": terms,
        "book_index": index,
        "book_changes": {n: days[f"{n}.md"] for n in book.chapters if f"{n}.md" in days},
        "book_notebooks": f"notebooks/{edition.framework}",
        "book_services": {
            name: services(book.repository, book.named(notebook_path(edition, name)))
            for name in book.chapters_of(edition)
            if edition.language == ENGLISH  # a translated notebook is in no repository
        },
        "book_editions": [
            {
                "name": other.name,
                "folder": folder_of(other, editions),
                "here": other == edition,
                "without": list(other.without),
            }
            for other in editions
            if other.language == edition.language
        ],
        "book_languages": [
            {
                "name": LANGUAGES[other.language],
                "tag": other.tag,
                "folder": folder_of(other, editions),
                "here": other == edition,
                "without": list(other.without),
            }
            for other in editions
            if other.framework == edition.framework
        ],
        "book_anchors": anchors,
        "book_roles": roles,
        "book_words": {},
    } | (translated_settings(edition.language, say) if edition.language != ENGLISH else {})


def translated_settings(language: str, say: Say) -> dict:
    """Return the settings of an edition in another language: its words, its look."""
    own = HERE / f"look-{language}"  # where it has a look of its own
    look = [str(own)] if own.exists() else []
    return {
        "html_search_language": ENGLISH,  # the theme's search, of which nothing is kept
        "html_static_path": [str(HERE / "look"), *look],
        "html_css_files": ["book.css", *(["language.css"] if look else [])],
        "html_js_files": [[None, {"body": words_script(say), "priority": 299}], *SCRIPTS],
        "book_words": theme_words(say),
    }


def words_script(say: Say) -> str:
    """Return the script that tells the others their words."""
    scripts = [path.read_text(encoding="utf-8") for path in (HERE / "look").glob("*.js")]
    said = sorted({text for script in scripts for text in SAID.findall(script)})
    words = json.dumps({text: say(text) for text in said}, ensure_ascii=False)
    return f"globalThis.d2lWords = {words.replace('<', LESS)};"


def as_conf(settings: dict) -> str:
    """Return the settings as the text of Sphinx's conf.py."""
    lines = ["# Written by `make site`: a change here is lost."]
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in settings.items())]) + "\n"
