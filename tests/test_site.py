"""Sites: of a tiny book that has it all, as it is stored, and of this book in a pseudo-language."""

import json
import re
import shutil

import bs4
import pytest

from bookbinder.book import BookError, read_book, read_notebook
from bookbinder.commands import make_site
from bookbinder.compose import bind
from bookbinder.language.catalog import language_of
from bookbinder.site.building import site_folder
from bookbinder.site.printing import chromium, chromium_path, one_page
from bookbinder.site.sphinx_extension import index_letter
from bookbinder.slides import slides_of
from tests.conftest import DATA, assert_stored, write_files
from tests.pseudo import LANGUAGE, MARKED, PLAIN, pseudo_book
from tests.this_book import BOOK

FILES = re.findall(r"^==> (.*)\n((?:(?!==> ).*\n)+)", (DATA / "site.txt").read_text("utf-8"), re.M)
HAN, WORD = re.compile("[一-鿿]"), re.compile(r"(?<![\w“])[A-Za-z]{3,}(?!\w)")
FOUND = {"掩码": ["掩码"] * 2, "是掩": ["是掩"], "码": ["码"] * 2, "键": []}
TERMS = [("어텐션", "ko"), ("쿼리", "ko"), ("chú ý", "vi"), ("掩码", "zh_CN")]
NAMES = [*BOOK.chapters, "index", "functions", "references", "genindex", "search"]
# Code, formulas, cited works, labels of explorers, docstrings: English in every edition.
ENGLISH = (
    "pre, code, script, style, .math, svg, kbd, .role-references li, .d2l-explorer, dl.py dd, "
    "dl.py dt, .out, .onlyprint, .book-languages, .genindextable, .bd-article li p:has(a.external)"
)
SAME = (  # what a translated page has as often as the English one
    "section[id], section[class*=role-], .box, details, .cell_output, img, table, .book-card, "
    "[id^=equation-], [id^=reference-], a[href*='#reference-'], a.equation, strong[id^=term-], "
    ".genindextable li"
)


