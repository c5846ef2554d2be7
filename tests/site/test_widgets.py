"""What moves in a page shows what Python draws and computes for the same values."""

import random
import re
from unittest.mock import patch

import numpy as np
import pytest
import torch
from conftest import BOOK, GATHER, ROOT, SERVED, widgets

from d2l_attention.letters import SYMBOLS
from d2l_attention.model.torch import Block, LanguageModel
from d2l_attention.practice import explore
from tests.replay import held_by, replayed, unpacked

EXPLORERS = widgets("d2l-explorer")
MODELS, *FURTHER = (widgets("d2l-arcs", edition.framework) for edition in BOOK.editions)
MOST_HEIGHT = 560  # so that a laptop shows the sliders and what they do
SCRIPTS = re.compile(r"<script>.*?</script>", re.DOTALL)
STATE = f"root => {GATHER}.arcs(root)"
DATA = ROOT / "d2l_attention/data"


def shown(root, places=()):
    """Return what an explorer shows with its sliders at these places."""
    return root.evaluate(f"(root, places) => {GATHER}.explorer(root, places)", [*places])


def assert_alike(state, still):
    """Compare what an explorer shows with what Python has drawn; pixels within one rounding."""
    assert state["cells"] == still["cells"]
    marks, wanted = (re.split(r"(-?\d+(?:\.\d+)?)", each["marks"]) for each in (state, still))
    assert marks[::2] == wanted[::2]
    assert [*map(float, marks[1::2])] == pytest.approx([*map(float, wanted[1::2])], abs=0.11)


@pytest.mark.parametrize(
    ("chapter", "end"),
    [
        ("04", {"query_at": 6, "degrees": 120}),
        ("08", {"kernel": "boxcar", "bandwidth": 0.1, "query": 0.5}),
        ("10", {"words": "kettle", "scores": "200", "way": "in place"}),
        ("14", {"origin": "at the dirge", "lively": -2.0, "bright": -2.0}),
        ("17", {"blocks": 3, "scores": "first two masked"}),
    ],
)
def test_what_moved_to_some_values_is_what_python_draws_for_them(alone, chapter, end):
    with patch("d2l_attention.practice.explore", wraps=explore) as explored:
        all(replayed(chapter))
    (function,), options = explored.call_args
    drawn = explore(function, **options | {"start": options["start"] | end})
    still = shown(alone(SCRIPTS.sub("", drawn.html)))
    assert_alike(shown(alone(EXPLORERS[chapter]), still["start"]), still)


@pytest.mark.parametrize("chapter", EXPLORERS)
def test_a_stored_explorer_goes_through_its_frames_and_nothing_else_moves(alone, chapter):
    still = shown(alone(SCRIPTS.sub("", EXPLORERS[chapter]), width=390))
    root = alone(EXPLORERS[chapter], width=390)
    first = shown(root)
    assert_alike(first, still)
    for index, (_, labels, *_) in enumerate(first["sliders"]):
        start, seen = first["start"], []
        for place, label in enumerate(labels):
            now = shown(root, [*start[:index], place, *start[index + 1 :]])
            assert now["told"][index] == label
            assert now["boxes"] == first["boxes"]
            names = {name for name in now["names"] if f" = {label}" in name}
            assert len(names) == len(now["names"])
            seen.append((now["cells"], now["marks"]))
        assert any(frame != seen[0] for frame in seen)
    root.page.set_viewport_size({"width": 780, "height": 1000})
    assert not first["over"] + shown(root)["over"]  # no column is lost
    assert root.bounding_box()["height"] <= MOST_HEIGHT
    ticks = root.locator("svg.plot:not(.zoom > :not(.large)) > g[font-size]")
    tall = "all => all.map(g => g.getScreenCTM().a * g.getAttribute('font-size'))"
    assert min(ticks.evaluate_all(tall), default=11) >= 11


def test_a_click_makes_a_plane_large_and_another_sets_the_nearest_values(alone):
    root = alone(EXPLORERS["14"])
    planes, view = root.locator(".zoom svg"), root.locator(".view input")
    planes.nth(1).click()
    sizes = planes.evaluate_all("svgs => svgs.map(svg => svg.clientWidth)")
    assert max(sizes) == sizes[1] > sizes[0]
    assert view.nth(1).is_checked()
    across, up = (labels for _, labels, *_ in shown(root)["sliders"][1:])
    for x, column, row in ((3, 0, -1), (sizes[1] - 3, -1, -1)):
        planes.nth(1).click(position={"x": x, "y": 3})
        assert shown(root)["told"][1:] == [across[column], up[row]]


