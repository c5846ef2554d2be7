"""The slides: what stands on one, and every deck in Chromium, on a wall of 1280 x 720."""

import functools
import io
import re

import bs4
import pytest
from conftest import BOOK, SITE, comes_true
from pypdf import PdfReader

from bookbinder.binding import read_edition_chapters
from bookbinder.classroom.deck import deck, what_to_show, write_deck
from bookbinder.classroom.slide_code import for_a_wall
from bookbinder.classroom.slides import slides_of
from bookbinder.errors import BookError
from bookbinder.site.settings import folder_of

FIRST, *FURTHER = BOOK.editions
WALL = {"width": 1280, "height": 720}
CHAPTERS = [(FIRST, name, "") for name in BOOK.chapters if name[0].isdigit()]
SESSIONS = [(FIRST, "", session) for session in BOOK.sessions]
ELSEWHERE = [(edition, "", "11") for edition in FURTHER]  # with the longest classes
IDS = {"ids": lambda what: "-".join(filter(None, [what[0].framework, *what[1:]]))}
WITH_EXPLORER, WITH_ARCS = (FIRST, "", "5"), (FIRST, "", "9")
# Each slide as it comes: what sticks out, the least sizes of its text, what is not yet shown.
LOOK = """() => Reveal.getSlides().map((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const wall = slide.querySelector(".wall"), all = (what) => [...wall.querySelectorAll(what)];
  const sizes = (what) => all(what).filter((e) => e.textContent.trim())
    .map((e) => parseFloat(getComputedStyle(e).fontSize));
  return {
    title: slide.textContent.trim().slice(0, 60),
    over: wall.scrollHeight > wall.clientHeight || wall.scrollWidth > wall.clientWidth
      || all("pre, .lead, .conclusion, .live").some((e) => e.scrollWidth > e.clientWidth + 1),
    code: Math.min(99, ...sizes("pre")),
    prose: Math.min(99, ...sizes(".lead, .conclusion, .thing li")),
    cells: Math.min(99, ...sizes(".thing :is(td, th)")),
    lines: Math.max(0, ...all(".code pre").map((e) => e.textContent.trim().split("\\n").length)),
    low: all(".picture img").some((e) => e.clientHeight < 120 || !e.naturalWidth),
    zoom: Math.min(9, ...all(".live").map((e) => parseFloat(getComputedStyle(e).zoom))),
    notes: !!slide.querySelector("aside.notes"),
    fragments: all(".fragment").length,
    early: all(".fragment").some((e) => getComputedStyle(e).visibility === "visible"),
  };
})"""
MOVE = """() => [...document.querySelectorAll(".d2l-explorer")].map((root) => {
  const slider = root.querySelector("input[type=range]"), before = root.innerHTML;
  const choice = root.querySelector("input[type=radio]:not(:checked)");
  if (slider) slider.value = slider.value === slider.max ? slider.min : slider.max;
  if (slider) slider.dispatchEvent(new Event("input", { bubbles: true }));
  else choice.click();
  return root.innerHTML !== before;
})"""


@functools.cache
def made(what: tuple) -> str:
    """Return the file of a deck."""
    edition, chapter, session = what
    folder = SITE / folder_of(edition, BOOK.editions)
    return deck(folder, what_to_show(BOOK, edition, chapter, session), "A session")[0]


