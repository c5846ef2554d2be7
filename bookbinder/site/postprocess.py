"""Finish the pages that Sphinx wrote: icons, alt texts, downloads, nothing that no page uses."""

import base64
import re
from collections import Counter
from hashlib import sha256
from html import unescape
from pathlib import Path

from bookbinder.errors import BookError
from bookbinder.site.dark_svg import with_dark_version
from bookbinder.site.equations import Typeset
from bookbinder.site.icons import icon_styles, icons_used
from bookbinder.site.light_svg import slim
from bookbinder.site.previews import previews_script
from bookbinder.site.search_index import sections_script
from bookbinder.site.styles import classes_of, used_only
from bookbinder.site.theme_words import with_fixed_words
from bookbinder.words import Say, worded

SCRIPT = re.compile(r"<script>(\(\(\) => \{\nconst BLUES.*?)</script>", re.DOTALL)
ICON_SCRIPT = "scripts/fontawesome.js"
SCRIPT_TAG = re.compile(r"\s*<(?:script|link)[^>]*fontawesome\.js[^>]*>(?:</script>)?")
SOURCE_MAP = re.compile(r"/[/*]# sourceMappingURL=\S+(?: ?\*/)?\s*$")
UNUSED = ("**/*.map", "**/*.LICENSE.txt.map", "_static/*macros.html", ".buildinfo*")
UNUSED += ("searchindex.js", "_static/searchtools.js", "_static/language_data.js")
UNUSED += ("_static/*stemmer.js",)
UNUSED += ("objects.inv", "_static/locales/**/*", "_static/vendor/**/fa-[br]*", "_static/images/*")
ICON = (
    '<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 '
    "viewBox=%220 0 2 2%22%3E%3Cpath fill=%22%2308306b%22 d=%22M0 0h1v1h1v1H1V1H0z%22/%3E%3C/svg%3E"
    '"/>'
)
PICTURE = re.compile(r'<img(?=[^>]* src="(_images/[^"]+)")(?![^>]* width=)')
SEARCH_TAGS = re.compile(
    r'\s*<script src="(?:_static/(?:searchtools|language_data)|searchindex)\.js"></script>'
)
SEARCH_PAGE = "search.html"
TEXTS = ("sections.js", "preview-texts.js")  # of the book, for search and previews
WEIGHTS = re.compile(r' data-weights="([^"]{100000,})"')  # of a model that `draw_arcs` shows
WEIGHTS_FILE = "_static/weights-{}.js"  # which its script asks for when the widget is near
INDEX_PAGE = "genindex.html"
SECTION_SEARCH = (
    '<script src="_static/sections.js"></script>\n<script src="_static/search.js"></script>\n'
)
MODULE = re.compile(r" \((?:class )?in (?:module )?[\w.]+\)|(?<= \()[\w.]+\.(?=\w+ method\))")
SVG_TAG = re.compile(r"<svg\b[^>]*>")
ANY_TAG = re.compile(r"<[^>]*>")
PRINTED = re.compile(
    r'(<div class="output (?:text_plain|stream)[^>]*><div class="highlight"><pre)>(.*?)</pre>',
    re.DOTALL,
)
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
NOT_COLORED = re.compile(r'<span class="(?:nn?|p|w)">([^<]*)</span>')  # in pygments' styles
LENGTH = re.compile(r'\s(width|height)="([\d.]+)(pt|px)?"')
PX_PER_PT = 4 / 3
DRAWN = worded("The code that draws this is in the notebook.")  # in book.css
FOLD_NAME = ' aria-label="Toggle hidden content"'  # on each fold, over the words that are seen
WIDE = 600  # CSS pixels; a picture of this width is not shrunk on a phone, it is moved


