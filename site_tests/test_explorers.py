"""Explorers move by keyboard and by mouse, to what Python draws for the same values.

Pages are made of the outputs that notebooks store, and of explorers for tests: no site is needed.
"""

import json
import re

import pytest
from conftest import ROOT, html_outputs

from tests import explorer_examples as examples

MOST_HEIGHT = 560  # so that a laptop shows the sliders and what they do
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SHOWN = """root => ({
  places: [...root.querySelectorAll('.controls > label, fieldset:not(.view)')].map(e =>
    e.localName === 'label' ? Number(e.querySelector('input').value)
      : e.querySelector('[type=radio]') ? [...e.querySelectorAll('input')].findIndex(i => i.checked)
      : parseInt([...e.querySelectorAll('input')].map(i => Number(i.checked)).join(''), 2)),
  cells: [...root.querySelectorAll('td.v, .lit th')].map(c => [c.textContent, c.title, c.className,
    c.style.backgroundColor, c.style.color, c.parentNode.className]),
  marks: [...root.querySelectorAll('svg [data-each]')].map(m => m.getAttribute('d')
    ?? m.getAttribute('transform')),
  boxes: [root, ...root.querySelectorAll('label, fieldset, input, button, svg, td, .parts')]
    .map(e => [e.getBoundingClientRect(), root.getBoundingClientRect()])
    .map(([b, r]) => [b.x - r.x, b.y - r.y, b.width, b.height].map(Math.round)),
  over: [root, root.querySelector('.parts')].map(e => e.scrollWidth - e.clientWidth),
})"""
INLINE = """() => document.querySelectorAll('img').forEach(i => i.outerHTML =
  decodeURIComponent(i.getAttribute('src').replace(/^[^,]*,/, '')))"""


def outputs():
    """Yield the explorers that the notebooks of PyTorch store."""
    for path in sorted((ROOT / "notebooks" / "pytorch").glob("*.ipynb")):
        for i, html in enumerate(html_outputs(path, "d2l-explorer")):
            yield pytest.param(html, id=f"{path.stem[:2]}.{i}")


@pytest.fixture
def opened(alone):
    """Return a function that shows explorers alone on a page."""

    def show(*html, **options):
        page = alone(*html, **options)
        return page, *map(Shown, page.locator(".d2l-explorer").all())

    return show


class Shown:
    """An explorer on a page."""

    def __init__(self, root):
        self.root = root
        self.labels = [labels for _, labels, *_ in json.loads(root.get_attribute("data-sliders"))]
        self.controls = root.locator(".controls > label, fieldset:not(.view)").all()

    def state(self):
        return self.root.evaluate(SHOWN)

    def at(self, control):
        return self.state()["places"][control]


def assert_alike(one, other):
    """Compare what two explorers show; pixels within one rounding."""
    assert one["cells"] == other["cells"]
    for d, wanted in zip(one["marks"], other["marks"], strict=True):
        assert NUMBER.split(d) == NUMBER.split(wanted)
        got, want = (list(map(float, NUMBER.findall(path))) for path in (d, wanted))
        assert got == pytest.approx(want, abs=0.11)


def walk(page, shown, index):
    """Set a control to all of its values by keyboard; yield each place it should have."""
    control, last = shown.controls[index], len(shown.labels[index]) - 1
    inputs, place = control.locator("input"), shown.at(index)
    if inputs.first.get_attribute("type") == "checkbox":  # words on or off
        inputs.first.focus()
        for i in range(inputs.count()):
            page.keyboard.press("Space")
            page.keyboard.press("Tab")
            place ^= 1 << (inputs.count() - 1 - i)
            yield place
        return
    if inputs.count() > 1:  # names: a row of buttons
        assert control.locator("span").all_text_contents() == shown.labels[index]
        inputs.nth(last).click()
        yield last
        inputs.nth(0).click()
    else:
        inputs.focus()
        page.keyboard.press("End")
        assert inputs.get_attribute("aria-valuetext") == shown.labels[index][-1]
        yield last
        page.keyboard.press("Home")
    yield 0
    for place in range(1, min(last, 4) + 1):
        page.keyboard.press("ArrowRight")
        yield place


MOVES = [
    (examples.heat_map, {}, {"temperature": 2.0, "valid_len": 4}),
    (examples.plots, {}, {"query": 1.5, "sharpness": 5.0}),
    (examples.planes, {"kind": "additive"}, {"kind": "distance", "x": 0.5}),
    (examples.planes, {}, {"kind": "cosine", "x": -2.0, "y": 2.5}),
    (examples.planes, {"kind": "cosine"}, {"kind": "additive", "x": -2.5, "y": -1.5}),
    (examples.film, {}, {"step": 2, "words": "sugar"}),
]


@pytest.mark.parametrize(
    ("example", "start", "end"), MOVES, ids=lambda v: getattr(v, "__name__", "")
)
def test_what_moved_to_some_values_is_what_python_draws_for_them(opened, example, start, end):
    goal = example(**(start | end)).html
    _, wanted = opened(goal)
    page, still = opened(goal, java_script_enabled=False)
    page.evaluate(INLINE)
    assert_alike(wanted.state(), still.state())
    _, moved = opened(example(**start).html)
    before = moved.state()
    for index, place in enumerate(wanted.state()["places"]):
        inputs = moved.controls[index].locator("input")
        kind = inputs.first.get_attribute("type")
        if kind == "range":
            inputs.fill(str(place))
        elif kind == "radio":
            inputs.nth(place).click()
        else:
            for i, input in enumerate(inputs.all()):
                input.set_checked(bool(place >> (inputs.count() - 1 - i) & 1))
    assert_alike(moved.state(), wanted.state())
    assert moved.state()["cells"] != before["cells"]


