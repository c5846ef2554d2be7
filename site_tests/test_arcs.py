"""Trained models in the page: they compute what PyTorch computes, from the weights of the notebook.

The page of a widget is made from the output that the notebook stores.
"""

import math
import random
import re

import numpy as np
import pytest
import torch
from conftest import BOOK, ROOT, html_outputs
from torch import nn
from torch.nn.utils import rnn

from bookbinder.files import read_notebook
from d2l_attention import torch as d2l
from d2l_attention.practice.arcs import held_by, unpacked

CHAPTERS = {
    "sentence": "00_start_here",
    "translator": "15_attention_that_learns_to_align",
    "singer": "06_inside_a_small_model",
}
INPUTS, CLOSE = 50, 1e-6
DATA = ROOT / "d2l_attention" / "data"
RUN = """inputs => {
  const root = document.querySelector('.d2l-arcs');
  return inputs.map(([text, step]) => root.run(text, step));
}"""
STATE = """() => {
  const root = document.querySelector('.d2l-arcs'), find = what => root.querySelector(what);
  return {
    says: find('.says').textContent, out: find('.out').textContent,
    old: getComputedStyle(find('.stage')).opacity < 1,
    hair: [...root.querySelectorAll('svg path')].filter(p => p.style.strokeWidth === '0px').length,
    height: root.offsetHeight, page: document.documentElement.scrollWidth,
    arcs: [...root.querySelectorAll('svg:not(.column) path:not(.pale)')]
      .map(p => [p.getAttribute('d'), p.style.strokeWidth]).join(),
  };
}"""
WRONG = {  # what a model cannot take, and what is said
    "sentence": {
        " ,. ": "Nothing is typed.",
        "<b>😀": "“<b>😀”",
        "x" * 10_000: "Not among the 44 words that this model knows: “xxxxxxxxxxxxxxxx…”",
        "the " * 2_500: "These are 2,500 words, and it takes at most 12.",
    },
    "translator": {
        "": "Nothing is typed. It takes dates such as 27 mar 2024",
        "27 mar 2024 🎂": "characters that this model knows: “🎂”",
        "1" * 10_000: "These are 10,000 characters, and it takes at most 20.",
    },
    "singer": {"": "It takes the letters a to z.", "la" * 5_000: "it takes at most 24."},
}
NO_DATES = ("29 feb 2023", "27", "0/5/1999", "13/13/1999", "mar mar mar", "31 feb 2024")
DATES = ("29 feb 2024", "29 Feb 2000", "mar 27, 2024", "2024 mar 27", "27-mar-2024", "3/27/2024")
DATES += ("27.3.2024", "mar 2024", "3/2024", "  1 jan 1950 ")
WEIGHT = r"letter \d+ \((\w|gap)\) \d\.\d\d.*"
SINGS = f"“a” gives most weight to, head by head: ({WEIGHT}|none).*"
SAYS = {  # what is typed, and what is said and written then
    "sentence": [
        ("the animal was tired", r"“tired” gives weight to: animal \d\.\d\d.*", ".*animal")
    ],
    "translator": [
        *((date, "“.” gives weight to: .*", r"It writes: \S+") for date in DATES),
        *((text, ".*", r"It writes: \S+, though this is no date in one.*") for text in NO_DATES),
    ],
    "singer": [("lalala", SINGS, "It expects next: [a-z]")],
}


def stored(kind, framework="pytorch"):
    return ROOT / "notebooks" / framework / f"{CHAPTERS[kind]}.ipynb"


def output(kind, framework="pytorch"):
    """Return the output of a notebook that holds the widget."""
    (html,) = html_outputs(stored(kind, framework), "d2l-arcs")
    return html


