"""Explorers: every frame is what the function gives, and the page stands still without scripts."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import explorer_examples as examples
import pytest
import torch

from bookbinder.prose import seen_in_html
from d2l_attention.practice import Arrow, Bars, Curve, Line, Plot, Points, explore
from d2l_attention.practice.drawing import color, number_text, ticks

WORDS = {"caption": "Caption.", "question": "Question?"}


def attribute(html, name):
    return json.loads(unescape(re.search(f'{name}="([^"]*)"', html)[1]))


def cells(html):
    return [unescape(c) for c in re.findall(r'<td class="v[^>]*>([^<]*)</td>', html)]


def titles(html):
    return re.findall(r'<td class="v[^>]* title="([^"]*)"', html)


def test_every_frame_holds_what_the_function_gives():
    frames = attribute(examples.heat_map().html, "data-frames")
    sliders = attribute(examples.heat_map().html, "data-sliders")
    assert [name for name, _, _ in sliders] == ["temperature", "valid len"]
    assert sliders[0][1:] == [["0.1", "0.5", "1", "2", "5"], 2]
    expected = [
        examples.weights(t, n).double().numpy().round(4).ravel().tolist()
        for t in (0.1, 0.5, 1.0, 2.0, 5.0)
        for n in (1, 2, 3, 4)
    ]
    assert frames == [pytest.approx(frame, abs=1.1e-5) for frame in expected]
    assert frames[1][:3] == [1e-5, 1, 0]  # exp(-20) and a masked key: only the second is 0


def test_the_still_picture_is_the_start_frame():
    html = examples.heat_map().html
    shown = [f"{w:.2f}" if w else "" for w in examples.weights(1.0, 3).flatten().tolist()]
    assert cells(html) == shown
    assert titles(html) == [f"{w:.4f}" for w in examples.weights(1.0, 3).flatten().tolist()]
    assert html.count('class="v masked"') == 2
    assert "Still picture at temperature = 1, valid len = 3." in html
    assert "<input" not in html  # no slider that does nothing
    assert "&lt;pad&gt;" in html


def test_curves_are_a_picture_with_a_text_for_those_who_cannot_see_it():
    html = examples.curves().html
    (source,) = re.findall(r'<img alt="A kernel &amp; its width." src="data:[^,]*,([^"]*)"', html)
    svg = ElementTree.fromstring(unquote(unescape(source)))  # as a browser reads it
    assert svg.get("role") == "img"
    assert svg[0].text == "A kernel & its width."
    assert len(svg.findall("{*}path[@class='c']")) == 2
    assert len(svg.findall("{*}circle")) == 6


def drawn(html):
    """Return the plots of an explorer as a browser reads them."""
    sources = re.findall(r'<img class="plot"[^>]*src="data:[^,]*,([^"]*)"', html)
    return [ElementTree.fromstring(unquote(unescape(source))) for source in sources]


def test_plots_stand_still_at_the_start_frame():
    html = examples.plots().html
    bars, plane = drawn(html)
    weights = examples.pooled(1.0, 1.0)["weights"][0].tolist()
    (path,) = bars.findall("{*}path[@class='bars']")
    tops = [float(y) for y in re.findall(r"V([\d.]+)H", path.get("d"))]
    bottom = float(bars.get("data-scale").split()[6])
    assert tops == pytest.approx([bottom + w * (10 - bottom) for w in weights], abs=0.06)
    assert bars.get("aria-label").startswith("Weights of <four> keys & their weighted sum. Still")
    kinds = [mark.get("class") for mark in plane.findall("{*}path[@class]")]
    assert kinds == ["curve", "points", "points", "line", "arrow"]
    assert "d" in [text.text for text in bars.findall("{*}text")]  # a name under its bar


def test_the_still_picture_has_the_size_of_the_moving_one():
    html = examples.plots().html
    sizes = re.findall(r'<img class="plot" width="(\d+)" height="(\d+)"', html)
    assert sizes == [tuple(svg.get("viewBox").split()[2:]) for svg in drawn(html)]


def test_a_mark_names_its_numbers_in_every_frame_and_curves_are_stored_once():
    html = examples.plots().html
    frames, curves = attribute(html, "data-frames"), attribute(html, "data-curves")
    (curve,) = drawn(html)[1].findall("{*}path[@class='curve']")
    place, count = map(int, curve.get("data-y")[1:].split(":"))
    for i, frame in enumerate(frames):  # six queries, three values of sharpness
        cells, held = frame[:5], [number for at in frame[5:] for number in curves[at]]
        shown = [*cells, *held][place : place + count]
        wanted = examples.pooled(0.0, (0.1, 1.0, 5.0)[i % 3])["all outputs"].tolist()
        assert shown[:-2] == pytest.approx(wanted[:-2], abs=1e-4)
        assert shown[-2:] == [None, None]  # a gap
    assert len(curves) == 3 + 6  # not 18 of each kind


def test_numbers_of_a_plot_stand_in_a_folded_table():
    html = examples.plots().html
    folded = re.search(r"<details><summary>Numbers</summary>(.*?)</details>", html, re.DOTALL)[1]
    weights = examples.pooled(1.0, 1.0)["weights"][0].tolist()
    assert titles(folded) == [f"{w:.4f}" for w in weights]


def test_a_choice_between_names_becomes_buttons_and_numbers_a_slider():
    def kind_of(values):
        sliders = attribute(explore(lambda a: {"is": 1}, **WORDS, a=values).html, "data-sliders")
        return "buttons" if len(sliders[0]) == 4 else "slider"

    assert kind_of({"no mask": 0, "causal": 1}) == "buttons"
    assert kind_of({"1": 1, "sqrt(d)": 2}) == "buttons"
    assert kind_of([False, True]) == "buttons"
    assert kind_of([-1, 0.5, float("inf")]) == "slider"
    assert kind_of({"1 head": 1, "2 heads": 2}) == "slider"
    assert kind_of([1, 20_000]) == "slider"


def test_numbers_words_and_counts_stand_in_a_table():
    frames = attribute(examples.curves().html, "data-frames")
    shown = cells(examples.curves().html)
    assert shown[1:] == ["smooth", "1,000"]
    assert shown[0] == f"{examples.kernels(0.5, 'smooth')['sum'].item():.4f}"
    assert [frame[1:3] for frame in frames] == [["smooth", 1000], ["boxed", 1000]] * 3


def test_text_shows_the_start_frame():
    assert repr(examples.heat_map()).splitlines() == [
        "Attention weights of two queries. (sliders at temperature = 1, valid len = 3)",
        "0.0900  0.6652  0.2447  0.0000",
        "0.2447  0.0900  0.6652  0.0000",
    ]
    assert set(examples.heat_map()._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.parametrize(
    ("example", "most"),
    [(examples.heat_map, 12_500), (examples.curves, 15_000), (examples.plots, 21_000)],
)
def test_an_explorer_is_small_whole_and_always_the_same(example, most):
    html = example().html
    assert len(html) < most
    assert example().html == html
    assert not re.search(r"https?://(?!www\.w3\.org)|\bid=|src=\"(?!data:)", html)

    class Balance(HTMLParser):
        open = ()

        def handle_starttag(self, tag, attributes):
            self.open += (tag,) if tag not in ("img", "input") else ()

        def handle_endtag(self, tag):
            assert self.open[-1] == tag
            self.open = self.open[:-1]

    parser = Balance()
    parser.feed(html)
    assert parser.open == ()


def test_values_that_are_not_finite_are_shown_and_survive():
    def odd(value):
        return torch.tensor([[value * torch.nan, torch.inf, -torch.inf, -0.00001]])

    html = explore(odd, **WORDS, value=[0.0, 1.0]).html
    assert cells(html) == ["nan", "inf", "-inf", "0.0000"]
    words = explore(lambda a: {"is": "NaN", "or": a}, **WORDS, a=[1, 2_000_000])
    assert cells(words.html) == ["NaN", "1"]
    assert attribute(words.html, "data-frames")[1] == ["NaN", 2_000_000]
    assert repr(words).splitlines()[1:] == ["is: NaN", "or: 1"]
    assert attribute(html, "data-frames")[0] == [None, float("inf"), float("-inf"), -1e-5]


def test_frames_may_be_quoted_in_prose_and_styles_may_not():
    html = examples.heat_map().html
    other_frame = f"{examples.weights(2.0, 4)[0, 1].item():.4f}"
    assert other_frame not in cells(html)
    seen = seen_in_html(html)
    assert other_frame in seen
    assert "560" in html
    assert "560" not in seen


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (lambda a: 1, {}, "one to 3 sliders, got 0"),
        (lambda a: 1, {"a": [1]}, "two or more different values"),
        (lambda a: 1, {n: [1, 2] for n in "abcd"}, "one to 3 sliders, got 4"),
        (lambda a: torch.ones(a, 2), {"a": [1, 2]}, "at {'a': 2} the function returns"),
        (lambda a: torch.ones(2, 2, 2), {"a": [1, 2]}, "matrices, got shape"),
        (lambda a: torch.ones(2, 2), {"a": [1, 2], "rows": ["x"]}, "rows must name 2 rows, got 1"),
        (lambda a: torch.ones(2), {"a": [1, 2], "start": {"a": 3}}, "a has no value 3, only 1, 2"),
        (lambda a: {"y": [1, 2]}, {"a": [1, 2], "x": [1, 2, 3]}, r"x has shape \(3,\)"),
        (lambda a: torch.rand(60, 60), {"a": range(5)}, "may weigh 60000 bytes and 5 frames"),
    ],
)
def test_an_explorer_that_cannot_be_made_says_why(function, options, message):
    with pytest.raises(ValueError, match=message):
        explore(function, **WORDS, **options)


FOUR = {"weights": [[0.1, 0.2, 0.3, 0.4]], "kind": "words", "lost": [1, 2, 3]}


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (Plot(Bars(range(4), "wieghts")), "Bars: the function returns no part 'wieghts', only"),
        (Plot(Points("kind", 1)), "Points: x shows numbers, and 'kind' is words"),
        (Plot(Curve(range(3), "weights")), "Curve: x, y and size must be of one length, got"),
        (Plot(Points([1, 2], 1, size="weights")), "Points: x, y and size must be of one length"),
        (Plot(Bars(range(4), "weights", names="abc")), "Bars: 4 places and 3 names"),
        (Plot(Line()), "Line: give x or y"),
        (Plot(Arrow("a")), "Arrow: give x and y"),
        (Plot(Line("kernel")), "a mark shows the slider 'kernel', whose values are no numbers"),
        (Plot(Line(0, color="red")), "Line: color must be one of query, key, value, weight"),
        (Plot(Line("a"), drag="kernel"), "drag: 'kernel' is no slider of numbers"),
        (Plot(Line("a"), drag=("a", "b", "a")), "drag names one slider or two, got 3"),
        (Plot(Line("a")), "no plot shows lost"),
    ],
)
def test_a_plot_of_what_is_not_there_says_why(plot, message):
    with pytest.raises(ValueError, match=message):
        explore(lambda a, kernel: FOUR, **WORDS, draw=[plot], a=[1, 2], kernel=["box", "bell"])


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.26894, 4, "0.2689"),
        (0.125, 2, "0.13"),
        (-0.00001, 4, "0.0000"),
        (1234567, 0, "1,234,567"),
        (float("nan"), 4, "nan"),
        ("(2, 4)", 4, "(2, 4)"),
    ],
)
def test_numbers_are_written_as_the_script_writes_them(value, digits, text):
    assert number_text(value, digits) == text


def test_colors_are_those_of_heat_maps():
    from matplotlib import colormaps
    from matplotlib.colors import to_hex, to_rgb

    for value in (0.0, 0.1, 0.37, 0.5, 0.8, 1.0):
        ours, theirs = to_rgb(color(value)[0]), to_rgb(to_hex(colormaps["Blues"](value)))
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 0.02
    assert color(0.0)[1] != color(1.0)[1]


def test_ticks_are_round_numbers():
    assert ticks(0, 1) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(-3, 3) == [-3, -2, -1, 0, 1, 2, 3]
    assert ticks(2, 2) == [2]