def test_a_widget_whose_data_a_viewer_removed_stops_no_other(alone):
    for html in (EXPLORERS["03"], MODELS["00"]):
        root = alone(re.sub(r' data-\w+="[^"]*"', "", SCRIPTS.sub("", html)) + html)
        root.last.locator("input").first.wait_for(timeout=9000)


def test_buttons_go_through_the_frames(alone):
    root = alone(EXPLORERS["17"])
    back, play, forth = root.locator(".steps button").all()
    for _ in range(4):
        forth.click(force=True)  # at the end it says that it is disabled, and keeps the focus
    assert [b.get_attribute("aria-disabled") for b in (back, forth)] == ["false", "true"]
    back.click()
    assert shown(root)["told"][0] == "2"
    play.click()
    root.page.clock.run_for(3000)
    assert shown(root)["told"][0] == "3"


def test_arrow_keys_reach_all_digits_of_a_table(alone):
    root = alone(EXPLORERS["03"])
    root.locator("input").last.press("ArrowRight")
    for key, at in (("Tab", 0), ("ArrowDown", 4), ("ArrowRight", 5), ("ArrowUp", 1)):
        root.page.keyboard.press(key)
        cell = root.locator("td.v").nth(at)
        digits = cell.evaluate("c => c.matches(':focus') && getComputedStyle(c, '::after').content")
        assert digits == f'"{cell.get_attribute("title")}"'
    assert root.locator('table [tabindex="0"]').count() == 1  # one stop for the whole table


@torch.no_grad()
def test_a_page_computes_what_pytorch_computes_from_the_stored_weights(alone):
    reads, snapshots = held_by(MODELS["00"])["reads"], unpacked(MODELS["00"])
    drawn = [random.Random(n).choices(range(len(reads)), k=1 + n % 12) for n in range(24)]
    inputs = [(" ".join(reads[i] for i in ids), n % 6) for n, ids in enumerate(drawn)]
    run_all = "(root, inputs) => inputs.map((i) => root.run(...i))"
    found = alone(MODELS["00"]).evaluate(run_all, inputs)
    for ids, (text, step), got in zip(drawn, inputs, found, strict=True):
        W_q, W_k, W_v = (torch.from_numpy(array).double() for array in snapshots[step][1])
        weights = (W_q[ids] @ W_k[ids].T / W_q.shape[1] ** 0.5).softmax(-1)
        p = (weights[-1:] @ W_v[ids]).softmax(-1)
        assert got["written"] == p.argmax(-1).tolist(), text
        np.testing.assert_allclose(np.ravel(got["p"]), p.flatten(), atol=1e-6)
        np.testing.assert_allclose(np.ravel(got["weights"]), weights.flatten(), atol=1e-6)


def test_the_drawing_of_the_model_walks_by_key_and_says_what_a_block_brings(alone):
    root = alone(widgets("d2l-traced")["07"], width=390)
    line, told, lines = root.locator("li:visible"), root.locator("[role=status]"), []
    for _ in range(10):  # the last step stays
        lines.append((line.inner_text(), root.locator(".on[data-at]").count()))
        root.press("ArrowRight")
    assert len({*lines}) == len(root.locator("li").all()) == 9
    root.locator("input").nth(2).uncheck()
    assert told.inner_text() == "Without the attention of block 3 it would say t, 0.25."
    assert line.inner_text() + root.locator(".next").last.text_content() == lines[7][0] + "t"
    root.press("ArrowLeft")
    assert [told.inner_text(), root.locator("input:checked").count()] == ["", 4]
    root.evaluate("root => root.blur()")
    root.page.keyboard.press("ArrowRight")  # not its key now
    assert line.inner_text() == lines[6][0]


DATES = {
    "2024-02-29": "29 feb 2024",
    "2024-03-27": "mar 27, 2024|2024 mar 27|3/27/2024|27.3.2024",
    "2024-03": "mar 2024|3/2024",
    "1950-01-01": "  1 jan 1950 ",
    r"\S+, though this is no date.*": "29 feb 2023|31 feb 2024|0/5/1999|13/13/1999|27|mar mar mar",
}
TYPED = {  # by chapter: what is typed, what is said, and what the model answers, if it can
    "00": [
        (" ,. ", "Nothing is typed.", ""),
        ("<b>😀", "“<b>😀”", ""),
        ("x" * 10_000, f"Not among the 44 words that this model knows: “{'x' * 16}…”", ""),
        ("the " * 2_500, "These are 2,500 words, and it takes at most 12.", ""),
        ("the animal was tired", "“tired” gives weight to: animal 1.00", "Its .*: animal"),
    ],
    "15": [
        ("", "Nothing is typed. It takes dates such as 27 mar 2024", ""),
        ("27 mar 2024 🎂", "characters that this model knows: “🎂”", ""),
        ("27-mar-2024", "“7” gives weight to: letter 2 (7) 0.81, letter 1 (2) 0.13, ", ".*"),
        *[(date, "", f"It writes: {iso}") for iso in DATES for date in DATES[iso].split("|")],
    ],
}


