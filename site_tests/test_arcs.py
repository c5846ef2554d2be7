"""Trained models in the page: they compute what PyTorch computes, from the weights of the notebook.

The page of a widget is made from the output that the notebook stores.
"""

import functools
import math
import random
import re

import numpy as np
import pytest
import torch
from conftest import BOOK, ROOT, open_page
from torch import nn
from torch.nn.utils import rnn

from bookbinder.files import read_notebook
from d2l_attention import torch as d2l
from d2l_attention.practice.arcs import held_by, unpacked

CHAPTERS = {
    "sentence": "03_kernels_to_dot_products",
    "translator": "10_attention_that_learns_to_align",
    "singer": "12_many_heads",
}
SHOWN = [
    (kind, edition.framework)
    for kind, chapter in CHAPTERS.items()
    for edition in BOOK.editions
    if chapter not in edition.without
]
INPUTS = 50
CLOSE = 1e-6
MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
PAGE = '<!doctype html><meta name="viewport" content="width=device-width"><body>{}</body>'
RUN = """inputs => {
  const root = document.querySelector('.d2l-arcs');
  return inputs.map(([text, step]) => root.run(text, step));
}"""
STATE = """() => {
  const root = document.querySelector('.d2l-arcs'), find = what => root.querySelector(what);
  return {
    says: find('.says').textContent, out: find('.out').textContent,
    old: ['.stage', '.out'].every(what => getComputedStyle(find(what)).opacity < 1),
    height: root.offsetHeight, page: document.documentElement.scrollWidth,
    arcs: [...root.querySelectorAll('svg:not(.column) path:not(.pale)')]
      .map(p => [p.getAttribute('d'), p.style.strokeWidth]).join(),
  };
}"""
WRONG = {
    "sentence": {
        " ,. ": "Nothing is typed.",
        "the hippo was tired": "Not among the 44 words that this model knows: “hippo”.",
        "<b>😀": "“<b>😀”",
        "x" * 10_000: "“xxxxxxxxxxxxxxxx…”",
        "the " * 2_500: "These are 2,500 words, and it takes at most 12.",
    },
    "translator": {
        "": "Nothing is typed. It takes dates such as 27 mar 2024",
        "27 mar 2024 🎂": "characters that this model knows: “🎂”",
        "1" * 10_000: "These are 10,000 characters, and it takes at most 20.",
    },
    "singer": {
        "": "Nothing is typed. It takes the letters a to z.",
        "tuli🐦": "“🐦”",
        "la" * 5_000: "These are 10,000 letters, and it takes at most 24.",
    },
}
WEIGHT = r"letter \d+ \((\w|gap)\) \d\.\d\d.*"
DATE = r"“\d” gives weight to: " + WEIGHT
SAYS = {  # what is typed, and what is said and written then
    "sentence": [
        ("the animal was tired", r"“tired” gives weight to: animal \d\.\d\d.*", ".*animal")
    ],
    "translator": [
        ("1 mar 2024", DATE, r"It writes: [\d-]+"),
        ("31 feb 2024", DATE, r"It writes: \S+, though this is no date in one of the .*"),
    ],
    "singer": [("lalala", f"“a” gives most weight to, head by head: ({WEIGHT}|none).*", ".*")],
}


@functools.cache
def notebook(edition, kind):
    return read_notebook(ROOT / "notebooks" / edition / f"{CHAPTERS[kind]}.ipynb")