@pytest.mark.parametrize("html", [*outputs()])
def test_a_stored_explorer_goes_through_its_frames_and_nothing_else_moves(opened, html):
    page, still = opened(html, java_script_enabled=False)
    page.evaluate(INLINE)
    wanted = still.state()
    page, shown = opened(html, width=390)
    assert_alike(shown.state(), wanted)
    first, moved = shown.state(), 0
    assert max(first["over"]) <= 0  # no column is lost
    for index in range(len(shown.controls)):
        for place in walk(page, shown, index):
            now = shown.state()
            assert now["places"][index] == place
            assert now["boxes"] == first["boxes"]
            moved += (now["cells"], now["marks"]) != (first["cells"], first["marks"])
    assert moved
    root, question = shown.root, shown.root.locator(".q").text_content()
    assert (root.get_attribute("role"), root.get_attribute("aria-label")) == ("group", question)
    names = root.locator("svg[role]").evaluate_all("all => all.map(svg => svg.ariaLabel)")
    assert len(set(names)) == len(names)
    last = f" = {shown.labels[-1][shown.at(-1)]}"
    assert all(name.endswith(last) and "Still picture" not in name for name in names)
    page.set_viewport_size({"width": 780, "height": 1000})
    assert max(shown.state()["over"]) <= 0
    assert root.bounding_box()["height"] <= MOST_HEIGHT
    ticks = root.locator("svg.plot:not(.zoom > :not(.large)) > g[font-size]")
    tall = "all => all.map(g => g.getScreenCTM().a * g.getAttribute('font-size'))"
    assert min(ticks.evaluate_all(tall), default=11) >= 11


def point_at(page, picture, x, y):
    """Move the mouse to values of a plot's axes."""
    box = picture.bounding_box()
    unit = box["width"] / float(picture.get_attribute("viewBox").split()[2])
    x0, x1, y0, y1, left, right, bottom, top = map(
        float, picture.get_attribute("data-scale").split()
    )
    across = left + (x - x0) / (x1 - x0) * (right - left)
    up = bottom + (y - y0) / (y1 - y0) * (top - bottom)
    page.mouse.move(box["x"] + across * unit, box["y"] + up * unit)


@pytest.mark.parametrize(
    ("example", "plot", "first", "places"),
    [(examples.plots, 1, 0, ([4, 1], [1, 1])), (examples.planes, 0, 1, ([0, 9, 7], [0, 3, 8]))],
    ids=("plots", "planes"),
)
def test_a_drag_sets_the_nearest_values_until_it_ends(opened, example, plot, first, places):
    page, shown = opened(example().html, width=390)
    picture = shown.root.locator("svg[data-drag]").nth(plot)
    picture.scroll_into_view_if_needed()
    for wanted in places:
        x, y = (float(shown.labels[first + i][wanted[first + i]]) + 0.1 for i in range(2))
        point_at(page, picture, x, y)
        page.mouse.down()
        assert shown.state()["places"] == wanted
    page.mouse.up()
    point_at(page, picture, 0, 0)
    page.keyboard.press("ArrowRight")
    assert shown.at(first) == wanted[first] + 1


def test_back_and_next_go_through_the_frames_and_play_stops_at_the_end(opened):
    page, shown = opened(examples.film().html)
    back, play, forth = (shown.root.locator(".steps button").nth(i) for i in range(3))

    def now():
        return shown.at(0), play.text_content()

    assert back.get_attribute("aria-disabled") == "true"
    for _ in range(4):
        forth.click(force=True)  # at the end it says that it is disabled, and keeps the focus
    assert now() == (3, "Play")
    assert forth.get_attribute("aria-disabled") == "true"
    back.click()
    assert now() == (2, "Play")
    forth.click()
    page.clock.pause_at("2026-01-02")  # from here on, time goes on by run_for alone
    play.click()
    assert now() == (0, "Pause")  # from the end, it begins anew
    page.clock.run_for(1500)
    assert now() == (2, "Pause")
    shown.controls[0].locator("input").focus()
    page.keyboard.press("ArrowLeft")  # takes over
    page.clock.run_for(3000)
    assert now() == (1, "Play")


def test_nothing_plays_for_readers_who_want_no_motion(opened):
    _, shown = opened(examples.film().html, reduced_motion="reduce")
    assert shown.root.locator(".steps button").all_text_contents() == ["Back", "Next"]


def test_arrow_keys_reach_all_digits_of_a_table_and_an_explorer_may_stand_twice(opened):
    page, shown, other = opened(*[examples.heat_map().html] * 2)
    before = other.state()
    shown.controls[-1].locator("input").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")  # one stop for the whole table
    cells, row = shown.root.locator("td.v"), len(before["cells"]) // 2
    for key, at in (("ArrowDown", row), ("ArrowRight", row + 1), ("ArrowUp", 1), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert cells.nth(at).evaluate("c => c === document.activeElement")
        content = cells.nth(at).evaluate("c => getComputedStyle(c, '::after').content")
        assert content == f'"{cells.nth(at).get_attribute("title")}"'
    assert shown.root.locator('table [tabindex="0"]').count() == 1
    assert other.state() == before


def test_buttons_and_clicks_choose_which_plane_is_large(opened):
    _, shown = opened(examples.planes().html)
    planes, view = shown.root.locator(".zoom svg"), shown.root.locator(".view")
    for at, choose in ((1, planes.nth(1)), (0, view.locator("input").nth(0))):
        choose.click()
        sizes = planes.evaluate_all("svgs => svgs.map(svg => svg.clientWidth)")
        assert sizes.index(max(sizes)) == at
        assert shown.root.locator("text[data-each]").first.is_visible()  # a letter, small or large
        assert view.locator("input").nth(at).is_checked()