@pytest.mark.parametrize("chapter", TYPED)
def test_a_reader_types_and_trains_and_what_a_model_cannot_take_is_said(alone, chapter):
    assert held_by(MODELS[chapter]) == held_by(FURTHER[0][chapter]) == held_by(FURTHER[1][chapter])
    root = alone(MODELS[chapter], width=390, motion="reduce")
    typed, steps = (root.locator(f"input[type={what}]").first for what in ("text", "range"))
    for text, says, out in TYPED[chapter]:
        typed.fill(text)
        typed.press("Enter")  # a date is written at once, as less motion is wanted
        root.page.clock.run_for(600)
        state = root.evaluate(STATE)
        assert says in state["says"]
        assert re.fullmatch(out, state["out"])
        assert state["wrong"] == [not out] * 2
        assert not state["bad"]
        steps.press("Home")
        assert (root.evaluate(STATE) == state) == (not out)  # no training helps what is wrong
        steps.press("End")
        assert root.evaluate(STATE) == state
    assert not root.locator(".stage select:visible").count()  # over words of another sentence


def test_the_site_loads_weights_that_come_into_view_and_the_model_that_writes_goes_on(reading):
    page = reading("15_attention_that_learns_to_align.html")
    page.locator(".d2l-arcs").scroll_into_view_if_needed()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    assert page.locator(".d2l-arcs").bounding_box()["height"] <= MOST_HEIGHT
    assert "gives weight to" in page.locator(".d2l-arcs .says").text_content()
    page, text = reading("07_a_model_that_writes.html"), "The score of a query and a key"
    parts = [*(Block(128, 4) for _ in "four"), torch.nn.LayerNorm(128)]
    model = LanguageModel(len(SYMBOLS), 128, parts)
    for p, array in zip(model.parameters(), np.load(DATA / "writer.npz").values(), strict=True):
        p.data = torch.from_numpy(array).float()
    logits = model(torch.tensor([[SYMBOLS.index(letter) for letter in text]]))
    writer = page.locator(".d2l-arcs.writer")
    found = writer.evaluate("(root, text) => root.run(text)", text)
    np.testing.assert_allclose(found, logits[0].detach(), atol=1e-4)
    writer.locator(".out").evaluate("out => { out.textContent = '' }")  # what is stored
    writer.locator("button").click()
    page.wait_for_function("document.querySelector('.writer .out').textContent.length > 99")


def test_the_home_page_has_a_trained_layer_all_chapters_and_where_the_reader_left_off(reading):
    page = reading("index.html", base=SERVED)
    page.wait_for_selector(".d2l-arcs[data-ready]")
    layer, go_on = page.locator(".d2l-arcs"), page.locator(".go-on")
    said, shown = layer.locator(".says"), ("street", "tired")
    assert re.match(r"“tired” gives weight to: animal 0\.[4-7]", said.inner_text())
    assert not layer.locator(".typed").is_visible()  # the words suffice here
    layer.locator("input[type=range]").press("End")
    for noun, adjective in (("street", "wide"), ("soup", "salty")):
        for old, new in zip(shown, shown := (noun, adjective), strict=True):
            layer.locator("svg.row text", has_text=old).click(force=True)  # on it lies its list
            page.keyboard.type(f"{new}\n")
        assert layer.locator("[type=text]").input_value().split()[6::5] == [*shown]
        assert re.match(rf"“{adjective}” gives weight to: {noun} (0\.9|1\.0)", said.inner_text())
        assert layer.locator(".out").inner_text() == f"Its output names: {noun}"
    links = page.locator(".cap a, .cards a, .cards + p a")
    paths = links.evaluate_all("all => all.map(a => a.pathname)")
    assert paths == [f"/{name}.html" for name in (BOOK.chapters[0], *BOOK.chapters, *BOOK.guests)]
    assert not go_on.is_visible()
    page.goto(f"{SERVED}/10_masked_softmax.html")
    section = page.locator("article section section[id]").nth(2)
    section.evaluate("s => s.scrollIntoView()")
    goal = "10_masked_softmax.html#" + section.get_attribute("id")
    page.goto(f"{SERVED}/index.html")
    assert go_on.inner_text() == "Continue with 10. Masked softmax in every corner"
    assert go_on.get_attribute("href") == goal
    page.locator(".start a").last.click()
    page.locator(".writer:target").wait_for()