@pytest.fixture
def opened(site, browser, tmp_path):
    """Return a function that opens a deck from a file; it must ask for nothing, and say nothing."""
    requests, complaints, contexts = [], [], []

    def open_deck(what: tuple, query: str = "", at: str = ""):
        file = tmp_path / "deck.html"
        file.write_text(made(what), encoding="utf-8")
        contexts.append(browser.new_context(viewport=WALL, offline=True))
        page = contexts[-1].new_page()
        page.on("request", lambda r: requests.append(r.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
        page.goto(f"{file.as_uri()}{query}{at}")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return page

    yield open_deck
    for context in contexts:
        context.close()
    assert not [r for r in requests if "/deck.html" not in r and not r.startswith("data:")]
    assert not complaints


@pytest.mark.parametrize("what", [*CHAPTERS, *SESSIONS, *ELSEWHERE], **IDS)
def test_every_slide_fits_the_wall_and_can_be_read_from_the_last_row(opened, what):
    page = opened(what)
    slides = page.evaluate(LOOK)
    assert [s for s in slides if s["over"] or s["low"]] == []
    assert [s for s in slides if s["code"] < 16 or s["prose"] < 24 or s["cells"] < 20] == []
    assert [s for s in slides if s["lines"] > 18 or s["zoom"] < 0.9] == []
    assert [s for s in slides if s["early"]] == []
    assert sum(s["fragments"] for s in slides) > len(slides) / 4
    assert sum(s["notes"] for s in slides) > len(slides) / 4
    assert slides[0]["notes"]
    if what in SESSIONS:
        assert 30 <= len(slides) <= 65
    moved = page.evaluate(MOVE)
    assert all(moved)
    assert len(moved) == made(what).count('class="d2l-explorer"')


def test_a_slider_is_dragged_with_the_mouse_and_then_the_keys_turn_slides(opened):
    page = opened(WITH_EXPLORER)
    page.evaluate("""() => {
      const slide = document.querySelector(".d2l-explorer").closest("section");
      const { h, v } = Reveal.getIndices(slide);
      Reveal.slide(h, v);
    }""")
    slider = page.locator("section.present .d2l-explorer input[type=range]").last
    box, before = slider.bounding_box(), slider.input_value()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 3, y, steps=4)
    page.mouse.up()
    assert slider.input_value() == slider.get_attribute("max") != before
    at = page.evaluate("Reveal.getSlidePastCount()")
    page.keyboard.press("PageDown")
    assert page.evaluate("Reveal.getSlidePastCount()") == at + 1


def test_a_trained_model_runs_on_a_slide(opened):
    page = opened(WITH_ARCS)
    assert "data-from" not in made(WITH_ARCS)
    assert comes_true(
        page, lambda: page.evaluate("document.querySelector('.d2l-arcs').run != null")
    )


def test_output_and_explanation_come_with_the_next_keys(opened):
    page = opened(WITH_EXPLORER)
    seen = """() => [...Reveal.getCurrentSlide().querySelectorAll(".fragment")]
        .map((e) => getComputedStyle(e).visibility === "visible")"""
    for _ in range(30):
        if len(steps := page.evaluate(seen)) > 1:
            break
        page.keyboard.press("PageDown")
    assert len(steps) > 1
    for shown in range(len(steps) + 1):
        assert page.evaluate(seen) == [at < shown for at in range(len(steps))]
        page.keyboard.press("ArrowRight")
    assert len(page.evaluate(seen)) != len(steps) or not any(page.evaluate(seen))


def test_printed_there_is_a_page_for_each_slide_with_all_that_it_shows(opened):
    what = (FIRST, "", "4")
    page = opened(what, "?print-pdf")
    page.wait_for_selector(".pdf-page")
    slides = made(what).count('<div class="wall">')
    hidden = """() => [...document.querySelectorAll(".fragment")]
        .filter((e) => getComputedStyle(e).visibility !== "visible").length"""
    assert comes_true(page, lambda: page.evaluate(hidden) == 0)
    pdf = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True, print_background=True)))
    assert len(pdf.pages) == slides
    box = pdf.pages[0].mediabox
    assert float(box.width) / float(box.height) == pytest.approx(16 / 9, rel=0.01)


def test_the_speaker_sees_the_notes(opened):
    page = opened((FIRST, "", "4"))
    notes = page.evaluate("document.querySelector('aside.notes').textContent.trim().slice(0, 40)")
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    view = popup.value
    assert comes_true(view, lambda: notes in view.inner_text("body"), 20)


def section(html: str) -> bs4.Tag:
    return bs4.BeautifulSoup(f"<section><h2>A</h2>{html}</section>", "html.parser").section


def cell(code: str, output: str = "", marks: str = "") -> str:
    shown = f'<div class="output stream highlight"><pre>{output}</pre></div>' if output else ""
    source = f'<div class="cell_input"><pre>{code}</pre></div>'
    return f'<div class="cell {marks}">{source}<div class="cell_output">{shown}</div></div>'


PICTURE = '<p><img src="a.svg" width="300" height="100"></p>'


def texts(html: str) -> list[list[str]]:
    """Return what each slide shows, part for part."""
    found = []
    for slide in slides_of(section(html)):
        parts = bs4.BeautifulSoup("".join(slide.parts), "html.parser").find_all(recursive=False)
        found.append([part.get_text().strip() or part.name for part in parts])
    return found


