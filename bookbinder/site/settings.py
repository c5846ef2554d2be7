"""The settings of Sphinx for one edition."""

from pathlib import Path

from bookbinder.binding import notebook_path
from bookbinder.colab import services
from bookbinder.config import Book, Edition
from bookbinder.site.dates import last_changes

HERE = Path(__file__).parent
# The scheme of links to other editions: Sphinx looks for no such page in this one.
ELSEWHERE = "edition"


def folder_of(edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return the folder of an edition in the site: none for the first."""
    return "" if edition == editions[0] else f"{edition.framework}-{edition.language}"


def address_of(goal: Edition, edition: Edition, editions: tuple[Edition, ...]) -> str:
    """Return where the pages of an edition are, from those of another one, as a link says it."""
    up = "../" if folder_of(edition, editions) else ""
    folder = folder_of(goal, editions)
    return f"{ELSEWHERE}:{up}{folder}{'/' if folder else ''}"


def sphinx_settings(
    book: Book,
    edition: Edition,
    equations: dict[str, str],
    terms: dict[str, tuple[str, str]],
    anchors: dict,
    roles: dict[str, str],
) -> dict:
    """Return Sphinx's settings as plain values."""
    options = {
        "show_navbar_depth": 1,
        "use_download_button": False,
        "use_fullscreen_button": False,
        "article_header_end": ["book-tools.html", "article-header-buttons.html"],
        "article_footer_items": ["last-changed.html"],
        "footer_content_items": [],
        "home_page_in_toc": False,
        "navbar_persistent": [],
        "pygments_light_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
    }
    days = last_changes(book.source)
    if repository := book.repository:
        options |= {"repository_url": repository, "use_repository_button": True}
    return {
        "project": book.title,
        "html_title": book.title,
        "language": edition.language,
        "extensions": ["myst_nb", "bookbinder.site.sphinx_extension"],
        "nb_execution_mode": "off",
        "nb_number_source_lines": False,
        "myst_enable_extensions": ["dollarmath", "attrs_inline", "colon_fence"],
        "myst_dmath_double_inline": True,
        "myst_dmath_allow_labels": False,
        "myst_heading_anchors": 4,
        "myst_url_schemes": ["http", "https", "mailto", ELSEWHERE],
        "myst_heading_slug_func": "bookbinder.text.jupyter_anchor",
        "html_math_renderer": "typeset",  # of the extension
        "suppress_warnings": ["misc.highlighting_failure"],  # tracebacks without their files
        "smartquotes": False,
        "html_theme": "sphinx_book_theme",
        "html_theme_options": options,
        "html_context": {"default_mode": "auto"},
        "html_static_path": [str(HERE / "look")],
        "templates_path": [str(HERE / "templates")],
        "html_css_files": ["book.css"],
        "html_js_files": [["book.js", {"priority": 300}], ["previews.js", {"priority": 301}]],
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
        "book_changes": {
            name: days[f"{name}.md"] for name in book.chapters if f"{name}.md" in days
        },
        "book_notebooks": f"notebooks/{edition.framework}",
        "book_services": {
            name: services(book.repository, book.named(notebook_path(edition, name)))
            for name in book.chapters_of(edition)
        },
        "book_editions": [
            {
                "name": other.name,
                "folder": folder_of(other, book.editions),
                "here": other == edition,
                "without": list(other.without),
            }
            for other in book.editions
        ],
        "book_anchors": anchors,
        "book_roles": roles,
    }


def as_conf(settings: dict) -> str:
    """Return the settings as the text of Sphinx's conf.py."""
    lines = ["# Written by `make site`: a change here is lost."]
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in settings.items())]) + "\n"
