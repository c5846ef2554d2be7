"""Explorers move by keyboard and by mouse, and show the frames that are stored with them.

That these are what the chapter's function gives is shown where notebooks are run again.
"""

import io
import json
import math
import re

import numpy as np
import pytest
from conftest import BOOK, FURTHER, ROOT, open_page
from PIL import Image

from d2l_attention.practice import drawing, explorer
from d2l_attention.practice.explorer_plots import outline

MOST_HEIGHT = 560  # so that a laptop shows the sliders and what they do
PAGES = [
    folder + path.stem
    for folder, edition in zip(("", *FURTHER), BOOK.editions, strict=True)
    for path in sorted(edition.notebooks.glob("*.ipynb"))
    if "data-sliders=" in path.read_text(encoding="utf-8")
]
LABELS = "root => [...root.querySelectorAll('svg[role]')].map(svg => svg.ariaLabel)"
TEXTS = """root => {
  const size = (e) => e && parseFloat(getComputedStyle(e).fontSize)
    * (e.getScreenCTM ? Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b) : 1);
  return [...root.querySelectorAll('svg.plot')].filter(svg => !svg.matches('.zoom > :not(.large)'))
    .map(svg => [svg.querySelector('g text'), svg.querySelector(':scope > text:not(.name)'),
      root.querySelector('.q')].map(size));
}"""
MARKS = """root => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const [page] = [root].map(e => parts(getComputedStyle(e).backgroundColor));
  const seen = root.querySelectorAll('svg :is([fill^="#"], [stroke^="#"]):not([fill-rule])');
  return [page, [...seen].map(e => {
    const style = getComputedStyle(e);
    const by = e.getAttribute('fill') === 'none' ? 'stroke' : 'fill';
    return [...parts(style[by]).slice(0, 3), Number(style[by + 'Opacity'])];
  })];
}"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
CHAPTERS = [
    path.stem
    for path in sorted((ROOT / "notebooks" / "pytorch").glob("*.ipynb"))
    if "data-sliders=" in path.read_text(encoding="utf-8")
]
WITH_STEPS = ["09_what_attention_costs", "10_attention_that_learns_to_align"]
SHOWN = """root => ({
  places: [...root.querySelectorAll('.controls > label, fieldset:not(.view)')].map(e =>
    e.localName === 'label' ? Number(e.querySelector('input').value)
      : e.querySelector('input') ? [...e.querySelectorAll('input')].findIndex(i => i.checked)
      : parseInt([...e.querySelectorAll('button')]
        .map(b => Number(b.ariaPressed === 'true')).join(''), 2)),
  cells: [...root.querySelectorAll('td.v')].map(c => ({
    text: c.textContent, title: c.title, masked: c.classList.contains('masked'),
    digits: 0, zeros: '', ...c.closest('[data-digits]').dataset})),
  marks: [...root.querySelectorAll('svg.plot [class]')].map(m => ({
    d: m.getAttribute(m.localName === 'text' ? 'transform' : 'd'), kind: m.getAttribute('class'),
    scale: m.ownerSVGElement.dataset.scale, ...m.dataset})),
  boxes: [root, ...root.querySelectorAll('label, fieldset, input, button, svg, td, .parts')]
    .map(e => [e.getBoundingClientRect(), root.getBoundingClientRect()])
    .map(([b, r]) => [b.x - r.x, b.y - r.y, b.width, b.height].map(Math.round)),
})"""


@pytest.fixture
def opened(browser, addresses):
    """Return a function that opens a chapter and returns the page and its explorers."""
    contexts = []

    def open_at(chapter, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        contexts.append(context)
        page = open_page(context, f"{addresses['file']}/{chapter}.html")
        page.wait_for_selector(".d2l-explorer[data-live]")
        return page, [Shown(root) for root in page.locator(".d2l-explorer").all()]

    yield open_at
    for context in contexts:
        context.close()


class Shown:
    """An explorer on a page, and the frames that are stored with it."""

    def __init__(self, root):
        self.root = root
        names = ("frames", "curves", "sliders", "scores")
        held = {name: root.get_attribute(f"data-{name}") for name in names}
        self.data = {name: json.loads(text) if text else None for name, text in held.items()}
        self.labels = [labels for _, labels, *_ in self.data["sliders"]]
        self.controls = root.locator(".controls > label, fieldset:not(.view)").all()

    def at(self, control):
        return self.root.evaluate(SHOWN)["places"][control]

    def agree(self):
        """Compare what is shown with the stored frame; return where everything stands."""
        page = self.root.evaluate(SHOWN)
        values = self.values(page["places"])
        for cell, value in zip(page["cells"], values, strict=False):
            empty = bool(cell["zeros"]) and value == 0
            digits = int(cell["digits"])
            assert cell["text"] == ("" if empty else drawing.number_text(value, digits))
            assert cell["masked"] == (empty and cell["zeros"] == "masked")
            full = bool(cell["zeros"]) and digits > 0
            assert cell["title"] == (drawing.number_text(value) if full else "")
        for mark in page["marks"]:
            want = path(mark, values)
            assert NUMBER.split(mark["d"]) == NUMBER.split(want)
            got, want = (list(map(float, NUMBER.findall(d))) for d in (mark["d"], want))
            assert got == pytest.approx(want, abs=0.2), page["places"]
        return page["boxes"], [*page["cells"], *page["marks"]]

    def values(self, places):
        """Return all numbers of the frame at some places, with those that are stored once."""
        scores = self.data["scores"]
        at = int(np.ravel_multi_index(places, [len(labels) for labels in self.labels]))
        frame = at // (scores["every"] if scores else 1)
        values = []
        for held in self.data["frames"][frame]:
            values += self.data["curves"][held[0]] if isinstance(held, list) else [held]
        if scores:  # the script computes the weights of a query in the plane
            query = [float(self.labels[i][places[i]]) for i in (-2, -1)]
            for i, value in zip(scores["query"], query, strict=True):
                values[i] = value
            weights = np.concatenate([weigh(*form, query) for form in scores["frames"][frame]])
            values[scores["weights"] : scores["weights"] + len(weights)] = weights.tolist()
        return [math.nan if value is None else value for value in values]


def weigh(c, a, b, origin, unit, tanh, query):
    """Return the weights of the scores that Score in explorer_live.py describes."""
    q = np.subtract(query, origin)
    q = q / (np.hypot(*q) or 1) if unit else q
    inner = (np.array(a) @ q if a else q) + (np.array(b) if b else 0)
    scores = (np.array(c) * (np.tanh(inner) if tanh else inner)).sum(-1)
    exps = np.exp(scores - scores.max())
    short = (exps / exps.sum()).round(drawing.DIGITS)
    return np.where((short == 0) & (exps > 0), explorer.TINY, short)


def path(mark, values):
    """Return the path of a mark that shows these values, as Python draws it."""
    x0, x1, y0, y1, left, right, bottom, top = map(float, mark["scale"].split())
    pixel = {
        "x": lambda v: left + (v - x0) / (x1 - x0) * (right - left),
        "y": lambda v: bottom + (v - y0) / (y1 - y0) * (top - bottom),
        "size": float,
    }
    columns = {}
    for name in pixel.keys() & mark.keys():
        if mark[name].startswith("@"):
            begin, count = map(int, mark[name][1:].split(":"))
            numbers = values[begin : begin + count]
        else:
            numbers = map(float, mark[name].split())
        columns[name] = [pixel[name](number) for number in numbers]
    longest = max(map(len, columns.values()))
    columns = {n: c * (1 if len(c) == longest else longest) for n, c in columns.items()}
    box = [left, right, bottom, top, pixel["x"](0), min(pixel["y"](0), bottom)]
    return outline(mark["kind"], columns, float(mark.get("unit", 0)), box)


def walk(page, shown, index):
    """Set a control to all of its values by mouse and keyboard; yield each place it should have."""
    control, last = shown.controls[index], len(shown.labels[index]) - 1
    if words := control.locator("button").all():  # words on or off
        place = shown.at(index)
        for i, word in enumerate(words):
            word.click()
            place ^= 1 << (len(words) - 1 - i)
            yield place
        words[0].focus()
        for i, key in zip(range(len(words)), ["Space", "Enter"] * len(words), strict=False):
            page.keyboard.press(key)
            page.keyboard.press("Tab")
            place ^= 1 << (len(words) - 1 - i)
            yield place
        return
    inputs = control.locator("input")
    if inputs.count() > 1:  # names: a row of buttons
        assert control.locator("legend").text_content()
        assert control.locator("span").all_text_contents() == shown.labels[index]
        inputs.nth(last).click()
        yield last
        inputs.nth(0).click()
        yield 0
    else:
        inputs.focus()
        page.keyboard.press("End")
        yield last
        page.keyboard.press("Home")
        yield 0
    for place in range(1, last + 1):
        page.keyboard.press("ArrowRight")
        yield place
    if inputs.count() == 1:
        assert inputs.get_attribute("aria-valuetext") == shown.labels[index][-1]
        box = inputs.bounding_box()
        page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
        yield 0


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_explorers_show_their_frames_and_nothing_else_moves(opened, chapter, width):
    page, explorers = opened(chapter, width)
    over = "e => [e, e.querySelector('.parts')].map(e => e.scrollWidth - e.clientWidth)"
    for shown in explorers:
        assert max(shown.root.evaluate(over)) <= 0  # no column is lost
        still, first = shown.agree()
        seen = []
        for index in range(len(shown.controls)):
            for place in walk(page, shown, index):
                assert shown.at(index) == place
                boxes, now = shown.agree()
                assert boxes == still
                seen.append(now)
        assert any(now != first for now in seen)


def drag(page, shown, dragged):
    """Drag over each plot that can be, and compare the values; `dragged`: axis -> control."""
    for picture in shown.root.locator("svg.plot[data-drag]").all():
        picture.scroll_into_view_if_needed()
        if picture.evaluate("svg => svg.matches('.zoom > :not(.large)')"):
            picture.click()
        box = picture.bounding_box()
        unit = box["width"] / float(picture.get_attribute("viewBox").split()[2])
        x0, x1, y0, y1, left, right, bottom, top = map(
            float, picture.get_attribute("data-scale").split()
        )
        nearest, down = shown.root.evaluate(SHOWN)["places"], False
        for x, y in ((0.4, 0.7), (0.9, 0.2), (0.1, 0.55)):  # parts of the axes
            across, up = left + x * (right - left), bottom + y * (top - bottom)
            page.mouse.move(box["x"] + across * unit, box["y"] + up * unit)
            if not down:
                page.mouse.down()
            down, wanted = True, {"x": x0 + x * (x1 - x0), "y": y0 + y * (y1 - y0)}
            for axis, index in dragged.items():
                away = [abs(float(label) - wanted[axis]) for label in shown.labels[index]]
                nearest[index] = away.index(min(away))
            assert shown.root.evaluate(SHOWN)["places"] == nearest
        shown.agree()
        page.mouse.up()
        page.mouse.move(box["x"], box["y"])
        assert shown.root.evaluate(SHOWN)["places"] == nearest
        page.keyboard.press("ArrowRight")
        first = next(iter(dragged.values()))
        assert shown.at(first) == nearest[first] + 1


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("chapter", "dragged"),
    [
        ("01_queries_keys_values", {"x": 0}),
        ("07_additive_attention", {"y": 0}),
        ("08_more_scoring_functions", {"x": 1, "y": 2}),
    ],
)
def test_a_drag_sets_the_nearest_values_until_it_ends(opened, chapter, dragged, width):
    page, (shown,) = opened(chapter, width)
    drag(page, shown, dragged)


def stepped(opened, chapter, **options):
    """Return a page, its explorer with steps, and which control these set, up to which place."""
    page, explorers = opened(chapter, 390, **options)
    page.clock.install(time="2026-01-01")
    page.reload()
    page.clock.pause_at("2026-01-02")  # from here on, time goes on by run_for alone
    (shown,) = [e for e in explorers if e.root.get_attribute("data-steps")]
    return page, shown, *map(int, shown.root.get_attribute("data-steps").split())


@pytest.mark.parametrize("chapter", WITH_STEPS)
def test_back_and_next_go_through_the_frames_by_mouse_and_keyboard(opened, chapter):
    page, shown, track, last = stepped(opened, chapter)
    assert last == len(shown.labels[track]) - 1
    name = shown.controls[track].locator("span").first.text_content()
    assert shown.root.get_by_role("group", name=name).count() == 1
    back, forth = (shown.root.get_by_role("button", name=name) for name in ("Back", "Next"))
    shown.controls[track].locator("input").focus()
    page.keyboard.press("Home")
    still, _ = shown.agree()
    disabled = [button.get_attribute("aria-disabled") for button in (back, forth)]
    assert disabled == ["true", "false"]
    for i in range(last):
        forth.click()
        assert shown.at(track) == i + 1
        assert shown.agree()[0] == still
    assert forth.get_attribute("aria-disabled") == "true"
    forth.click(force=True)  # it says that it is disabled, and keeps the focus
    assert shown.at(track) == last
    page.keyboard.press("Shift+Tab")  # Play
    page.keyboard.press("Shift+Tab")
    for key, wanted in (("Enter", last - 1), ("Space", last - 2)):
        page.keyboard.press(key)
        assert shown.at(track) == wanted
        shown.agree()


@pytest.mark.parametrize("chapter", WITH_STEPS)
def test_play_goes_on_by_itself_and_stops_at_the_end(opened, chapter):
    page, shown, track, last = stepped(opened, chapter)
    play = shown.root.locator(".steps button").nth(1)

    def now():
        return shown.at(track), play.text_content()

    shown.controls[track].locator("input").focus()
    page.keyboard.press("End")
    still, _ = shown.agree()
    play.click()
    assert now() == (0, "Pause")  # from the end, it begins anew
    page.clock.run_for(1500)
    assert shown.agree()[0] == still
    assert now() == (2, "Pause")
    play.click()
    page.clock.run_for(3000)
    assert now() == (2, "Play")
    play.click()
    page.clock.run_for(700 * last)
    assert now() == (last, "Play")
    play.click()
    page.clock.run_for(800)
    shown.root.get_by_role("button", name="Back").click()  # takes over
    page.clock.run_for(3000)
    assert now() == (0, "Play")
    play.click()
    shown.controls[track].locator("input").focus()
    page.keyboard.press("ArrowRight")  # so does the slider
    page.clock.run_for(3000)
    assert now() == (1, "Play")


def test_nothing_plays_for_readers_who_want_no_motion(opened):
    _, shown, *_ = stepped(opened, WITH_STEPS[1], reduced_motion="reduce")
    assert shown.root.locator(".steps button").all_text_contents() == ["Back", "Next"]


def test_letters_light_up_with_their_weights(opened):
    page, (shown,) = opened(WITH_STEPS[1])
    colors = """root => [...root.querySelectorAll('table.lit tr')].map(row => [...row.cells]
      .map(c => [c.style.backgroundColor, c.style.color]))"""
    for token in range(3):
        shown.root.locator("input").nth(1).focus()
        page.keyboard.press("ArrowLeft")
        heads, weights = shown.root.evaluate(colors)
        assert heads == weights, token
    assert len({color for color, _ in heads}) > 2


def reach_all_digits(page, table):
    """Walk by arrow keys from the first cell of a table, which has the focus."""
    cells, before = table.locator("td.v"), table.bounding_box()
    row = table.locator("tr").last.locator("td.v").count()
    for key, at in (("ArrowDown", row), ("ArrowRight", row + 1), ("ArrowUp", 1), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert cells.nth(at).evaluate("c => c === document.activeElement")
        content = cells.nth(at).evaluate("c => getComputedStyle(c, '::after').content")
        assert content == f'"{cells.nth(at).get_attribute("title")}"'
        assert table.bounding_box() == before
    assert table.locator('[tabindex="0"]').count() == 1


def test_arrow_keys_reach_all_digits_of_a_table(opened):
    page, (*_, last) = opened("04_masked_softmax")
    last.root.locator("input:checked").focus()
    page.keyboard.press("Tab")  # one stop for the whole table
    reach_all_digits(page, page.locator(".d2l-explorer table[data-zeros]").first)


@pytest.mark.parametrize("chapter", PAGES)
def test_explorers_fit_a_laptop_and_have_names(opened, chapter):
    _, explorers = opened(chapter)
    for shown in explorers:
        root, question = shown.root, shown.root.locator(".q")
        box = root.bounding_box()
        assert box["height"] <= MOST_HEIGHT
        assert question.bounding_box()["width"] > 0.9 * box["width"]
        assert root.get_attribute("role") == "group"
        assert root.get_attribute("aria-label") == question.text_content()
        for tick, label, asked in root.evaluate(TEXTS):
            assert 9 < tick < asked
            assert label is None or tick < label < asked


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_plot_has_a_name_of_its_own_and_says_where_its_explorer_stands(opened, chapter):
    page, explorers = opened(chapter)
    for shown in explorers:
        first = shown.root.evaluate(LABELS)
        assert len(set(first)) == len(first)
        start = shown.at(0)
        next(place for place in walk(page, shown, 0) if place != start)
        places = shown.root.evaluate(SHOWN)["places"]
        names = [name for name, *_ in shown.data["sliders"]]
        now = ", ".join(
            f"{name} = {labels[at]}"
            for name, labels, at in zip(names, shown.labels, places, strict=True)
        )
        for before, label in zip(first, shown.root.evaluate(LABELS), strict=True):
            assert label.endswith(now)
            assert "Still picture" not in label
            assert label != before


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    low, high = sorted(luminance([c / 255 for c in color]) for color in (one, two))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_marks_stand_out_on_a_dark_page(opened, chapter):
    page, explorers = opened(chapter)
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark' }")
    for shown in explorers:
        ground, marks = shown.root.evaluate(MARKS)
        for *color, opacity in marks:
            mixed = [opacity * c + (1 - opacity) * g for c, g in zip(color, ground, strict=False)]
            assert contrast(mixed, ground) >= 3, color


def brightness(locator):
    """Return how bright each pixel of a part of the page is, from 0 to 1."""
    picture = Image.open(io.BytesIO(locator.screenshot())).convert("RGB")
    return np.asarray(picture).mean(-1) / 255


@pytest.mark.parametrize(
    ("chapter", "picture"),
    [
        ("00_start_here", "table.d2l-cells"),
        ("08_more_scoring_functions", "article .cell_output img"),
    ],
)
def test_in_a_heat_map_on_a_dark_page_0_is_dark(opened, chapter, picture):
    page, _ = opened(chapter, color_scheme="dark")
    shown = page.locator(picture).first
    for theme, dark in (("light", False), ("dark", True)):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        shown.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        assert (np.median(brightness(shown)) < 0.5) == dark


def test_buttons_and_clicks_choose_which_plane_is_large(opened):
    _, (shown,) = opened("08_more_scoring_functions")
    planes = shown.root.locator(".zoom svg")
    widths = "svgs => svgs.map(svg => svg.clientWidth)"
    titles = planes.locator("[data-title]").all_text_contents()
    assert shown.root.locator(".view span").all_text_contents() == titles
    for at, choose in ((2, planes.nth(2)), (4, shown.root.locator(".view input").nth(4))):
        choose.click()
        sizes = planes.evaluate_all(widths)
        assert sizes.index(max(sizes)) == at
        assert sorted(sizes)[-2] * 1.8 < max(sizes)
        assert shown.root.locator(".view input:checked").count() == 1
        assert shown.root.locator(".view input").nth(at).is_checked()
        shown.agree()
