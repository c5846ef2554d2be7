"""The site's sources and pages, of a tiny book; and builds that must fail."""

import json
import re
import shutil
from pathlib import Path

import bs4
import nbformat
import pytest

from bookbinder.config import read_book
from bookbinder.files import BookError, read_notebook
from bookbinder.language import Language
from bookbinder.site import building
from bookbinder.site.building import build_alone, build_site, site_folder
from bookbinder.site.equations import Typeset
from bookbinder.site.finishing import DRAWN
from bookbinder.site.lookup import functions_page
from bookbinder.site.printing import chromium, chromium_path, localize
from bookbinder.site.sources import site_notebook
from bookbinder.site.sphinx_extension import index_letter
from bookbinder.site.svg import slim, with_dark_version
from bookbinder.site.texts import page_scripts
from tests.conftest import ROOT, TINY, bind_without_running, write_files

IN_ENGLISH = Language("en", lambda _: {})
HEAD = 'repository = "https://github.com/someone/some-book"\n'
TOML = TINY["book.toml"].replace('["en"]', '["en", "zh"]')
REFERENCES = """
## References

1. A. Author, “A Title”, 2020. [site](https://example.org).
   A note.
"""
BOOK = {
    "book.toml": f"{HEAD}{TOML}",
    "README.md": "# Tiny\n\n[![Open in Colab](a.svg)](b)\n\nWhat the book is.\n",
    "book/00_first.md": f"""
# 0. First

> **The question.** Why?

**Time** {{{{minutes}}}}

A **new term**, cited [[1]](#References).

$$ a = b \\tag{{0.1}} $$
{REFERENCES}""",
    "book/01_second.md": f"""
# 1. Second

By [(0.1)](00_first.ipynb), see [there](00_first.ipynb#References).

## Use a new term

It is a new term, and new terms are linked once.
Then *another* line of *it*.
{REFERENCES}""",
}
CHINESE = {
    "00_first": {
        "First": "第一章",
        "**The question.** Why?": "**问题。** 为何？",
        "A **new term**, cited [[1]](#References).": "**掩码**(new term)引自 [[1]](#References)。",
        "References": "参考文献",
    },
    "01_second": {
        "Second": "第二章",
        "A note.": "注。",
        "References": "参考文献",
        "Use a new term": "使用掩码",
        "It is a new term, and new terms are linked once.": "这就是掩码。",
        "Then *another* line of *it*.": "再来*一句* *it*。",
    },
    "readme": {"Tiny": "小书", "What the book is.": "何书。"},
    "interface": {
        "Index": "索引",
        "Chapter {number}": "第 {number} 章",
        "{read} minutes": "{read} 分钟",
        "Nothing found: try fewer or other words.": "未找到",
        "Toggle primary sidebar": "侧栏",
    },
}


def make_book(root: Path):
    """Write the book and its catalogs, and bind it: its only code is a cell that installs."""
    write_files(root, BOOK)
    for name, texts in CHINESE.items():
        path = root / f"book/locale/zh/{name}.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = [f'msgid "{english}"\nmsgstr "{said}"\n' for english, said in texts.items()]
        path.write_text(
            "\n".join(['msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n', *entries])
        )
    return bind_without_running(root)