@functools.cache
def output(edition, kind):
    """Return the output of a notebook that holds the widget."""
    found = [
        html
        for cell in notebook(edition, kind).cells
        for shown in cell.get("outputs", [])
        if (html := "".join(shown.get("data", {}).get("text/html", ""))).startswith(
            f'<div class="d2l-arcs" data-kind="{kind}"'
        )
    ]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def shown(browser):
    """Return a function that shows a widget alone on a page."""
    contexts = []

    def show(kind, edition="pytorch", width=800, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_content(PAGE.format(output(edition, kind)))
        return page

    yield show
    for context in contexts:
        context.close()


def defined(kind, *names, **more):
    """Run the cells of a chapter that define these, and return all that they define."""
    space = {"torch": torch, "nn": nn, "rnn": rnn, "d2l": d2l, **more}
    space |= {name: getattr(d2l, name) for name in ("MultiHeadAttention", "DotProductAttention")}
    space["rotate"] = d2l.rotate
    for name in names:
        pattern = re.compile(rf"^(?:class|def) {name}\b", re.MULTILINE)
        cell = next(
            c.source
            for c in notebook("pytorch", kind).cells
            if c.cell_type == "code" and pattern.search(c.source)
        )
        tree = cell.split("\n\n\n")
        exec(next(part for part in tree if pattern.search(part)), space)  # not what it then shows
    return space


@torch.no_grad()
def loaded(model, arrays):
    """Return a model with these parameters."""
    parameters = list(model.parameters())
    assert [tuple(p.shape) for p in parameters] == [a.shape for a in arrays]
    for parameter, array in zip(parameters, arrays, strict=True):
        parameter.copy_(torch.from_numpy(array))
    return model.double().eval()


@torch.no_grad()
def by_sentence_layer(held, arrays, text):
    attend = defined("sentence", "attend")["attend"]
    ids = [held["reads"].index(word) for word in text.split()]
    X = nn.functional.one_hot(torch.tensor([ids]), 44).double()
    weights, out = attend(X, *map(torch.from_numpy, arrays))
    p = out[0, -1:].softmax(-1)
    return weights, p, p.argmax(-1)


@torch.no_grad()
def by_translator(held, arrays, text):
    more = {"source_tokens": held["reads"], "target_tokens": held["writes"], "BOS": 1}
    names = ("Encoder", "Decoder", "Translator", "decode")
    space = defined("translator", *names, **more)
    layer = d2l.AdditiveAttention(64, query_size=64, key_size=64)
    model = loaded(space["Translator"](layer).double(), arrays)
    X = torch.tensor([[held["reads"].index(letter) for letter in text]])
    lens = torch.tensor([len(text)])
    (tokens,), (weights,) = space["decode"](model, X, lens)
    forced = torch.cat([torch.tensor([1]), tokens[:-1]])[None]
    p = model(X, lens, forced)[0].softmax(-1)
    end = [*tokens.tolist(), 2].index(2)
    return weights[None, :end], p[:end], tokens[:end]


@torch.no_grad()
def by_singer(held, arrays, text):
    space = defined("singer", "RotaryAttention", "Block", "Singer")
    model = space["Singer"]()
    ids = torch.tensor([[held["reads"].index(letter) for letter in text]])
    model(ids)  # makes the parameters
    model = loaded(model, arrays)
    p = model(ids)[0].softmax(-1)
    weights = torch.cat([block.attention.attention_weights[0] for block in model.blocks])
    return weights, p, p.argmax(-1)


def inputs_of(kind, held):
    rng = random.Random(0)
    if kind == "sentence":
        pattern = [held["pattern"].format(*rng.choices(held["reads"], k=3)) for _ in range(25)]
        return pattern + [" ".join(rng.choices(held["reads"], k=1 + i % 12)) for i in range(25)]
    if kind == "translator":
        texts = []
        for i in range(INPUTS):
            d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2049)
            mon = MONTHS[3 * m - 3 : 3 * m]
            forms = (f"{mon} {d}, {y}", f"{d}-{mon}-{y}", f"{m}/{d}/{y}", f"{d}.{m}.{y}")
            texts.append((*forms, f"{mon} {y}", f"{d} {d} {mon}", f"{y}", "-")[i % 8])
        return texts
    letters = held["reads"]
    phrases = ["".join(rng.sample(letters, rng.randint(4, 8))) for _ in range(25)]
    songs = [(phrase * 6)[: rng.randint(9, 24)] for phrase in phrases]
    return songs + ["".join(rng.choices(letters, k=1 + i % 24)) for i in range(25)]


@pytest.mark.parametrize(("kind", "edition"), SHOWN)
def test_the_page_computes_what_pytorch_computes_from_the_stored_weights(shown, kind, edition):
    html = output(edition, kind)
    held, snapshots = held_by(html), unpacked(html)
    compute = {"sentence": by_sentence_layer, "translator": by_translator, "singer": by_singer}
    inputs = [(text, i % len(snapshots)) for i, text in enumerate(inputs_of(kind, held))]
    assert len(inputs) == INPUTS
    found = shown(kind, edition).evaluate(RUN, inputs)
    for (text, step), got in zip(inputs, found, strict=True):
        weights, p, written = compute[kind](held, snapshots[step][1], text)
        assert got["written"] == written.tolist(), text
        np.testing.assert_allclose(np.array(got["p"]).ravel(), p.numpy().ravel(), atol=CLOSE)
        for rows, wanted in zip(got["weights"], weights.numpy(), strict=True):
            for row, expected in zip(rows, wanted, strict=True):
                np.testing.assert_allclose(row, expected[: len(row)], atol=CLOSE)
                assert math.isclose(sum(row), 1)


@pytest.mark.parametrize("kind", CHAPTERS)
def test_a_reader_types_and_trains_and_what_a_model_cannot_take_is_said(shown, kind):
    page = shown(kind, width=390)
    problems = []
    page.on("pageerror", lambda error: problems.append(error))
    typed, steps = (page.locator(f".d2l-arcs input[type={what}]") for what in ("text", "range"))
    for text, says, out in SAYS[kind]:
        typed.fill(text)
        right = page.evaluate(STATE)
        assert re.fullmatch(says, right["says"])
        assert re.fullmatch(out, right["out"])
    for text, said in WRONG[kind].items():
        typed.fill(text)
        wrong = page.evaluate(STATE)
        assert said in wrong["says"]
        assert wrong["old"]
        assert typed.get_attribute("aria-invalid") == "true"
        assert len(wrong["says"]) < 200
        assert wrong["page"] <= 390
        steps.first.focus()
        page.keyboard.press("Home")  # no step of training makes it better
        assert page.evaluate(STATE)["says"] == wrong["says"]
        page.keyboard.press("End")
    typed.fill(text := SAYS[kind][-1][0])
    assert page.evaluate(STATE) == right
    steps.first.focus()
    page.keyboard.press("Home")
    assert page.evaluate(STATE)["arcs"] != right["arcs"], text
    assert not problems


def test_with_less_motion_a_date_is_written_at_once(shown):
    page = shown("translator", reduced_motion="reduce")
    written = page.locator(".d2l-arcs svg.rows text")
    length = written.count()
    page.get_by_role("button", name="Write").click()
    page.wait_for_timeout(600)
    assert len([*filter(None, written.all_text_contents())]) == length


def test_the_site_loads_the_weights_of_a_widget_that_comes_into_view(browser, addresses):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = open_page(context, f"{addresses['file']}/{CHAPTERS['translator']}.html")
    page.locator(".d2l-arcs").scroll_into_view_if_needed()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    state = page.evaluate(STATE)
    context.close()
    assert state["height"] <= 560
    assert "gives weight to" in state["says"]
