"""Finish the pages that Sphinx wrote: typeset, light, and whole without a network."""

import base64
import re
from collections.abc import Callable
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from bookbinder.language.catalog import worded
from bookbinder.site.equations import Typeset
from bookbinder.site.svg import slim, with_dark_version
from bookbinder.site.texts import page_scripts
from d2l_attention.practice.arcs import packed

UNUSED = ("**/*.map", "**/*.LICENSE.txt.map", "_static/*macros.html", ".buildinfo*", "objects.inv")
UNUSED += ("searchindex.js", "_static/searchtools.js", "_static/language_data.js")
UNUSED += ("_static/*stemmer.js", "_static/scripts/fontawesome.js", "_static/images/logo_[dj]*")
UNUSED += ("_static/locales/**/*", "_static/vendor/**/fa-[br]*")
# Icons stand in book.css; the theme's own search loads an index, whose results are whole pages.
SCRIPT_TAG = re.compile(
    r"\s*<(?:script|link)[^>]*(?:fontawesome|searchtools|language_data|searchindex)\.js[^>]*>"
    r"(?:</script>)?"
)
ICON = (
    '<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 '
    "viewBox=%220 0 2 2%22%3E%3Cpath fill=%22%2308306b%22 d=%22M0 0h1v1h1v1H1V1H0z%22/%3E%3C/svg%3E"
    '"/>'
)
PICTURE = re.compile(r'<img(?=[^>]* src="(_images/[^"]+)")(?![^>]* width=)')
WEIGHTS = re.compile(r' data-(?:weights="([^"]{100000,})"|model="(\w+)")')  # of models in a page
WEIGHTS_FILE = "_static/weights-{}.js"  # which its script asks for when the widget is near
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
NOT_COLORED = re.compile(r'<span class="(?:nn?|p|w)">([^<]*)</span>')  # in pygments' styles
NAME = re.compile(r"[A-Za-z_][\w-]*")  # of a class, anywhere in a page or a script
CLASSES = re.compile(r":not\([^)]*\)|\.([A-Za-z_][\w-]*)")  # that a selector asks for
RULE = re.compile(r"([^{}]*)\{[^{}]*\}")
TEXTS = ("sections.js", "preview-texts.js")  # of the book, for search and previews
PX_PER_PT = 4 / 3
WIDE = 600  # CSS pixels; a picture of this width is not shrunk on a phone, it is moved
DRAWN = worded("The code that draws this is in the notebook.")  # in book.css
FIXED = (  # attributes that the theme's templates say in English alone
    worded("Main"),
    worded("Page"),
    worded("Toggle primary sidebar"),
    worded("Toggle secondary sidebar"),
)
Say = Callable[[str], str]


def finish(folder: Path, equations: Typeset, said: Say) -> None:
    """Typeset the pages in `folder`, make them small, and whole without a network."""
    static = folder / "_static"
    pages = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}
    for name, text in page_scripts(pages, equations.page).items():
        (static / name).write_text(text, encoding="utf-8")
    equations.copy_fonts(static / "fonts")
    sizes = finish_pictures(folder)
    for name, page in pages.items():
        page = equations.page(SCRIPT_TAG.sub("", page))
        page = WEIGHTS.sub(lambda held: kept_beside(held[1] or stored(held[2]), folder), page)
        (folder / name).write_text(finished(page, sizes, said), encoding="utf-8")
    for look in filter(Path.exists, (static / "book.css", static / "language.css")):
        text = look.read_text("utf-8").replace(f'"{DRAWN}"', f'"{said(DRAWN)}"')
        text += equations.style if look.name == "book.css" else ""
        look.write_text(FONT.sub(lambda font: inlined(static / font[1]), text), encoding="utf-8")
    scripts = (p for p in static.glob("**/*.js") if p.name not in TEXTS and "weights" not in p.name)
    used = {
        name for p in (*scripts, *folder.glob("*.html")) for name in NAME.findall(p.read_text())
    }
    for path in (static / "styles").glob("*.css"):  # minified: no words of comments
        path.write_text(used_only(path.read_text(encoding="utf-8"), used), encoding="utf-8")
    for path in (path for pattern in UNUSED for path in folder.glob(pattern)):
        if path.is_file():
            path.unlink()


def used_only(style: str, names: set[str]) -> str:
    """Return a style sheet without the rules for classes that are not among the names."""

    def kept(rule: re.Match) -> str:
        wanted = (set(CLASSES.findall(selector)) - {""} for selector in rule[1].split(","))
        return rule[0] if any(classes <= names for classes in wanted) else ""

    return RULE.sub(kept, style)


def finish_pictures(folder: Path) -> dict[str, tuple[float, ...]]:
    """Make pictures light, with a version for dark pages; return their width and height."""
    sizes = {}
    for path in folder.glob("_images/*.svg"):
        svg = path.read_text(encoding="utf-8")
        path.write_text(with_dark_version(slim(svg)), encoding="utf-8")
        sizes[f"_images/{path.name}"] = size_of(svg)
    return sizes


def finished(page: str, sizes: dict[str, tuple[float, ...]], said: Say) -> str:
    """Return the text of a page that asks for pictures when they are in view.

    `sizes` are those of the pictures, for which the page keeps room until they are there.
    """

    def picture(tag: re.Match) -> str:
        width, height = sizes.get(tag[1], (0, 0))
        room = f' width="{width:g}" height="{height:g}"' if width else ""
        return f'<img loading="lazy"{room}{" data-wide" * (width > WIDE)}'

    for word in FIXED:
        page = page.replace(f'="{word}"', f'="{escape(said(word))}"')
    page = page.replace("</details><details", "</details>\n<details")  # equal gaps in a row
    page = page.replace(' aria-label="Toggle hidden content"', "")  # over the words that are seen
    page = NOT_COLORED.sub(r"\1", page)  # two thirds of the parts of a page
    page = page.replace(' data-theme="auto"', ' data-theme="light"', 1)  # until a script has asked
    page = page.replace("<head>", f"<head>\n    {ICON}", 1)  # else browsers ask for one
    return PICTURE.sub(picture, page)


def inlined(font: Path) -> str:
    """Return a font as part of a style sheet: with it at once, no text moves when it comes."""
    data = base64.b64encode(font.read_bytes()).decode()
    font.unlink()
    return f"url(data:font/woff2;base64,{data})"


def stored(name: str) -> str:
    """Return the parameters of a model that the package has, as a page holds them."""
    with np.load(resources.files("d2l_attention") / "data" / f"{name}.npz") as arrays:
        return packed(list(arrays.values()))


def kept_beside(weights: str, folder: Path) -> str:
    """Write weights to a script of their own, and return the attribute that names it."""
    name = WEIGHTS_FILE.format(sha256(weights.encode()).hexdigest()[:12])
    text = f'(globalThis.d2lWeights??={{}})["{name}"]="{weights}";\n'
    (folder / name).write_text(text, encoding="utf-8")
    return f' data-from="{name}"'


def size_of(svg: str) -> tuple[float, ...]:
    """Return width and height of a picture in CSS pixels, zeros where it does not say."""
    root = ElementTree.fromstring(svg.encode())
    return tuple(pixels(root.get(name, "0")) for name in ("width", "height"))


def pixels(length: str) -> float:
    number = float(length.removesuffix("pt").removesuffix("px"))
    return round(number * (PX_PER_PT if length.endswith("pt") else 1), 2)
