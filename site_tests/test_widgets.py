"""What moves in a page: explorers, trained models, and the home page, which has one.

They show what Python draws and computes for the same values. Pages are made of the outputs that
notebooks store, and of explorers for tests; only the last two tests need the site.
"""

import random
import re
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
import torch
from conftest import BOOK, GATHER, ROOT, comes_true, widgets

from bookbinder.files import read_notebook
from d2l_attention import torch as d2l
from d2l_attention.practice import explore
from d2l_attention.practice.arcs import held_by, unpacked
from tests.replay import replayed

EXPLORERS = widgets("d2l-explorer")
MODELS, *FURTHER = (widgets("d2l-arcs", edition.framework) for edition in BOOK.editions)
MOST_HEIGHT = 560  # so that a laptop shows the sliders and what they do
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SCRIPTS = re.compile(r"<script>.*?</script>", re.DOTALL)
RUN = "(root, inputs) => inputs.map(([text, step]) => root.run(text, step))"
STATE = f"root => {GATHER}.arcs(root)"
DATA = ROOT / "d2l_attention" / "data"


def shown(root, places=()):
    """Return what an explorer shows with its sliders at these places."""
    return root.evaluate(f"(root, places) => {GATHER}.explorer(root, places)", [*places])


def assert_alike(state, still):
    """Compare what an explorer shows with what Python has drawn; pixels within one rounding."""
    assert state["cells"] == still["cells"]
    marks, wanted = (" ".join(each["marks"]) for each in (state, still))
    assert NUMBER.split(marks) == NUMBER.split(wanted)
    numbers, wanted = ([*map(float, NUMBER.findall(text))] for text in (marks, wanted))
    assert numbers == pytest.approx(wanted, abs=0.11)


@cache
def explored(chapter):
    """Run the cell of a chapter that explores, after those that it needs; return what it gives."""
    with patch("d2l_attention.practice.explore", wraps=explore) as made:
        all(replayed(chapter))
    return made.call_args


def example(chapter, **start):
    (function,), options = explored(chapter)
    return explore(function, **options | {"start": options["start"] | start}).html


@pytest.mark.parametrize(
    ("chapter", "end"),
    [
        ("04", {"query_at": 6, "degrees": 120}),
        ("08", {"kernel": "boxcar", "bandwidth": 0.1, "query": 0.5}),
        ("10", {"words": "kettle", "scores": "200", "way": "in place"}),
        ("14", {"lively": -2.25, "bright": 2.5}),
        ("14", {"origin": "at the dirge", "lively": -2.0, "bright": -2.0}),
        ("17", {"blocks": 3, "scores": "first two masked"}),
    ],
)
def test_what_moved_to_some_values_is_what_python_draws_for_them(alone, chapter, end):
    still = shown(alone(SCRIPTS.sub("", example(chapter, **end))))
    places = [place for _, _, place, *_ in still["sliders"]]
    assert_alike(shown(alone(EXPLORERS[chapter]), places), still)


@pytest.mark.parametrize("chapter", EXPLORERS)
def test_a_stored_explorer_goes_through_its_frames_and_nothing_else_moves(alone, chapter):
    still = shown(alone(SCRIPTS.sub("", EXPLORERS[chapter]), width=390))
    root = alone(EXPLORERS[chapter], width=390)
    first = shown(root)
    assert_alike(first, still)
    start = [place for _, _, place, *_ in first["sliders"]]
    for index, (_, labels, *_) in enumerate(first["sliders"]):
        moved = False
        for place, label in enumerate(labels):
            now = shown(root, [*start[:index], place, *start[index + 1 :]])
            assert now["told"][index] == label
            assert now["boxes"] == first["boxes"]
            assert len({name for name in now["names"] if f" = {label}" in name}) == len(
                now["names"]
            )
            moved |= (now["cells"], now["marks"]) != (first["cells"], first["marks"])
        assert moved
    question = root.locator(".q").text_content()
    assert (root.get_attribute("role"), root.get_attribute("aria-label")) == ("group", question)
    root.page.set_viewport_size({"width": 780, "height": 1000})
    assert not first["over"] + shown(root)["over"]  # no column is lost
    assert root.bounding_box()["height"] <= MOST_HEIGHT
    ticks = root.locator("svg.plot:not(.zoom > :not(.large)) > g[font-size]")
    tall = "all => all.map(g => g.getScreenCTM().a * g.getAttribute('font-size'))"
    assert min(ticks.evaluate_all(tall), default=11) >= 11


