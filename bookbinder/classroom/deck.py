"""Write the slides of a chapter or a session as one file that needs no other, and no network."""

import base64
import importlib.util
import mimetypes
import re
from html import escape
from pathlib import Path

from bookbinder.binding import read_edition_chapters
from bookbinder.config import ENGLISH, FILE, Book, Edition, chapter_named
from bookbinder.errors import BookError
from bookbinder.files import write_whole
from bookbinder.reading_time import sections
from bookbinder.routes import Route, read_route
from bookbinder.site.building import site_folder
from bookbinder.site.equations import NEEDED
from bookbinder.site.settings import folder_of
from bookbinder.site.styles import classes_of, used_only
from bookbinder.text import anchor_of

HERE = Path(__file__).parent
REVEAL = "sphinx_revealjs"  # which has reveal.js's files
STYLES = ("pygments.css", "book.css")  # of the site
CITATIONS = re.compile(r'(?:,?\s*<a [^>]*href="#reference-\d+">\[\d+\]</a>)+')
URL = re.compile(r"""url\(["']?(?!data:)([^"')]+)["']?\)""")
WEIGHTS = re.compile(r'data-from="([^"]*)"')
SCRIPT = re.compile(r'<script src="([^"]*)"></script>')
PICTURE = re.compile(r'(?<=<img )([^>]*?)src="(?!data:)([^"]*)"')


def write_deck(book: Book, edition: Edition, chapter: str, session: str) -> None:
    """Write the slides of a chapter, of a session, or of a session's part of a chapter."""
    if edition.language != ENGLISH:
        raise BookError(f"slides are in English only, got language {edition.language!r}")
    chapter = chapter and chapter_named(chapter, book.chapters_of(edition))
    wanted = what_to_show(book, edition, chapter, session)
    site = site_folder(book) / folder_of(edition, book.editions)
    session = session.lstrip("0")
    name = "-".join(filter(None, [chapter, session and f"session-{session:0>2}"]))
    folder = book.root / "_build" / "slides"
    folder = folder if edition == book.editions[0] else folder / edition.notebooks.name
    title = f"Session {session}" if session else book.title
    html, slides = deck(site, wanted, title)
    write_whole(folder / f"{name}.html", html)
    print(f"{book.named(folder / name)}.html: {slides} slides, {len(html) / 1e6:.1f} MB")


def what_to_show(book: Book, edition: Edition, chapter: str, session: str) -> Route:
    """Return the sections to show by chapter."""
    chapters = read_edition_chapters(book, edition)
    by_name = {c.name: sections(c) for c in chapters}
    if not session and not chapter:
        raise BookError("which slides? for example: make slides SESSION=1 or CHAPTER=4")
    if not session:
        return read_route([chapter], by_name, book.chapters, FILE)
    number = session.lstrip("0")
    if number not in book.sessions:
        known = ", ".join(book.sessions)
        raise BookError(f"no session {session!r} in {FILE}; known: {known}")
    where = f"{FILE}: sessions.{number}"
    route = read_route(book.sessions[number], by_name, book.chapters, where)
    route = {name: read for name, read in route.items() if chapter in ("", name)}
    if not route:
        of = f"chapter {chapter!r}" if chapter else f"a chapter of the edition {edition.name!r}"
        raise BookError(f"session {number} has no section of {of}")
    return route


def deck(site: Path, wanted: Route, title: str) -> tuple[str, int]:
    """Return the file with the slides of these sections, and how many they are."""
    import bs4  # comes with the packages of the site, which binding does without

    from bookbinder.classroom.slides import slides_of

    stacks, titles, number = [], [], 0
    for name, read in wanted.items():
        page = site / f"{name}.html"
        if not page.exists():
            raise BookError(f"the site has no page {name}; run `make site` first")
        text = CITATIONS.sub("", page.read_text(encoding="utf-8"))
        article = bs4.BeautifulSoup(text, "html.parser").article
        make_bare(article)
        titles.append(article.h1.get_text().strip())
        parts = [
            slides_of(article.find(id=anchor_of(s.heading)).parent)
            for s in read
            if s.heading.english.startswith("## ")
        ]
        for stack in [[opening(article, title)], *filter(None, parts)]:
            footer = f"<footer>{escape(titles[-1])}</footer>"
            walls = (f'<section><div class="wall">{s}{footer}</div></section>' for s in stack)
            stacks.append(f"<section>{''.join(walls)}</section>")
            number += len(stack)
    body = whole("\n".join(stacks), site)
    return (
        f"""<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>{escape(title)}: {escape(", ".join(titles))}</title>
<style>{styles(site, body)}</style></head>
<body><div class="reveal"><div class="slides">
{body}
</div></div>
{scripts()}
</body></html>
""",
        number,
    )


def make_bare(article) -> None:
    """Take out what leads elsewhere: links and anchors."""
    for link in article.select("a.headerlink"):
        link.decompose()
    for link in article.select("a"):
        link.unwrap()


def opening(article, title: str) -> str:
    """Return the first slide: title, question and strip; the notes say what the chapter teaches."""
    from bookbinder.classroom.slides import picture

    question, strip = article.select_one(".box-question"), article.select_one("img[src*=strip_]")
    return (
        f'<div class="opening"><p class="of">{escape(title)}</p>{article.h1}'
        f"{question or ''}{picture(strip) if strip else ''}</div>"
        f'<aside class="notes">{article.find("ul")}</aside>'
    )


def whole(html: str, site: Path) -> str:
    """Return HTML with pictures, scripts and weights in place of their addresses."""

    def weights(found: re.Match) -> str:
        text = (site / found[1]).read_text(encoding="utf-8")
        return f'data-weights="{text.split(chr(34))[3]}"'

    def script(found: re.Match) -> str:
        return f"<script>{(site / found[1]).read_text(encoding='utf-8')}</script>"

    html = WEIGHTS.sub(weights, html.replace(' loading="lazy"', ""))
    html = PICTURE.sub(lambda i: f'{i[1]}src="{data_of(site / i[2])}"', html)
    return SCRIPT.sub(script, html)


def data_of(file: Path) -> str:
    kind = "font/woff" if file.suffix == ".woff" else mimetypes.guess_type(file.name)[0]
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def styles(site: Path, body: str) -> str:
    """Return the rules that the slides need, of reveal.js, the site and the slides themselves."""
    static = site / "_static"
    classes = classes_of([body], [body])
    ours = [(static / name).read_text(encoding="utf-8") for name in STYLES]
    ours = [URL.sub(lambda url: f"url({data_of(static / url[1])})", text) for text in ours]
    texts = [reveal("dist/reveal.css"), *(used_only(text, classes) for text in ours)]
    return "\n".join([*texts, (HERE / "slides.css").read_text(encoding="utf-8")])


def scripts() -> str:
    texts = [reveal("dist/reveal.js"), reveal("plugin/notes/notes.js")]
    texts.append((HERE / "slides.js").read_text(encoding="utf-8"))
    safe = (text.replace("</script", r"<\/script") for text in texts)
    return "\n".join(f"<script>{text}</script>" for text in safe)


def reveal(name: str) -> str:
    """Return one of reveal.js's files."""
    package = importlib.util.find_spec(REVEAL)
    if package is None:
        raise BookError(f"{NEEDED} (no {REVEAL})")
    file = Path(package.origin).parent / "_static" / "revealjs" / name
    return file.read_text(encoding="utf-8")