@pytest.mark.parametrize(
    ("html", "slides"),
    [
        (f"<p>Far.\nA is 1.</p>{cell('a', '1')}<p>So be it.\nMore.</p>",
         [["A is 1.", "a", "1", "So be it."]]),
        (f"<p>Here is a shop.\nIt sells a.</p>{cell('a', '1')}",
         [["Here is a shop. It sells a.", "a", "1"]]),
        (f"<p>A.</p>{cell('a', '1')}<p>There are two limits.\nOne is b.</p>{cell('b', '2')}",
         [["A.", "a", "1"], ["There are two limits. One is b.", "b", "2"]]),
        (f"<p>In the picture, a is 1.</p>{cell('a', '1')}{PICTURE}",
         [["a", "1"], ["In the picture, a is 1.", "figure"]]),
        (f"<p><strong>Break it:</strong> a.\nThen b.\nThen c.</p>{cell('a', '1')}",
         [["Break it: a. Then b. Then c.", "a", "1"]]),
        (f"<p>A.</p>{cell('a', '1', 'tag_no-slide')}{cell('b', '2')}", [["A.", "b", "2"]]),
        (f"<p>A.\n(An aside.)</p>{cell('a', '1')}", [["A.", "a", "1"]]),
        ("<p>Only text.\nMore text.</p>", [["Only text. More text."]]),
    ],
    ids=["sentence", "leans", "announces", "picture", "bold", "no-slide", "aside", "text"],
)  # fmt: skip
def test_a_sentence_stands_with_what_it_is_about(html, slides):
    assert texts(html) == slides


def test_what_is_not_on_a_slide_is_in_its_notes():
    slide = slides_of(section(f"<p>Far.\nA is 1.</p>{cell('a', '1')}<p>So.\nMore.</p>"))[0]
    assert "Far." in "".join(slide.notes)
    assert "More." in "".join(slide.notes)


def test_of_a_traceback_the_last_lines_are_shown():
    trace = '<div class="output traceback"><pre>Traceback\n  1 a\n\nValueError: no</pre></div>'
    html = cell("a").replace('cell_output">', f'cell_output">{trace}')
    assert texts(html) == [["a", "ValueError: no"]]


def test_a_long_list_takes_several_slides():
    items = "".join(f"<li>{'word ' * 30}{n}</li>" for n in range(9))
    shown = [re.findall(r"\d", slide[0]) for slide in texts(f"<ul>{items}</ul>")]
    assert len(shown) == 2
    assert "".join(shown[0] + shown[1]) == "012345678"


LONG = '''#@save
def f(
    queries: Tensor,
    *,
    mask: Tensor | None = None,
) -> Tensor:
    """What it does.

    Args and more.
    """
    if mask is None:
        raise ValueError("no")
    check_sizes(queries)
    x = [
        TEN
    ]
    return x


y = [
    TEN
]'''.replace("TEN", ",\n".join("0123456789"))


def test_code_loses_docstrings_and_where_it_is_long_checks_and_annotations():
    first, second = for_a_wall(LONG)
    assert first.startswith("def f(queries, *, mask=None):\n    x = [\n")
    assert first.endswith("return x")
    assert second.startswith("y = [")
    assert for_a_wall('def f(x: int):  #@save\n    """Say."""\n    check(x)\n    return x') == [
        "def f(x: int):\n    check(x)\n    return x"
    ]
    assert for_a_wall("%%time\nf(") == ["%%time\nf("]


@pytest.mark.parametrize(
    ("chapter", "session", "message"),
    [
        ("04_maskedsoftmax", "", "no chapter '04_maskedsoftmax' in this edition (did you mean"),
        ("", "13", "no session '13' in book.toml; known: 1, 2, 3"),
        ("04_masked_softmax", "5", "session 5 has no section of chapter '04_masked_softmax'"),
        ("", "", "which slides? for example: make slides SESSION=1"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(chapter, session, message):
    with pytest.raises(BookError, match=re.escape(message)) as error:
        write_deck(BOOK, FIRST, chapter, session)
    assert "\n" not in str(error.value)


def test_an_edition_without_the_chapters_of_a_session_says_so():
    lacking = next(e for e in BOOK.editions if e.without)
    with pytest.raises(BookError, match="session 12 has no section of a chapter of the edition"):
        what_to_show(BOOK, lacking, "", "12")


def test_without_a_site_the_command_that_makes_it_is_named(tmp_path):
    with pytest.raises(BookError, match="no page 04_masked_softmax; run `make site` first"):
        deck(tmp_path, what_to_show(BOOK, FIRST, "", "4"), "")


def test_no_slide_changes_nothing_but_a_tag():
    tagged = [
        cell
        for chapter in read_edition_chapters(BOOK, FIRST)
        for cell in chapter.notebook.cells
        if "no-slide" in cell.metadata.get("tags", [])
    ]
    assert tagged
    assert all(cell.metadata == {"tags": ["no-slide"]} for cell in tagged)