def test_a_drag_sets_the_nearest_values_until_it_ends(alone):
    root = alone(EXPLORERS["14"])
    picture, mouse = root.locator("svg[data-drag]").nth(1), root.page.mouse
    scale = [*map(float, picture.get_attribute("data-scale").split())]
    root.locator(".view input").nth(1).check()  # this one is large
    box = picture.bounding_box()
    unit = box["width"] / float(picture.get_attribute("viewBox").split()[2])
    for x, y in ((1.5, 1), (-1.5, 0.25), (0, 4.5), (1, 1)):
        across = np.interp(x + 0.1, scale[:2], scale[4:6]) * unit
        mouse.move(box["x"] + across, box["y"] + np.interp(y + 0.1, scale[2:4], scale[6:]) * unit)
        mouse.down()
        assert [*map(float, shown(root)["told"][1:])] == [x, y]
    mouse.up()
    mouse.move(box["x"], box["y"])
    root.page.keyboard.press("ArrowRight")
    assert [*map(float, shown(root)["told"][1:])] == [1.25, 1]


def test_back_and_next_go_through_the_frames_and_play_stops_at_the_end(alone):
    root = alone(EXPLORERS["17"])
    back, play, forth = root.locator(".steps button").all()
    for _ in range(4):
        forth.click(force=True)  # at the end it says that it is disabled, and keeps the focus
    assert [b.get_attribute("aria-disabled") for b in (back, forth)] == ["false", "true"]
    back.click()
    assert shown(root)["told"][0] == "2"
    forth.click()
    root.page.clock.pause_at("2026-01-02")  # from here on, time goes on by run_for alone
    play.click()  # from the end, it begins anew
    root.page.clock.run_for(1500)
    assert (shown(root)["told"][0], play.text_content()) == ("2", "Pause")
    root.locator("input").first.press("ArrowLeft")  # takes over
    root.page.clock.run_for(3000)
    assert (shown(root)["told"][0], play.text_content()) == ("1", "Play")
    calm = alone(EXPLORERS["17"], motion="reduce")
    assert calm.locator(".steps button").all_text_contents() == ["Back", "Next"]


def test_arrow_keys_reach_all_digits_of_a_table(alone):
    root = alone(EXPLORERS["03"])
    root.locator("input").last.press("ArrowRight")
    root.page.keyboard.press("Tab")  # one stop for the whole table
    for key, at in (("ArrowDown", 4), ("ArrowRight", 5), ("ArrowUp", 1), ("ArrowUp", 1)):
        root.page.keyboard.press(key)
        cell = root.locator("td.v").nth(at)
        digits = cell.evaluate("c => c.matches(':focus') && getComputedStyle(c, '::after').content")
        assert digits == f'"{cell.get_attribute("title")}"'
    assert root.locator('table [tabindex="0"]').count() == 1


def test_buttons_and_clicks_choose_which_plane_is_large(alone):
    root = alone(EXPLORERS["14"])
    planes, view = root.locator(".zoom svg"), root.locator(".view input")
    for at, choose in ((1, planes.nth(1)), (0, view.nth(0))):
        choose.click()
        sizes = planes.evaluate_all("svgs => svgs.map(svg => svg.clientWidth)")
        assert sizes.index(max(sizes)) == at
        assert root.locator("text[data-each] >> visible=true").count()  # a letter, small or large
        assert view.nth(at).is_checked()


def loaded(model, arrays):
    """Return a model with these parameters."""
    for parameter, array in zip(model.double().parameters(), arrays, strict=True):
        assert parameter.shape == array.shape
        parameter.data = torch.from_numpy(array).double()
    return model.eval()


def by_sentence(held, arrays, ids):
    W_q, W_k, W_v = (torch.from_numpy(array).double() for array in arrays)
    weights = (W_q[ids] @ W_k[ids].T / W_q.shape[1] ** 0.5).softmax(-1)
    p = (weights[-1:] @ W_v[ids]).softmax(-1)
    return weights, p, p.argmax(-1)


