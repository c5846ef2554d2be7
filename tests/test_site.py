"""The site's sources: links, folds, references, functions; and builds that must fail."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import bs4
import nbformat
import numpy as np
import pytest
from conftest import ROOT, TINY, write_files
from test_left_out import book as lacking  # noqa: F401, a fixture

from bookbinder.binding import bind_module, notebook_path, read_edition_chapters
from bookbinder.config import read_book
from bookbinder.errors import BookError
from bookbinder.files import as_text
from bookbinder.publish import published
from bookbinder.site import building, dark_svg, printing
from bookbinder.site.bibliography import references_page
from bookbinder.site.browser import chromium, chromium_path
from bookbinder.site.building import build_site, site_folder
from bookbinder.site.dark_svg import dark, with_dark_version
from bookbinder.site.dates import last_changes
from bookbinder.site.equations import Typeset
from bookbinder.site.functions import docstring_as_markdown, functions_page
from bookbinder.site.home import lead_of
from bookbinder.site.icons import icon_styles, icons_used
from bookbinder.site.light_svg import slim
from bookbinder.site.pages import site_notebook
from bookbinder.site.postprocess import DRAWN, MODULE, finish
from bookbinder.site.printing import check_letters, localize
from bookbinder.site.search_index import sections
from bookbinder.site.sphinx_extension import index_letter
from bookbinder.site.styles import classes_of, used_only
from bookbinder.site.theme_words import WORDS

BOOK = {
    "book.toml": TINY["book.toml"],
    "README.md": """
        # Tiny

        What the book is.
    """,
    "book/00_first.md": """
        # 0. First

        > **The question.** Why?

        **Time** {{minutes}}

        A **new term**, cited [[1]](#References).

        $$ a = b \\tag{0.1} $$

        ## References

        1. A. Author, “A Title”, 2020. [site](https://example.org).
           A note.
    """,
    "book/01_second.md": """
        # 1. Second

        By [(0.1)](00_first.ipynb), see [there](00_first.ipynb#References).

        ## Use a new term

        It is a new term, and new terms are linked once.

        ## References

        1. A. Author, “A Title”, 2020. [site](https://example.org).
           Another.
    """,
}


@pytest.fixture
def book(tmp_path, monkeypatch):
    write_files(tmp_path / "a book", BOOK)
    monkeypatch.chdir(tmp_path / "a book")
    bind_without_running(tmp_path / "a book")
    return read_book(tmp_path / "a book")


def bind_without_running(root: Path):
    """Write the notebooks of chapters that have no code but a cell that installs."""
    book = read_book(root)
    edition = book.editions[0]
    chapters = read_edition_chapters(book, edition)
    bind_module(book, edition, chapters)
    edition.notebooks.mkdir(parents=True, exist_ok=True)
    for chapter in chapters:
        made = published(chapter, chapter.notebook)
        for at, cell in enumerate((c for c in made.cells if c.cell_type == "code"), 1):
            cell.execution_count = at
        notebook_path(edition, chapter.name).write_text(as_text(made))


def change(root: Path, old: str, new: str, file="book/01_second.md"):
    path = root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    bind_without_running(root)


def name_repository(root: Path):
    path = root / "book.toml"
    path.write_text(f'repository = "https://github.com/someone/some-book"\n{path.read_text()}')
    bind_without_running(root)


def chapters_of(book):
    return read_edition_chapters(book, book.editions[0])


@pytest.mark.parametrize(
    ("source", "tags", "fold"),
    [
        ("draw()", ["solution"], "remove-cell"),  # its text is in the fold
        ("draw()", ["drawing"], "hide-input"),  # its picture is not
        ("draw()", ["validation"], "hide-input"),
        ("import a\nimport b", [], "hide-input"),
        ("draw()", ["decide"], None),
    ],
)
def test_code_that_need_not_be_read_is_folded(source, tags, fold):
    title = nbformat.v4.new_markdown_cell("# 0. T")
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags})
    made = site_notebook(nbformat.v4.new_notebook(cells=[title, cell])).cells[1].metadata
    assert [tag for tag in made.tags if tag not in tags] == [fold] * bool(fold)


def test_a_picture_that_is_not_there_stops_the_build(tmp_path):
    (tmp_path / "_static").mkdir()
    page = tmp_path / "index.html"
    page.write_text('<head></head><img alt="A." src="_images/none.svg">')
    with pytest.raises(BookError, match=r"index\.html shows _images/none\.svg"):
        finish(tmp_path, Typeset([], []))


def test_the_index_does_not_repeat_the_module():
    lines = ["f() (in module a.torch)", "C (class in a.torch)", "g() (a.torch.C method)"]
    assert [MODULE.sub("", line) for line in lines] == ["f()", "C", "g() (C method)"]


def test_search_has_each_section_once_and_functions_by_name():
    page = """<article class="bd-article"><section id="a"><h1>0. T<a class="headerlink">#</a></h1>
        <p>Why <span class="math">x</span>?</p><section id="b"><h2>Inner</h2><p>Text.</p></section>
        <dl class="py"><dt id="m.f">f<span>(x)</span></dt>
        <dd>It maps.</dd></dl></section></article>
    """
    assert sections("0.html", page) == [
        ["0.html", "a", "0. T", "0. T", "Why x?"],
        ["0.html", "b", "0. T", "Inner", "Text."],
        ["0.html", "m.f", "0. T", "f", "f(x) It maps."],
    ]


def test_a_work_that_two_chapters_cite_is_listed_once(book):
    page = references_page(chapters_of(book))
    assert page.count("“A Title”") == 1
    assert '<a href="00_first.html#reference-1">Chapter 0</a>: A note.' in page
    assert '<a href="01_second.html#reference-1">Chapter 1</a>: Another.' in page


def turned(color):
    """Return what the filter of heat maps makes of a color, as red, green and blue from 0 to 1."""
    red, green, blue, _ = np.array(dark_svg.TURNED.split(), float).reshape(4, 5)
    seen = [*dark_svg.channels(color), 0, 1]
    return [min(max(float(row @ seen), 0), 1) for row in (red, green, blue)]


def test_on_a_dark_page_0_is_dark_and_1_a_bright_blue():
    light, page = turned("#f7fbff"), dark_svg.channels("#121212")
    assert max(abs(a - b) for a, b in zip(light, page, strict=True)) < 0.03
    middle, full = turned("#6baed6"), turned("#08306b")
    assert sum(light) < sum(middle) < sum(full)
    assert full[2] > 0.95  # blue
    assert full[0] < full[1] < full[2]
    assert max(turned("#808080")) - min(turned("#808080")) < 0.01


def test_a_figure_gets_a_dark_version_and_a_filter_turns_heat_maps():
    cells = '<g id="QuadMesh_1"><path style="fill: #08306b; stroke: #eeeeee"/></g>'
    svg = f'<svg a="b">{cells}<path style="stroke: #e0e0e0"/></svg>'
    style = with_dark_version(svg).removeprefix('<svg a="b">').partition("</style>")[0]
    assert style.startswith("<style>@media (prefers-color-scheme: dark){svg{fill:#f2f2f2}")
    assert "#08306b" not in style
    assert "#eeeeee" not in style
    assert '[id^="QuadMesh"]{filter:url(#dark-cells);fill:#000}' in style  # black: no color
    assert '[style*="stroke: #e0e0e0"]:not([id^="QuadMesh"] *)' in style
    assert '</style><filter id="dark-cells"' in with_dark_version(svg)
    assert "filter" not in with_dark_version(svg.replace("QuadMesh", "patch"))
    assert with_dark_version("no picture") == "no picture"


def test_a_diagram_keeps_its_edges_and_its_pale_boxes_become_dark():
    shapes = '<rect fill="#FBE0CC" stroke="#D55E00"/><g stroke="#CC79A7"/>'
    svg = f'<svg>{shapes}<text fill="#222222"/></svg>'
    made = with_dark_version(svg)
    assert '[fill="#FBE0CC"]{fill:' in made
    assert '[stroke="#CC79A7"]' not in made  # light enough
    assert '[stroke="#D55E00"]{stroke:#ec7d2c!important}' in made
    assert [dark(color) for color in ("#FFFFFF", "#000000")] == ["#121212", "#f2f2f2"]


def test_chapters_have_the_day_of_their_last_commit_where_there_is_git(tmp_path):
    command = ["git", "log", "-1", "--format=%cs", "--", "book/04_masked_softmax.md"]
    day = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert last_changes(ROOT / "book")["04_masked_softmax.md"] == day.strip()
    assert last_changes(tmp_path) == {}


def test_the_lead_of_the_readme_is_its_first_paragraph_of_words():
    assert lead_of("# T\n\n[![Open in Colab](a.svg)](b)\n\n`code`\n\nLead.\n\nMore.") == "Lead."


def test_a_docstring_becomes_a_list_of_arguments():
    page = docstring_as_markdown(
        "Do it.\n\n    Args:\n        a, b: two\n            lines\n        c: one\n"
    )
    assert page == "Do it.\n\n**Arguments**\n\n- `a`, `b`: two lines\n- `c`: one"


def test_the_short_form_of_a_docstring_becomes_a_list_too():
    page = docstring_as_markdown(
        "Do it.\n\n    Args: a (n, m) or\n        (m,); b and c, two.\n    Raises: E if none.\n"
    )
    arguments = "**Arguments**\n\n- `a`: (n, m) or (m,)\n- `b`, `c`: two"
    assert page == f"Do it.\n\n{arguments}\n\n**Raises**\n\n- `E`: if none"


def test_in_print_folds_are_open_links_lead_within_and_solutions_stand_last():
    article = bs4.BeautifulSoup(
        """<article><h1 id="top">T<a class="headerlink">#</a></h1>
        <img loading="lazy" src="_images/a.svg"><a href="01_b.html#end">b</a>
        <a href="genindex.html">c</a><a href="https://example.org">d</a>
        <div class="d2l-explorer"><p class="still">Still picture at a = 1. Sliders appear.</p></div>
        <section class="role-exercises"><h2>Exercises</h2><section id="one">
        <h3>Exercise 1.1: count</h3><p>Task.</p><details class="hint">Step.</details>
        <details><summary>Solution</summary>Words.</details></section></section>
        <section id="summary">End.</section></article>""",
        "html.parser",
    )
    localize(article, "00_a", {"00_a", "01_b"}, "../site")
    assert (article.h1.get_text(), article.h1["id"]) == ("T", "00_a--top")
    assert article.img["src"] == "../site/_images/a.svg"
    assert [a.get("href") for a in article("a")] == ["#01_b--end", None, "https://example.org"]
    assert article.select_one(".still").get_text() == "Still picture at a = 1."
    assert all(fold.has_attr("open") for fold in article("details"))
    parts = ["Exercise 1.1: count", "Task.", "Step.", "End.", "Solutions", "Exercise 1.1: count"]
    parts += ["Solution", "Words."]
    assert [t for t in article.stripped_strings if t in parts] == parts


def test_every_public_function_of_the_module_is_on_its_page():
    module = read_book(ROOT).editions[0].module
    text = module.read_text(encoding="utf-8")
    helpers = {
        f"d2l_attention.{path.stem}": path.read_text(encoding="utf-8")
        for path in module.parent.glob("*.py")
    }
    page = functions_page(text, f"d2l_attention.{module.stem}", [], helpers)
    shown = re.findall(r"\{py:(?:function|class)\} (\w+)", page)
    public = ast.literal_eval(re.search(r"^__all__ = (\[.*?\])", text, re.MULTILINE | re.DOTALL)[1])
    assert sorted(shown) == sorted(public)
    assert "Args:" not in page
    assert "Raises:" not in page


def test_icons_are_found_by_their_whole_name():
    script = '"list-alt":[9,9,[],"f0",["a","Mx"]],list:[5,6,[],"f0ca","M1 2"]'
    styles = icon_styles(icons_used(['<i class="fa-solid fa-list">']), script)
    assert "M1%202" in styles
    assert "Mx" not in styles


def test_pictures_lose_digits_that_no_eye_sees_and_gaps():
    picture = '<path d="M 1.23456 2.5 \nL -3 4 \nz\n" y="1.23456"/>'
    assert slim(picture) == '<path d="M1.23 2.5L-3 4z" y="1.23456"/>'


def test_a_bracket_stays_open():
    bracket = '<path d="M28 48L22 48L22 216L28 216" fill="none"/>'
    assert slim(bracket) == bracket


def test_equal_cells_of_a_heat_map_are_one_path():
    row = [("0", "10", "a"), ("10", "20", "a"), ("20", "30", "b")]
    cells = [
        f'<path d="M {x} 0 \nL {to} 0 \nL {to} 5 \nL {x} 5 \nL {x} 0 \n" clip-path="url(#p)" '
        f'style="fill: #{fill}; stroke: #c; stroke-width: 0.6"/>'
        for x, to, fill in row
    ]
    lines = "\n".join(cells)
    assert slim(f'<g id="QuadMesh_1">\n{lines}\n   </g>') == (
        '<g id="QuadMesh_1" clip-path="url(#p)" style="stroke: #c; stroke-width: 0.6">\n'
        '<path d="M0 0h10v5h-10zM10 0h10v5h-10z" style="fill: #a"/>\n'
        '<path d="M20 0h10v5h-10z" style="fill: #b"/>\n</g>'
    )


def test_letters_stand_where_they_stood_and_groups_have_no_names():
    letter = '<use xlink:href="#DejaVuSans-Bold-16" transform="translate(63.623047 0)"/>'
    picture = f'<g id="text_1">{letter}</g><g id="xtick_1"><g id="line2d_1"/></g>'
    assert slim(picture) == '<g><use xlink:href="#-Bold-16" x="63.62"/></g>'
    high = '<use xlink:href="#a" transform="translate(1.23456 2.5) scale(0.7)"/>'
    assert slim(high) == '<use xlink:href="#a" transform="translate(1.23 2.5) scale(0.7)"/>'


def test_hatched_neighbors_are_one_rectangle():
    boxes = "".join(
        f"M{x} {y}L{x + 5} {y}L{x + 5} {y + 5}L{x} {y + 5}z" for y in (0, 5) for x in (0, 5)
    )
    path = f'<path d="{boxes}" clip-path="url(#p)" style="fill: url(#h)"/>'
    assert (
        slim(path)
        == '<path d="M0 0h10v5h-10zM0 5h10v5h-10z" clip-path="url(#p)" style="fill: url(#h)"/>'
    )


def test_a_formula_is_typeset_keeps_its_tex_and_holds_the_signs_around_it():
    text = '<p>Take (<span class="math">a &lt; b</span>), and <span class="math">a</span> too.</p>'
    made = Typeset([text], []).page(text)
    bound, alone = bs4.BeautifulSoup(made, "html.parser").select("span.math")
    assert bound["data-tex"] == "a < b"
    assert bound.parent["class"] == ["bound"]
    assert (bound.previous_sibling, bound.next_sibling) == ("(", "),")
    assert alone.parent.name == "p"
    assert [m.get_text() for m in (bound.math, alone.math)] == ["a<b", "a"]
    assert bound.select_one("mjx-math")["aria-hidden"] == "true"


def test_an_equation_says_how_wide_it_is_and_the_style_sheet_has_its_letters_alone():
    pages = [
        f'<div class="math" id="equation-1-{n}">{"x" * n} \\tag{{1.{n}}}</div>' for n in (1, 9)
    ]
    equations = Typeset(pages, [])
    widths = [float(re.search(r"--width: ([\d.]+)", equations.page(page))[1]) for page in pages]
    assert widths[1] - widths[0] == pytest.approx(8 * 0.572, abs=0.02)  # em of an x
    assert "MathJax_Math-Italic.woff" in equations.style
    assert "MathJax_Fraktur" not in equations.style


STYLES = (
    "a{b:c}.used,.unused>p{d:e}.unused{f:g}.used:not(.unused) i{h:i}"
    "@media print{.unused{j:k}}@media screen{.set .used{l:m}.unused{n:o}}@font-face{p:q}"
)


def test_style_sheets_keep_what_pages_and_scripts_use():
    classes = classes_of(['<p class="used other">'], ['element.classList.add("set")'])
    assert used_only(STYLES, classes) == (
        "a{b:c}.used{d:e}.used:not(.unused) i{h:i}@media screen{.set .used{l:m}}@font-face{p:q}"
    )


def test_the_site_is_built_and_a_failed_build_leaves_it(book):
    build_site(book)
    site = site_folder(book)
    before = {path: path.read_bytes() for path in site.rglob("*.html")}
    assert 'href="00_first.html#equation-0-1"' in (site / "01_second.html").read_text()
    assert "new term" in (site / "genindex.html").read_text()
    page = (site / "01_second.html").read_text()
    assert page.count('class="term') == 1
    assert '<section class="role-references" id="references">' in page
    assert 'internal" href="00_first.html#term-new-term">new term</a>, and' in page
    assert "last-changed" not in page  # there is no git
    name_repository(book.root)  # which adds a cell
    change(book.root, "see [there]", "see {oddrole}`x` [there]")
    with pytest.raises(BookError, match=r"book/01_second\.md:3: .*oddrole"):
        build_site(read_book(book.root))
    assert {path: path.read_bytes() for path in site.rglob("*.html")} == before
    assert not site.with_name("site.new").exists()


@pytest.mark.parametrize("tex", ["\\frac{1}", "\\nothing x"])
def test_an_error_in_an_equation_stops_the_build_and_names_its_line(book, tex):
    change(book.root, "It is a new term,", f"It is ${tex}$, a new term,")
    with pytest.raises(BookError, match=rf"book/01_second\.md:7: {re.escape(tex)}: \w+"):
        build_site(book)


def test_a_broken_link_stops_the_build(book):
    change(book.root, "00_first.ipynb#References", "00_first.ipynb#Nowhere")
    with pytest.raises(BookError, match=r"book/01_second\.md:3: 00_first has no heading #Nowhere"):
        build_site(book)


def test_notebooks_that_are_stale_stop_the_build(book):
    path = book.root / "book/01_second.md"
    path.write_text(path.read_text().replace("By ", "From "))
    with pytest.raises(BookError, match="run `make notebooks`"):
        build_site(book)


@pytest.mark.parametrize("named", [False, True])
def test_colab_and_binder_are_offered_where_a_repository_is_named(book, named):
    if named:
        name_repository(book.root)
    build_site(read_book(book.root))
    page = (site_folder(book) / "00_first.html").read_text()
    for service in ("colab.research.google.com", "mybinder.org"):
        assert (service in page) == named
    assert ("some-book/blob/main/notebooks/pytorch/00_first.ipynb" in page) == named
    assert "subprocess" not in page  # the cell that installs is for who opens the notebook
    download = (site_folder(book) / "notebooks/pytorch/00_first.ipynb").read_text()
    assert ("subprocess" in download) == named


def test_a_warning_names_the_line_where_a_repository_is_named_too(book):
    name_repository(book.root)
    change(book.root, "see [there]", "see {oddrole}`x` [there]")
    with pytest.raises(BookError, match=r"book/01_second\.md:3: .*oddrole"):
        build_site(read_book(book.root))


def test_the_switch_leads_home_where_the_other_edition_has_no_such_chapter(book):
    with (book.root / "book.toml").open("a") as toml:
        toml.write('[frameworks.jax]\nwithout = ["01_second"]\n')
    two = read_book(book.root)
    other = two.editions[1]
    bind_module(two, other, read_edition_chapters(two, other))
    shutil.copytree(two.editions[0].notebooks, other.notebooks)
    (other.notebooks / "01_second.ipynb").unlink()
    build_site(two)
    assert 'href="jax-en/00_first.html"' in (site_folder(two) / "00_first.html").read_text()
    assert 'href="jax-en/index.html"' in (site_folder(two) / "01_second.html").read_text()
    assert 'href="../00_first.html"' in (site_folder(two) / "jax-en/00_first.html").read_text()


def test_links_into_a_chapter_that_is_left_out_lead_to_the_other_edition_and_the_switch_says_so(
    lacking,  # noqa: F811
):
    build_site(lacking)
    site = site_folder(lacking)
    page = soup(site / "jax-en/00_first.html")
    links = {link.get_text(): link["href"] for link in page.select("article a.internal")}
    assert links["chapter 1 (in PyTorch)"] == "../01_second.html#Begin-here-(now)"
    assert links["f of it (in PyTorch)"] == "../01_second.html"
    switch = {link.get_text(): link for link in page.select(".book-editions a")}
    assert switch["PyTorch"]["href"] == "../00_first.html"
    assert "title" not in switch["PyTorch"].attrs
    (grayed,) = soup(site / "01_second.html").select(".book-editions a.lacks")
    assert grayed["href"] == "jax-en/index.html"
    assert grayed["title"].startswith("The edition in JAX leaves this chapter out")
    assert 'href="jax-en/functions.html"' in (site / "functions.html").read_text()
    localize(page.article, "00_first", {"00_first"}, "../site")
    assert "../01_second" not in str(page.article)  # a print holds one edition


def soup(path):
    return bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


CHINESE = {
    "00_first": {
        "0. First": "0. 第一章",
        "A **new term**, cited [[1]](#References).": "**掩码**(new term)引自 [[1]](#References)。",
        "References": "参考文献",
    },
    "01_second": {
        "1. Second": "1. 第二章",
        "References": "参考文献",
        "Use a new term": "使用掩码",
        "It is a new term, and new terms are linked once.": "这就是掩码。",
        "Then *another* line of *it*.": "再来*一句* *it*。",
    },
    "readme": {"Tiny": "小书"},
}


@pytest.fixture
def in_chinese(book, monkeypatch):
    """The book with catalogs of Chinese, and marks around what the binder says itself."""
    change(book.root, "linked once.", "linked once.\nThen *another* line of *it*.")
    change(book.root, '["en"]', '["en", "zh"]', file="book.toml")
    (book.root / "book/locale/zh").mkdir(parents=True)
    for name, texts in CHINESE.items():
        entries = [f'msgid "{english}"\nmsgstr "{said}"\n' for english, said in texts.items()]
        path = book.root / f"book/locale/zh/{name}.po"
        path.write_text(
            "\n".join(['msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n', *entries])
        )
    monkeypatch.setattr(building, "say_in", lambda _, language: str if language == "en" else marked)
    return read_book(book.root)


def marked(words):
    return f"⟦{words}⟧"


def test_a_translation_stands_beside_the_english_pages_and_a_menu_leads_between_them(in_chinese):
    build_site(in_chinese)
    site = site_folder(in_chinese)
    assert soup(site / "00_first.html").select_one(".book-languages") is None
    build_site(in_chinese, ("en", "zh"))
    english, chinese = soup(site / "01_second.html"), soup(site / "pytorch-zh/01_second.html")
    assert [page.html["lang"] for page in (english, chinese)] == ["en", "zh-CN"]
    menu = [(a["lang"], a["href"], a.get_text()) for a in chinese.select(".book-languages a")]
    assert menu == [
        ("en", "../01_second.html", "English"),
        ("zh-CN", "../pytorch-zh/01_second.html", "中文"),
    ]
    link = english.select_one('.book-languages a[lang="zh-CN"]')
    assert json.loads(link["data-anchors"])["Use-a-new-term"] == "使用掩码"
    assert not (site / "_static/language.css").exists()
    assert "text-emphasis" in (site / "pytorch-zh/_static/language.css").read_text()


def test_an_index_has_the_letters_of_its_language():
    assert [index_letter(term, "zh_CN") for term in ("注意力", "掩码", "softmax")] == [
        "Z",
        "Y",
        None,
    ]
    assert [index_letter(term, "ko") for term in ("어텐션", "마스크", "쿼리")] == ["ㅇ", "ㅁ", "ㅋ"]
    assert index_letter("chú ý", "vi") is None


def test_a_translation_has_its_terms_its_words_and_no_gaps_between_sentences(in_chinese):
    build_site(in_chinese, ("en", "zh"))
    site = site_folder(in_chinese) / "pytorch-zh"
    text = (site / "01_second.html").read_text()
    assert text.count('href="00_first.html#term-new-term">') == 1
    assert "</a>。<wbr>再来" in text
    assert '<em>一句</em> <em class="latin">it</em>' in text
    index = soup(site / "genindex.html").article.get_text()
    assert "掩码" in index
    assert "⟦Index⟧" in index
    assert "⟦Nothing found: try fewer or other words.⟧" in text  # for search.js
    previews = (site / "_static/preview-texts.js").read_text()
    assert "引自" in previews
    english_words = ["previous page", "Search", "Toggle primary sidebar", "Color mode", "Page"]
    for tag in soup(site / "01_second.html").find_all(attrs={"title": True}):
        assert tag["title"] not in english_words


def test_templates_and_styles_have_no_words_that_no_translation_knows():
    look = Path(building.__file__).parent
    templates = [path.read_text() for path in (look / "templates").glob("*.html")]
    used = {word for text in templates for word in re.findall(r"_\('([^']+)'\)", text)}
    assert used
    assert used <= set(WORDS)
    assert f'"{DRAWN}"' in (look / "look/book.css").read_text()


def test_no_word_stands_in_braces_where_the_catalogs_do_not_find_it():
    for path in (ROOT / "bookbinder/site").glob("*.py"):
        assert not re.search(r"\{say\([\"'][^\"']*[\"']\)[}.]", path.read_text(encoding="utf-8")), (
            path
        )


@pytest.mark.skipif(chromium_path() is None, reason="no Chromium")
def test_the_search_finds_words_inside_chinese_sentences(in_chinese):
    build_site(in_chinese, ("en", "zh"))
    page_of = (site_folder(in_chinese) / "pytorch-zh/search.html").as_uri()
    with chromium() as browser:
        page = browser.new_page()
        found = {}
        for query in ("掩码", "是掩", "码", "键"):
            page.goto(f"{page_of}?q={query}")
            page.wait_for_selector(".search-summary")
            found[query] = [mark.text_content() for mark in page.query_selector_all("p mark")]
    assert found == {"掩码": ["掩码"] * 2, "是掩": ["是掩"], "码": ["码"] * 2, "键": []}


@pytest.mark.skipif(chromium_path() is None, reason="no Chromium")
def test_a_print_without_the_letters_of_its_language_names_the_package(monkeypatch):
    told = "to print the book in 中文, install .*fonts-noto-cjk"
    with chromium() as browser:
        monkeypatch.setitem(printing.LETTERS, "zh", "ab")
        check_letters(browser, "zh")
        monkeypatch.setitem(printing.LETTERS, "zh", "\ue123\ue124")  # letters of no font
        with pytest.raises(BookError, match=told):
            check_letters(browser, "zh")
        check_letters(browser, "vi")