def soup(path):
    return bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The book with its site: in English, and then in Chinese, built alone."""
    book = make_book(tmp_path_factory.mktemp("a book"))
    build_site(book)
    english = (site_folder(book) / "00_first.html").read_text()
    assert "book-languages" not in english
    build_alone(book, book.edition("pytorch", "zh"))
    assert (site_folder(book) / "00_first.html").read_text() == english
    return book


@pytest.fixture
def book(built, tmp_path):
    """A copy that a test may change."""
    shutil.copytree(built.root, tmp_path / "book", ignore=shutil.ignore_patterns("site-source"))
    return read_book(tmp_path / "book")


def test_pages_lead_to_equations_terms_sections_and_their_notebook(built):
    site = site_folder(built)
    first, second = ((site / f"{name}.html").read_text() for name in built.chapters)
    assert 'href="00_first.html#equation-0-1"' in second
    assert "new term" in (site / "genindex.html").read_text()
    assert '<section class="role-references" id="references">' in second
    assert "some-book/blob/main/notebooks/pytorch/00_first.ipynb" in first  # Colab
    assert "mybinder.org" in first
    assert "subprocess" not in first  # the cell that installs is for who opens the notebook
    name = "notebooks/pytorch/00_first.ipynb"
    copy, stored = (read_notebook(folder / name) for folder in (site, built.root))
    assert [c.source for c in copy.cells] == [c.source for c in stored.cells]
    assert "subprocess" in copy.cells[0].source
    assert soup(site / "index.html").select_one("h1 + p").get_text() == "What the book is."


def test_a_work_that_two_chapters_cite_is_listed_once(built):
    (work,) = soup(site_folder(built) / "references.html").select("article section > ul > li")
    assert work.get_text().count("“A Title”") == 1
    links = [(a["href"], " ".join(a.parent.get_text().split())) for a in work("a")]
    assert links[1:] == [
        ("00_first.html#reference-1", "Chapter 0: A note."),
        ("01_second.html#reference-1", "Chapter 1: A note."),
    ]


STOPS = {  # a mistake -> the message, and whether the book is bound with it
    ("see [there]", "see {oddrole}`x` [there]"): (r"^01_second\.ipynb.*oddrole", True),
    ("first.ipynb#Ref", "first.ipynb#ref"): ("_second.md:3: 00_first has no heading #ref", True),
    ("By ", "From "): ("run `make notebooks`", False),
}


@pytest.mark.parametrize("mistake", STOPS)
def test_a_mistake_stops_the_build_with_its_place_and_leaves_the_site(book, mistake):
    site, chapter, (message, bound) = (
        site_folder(book),
        book.source / "01_second.md",
        STOPS[mistake],
    )
    before = {path: path.read_bytes() for path in site.rglob("*.html")}
    chapter.write_text(chapter.read_text().replace(*mistake))
    if bound:
        bind_without_running(book.root)
    with pytest.raises(BookError, match=message):
        build_site(book)
    assert {path: path.read_bytes() for path in site.rglob("*.html")} == before
    assert not site.with_name("site.new").exists()


def test_a_translation_has_its_terms_its_words_and_no_gaps_between_sentences(built):
    site = site_folder(built) / "pytorch-zh"
    text = (site / "01_second.html").read_text().replace("<wbr/>", "<wbr>")
    for part in (
        'lang="zh-CN"',
        "掩码。<wbr>再来",
        '<em>一句</em> <em class="latin">it</em>',
        "侧栏",
    ):
        assert part in text
    index = soup(site / "genindex.html").article.get_text()
    assert re.search("索引.*Y.*掩码", index, re.DOTALL)  # its letter is that of yanma
    assert "text-emphasis" in (site / "_static/language.css").read_text()
    assert not (site.parent / "_static/language.css").exists()
    look = Path(building.__file__).parent / "look/book.css"
    assert f'"{DRAWN}"' in look.read_text()  # words of a style, which are translated


@pytest.mark.skipif(chromium_path() is None, reason="no Chromium")
def test_in_chinese_the_search_finds_words_and_the_menu_leads_to_the_same_heading(built):
    folder = (site_folder(built) / "pytorch-zh").as_uri()
    with chromium() as browser:
        page = browser.new_page()
        found = {}
        for query in ("掩码", "是掩", "码", "键"):
            page.goto(f"{folder}/search.html?q={query}")
            page.wait_for_selector(".search-summary")
            found[query] = [mark.text_content() for mark in page.query_selector_all("p mark")]
        page.set_viewport_size({"width": 1280, "height": 240})  # even a short page scrolls
        page.goto(f"{folder}/01_second.html")
        page.evaluate("document.querySelector('article h2').scrollIntoView()")
        page.evaluate("document.querySelector('.book-languages a[lang=en]').click()")
        page.wait_for_url("**/site/01_second.html#use-a-new-term")
    assert found == {"掩码": ["掩码"] * 2, "是掩": ["是掩"], "码": ["码"] * 2, "键": []}


FOLDS = [  # a cell's source and tag, and the tag that folds or removes it
    ("draw()", "solution", {"remove-cell"}),  # its text is in the fold
    ("draw()", "drawing", {"hide-input"}),  # its picture is not
    ("import a\nimport b", "slide", {"hide-input"}),
    ("draw()", "decide", set()),
]


def test_code_that_need_not_be_read_is_folded():
    cells = [nbformat.v4.new_code_cell(x, metadata={"tags": [tag]}) for x, tag, _ in FOLDS]
    title = nbformat.v4.new_markdown_cell("# 0. T")
    made = site_notebook(nbformat.v4.new_notebook(cells=[title, *cells]), (), IN_ENGLISH).cells
    tags = [{*cell.metadata.tags} for cell in made if cell.cell_type == "code"]
    assert [x - {tag} for x, (_, tag, _) in zip(tags, FOLDS, strict=True)] == [x[2] for x in FOLDS]


def test_search_has_each_section_once_and_gives_no_solution_away():
    page = """<article class="bd-article"><section id="a"><h1>0. T<a class="headerlink">#</a></h1>
        <p>A <strong>key</strong></p><pre>x</pre><section id="b"><h2>Inner</h2>Text.</section>
        <section id="c" class="role-exercises"><h2>E</h2>Do.<details>Solved.</details></section>
        </section></article>
    """
    script = page_scripts({"0.html": page}, str)["sections.js"]
    found = [["a", "0. T", "A key", ["key"]], ["b", "Inner", "Text.", []], ["c", "E", "Do.", []]]
    assert json.loads(script.partition(" = ")[2].rstrip(";\n")) == {"0.html": found}


def test_a_picture_gets_a_dark_version_and_loses_what_no_eye_sees():
    cells = '<g id="QuadMesh_1"><path style="fill: #08306b; stroke: #eeeeee"/></g>'
    diagram = '<rect fill="#FBE0CC" stroke="#D55E00"/><g stroke="#CC79A7"/>'
    svg = f'<svg a="b">{cells}<path style="stroke: #e0e0e0"/>{diagram}</svg>'
    style = with_dark_version(svg).partition("</style>")[0]
    # Heat maps are turned by a filter; what is light enough for a dark page stays.
    assert re.findall("#(?:08306b|e0e0e0|FBE0CC|CC79A7)", style) == ["#FBE0CC", "#e0e0e0"]
    assert "QuadMesh" in style
    assert "filter" not in with_dark_version(svg.replace("QuadMesh", "patch"))
    boxes = (((0, 1.23456), "a"), ((1.23456, 20), "a"), ((20, 30), "b"))
    paths = "\n".join(
        f'<path d="M {x} 0 \nL {to} 0 \nL {to} 5 \nL {x} 5 \nL {x} 0 \n" clip-path="url(#p)" '
        f'style="fill: #{fill}"/>'
        for (x, to), fill in boxes
    )
    assert re.findall('d="(.*?)".*?#(.)"', slim(f'<g id="QuadMesh_1">\n{paths}\n</g>')) == [
        ("M0 0h1.23v5h-1.23zM1.23 0h18.77v5h-18.77z", "a"),
        ("M20 0h10v5h-10z", "b"),
    ]


def test_a_formula_keeps_its_tex_and_its_width_and_holds_the_signs_around_it():
    text = '<p>Take (<span class="math">a &lt; b</span>), and <span class="math">a</span> too.</p>'
    wide = [f'<div class="math">{"x" * n} \\tag{{1.{n}}}</div>' for n in (1, 9)]
    equations = Typeset([text, *wide])
    bound, alone = bs4.BeautifulSoup(equations.page(text), "html.parser").select("span.math")
    assert (bound["data-tex"], bound.math.get_text()) == ("a < b", "a<b")
    assert bound.parent["class"] == ["bound"]
    assert (bound.previous_sibling, bound.next_sibling) == ("(", "),")
    assert alone.parent.name == "p"
    widths = [float(re.search(r"--width: ([\d.]+)", equations.page(page))[1]) for page in wide]
    assert widths[1] - widths[0] == pytest.approx(8 * 0.572, abs=0.02)  # em of an x
    with pytest.raises(BookError, match=r"\\frac\{1\}: Missing argument"):
        Typeset([r'<span class="math">\frac{1}</span>'])


def test_every_public_function_of_the_module_is_on_its_page():
    folder = read_book(ROOT).editions[0].module.parent
    texts = {f"d2l_attention.{p.stem}": p.read_text(encoding="utf-8") for p in folder.glob("*.py")}
    page = functions_page("d2l_attention.torch", [], texts)
    shown = re.findall(r"\{py:(?:function|class)\} (\w+)", page)
    listed = re.search(r"^__all__ = \[(.*?)\]", texts["d2l_attention.torch"], re.M | re.S)[1]
    assert sorted(shown) == sorted(re.findall(r'"(\w+)"', listed))
    assert not re.search("Args:|Raises:", page)
    assert re.search(r"\*\*Arguments\*\*\n\n- `X`: \S.*\n- `valid_lens`: \S", page)
    assert "\n- `valid_lens`, `mask`, `need_weights`: as for" in page
    assert "\n- `q`, `k`: projected" in functions_page("d2l_attention.jax", [], texts)


def test_in_print_folds_are_open_links_lead_within_and_solutions_stand_last():
    article = bs4.BeautifulSoup(
        """<article><h1 id="top">T</h1><a href="01_b.html#end">b</a>
        <a href="genindex.html">c</a><a href="https://example.org">d</a>
        <section class="role-exercises"><h2>Exercises</h2><section id="one">
        <h3>Exercise 1.1</h3><p>Task.</p><details class="hint">Step.</details>
        <details><summary>Solution</summary>Words.</details></section></section>
        <section id="summary">End.</section></article>""",
        "html.parser",
    )
    localize(article, "00_a", {"00_a", "01_b"}, "../site", IN_ENGLISH)
    assert [a.get("href") for a in article("a")] == ["#01_b--end", None, "https://example.org"]
    assert article.h1["id"] == "00_a--top"
    assert all(fold.has_attr("open") for fold in article("details"))
    parts = ["Exercise 1.1", "Task.", "Step.", "End.", "Solutions", "Exercise 1.1", "Solution"]
    assert [*article.stripped_strings][-8:] == [*parts, "Words."]


def test_an_index_in_korean_has_its_letters_and_one_in_vietnamese_those_of_english():
    assert [index_letter(term, "ko") for term in ("어텐션", "마스크", "쿼리")] == ["ㅇ", "ㅁ", "ㅋ"]
    assert index_letter("chú ý", "vi") is None
