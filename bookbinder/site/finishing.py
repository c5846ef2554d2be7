"""Finish the pages that Sphinx wrote: typeset, light, and whole without a network."""

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import tinycss2

from bookbinder.catalogs import worded
from bookbinder.site.equations import Typeset
from bookbinder.site.svg import slim, with_dark_version
from bookbinder.site.texts import page_scripts

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
EXPLORER = re.compile(r"<script>(\(\(\) => \{\nconst BLUES.*?)</script>", re.DOTALL)
PICTURE = re.compile(r'<img(?=[^>]* src="(_images/[^"]+)")(?![^>]* width=)')
WEIGHTS = re.compile(r' data-weights="([^"]{100000,})"')  # of a model that `draw_arcs` shows
WEIGHTS_FILE = "_static/weights-{}.js"  # which its script asks for when the widget is near
PRINTED = re.compile(
    r'(<div class="output (?:text_plain|stream)[^>]*><div class="highlight"><pre)>(.*?)</pre>',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
NOT_COLORED = re.compile(r'<span class="(?:nn?|p|w)">([^<]*)</span>')  # in pygments' styles
NAME = re.compile(r"[A-Za-z_][\w-]*")  # of a class, anywhere in a page or a script
CLASSES = re.compile(r":not\([^)]*\)|\.([A-Za-z_][\w-]*)")  # that a selector asks for
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
    counts = Counter(code for page in pages.values() for code in EXPLORER.findall(page))
    for name, page in pages.items():
        page = equations.page(SCRIPT_TAG.sub("", page))
        page = EXPLORER.sub(lambda s: s[0] if counts[s[1]] == 1 else shared(s[1], folder), page)
        page = WEIGHTS.sub(lambda held: kept_beside(held[1], folder), page)
        (folder / name).write_text(finished(page, sizes, said), encoding="utf-8")
    for look in filter(Path.exists, (static / "book.css", static / "language.css")):
        text = look.read_text("utf-8").replace(f'"{DRAWN}"', f'"{said(DRAWN)}"')
        text += equations.style if look.name == "book.css" else ""
        look.write_text(FONT.sub(lambda font: inlined(static / font[1]), text), encoding="utf-8")
    scripts = (p for p in static.glob("**/*.js") if p.name not in TEXTS and "weights" not in p.name)
    used = {
        name for p in (*scripts, *folder.glob("*.html")) for name in NAME.findall(p.read_text())
    }
    for path in (static / "styles").glob("*.css"):
        rules = tinycss2.parse_stylesheet(path.read_text(encoding="utf-8"), True, True)
        path.write_text("".join(used_only(rules, used)), encoding="utf-8")
    for path in (path for pattern in UNUSED for path in folder.glob(pattern)):
        if path.is_file():
            path.unlink()


def used_only(rules: list, names: set[str]) -> Iterator[str]:
    """Yield the rules of a style sheet but those for classes that are not among the names."""
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = tinycss2.parse_rule_list(rule.content, True, True)
            yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{"
            yield from used_only(inner, names)
            yield "}"
        elif rule.type != "qualified-rule" or any(
            set(filter(None, CLASSES.findall(selector))) <= names
            for selector in tinycss2.serialize(rule.prelude).split(",")
        ):
            yield rule.serialize()


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
    page = page.replace("<head>", f"<head>\n    {ICON}", 1)  # else browsers ask for one
    return PICTURE.sub(picture, PRINTED.sub(with_letters, page))


def inlined(font: Path) -> str:
    """Return a font as part of a style sheet: with it at once, no text moves when it comes."""
    data = base64.b64encode(font.read_bytes()).decode()
    font.unlink()
    return f"url(data:font/woff2;base64,{data})"


def with_letters(printed: re.Match) -> str:
    """Return printed lines, and how many letters the longest has."""
    lines = unescape(TAG.sub("", printed[2])).split("\n")
    return f'{printed[1]} style="--letters: {max(map(len, lines))}">{printed[2]}</pre>'


def shared(code: str, folder: Path) -> str:
    """Write the script of explorers to a file that all of them share, and return its tag."""
    name = f"_static/explorer-{sha256(code.encode()).hexdigest()[:12]}.js"
    (folder / name).write_text(code, encoding="utf-8")
    return f'<script src="{name}"></script>'


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