def defined(kind, *names, **more):
    """Run the cells of a chapter that define these, and return all that they define."""
    space = {"torch": torch, "nn": nn, "rnn": rnn, "d2l": d2l, **more}
    for name in names:
        pattern = re.compile(rf"^(?:class|def) {name}\b", re.MULTILINE)
        cell = next(
            c.source
            for c in read_notebook(stored(kind)).cells
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
    weights, out = attend(X, *(torch.from_numpy(array).mT for array in arrays))
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
    ids = torch.tensor([[held["reads"].index(letter) for letter in text]])
    model = loaded(d2l.Singer(), arrays)
    p = model(ids)[0].softmax(-1)
    weights = torch.cat([block.attention.attention_weights[0] for block in model.blocks])
    return weights, p, p.argmax(-1)


def inputs_of(kind, held):
    """Return the text of the widget, and others of all lengths at random."""
    rng, gap = random.Random(0), " " * (kind == "sentence")
    pieces = [piece for piece in held["reads"] if piece.strip() and piece[0] != "<"]
    drawn = (gap.join(rng.choices(pieces, k=1 + i % 12)) for i in range(1, INPUTS))
    return [held["text"], *drawn]


@pytest.mark.parametrize("kind", CHAPTERS)
def test_the_page_computes_what_pytorch_computes_from_the_stored_weights(alone, kind):
    html = output(kind)
    held, snapshots = held_by(html), unpacked(html)
    for other in (output(kind, edition.framework) for edition in BOOK.editions[1:]):
        assert held_by(other) == held  # and the same script
        for (step, arrays), (wanted, values) in zip(unpacked(other), snapshots, strict=True):
            assert step == wanted
            for array, value in zip(arrays, values, strict=True):
                np.testing.assert_allclose(array, value, rtol=2e-3, atol=1e-6)  # of float16
    compute = {"sentence": by_sentence_layer, "translator": by_translator, "singer": by_singer}
    inputs = [(text, i % len(snapshots)) for i, text in enumerate(inputs_of(kind, held))]
    found = alone(html).evaluate(RUN, inputs)
    for (text, step), got in zip(inputs, found, strict=True):
        weights, p, written = compute[kind](held, snapshots[step][1], text)
        assert got["written"] == written.tolist(), text
        np.testing.assert_allclose(np.array(got["p"]).ravel(), p.numpy().ravel(), atol=CLOSE)
        for rows, wanted in zip(got["weights"], weights.numpy(), strict=True):
            for row, expected in zip(rows, wanted, strict=True):
                np.testing.assert_allclose(row, expected[: len(row)], atol=CLOSE)
                assert math.isclose(sum(row), 1)


@pytest.mark.parametrize("kind", CHAPTERS)
def test_a_reader_types_and_trains_and_what_a_model_cannot_take_is_said(alone, kind):
    page = alone(output(kind), width=390)
    typed, steps = (page.locator(f".d2l-arcs input[type={what}]") for what in ("text", "range"))
    for text, says, out in SAYS[kind]:
        typed.fill(text)
        right = page.evaluate(STATE)
        assert re.fullmatch(says, right["says"])
        assert re.fullmatch(out, right["out"])
        assert right["hair"] == 0  # a line of width 0 is printed
    for text, said in WRONG[kind].items():
        typed.fill(text)
        wrong = page.evaluate(STATE)
        assert said in wrong["says"]
        assert wrong["old"]
        assert wrong["out"] == ""
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


def test_with_less_motion_a_date_is_written_at_once(alone):
    page = alone(output("translator"), reduced_motion="reduce")
    written = page.locator(".d2l-arcs svg.rows text")
    length = written.count()
    page.get_by_role("button", name="Write").click()
    page.wait_for_timeout(600)
    assert len([*filter(None, written.all_text_contents())]) == length


def test_the_site_loads_the_weights_of_a_widget_that_comes_into_view(reading):
    page = reading(f"{CHAPTERS['translator']}.html")
    page.locator(".d2l-arcs").scroll_into_view_if_needed()
    page.wait_for_selector(".d2l-arcs[data-ready]")
    state = page.evaluate(STATE)
    assert state["height"] <= 560
    assert "gives weight to" in state["says"]


def test_the_model_that_writes_computes_what_pytorch_computes_and_goes_on(reading):
    page, text = reading("07_a_model_that_writes.html"), "The score of a query and a key"
    reads = sorted({*(DATA / "book.txt").read_text("utf-8")})
    model = loaded(d2l.GPT(len(reads)), [*np.load(DATA / "writer.npz").values()])
    logits = model(torch.tensor([[reads.index(letter) for letter in text]]))[0].detach()
    found = page.locator(".d2l-arcs.writer").evaluate("(root, text) => root.run(text)", text)
    np.testing.assert_allclose(found["logits"], logits, atol=1e-4)
    page.evaluate("document.querySelector('.writer .out').textContent = ''")  # what is stored
    page.locator(".d2l-arcs.writer button").click()
    page.wait_for_function("document.querySelector('.writer .out').textContent.length > 99")
