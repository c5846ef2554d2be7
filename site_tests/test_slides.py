"""The slides: what stands on which, and decks in Chromium, on a wall of 1280 x 720."""

import pytest
from conftest import BOOK, comes_true
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbinder.binding import notebook_path
from bookbinder.classroom.slides import page_of, slides_of
from bookbinder.files import read_notebook

FIRST, SECOND, *_ = BOOK.editions
MASKS = "10_masked_softmax"
GPT = "07_a_model_that_writes"
DECKS = {
    MASKS: FIRST,
    "02_a_layer_that_learns": FIRST,
    GPT: FIRST,
    "12_scaled_dot_product_attention": SECOND,
}
NUMBERED = [name for name in BOOK.chapters if name[0].isdigit()]
HINT = '<details class="hint">\n<summary>Hint 1</summary>\n\nLook.\n\n</details>'
# What is wrong with a slide once all of it has come: cut off, too small to read, nothing to see.
WRONG = """() => Reveal.getSlides().map((slide) => {
  const { h, v } = Reveal.getIndices(slide), wall = slide.querySelector(".wall");
  Reveal.slide(h, v, 99);
  const over = wall.scrollHeight > wall.clientHeight + 1 || wall.scrollWidth > wall.clientWidth + 1;
  const sizes = [...wall.querySelectorAll(".jp-RenderedMarkdown :is(p, li, td), pre")]
    .map((part) => parseFloat(getComputedStyle(part).fontSize));
  const thing = "pre, img, ul, ol, table, blockquote, mjx-container[display], .jp-RenderedHTML";
  const hidden = [...wall.querySelectorAll(".controls button")]
    .some((button) => getComputedStyle(button).visibility === "hidden");
  const blank = [...wall.querySelectorAll(".jp-RenderedHTML")].some((html) => !html.innerText);
  return [over && !wall.matches(".scrolls") && "cut", blank && "blank",
    Math.min(...sizes, 99) < 14 && "small",
    !wall.querySelector(thing) && "empty", wall.querySelector(".sd, a, mjx-merror") && "strange",
    hidden && "hidden"].filter(Boolean).concat(wall.innerText.slice(0, 60));
}).filter((wrong) => wrong.length > 1)"""
TO = """() => {{
  const {{ h, v }} = Reveal.getIndices(document.querySelector("{}").closest("section"));
  Reveal.slide(h, v, {});
}}"""
BELOW = """[...document.querySelectorAll("section section.present .scrolls")]
  .map((wall) => Math.floor(wall.scrollHeight - wall.clientHeight - wall.scrollTop))"""
PLACE = "Reveal.getSlides().indexOf(Reveal.getCurrentSlide())"
MODELS_RUN = "[...document.querySelectorAll('.d2l-arcs')].every((model) => model.run != null)"


def code(source: str, text: str = "", *tags: str):
    outputs = [new_output("stream", text=text)] if text else []
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def slides(*cells) -> list[list[str]]:
    """Return for each slide of a section what stands above, the notes, and what it shows."""
    cells = ["# A", *cells, "## Z"]
    cells = [new_markdown_cell(c) if isinstance(c, str) else c for c in cells]
    found: list[list[str]] = []
    for cell in slides_of(new_notebook(cells=cells)).cells:
        source = cell.source.removeprefix("# A").strip()
        if cell.metadata.slideshow.slide_type.endswith("slide"):
            found.append([])
        found[-1].append(source)
    return found


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["Far.\n\nNear.", code("a", "1"), "So."], [["Near.", "Far.\n\nSo.", "a"]]),
        (["A.\nB.\nC.", code("a"), "D.", code("b")], [["B.\nC.", "A.", "a"], ["D.", "", "b"]]),
        ([f"{'A' * 260}.\nB.\n(C.)", code("a")], [["B.", f"{'A' * 260}.\n(C.)", "a"]]),
        (
            ["> Q?\n\nT.\n\n![a](b.svg)", code("a")],
            [["", "T.", "> Q?", "![a](b.svg)"], ["", "", "a"]],
        ),
        (["$$x$$\n\nIt.\n\n- a\n- b"], [["", "", "$$x$$"], ["It.", "", "- a\n- b"]]),
        (["![a](b.svg)\n\n> **Note.**"], [["", "", "![a](b.svg)"], ["", "", "> **Note.**"]]),
        ([code("a", "1", "drawing"), code("b", "1", "no-slide")], [["", "", ""]]),
        ([code("same(a)", "True True\n"), code("def f(): 0", "True")], [["", "", "def f(): 0"]]),
        (["- a\n\n<details>\n\nB.\n\n</details>"], [["", "<details>\n\nB.\n\n</details>", "- a"]]),
        (["- a", f"## E\n\n- e\n\n### E1\n\n{HINT}", code("a")], [["", "", "- a"]]),
        (["As [[1]](#Z), [[2]](#Z).\n\n- a"], [["As.", "", "- a"]]),
    ],
)
def test_the_form_of_a_notebook_tells_what_stands_on_a_slide(cells, shown):
    assert slides(*cells) == shown


@pytest.mark.parametrize("chapter", NUMBERED)
def test_a_chapter_loses_no_sentence_before_its_exercises_and_references(chapter):
    notebook = read_notebook(notebook_path(FIRST, chapter))
    text, written = markdown_of(slides_of(notebook)), markdown_of(notebook)
    assert {"## Exercises", "## References"}.isdisjoint(text)
    assert "## Summary" in text
    taught = written[: written.index("## Exercises" if "## Exercises" in written else "## Summary")]
    taught = [line for line in taught if line[:1] not in "#<" and "](#Ref" not in line]
    assert [line for line in taught if line not in text] == []


def markdown_of(notebook) -> list[str]:
    cells = (cell for cell in notebook.cells if cell.cell_type == "markdown")
    return [line.rstrip() for cell in cells for line in cell.source.split("\n")]


@pytest.mark.parametrize("chapter", DECKS)
def test_every_slide_can_be_seen_and_read_without_a_network(browser, tmp_path, chapter):
    page, asked, complaints = browser.new_page(viewport={"width": 1280, "height": 720}), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    file = tmp_path / "slides.html"
    notebook = read_notebook(notebook_path(DECKS[chapter], chapter))
    file.write_text(page_of(slides_of(notebook), DECKS[chapter]), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(WRONG) == []
    assert page.locator(".wall.scrolls").count() <= 1  # the code of a layer
    assert comes_true(page, lambda: page.evaluate(MODELS_RUN))
    read_down(page) if chapter == GPT else move_an_explorer(page)
    page.close()
    assert (
        [url for url in asked if not url.startswith(("data:", file.as_uri()))] == complaints == []
    )


def read_down(page):
    """Step through the model in one cell, which has more lines than a wall."""
    page.evaluate(TO.format(".scrolls", -1))
    below = [[1]]
    while below[-1]:
        below.append(page.evaluate(BELOW))
        page.keyboard.press("ArrowRight")
    assert below[1] > [0] == below[-2]


def move_an_explorer(page):
    page.evaluate(TO.format(".d2l-explorer", 99))
    explorer = page.locator("section.present .d2l-explorer")
    still, at = explorer.inner_html(), page.evaluate(PLACE)
    kinds = "[type=range]", "fieldset label:last-child"
    sliders, words = (explorer.locator(f".controls {kind}") for kind in kinds)
    (sliders if sliders.count() else words).first.click(position={"x": 4, "y": 4})
    assert explorer.inner_html() != still
    page.keyboard.press("PageDown")
    assert page.evaluate(PLACE) == at + 1