def finish(folder: Path, equations: Typeset, say: Say = str) -> None:
    """Typeset the pages in `folder`, make them small, and whole without a network."""
    static = folder / "_static"
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}
    script = static / ICON_SCRIPT
    if script.exists():
        scripts = [p.read_text(encoding="utf-8") for p in static.glob("scripts/*theme.js")]
        styles = icon_styles(icons_used([*pages.values(), *scripts]), script.read_text("utf-8"))
        with (static / "book.css").open("a", encoding="utf-8") as style_sheet:
            style_sheet.write(styles)
        script.unlink()
    names = {path.name: text for path, text in pages.items()}
    (static / "sections.js").write_text(sections_script(names), encoding="utf-8")
    pages = {path: equations.page(text) for path, text in pages.items()}
    equations.copy_fonts(static / "fonts")
    with (static / "book.css").open("a", encoding="utf-8") as style_sheet:
        style_sheet.write(equations.style)
    names = {path.name: text for path, text in pages.items()}
    (static / "preview-texts.js").write_text(previews_script(names), encoding="utf-8")
    counts = Counter(code for text in pages.values() for code in SCRIPT.findall(text))
    sizes = {}
    for path in folder.glob("_images/*.svg"):
        svg = path.read_text(encoding="utf-8")
        path.write_text(with_dark_version(slim(svg)), encoding="utf-8")
        sizes[f"_images/{path.name}"] = size_of(svg)
    for path, text in pages.items():
        for name in PICTURE.findall(text):
            if not (folder / name).exists():
                raise BookError(f"{path.name} shows {name}, which is not there")
        text = SEARCH_TAGS.sub("", text)  # the theme loads Sphinx's index, whose results are pages
        if path.name == INDEX_PAGE:  # where each entry names the one module there is
            text = MODULE.sub("", text)
        if path.name == SEARCH_PAGE:
            text = text.replace("</head>", f"{SECTION_SEARCH}</head>", 1)
        text = PRINTED.sub(with_letters, text)
        text = text.replace("</details><details", "</details>\n<details")  # equal gaps in a row
        text = text.replace(FOLD_NAME, "")
        text = NOT_COLORED.sub(r"\1", text)  # two thirds of the parts of a page
        text = SCRIPT.sub(lambda s: s[0] if counts[s[1]] == 1 else shared(s[1], folder), text)
        text = WEIGHTS.sub(lambda held: kept_beside(held[1], folder), text)
        path.write_text(finished(with_fixed_words(text, say), sizes), encoding="utf-8")
    for look in filter(Path.exists, (static / "book.css", static / "language.css")):
        text = look.read_text("utf-8").replace(f'"{DRAWN}"', f'"{say(DRAWN)}"')
        look.write_text(FONT.sub(lambda font: inlined(static / font[1]), text), encoding="utf-8")
    for pattern in UNUSED:
        for path in folder.glob(pattern):
            if path.is_file():
                path.unlink()
    scripts = [p.read_text(encoding="utf-8") for p in static.glob("**/*.js") if is_small(p)]
    classes = classes_of(list(pages.values()), scripts)
    for path in static.glob("**/*.css"):
        path.write_text(used_only(path.read_text(encoding="utf-8"), classes), encoding="utf-8")
    for path in static.glob("s*/*.[cj]s*"):
        text = path.read_text(encoding="utf-8")
        if SOURCE_MAP.search(text):
            path.write_text(SOURCE_MAP.sub("", text), encoding="utf-8")


def inlined(font: Path) -> str:
    """Return a font as part of a style sheet: with it at once, no text moves when it comes."""
    data = base64.b64encode(font.read_bytes()).decode()
    font.unlink()
    return f"url(data:font/woff2;base64,{data})"


def with_letters(printed: re.Match) -> str:
    """Return printed lines, and how many letters the longest has."""
    lines = unescape(ANY_TAG.sub("", printed[2])).split("\n")
    return f'{printed[1]} style="--letters: {max(map(len, lines))}">{printed[2]}</pre>'


def is_small(script: Path) -> bool:
    """Say whether a script is one of the theme's or ours: no texts of the book, no weights."""
    return script.name not in TEXTS and not script.name.startswith("weights-")


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


def finished(page: str, sizes: dict[str, tuple[float, float]]) -> str:
    """Return the text of a page that asks for no icon script, and for pictures when in view.

    `sizes` are those of the pictures, for which the page keeps room until they are there.
    """

    def picture(tag: re.Match) -> str:
        width, height = sizes.get(tag[1], (0, 0))
        room = f' width="{width:g}" height="{height:g}"' if width else ""
        return f'<img loading="lazy"{room}{" data-wide" * (width > WIDE)}'

    page = page.replace("<head>", f"<head>\n    {ICON}", 1)  # else browsers ask for one
    return PICTURE.sub(picture, SCRIPT_TAG.sub("", page))


def size_of(svg: str) -> tuple[float, float]:
    """Return width and height of a picture in CSS pixels, zeros where it does not say."""
    tag = SVG_TAG.search(svg)
    found = {
        name: round(float(number) * (PX_PER_PT if unit == "pt" else 1), 2)
        for name, number, unit in LENGTH.findall(tag[0] if tag else "")
    }
    return found.get("width", 0), found.get("height", 0)