def by_translator(held, arrays, ids):
    """Run chapter 15's own classes."""
    space = vars(d2l) | {"torch": torch, "nn": torch.nn, "rnn": torch.nn.utils.rnn, "d2l": d2l}
    space |= {"source_tokens": held["reads"], "target_tokens": held["writes"], "BOS": 1}
    (path,) = (ROOT / "notebooks/pytorch").glob("15_*.ipynb")
    cells = [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"]
    for part in "\n\n\n".join(cells).split("\n\n\n"):
        if re.match(r"(@.*\n)?(class (Encoder|Decoder|Translator)|def decode)\b", part):
            exec(part, space)
    layer = d2l.AdditiveAttention(64, query_size=64, key_size=64)
    model = loaded(space["Translator"](layer), arrays)
    X, lens = torch.tensor([ids]), torch.tensor([len(ids)])
    (tokens,), (weights,) = space["decode"](model, X, lens)
    p = model(X, lens, torch.cat([torch.tensor([1]), tokens[:-1]])[None])[0].softmax(-1)
    end = [*tokens.tolist(), 2].index(2)
    return weights[:end], p[:end], tokens[:end]


def by_singer(held, arrays, ids):
    model = loaded(d2l.Singer(), arrays)
    p = model(torch.tensor([ids]))[0].softmax(-1)
    weights = torch.cat([block.attention.attention_weights[0] for block in model.blocks])
    return weights, p, p.argmax(-1)


@torch.no_grad()
@pytest.mark.parametrize(
    ("chapter", "compute"), [("00", by_sentence), ("15", by_translator), ("06", by_singer)]
)
def test_a_page_computes_what_pytorch_computes_from_the_stored_weights(alone, chapter, compute):
    held, snapshots = held_by(MODELS[chapter]), unpacked(MODELS[chapter])
    assert [held_by(models[chapter]) for models in FURTHER] == [held] * len(FURTHER)
    rng, gap = random.Random(0), " " * (chapter == "00")
    pieces = [piece for piece in held["reads"] if piece.strip() and piece[0] != "<"]
    drawn = [rng.choices(pieces, k=1 + i % 12) for i in range(24)]
    inputs = [(gap.join(tokens), i % len(snapshots)) for i, tokens in enumerate(drawn)]
    found = alone(MODELS[chapter]).evaluate(RUN, inputs)
    for tokens, (_, step), got in zip(drawn, inputs, found, strict=True):
        ids = [held["reads"].index(token) for token in tokens]
        weights, p, written = compute(held, snapshots[step][1], ids)
        assert got["written"] == written.tolist(), tokens
        np.testing.assert_allclose(np.ravel(got["p"]), p.flatten(), atol=1e-6)
        flat = [w for rows in got["weights"] for row in rows for w in row]
        np.testing.assert_allclose(flat, weights[weights > 0], atol=1e-6)  # none of later letters


DATES = "29 feb 2024|29 Feb 2000|mar 27, 2024|2024 mar 27|27-mar-2024|3/27/2024|27.3.2024|mar 2024"
DATES = [*DATES.split("|"), "3/2024", "  1 jan 1950 "]
NO_DATES = ("29 feb 2023", "27", "0/5/1999", "13/13/1999", "mar mar mar", "31 feb 2024")
TYPED = {  # by chapter: what is typed -> what is said, and what the model answers, if it can
    "00": {
        " ,. ": ("Nothing is typed.", ""),
        "<b>😀": ("“<b>😀”", ""),
        "x" * 10_000: ("Not among the 44 words that this model knows: “x{16}…”", ""),
        "the " * 2_500: ("These are 2,500 words, and it takes at most 12.", ""),
        "the animal was tired": (r"^“tired” gives weight to: animal \d\.\d\d", ".*animal"),
    },
    "15": {
        "": ("Nothing is typed. It takes dates such as 27 mar 2024", ""),
        "27 mar 2024 🎂": ("characters that this model knows: “🎂”", ""),
        **dict.fromkeys(NO_DATES, ("", r"It writes: \S+, though this is no date in one.*")),
        **dict.fromkeys(DATES, ("“.” gives weight to: ", r"It writes: \S+")),
    },
    "06": {
        "": ("It takes the letters a to z.", ""),
        "lalala": (r"“a” gives most weight to, head by head: (letter \d|none)", ".*: [a-z]"),
    },
}


@pytest.mark.parametrize("chapter", TYPED)
def test_a_reader_types_and_trains_and_what_a_model_cannot_take_is_said(alone, chapter):
    root = alone(MODELS[chapter], width=390, motion="reduce")
    typed, steps = (root.locator(f"input[type={what}]").first for what in ("text", "range"))
    for text, (says, out) in TYPED[chapter].items():
        typed.fill(text)
        typed.press("Enter")  # a date is written at once, as less motion is wanted
        root.page.clock.run_for(600)
        state = root.evaluate(STATE)
        assert re.search(says, state["says"])
        assert re.fullmatch(out, state["out"])
        assert state["wrong"] == [not out] * 2
        assert not state["bad"]
        steps.press("Home")
        assert (root.evaluate(STATE) == state) == (not out)  # no training helps what is wrong
        steps.press("End")
        assert root.evaluate(STATE) == state


def test_the_site_loads_weights_that_come_into_view_and_the_model_that_writes_goes_on(reading):
    page = reading("15_attention_that_learns_to_align.html")
    page.locator(".d2l-arcs").scroll_into_view_if_needed()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    assert page.locator(".d2l-arcs").bounding_box()["height"] <= MOST_HEIGHT
    assert "gives weight to" in page.locator(".d2l-arcs .says").text_content()
    page, text = reading("07_a_model_that_writes.html"), "The score of a query and a key"
    reads = sorted({*(DATA / "book.txt").read_text("utf-8")})
    model = loaded(d2l.GPT(len(reads)), [*np.load(DATA / "writer.npz").values()])
    logits = model(torch.tensor([[reads.index(letter) for letter in text]]))
    writer = page.locator(".d2l-arcs.writer")
    found = writer.evaluate("(root, text) => root.run(text)", text)
    np.testing.assert_allclose(found["logits"], logits[0].detach(), atol=1e-4)
    writer.locator(".out").evaluate("out => { out.textContent = '' }")  # what is stored
    writer.locator("button").click()
    assert comes_true(page, lambda: len(writer.locator(".out").text_content()) > 99)


def test_the_home_page_has_a_trained_layer_all_chapters_and_where_the_reader_left_off(reading):
    page = reading("index.html")
    page.wait_for_selector(".d2l-arcs[data-ready]")
    layer, go_on = page.locator(".d2l-arcs"), page.locator(".go-on")
    said, lists = layer.locator(".says"), layer.locator("select")
    assert re.match(r"“tired” gives weight to: animal 0\.[4-7]", said.inner_text())
    assert not layer.locator(".typed").is_visible()  # the lists suffice here
    layer.locator("input[type=range]").press("End")
    for noun, adjective in (("street", "wide"), ("soup", "salty"), ("bridge", "icy")):
        lists.nth(1).select_option(noun)
        lists.nth(2).select_option(adjective)
        assert re.match(rf"“{adjective}” gives weight to: {noun} (0\.9|1\.0)", said.inner_text())
        assert layer.locator(".out").inner_text() == f"Its output names: {noun}"
    links = page.locator(".cap a, .cards a, .cards + p a").evaluate_all(
        "all => all.map(a => a.href)"
    )
    home = page.url.removesuffix("index.html")
    assert links == [f"{home}{name}.html" for name in (BOOK.chapters[0], *BOOK.chapters)]
    tops = [card.bounding_box()["y"] for card in page.locator(".book-card").all()]
    assert tops == tops[:1] * len(BOOK.parts)  # side by side
    start = page.locator(".start a >> visible=true")
    assert start.evaluate_all("all => all.every(a => a.getBoundingClientRect().bottom < 720)")
    assert not go_on.is_visible()
    page.goto(f"{home}10_masked_softmax.html")
    section = page.locator("article section section[id]").nth(2)
    section.evaluate("s => s.scrollIntoView()")
    goal = "10_masked_softmax.html#" + section.get_attribute("id")
    page.goto(f"{home}index.html")

    def offered():  # another process may have shown the chapter: what it stored comes in a while
        page.reload()
        return go_on.inner_text() == "Continue with 10. Masked softmax in every corner"

    assert comes_true(page, offered)
    assert go_on.get_attribute("href") == goal
