"""Finish the pages that Sphinx wrote: typeset, light, and whole without a network."""

import base64
import re
from collections.abc import Callable
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path

import numpy as np

from bookbinder.language.catalog import worded
from bookbinder.site.equations import Typeset
from bookbinder.site.texts import page_scripts
from d2l_attention.practice.arcs import packed

# The icons of the theme are drawn by book.css, its search needs an index of whole pages, and a
# label over the words of a fold hides them.
NOT_NEEDED = re.compile(
    r"\s*<(?:script|link)[^>]*(?:fontawesome|searchtools|language_data|searchindex)\.js[^>]*>"
    r'(?:</script>)?| aria-label="Toggle hidden content"'
)
NOT_COLORED = re.compile(r'<span class="(?:nn?|p|w)">([^<]*)</span>')  # most of the spans of a page
UNUSED = ("_static/*macros.html", "**/*.map", "**/fontawesome.js", "searchindex.js")
ICONS = re.compile(r"[^{}]*\{--fa:[^}]*\}")  # 1,970 rules
PICTURE = re.compile(r'<img(?=[^>]* src="(_images/[^"]+\.svg)")(?![^>]* width=)')
LENGTH = re.compile(r' (?:width|height)="([\d.]+)(pt)?')
WEIGHTS = re.compile(r' data-(?:weights="([^"]{100000,})"|model="(\w+)")')  # of models in a page
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
PX_PER_PT = 4 / 3
WIDE = 600  # CSS pixels; a picture of this width is not shrunk on a phone, it is moved
DRAWN = worded("The code that draws this is in the notebook.")  # in book.css
# Attributes that the theme's templates say in English alone.
FIXED = worded("Main"), worded("Page")
FIXED += worded("Toggle primary sidebar"), worded("Toggle secondary sidebar")


def finish(folder: Path, equations: Typeset, said: Callable[[str], str]) -> None:
    """Typeset the pages in `folder`, make them small, and whole without a network."""
    static = folder / "_static"
    pages = {}
    for path in sorted(folder.glob("*.html")):
        page = NOT_NEEDED.sub("", path.read_text(encoding="utf-8"))
        pages[path.name] = NOT_COLORED.sub(r"\1", page)
    for name, text in page_scripts(pages, equations.page).items():
        (static / name).write_text(text, encoding="utf-8")
    equations.copy_fonts(static / "fonts")
    sizes = {}
    for path in folder.glob("_images/*.svg"):
        sizes[f"_images/{path.name}"] = size_of(path.read_text(encoding="utf-8"))
    for name, page in pages.items():
        page = equations.page(page)
        page = re.sub(r'(?= data-model="(\w+)")', r' id="\1"', page)  # for the home page's link
        page = WEIGHTS.sub(lambda held: kept_beside(held[1] or stored(held[2]), static), page)
        (folder / name).write_text(finished(page, sizes, said), encoding="utf-8")
    for look in filter(Path.exists, (static / "book.css", static / "language.css")):
        text = look.read_text("utf-8").replace(f'"{DRAWN}"', f'"{said(DRAWN)}"')
        text += equations.style if look.name == "book.css" else ""
        look.write_text(FONT.sub(lambda font: inlined(static / font[1]), text), encoding="utf-8")
    theme = static / "styles/pydata-sphinx-theme.css"
    theme.write_text(ICONS.sub("", theme.read_text(encoding="utf-8")), encoding="utf-8")
    for path in (path for pattern in UNUSED for path in folder.glob(pattern)):
        path.unlink()


def finished(page: str, sizes: dict[str, list[float]], said: Callable[[str], str]) -> str:
    """Return a page that keeps room for its pictures, and asks for them when they are in view."""

    def picture(tag: re.Match) -> str:
        width, height = sizes[tag[1]]
        wide = " data-wide" * (width > WIDE)
        return f'<img loading="lazy" width="{width:g}" height="{height:g}"{wide}'

    for word in FIXED:
        page = page.replace(f'="{word}"', f'="{escape(said(word))}"')
    page = page.replace(' data-theme="auto"', ' data-theme="light"', 1)  # until a script has asked
    return PICTURE.sub(picture, page)


def size_of(svg: str) -> list[float]:
    """Return width and height of a picture in CSS pixels."""
    root = svg[svg.index("<svg") :].partition(">")[0]
    lengths = LENGTH.findall(root)
    return [round(float(number) * (PX_PER_PT if unit else 1), 2) for number, unit in lengths]


def inlined(font: Path) -> str:
    """Return a font as part of a style sheet: with it at once, no text moves when it comes."""
    data = base64.b64encode(font.read_bytes()).decode()
    font.unlink()
    return f"url(data:font/woff2;base64,{data})"


def stored(name: str) -> str:
    """Return the parameters of a model that the package has, as a page holds them."""
    with np.load(resources.files("d2l_attention") / "data" / f"{name}.npz") as arrays:
        return packed(list(arrays.values()))


def kept_beside(weights: str, static: Path) -> str:
    """Write weights to a script of their own, for which a page asks when the widget is near."""
    name = f"weights-{sha256(weights.encode()).hexdigest()[:12]}.js"
    text = f'(globalThis.d2lWeights??={{}})["_static/{name}"]="{weights}";\n'
    (static / name).write_text(text, encoding="utf-8")
    return f' data-from="_static/{name}"'