def build_site(book, language: str = "en"):
    make_site(book, book.edition(book.editions[0].framework, language), [], "")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The book with its site: in English, and then in Chinese, built alone."""
    root = tmp_path_factory.mktemp("a book")
    write_files(root, dict(FILES))
    book = read_book(root)
    for one in (book, *book.alone):
        bind(one, one.editions[0])
    build_site(book)
    build_site(book, "zh")
    return book


def outline(html: str) -> str:
    """Return what the articles of a page have, with formulas as TeX and code without its colors."""
    page = bs4.BeautifulSoup(html, "html.parser")
    for math in page("mjx-container"):
        math.replace_with("TeX")
    for part in page.select(".headerlink, script, .prev-next-footer"):
        part.decompose()
    for code in page(["pre", "code", "dt"]):
        code.string = code.get_text()
    for part in page.select("span:not([id], .math, .bound), .docutils:not(.cell)"):
        part.unwrap()
    parts = page.select(".part, .cover") or page.select("a.btn[href*=notebooks], article > *")
    return re.sub(r"\n\s*", "\n", "\n".join(map(str, parts or [page]))).strip()


def shown(book) -> dict[str, list[str]]:
    """Return the lines of the English pages, the Chinese ones of the others, and more."""
    site = site_folder(book)
    pages = {p.relative_to(site).as_posix(): p.read_text("utf-8") for p in site.rglob("*.html")}
    del pages["search.html"]  # it has no article
    found = {name: outline(pages[name]).splitlines() for name in sorted(pages)}
    for name in (name for name in pages if "/" in name):
        found[name] = [line for line in found[name] if HAN.search(line)]
    for name in ("00_first.html", "apart.html", "pytorch-zh/00_first.html"):
        found[f"menus of {name}"] = re.findall(r'.*(?:book-editions|<a href="\.+/).*', pages[name])
    for script in ("sections.js", "preview-texts.js"):
        text = (site / "_static" / script).read_text("utf-8").partition(" = ")[2]
        entries = json.loads(text.removesuffix(";\n")).items()
        found[script] = [f"{name}: {outline(str(said))}" for name, said in entries]
    found["pictures"] = sorted(path.read_text("utf-8") for path in site.glob("_images/*.svg"))
    texts = {name: pages[f"{name}.html"] for name in ("00_first", "references")}
    printed = one_page(("Tiny", "A & B"), texts, "site", language_of(book, "en"))
    found["print"] = [*re.findall(r"(?:section\[id=|@page of).*", printed), outline(printed)]
    notebook = read_notebook(site / "notebooks/pytorch/00_first.ipynb")
    found["notebook"] = [f"{c.metadata} {c.source[:60]!r}" for c in notebook.cells]
    look = (site / "pytorch-zh/_static/book.css").read_text("utf-8")
    found["look"] = [line for line in look.splitlines() if HAN.search(line)]
    looks = [*site.rglob("_static/*.css"), *site.rglob("OFL.txt")]
    found["looks"] = sorted(path.relative_to(site).as_posix() for path in looks)
    slides = slides_of(read_notebook(book.editions[0].notebooks / "02_slides.ipynb")).cells
    found["letters"] = [f"{term}: {index_letter(term, of)}" for term, of in TERMS]
    found["slides"] = [f"{c.metadata.slideshow.slide_type}: {c.source}" for c in slides]
    return found


@pytest.mark.xdist_group("tiny")
def test_the_pages_are_those_that_are_stored(built):
    pages = (f"==> {name}\n" + "\n".join(lines) for name, lines in shown(built).items())
    assert_stored("\n".join(pages), "site_pages.txt")


STOPS = {  # a mistake -> the message, and whether the book is bound with it
    ("see [there]", "see {oddrole}`x` [there]"): (r"^01_second\.ipynb.*oddrole", True),
    ("$aaa", r"$\frac{1}$ $aaa"): (r"\\frac\{1\}: Missing argument", True),
    ("first.ipynb#Ref", "first.ipynb#Def"): (r"^01_second\.ipynb.*00_first.*Deferences", True),
    ("Then *another*", "![x](no.svg)"): ("image file not readable: no.svg", True),
    ("By ", "From "): ("run `make notebooks`", False),
    ("It stands", "It stood"): (r"jax/apart\.ipynb differs[^`]*run .* FRAMEWORK=jax`$", False),
}


@pytest.mark.xdist_group("tiny")
@pytest.mark.parametrize("mistake", STOPS)
def test_a_mistake_stops_the_build_with_its_place_and_leaves_the_site(built, tmp_path, mistake):
    shutil.copytree(built.root, tmp_path / "a", ignore=shutil.ignore_patterns("site-source"))
    book, (message, is_bound) = read_book(tmp_path / "a"), STOPS[mistake]
    site, chapters = site_folder(book), (book.source / "01_second.md", book.source / "jax/apart.md")
    before = {path: path.read_bytes() for path in site.rglob("*.html")}
    for chapter in chapters:
        chapter.write_text(chapter.read_text("utf-8").replace(*mistake), encoding="utf-8")
    if is_bound:
        bind(book, book.editions[0])
    with pytest.raises(BookError, match=message):
        build_site(book)
    assert {path: path.read_bytes() for path in site.rglob("*.html")} == before
    assert not site.with_name("site.new").exists()


@pytest.mark.xdist_group("tiny")
@pytest.mark.skipif(chromium_path() is None, reason="no Chromium")
def test_in_chinese_the_search_finds_words_and_the_menu_leads_to_the_same_heading(built):
    folder = (site_folder(built) / "pytorch-zh").as_uri()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 240})  # so that it scrolls
        for query, marks in FOUND.items():
            page.goto(f"{folder}/search.html?q={query}")
            page.wait_for_selector(".search-summary")
            assert page.locator("p mark").all_text_contents() == marks
        page.goto(f"{folder}/01_second.html")
        page.evaluate("document.querySelector('article h2').scrollIntoView()")
        page.evaluate("document.querySelector('.book-languages a[lang=en]').click()")
        page.wait_for_url("**/site/01_second.html#use-a-new-term")


def test_a_translated_site_has_all_that_the_english_one_has_and_nothing_plain(tmp_path):
    book = pseudo_book(tmp_path)
    build_site(book, LANGUAGE)
    folders = site_folder(BOOK), site_folder(book) / f"pytorch-{LANGUAGE}"  # the first: `make site`
    counts, plain = {}, []
    for name in NAMES:
        texts = [(folder / f"{name}.html").read_text("utf-8") for folder in folders]
        english, page = (bs4.BeautifulSoup(text, "html.parser") for text in texts)
        for what in SAME.split(", "):
            counts[what, name] = len(english.select(what)), len(page.select(what))
        assert page.html["lang"] == LANGUAGE
        plain += [(name, link["href"]) for link in page.select("a[href^='../']")]  # it is alone
        for part in page.select(ENGLISH):
            part.clear()
        for text in page.body.stripped_strings:
            words = [word for word in re.findall(WORD, text) if {*word} & {*PLAIN}]
            if len(words) > 2 and not {*text} & {*MARKED}:
                plain.append((name, text))
    assert plain == [*((key, n) for key, n in counts.items() if n[0] != n[1])] == []
