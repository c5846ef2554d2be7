"""Explorers: every frame is what the function gives, and the page stands still without scripts."""

import json
import re
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest

from bookbinder.page import seen_in_html
from d2l_attention.practice import (
    Arrow,
    Bars,
    Curve,
    Line,
    Live,
    Name,
    Plot,
    Points,
    Score,
    Toggles,
    explore,
)
from d2l_attention.practice.drawing import color, number_text, ticks
from d2l_attention.practice.explorer_plots import COLORS, Canvas
from tests import explorer_examples as examples
from tests.explorer_examples import WORDS


def attribute(html, name):
    return json.loads(unescape(re.search(f'data-{name}="([^"]*)"', html)[1]))


def values_of(html, frame):
    """Return all numbers of a frame, as the script sees them."""
    pool = attribute(html, "curves")
    frames = attribute(html, "frames")
    return [
        v for held in frames[frame] for v in (pool[held[0]] if isinstance(held, list) else [held])
    ]


def cells(html):
    return [unescape(c) for c in re.findall(r'<td class="v[^>]*>([^<]*)</td>', html)]


def titles(html):
    return re.findall(r'<td class="v[^>]* title="([^"]*)"', html)


def drawn(html):
    """Return the plots of an explorer as a browser reads them."""
    sources = re.findall(r'<img class="plot[^>]*src="data:[^,]*,([^"]*)"', html)
    return [ElementTree.fromstring(unquote(unescape(source))) for source in sources]


def test_every_frame_holds_what_the_function_gives():
    html = examples.heat_map().html
    sliders = attribute(html, "sliders")
    assert [name for name, _, _ in sliders] == ["temperature", "valid len"]
    assert sliders[0][1:] == [["0.1", "0.5", "1", "2", "5"], 2]
    for i, temperature in enumerate((0.1, 0.5, 1.0, 2.0, 5.0)):
        for n in range(1, 5):
            wanted = examples.weights(temperature, n).ravel()
            assert values_of(html, 4 * i + n - 1) == pytest.approx(wanted, abs=6e-5)
    assert values_of(html, 1)[:3] == [1e-5, 1, 0]  # exp(-20) and a masked key: only the second is 0
    pool = attribute(html, "curves")
    assert pool.count([1, 0, 0, 0]) == 1  # rows that frames share are stored once


def test_the_still_picture_is_the_start_frame():
    html = examples.heat_map().html
    shown = [f"{w:.2f}" if w else "" for w in examples.weights(1.0, 3).ravel()]
    assert cells(html) == shown
    assert titles(html) == [f"{w:.4f}" for w in examples.weights(1.0, 3).ravel()]
    assert html.count('class="v masked"') == 2
    assert "Still picture at temperature = 1, valid len = 3." in html
    assert "<input" not in html  # no slider that does nothing
    assert "&lt;pad&gt;" in html
    assert repr(examples.heat_map()) == (
        "Attention weights of two queries. (sliders at temperature = 1, valid len = 3)"
    )
    assert set(examples.heat_map()._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_plots_stand_still_at_the_start_frame_and_marks_name_their_numbers():
    html = examples.plots().html
    bars, plane = drawn(html)
    weights = examples.pooled(1.0, 1.0)["weights"][0].tolist()
    (path,) = (p for p in bars.findall("{*}path[@data-each]") if p.get("data-unit") == "10")
    tops = [float(y) for y in re.findall(r"V([\d.]+)h", path.get("d"))]
    bottom = float(bars.get("data-scale").split()[6])
    assert tops == pytest.approx([bottom + w * (10 - bottom) for w in weights], abs=0.06)
    assert path.get("data-y") == "@0:4"
    assert values_of(html, 10)[:4] == pytest.approx(weights, abs=6e-5)
    curve = plane.find("{*}path[@data-each]")
    begin, count = map(int, curve.get("data-y")[1:].split(":"))
    for i, query in enumerate((-3.0, -1.5, 0.0, 1.0, 1.5, 3.0)):
        wanted = examples.pooled(query, 0.1)["all outputs"]
        values = [np.nan if v is None else v for v in values_of(html, 3 * i)]
        assert values[begin : begin + count] == pytest.approx(wanted, abs=6e-5, nan_ok=True)
    assert curve.get("d").count("M") == 2  # before and behind the gap
    alts = [unescape(alt) for alt in re.findall('<img[^>]*alt="([^"]*)', html)]
    assert alts[0].startswith("weights, query: Weights of <four> keys & their weighted sum. Still")
    assert len(set(alts)) == 2
    assert "d" in [text.text for text in bars.iterfind(".//{*}text")]  # a name under its bar


@pytest.mark.parametrize(
    ("mark", "path"),
    [
        (
            Bars([1, np.nan, 2], [1, 1, 2], unit=3),
            "M25.0 40.0m-3 0V30.0h6V40.0ZM40.0 40.0m-3 0V20.0h6V40.0Z",
        ),
        (
            Points([1, 2], [1, 1], size=[0.25, 0], unit=4),
            "M25.0 30.0m-2.0 0a2.0 2.0 0 1 0 4.0 0a2.0 2.0 0 1 0 -4.0 0Z",
        ),
        (Curve([0, 1, np.nan, 1, 2], [0, 1, 1, 2, 3]), "M10.0 40.0L25.0 30.0M25.0 20.0L40.0 10.0"),
        (Line(1), "M25.0 40V10"),
        (Line(y=2), "M10 20.0H55"),
        (Arrow(2, 0), "M10.0 40.0L40.0 40.0m-8.1 3.8L40.0 40.0l-8.1 -3.8"),
        (Name(1, 2, text="a"), "translate(25.0 20.0)"),
        (Name(np.nan, 2, text="a"), "scale(0)"),
    ],
)
def test_a_mark_is_a_template_filled_for_each_point(mark, path):
    plot = Plot(mark, xlim=(0, 3), ylim=(0, 3))
    canvas = Canvas(plot, [{}])
    canvas.edges, canvas.zero = [10, 55, 40, 10], (10.0, 40.0)
    assert canvas.path(mark, {}) == path


def slice_of(values, mark, axis):
    begin, count = map(int, mark.get(f"data-{axis}")[1:].split(":"))
    return np.array([np.nan if v is None else v for v in values[begin : begin + count]])


def inside(values, mark):
    """Return which points of the plane of the examples an area holds: by the even-odd rule."""
    x, y = (slice_of(values, mark, axis) for axis in "xy")
    points, held = examples.PLANE + 1e-4, np.zeros(len(examples.PLANE), bool)
    for ring in np.split(np.stack([x, y], -1), np.flatnonzero(np.isnan(x))):
        ring = ring[np.isfinite(ring[:, 0])]
        for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, 0), strict=True):
            crosses = (y0 > points[:, 1]) != (y1 > points[:, 1])
            with np.errstate(all="ignore"):
                at = x0 + (points[:, 1] - y0) / (y1 - y0) * (x1 - x0)
            held ^= crosses & (points[:, 0] < at)
    return held


@pytest.mark.parametrize("frame", range(3))
def test_a_region_holds_where_its_key_wins_and_a_surface_lies_in_bands(frame):
    html = examples.planes().html
    values, (regions, surface, saddle) = values_of(html, frame), drawn(html)
    scores = examples.scores_of(examples.KINDS[frame], examples.PLANE)
    within = abs(examples.PLANE).max(1) < 2.9
    within &= np.hypot(*examples.PLANE.T) > 0.5  # where no cosine jumps
    areas = regions.findall("{*}path[@fill-rule]")
    for key, area in enumerate(areas):
        others = [j for j in range(4) if abs(scores[:, j] - scores[:, key]).max() > 1e-9]
        lead = scores[:, key] - scores[:, others].max(1)
        clear = (abs(lead) > 0.15) & within
        assert (inside(values, area) == (lead > 0))[clear].all()
    names = regions.findall("{*}text[@data-each]")
    assert [name.text for name in names] == list("abcd")
    for key, name in enumerate(names):
        place = np.array([[slice_of(values, name, axis)[0] for axis in "xy"]])
        best = examples.scores_of(examples.KINDS[frame], place)
        assert np.isnan(place).any() or best[0, key] == pytest.approx(best.max())
    bands = surface.findall("{*}path[@fill-rule]")
    for low, area in zip((-np.inf, *range(-3, 4)), bands, strict=True):
        clear = within & (abs(scores[:, 0] - low) > 0.15)
        assert (inside(values, area) == (scores[:, 0] > low))[clear].all()
    assert not saddle.findall("{*}path[@data-each]")  # what stays takes no numbers


def test_scores_are_stored_in_double_precision():
    assert attribute(examples.planes().html, "scores")["every"] == 13 * 13
    with pytest.raises(TypeError, match="a Score stores float64"):
        Score(c=np.ones((5, 2)), b=np.ones((5, 2), np.float32)).held()


def test_plots_share_a_legend_and_of_plots_that_buttons_choose_from_the_first_is_large():
    html = examples.planes().html
    (legend,) = re.findall("<ul>.*?</ul>", html)
    assert re.findall("</svg>(.*?)</li>", legend) == ["query", "score ≤ -3", "score ≥ 3"]
    assert re.findall(r'<div class="zoom" data-name="(\w+)"><img class="([\w ]+)"', html) == [
        ("picture", "plot large")
    ]
    ways = [Plot(Curve([0, 1], "y"), title=name) for name in "abc"]
    html = explore(lambda a: {"y": [a, 2]}, **WORDS, draw=[ways[:2], ways[2]], a=[1, 2]).html
    (stack,) = re.findall(r'<div class="stack">(.*?)</div>', html)
    assert (stack.count("<img"), html.count("<img")) == (2, 3)


def test_columns_light_up_with_the_row_of_a_map_that_is_marked():
    html = examples.film(step=1).html
    (head,) = re.findall(r'<table class="d2l-cells lit".*?<thead>(.*?)</thead>', html, re.DOTALL)
    lit = re.findall(r"<th[^>]*background-color:(#\w+);color:(#\w+)\">([^<]*)</th>", head)
    assert lit == [
        (*color(w), letter)
        for w, letter in zip((0, 0.5, 0.5), ("&lt;a&gt;", "b", "c"), strict=True)
    ]
    assert re.findall(r'<tr class="now"[^>]*><th scope="row">(.)', html) == ["b"]
    assert attribute(html, "steps") == attribute(html, "row") == 0
    assert attribute(html, "words") == {word: word for word in ("Play", "Pause", "Back", "Next")}
    assert cells(html)[-2:] == ["forwards", "2"]


def test_what_is_folded_stands_with_the_numbers():
    html = explore(
        lambda a: {"w": [[0.25, a]], "sum": a, "n": 1},
        **WORDS,
        draw=[Plot(Bars([0, 1], "w"), xticks={0: "left"}, yticks={0: "none", 1: "all"})],
        folded=["sum"],
        a=[0.5, 0.75],
    ).html
    folded = re.search(r"<details><summary>Numbers</summary>(.*?)</details>", html, re.DOTALL)[1]
    assert cells(folded) == ["0.25", "0.50", "0.5000"]
    assert cells(html) == [*cells(folded), "1"]
    assert [text.text for text in drawn(html)[0].iterfind(".//{*}text")] == ["left", "none", "all"]


def test_a_choice_between_names_becomes_buttons_and_numbers_a_slider():
    def kind_of(values):
        sliders = attribute(explore(lambda a: {"is": 1}, **WORDS, a=values).html, "sliders")
        return "buttons" if len(sliders[0]) == 4 else "slider"

    for values in ({"no mask": 0, "causal": 1}, {"1": 1, "sqrt(d)": 2}, [False, True]):
        assert kind_of(values) == "buttons"
    for values in ([-1, 0.5, float("inf")], {"1 head": 1, "2 heads": 2}, [1, 20_000]):
        assert kind_of(values) == "slider"


def test_words_are_on_or_off_in_every_pattern():
    html = examples.one_row().html
    words, fill = attribute(html, "sliders")
    assert words[3] == examples.TEA
    assert len(fill[1]) == 3
    assert words[1][words[2]] == "two, sugars"
    for at in range(24):  # as the script counts
        pattern = tuple(digit == "1" for digit in f"{at // 3:03b}")
        shown = examples.stages(pattern, (-np.inf, -1e6, 0.0)[at % 3])["weights"][0]
        weights = [float("nan") if w is None else w for w in values_of(html, at)[3:6]]
        assert weights == pytest.approx(shown.tolist(), abs=1e-4, nan_ok=True)
    with pytest.raises(ValueError, match=r"different words, got \['tea', 'tea'\]"):
        Toggles(["tea", "tea"])


def test_parts_of_one_row_each_are_rows_of_one_table_with_digits_of_their_own():
    html = examples.one_row().html
    assert html.count("<table") == 2  # the other one holds the sum
    assert cells(html) == ["1", "3", "-inf", "0.12", "0.88", "", "1.0000"]
    assert titles(html) == ["0.1192", "0.8808", "0.0000"]
    heads = re.findall(r'<th scope="(?:row|col)">([^<]*)', html)
    assert heads == [*examples.TEA, "score", "weights", "sum"]
    assert html.count('class="v masked"') == 1
    shapes = explore(lambda a: {"in": [[0, 2, a]], "out": [[0, 0, 2]]}, **WORDS, a=[3, 4])
    assert cells(shapes.html) == ["", "2", "3", "", "", "2"]  # of integers, 0 is no cell
    assert titles(shapes.html) == []
    assert 'class="d2l-cells boxes"' in shapes.html


@pytest.mark.parametrize("name", ["heat_map", "plots", "one_row", "planes", "film"])
def test_an_explorer_is_whole_and_always_the_same(name):
    example = getattr(examples, name)
    html = example().html
    assert example().html == html
    assert "\n<script>(() => {\nconst BLUES" in html  # known by this, a site stores it once
    assert not re.search(r"https?://(?!www\.w3\.org)|\bid=|src=\"(?!data:)", html)
    page = re.sub(r"<[^>]*/>", "", html.partition("<script>")[0])
    for tag in set(re.findall(r"<(\w+)", page)) - {"img", "input"}:
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>"), tag


def test_words_and_values_that_are_not_finite_are_shown_and_survive():
    html = explore(lambda a: [[a * np.nan, np.inf, -np.inf, -1e-5]], **WORDS, a=[0.0, 1.0]).html
    assert cells(html) == ["nan", "inf", "-inf", "0.0000"]
    assert values_of(html, 0) == [None, float("inf"), float("-inf"), -1e-5]
    words = explore(lambda a: {"is": "NaN", "or": a, "part": a / 3}, **WORDS, a=[1, 2_000_000])
    assert cells(words.html) == ["NaN", "1", "0.3333"]
    assert attribute(words.html, "frames")[1] == ["NaN", 2_000_000, 666666.6667]


def test_frames_may_be_quoted_in_prose_and_styles_may_not():
    html = examples.heat_map().html
    other_frame = f"{examples.weights(2.0, 4)[0, 1]:.4f}"
    assert other_frame not in cells(html)
    seen = seen_in_html(html)
    assert other_frame in seen
    assert "860" in html
    assert "860" not in seen


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (lambda a: 1, {}, "one to 4 sliders, got 0"),
        (lambda a: 1, {"a": [1]}, "two or more different values"),
        (lambda a: np.ones((a, 2)), {"a": [1, 2]}, "at {'a': 2} the function returns"),
        (lambda a: np.ones((2, 2, 2)), {"a": [1, 2]}, "matrices, got shape"),
        (lambda a: np.ones((2, 2)), {"a": [1, 2], "rows": ["x"]}, "rows must name 2 rows, got 1"),
        (lambda a: np.ones((2, 2)), {"a": [1, 2], "columns": ["x"]}, "columns must name 2, got 1"),
        (lambda a: np.ones(2), {"a": [1, 2], "start": {"a": 3}}, "a has no value 3, only 1, 2"),
        (lambda a: np.random.rand(60, 60), {"a": range(5)}, "may weigh 60000 bytes and 5 frames"),
        (lambda a, b: 1, {"a": [1, 2], "b": [1, 2], "live": Live("", "ba", list)}, "b and a must"),
        (lambda a: 1, {"a": [1, 2], "steps": "b"}, "there is no slider 'b', only a"),
        (lambda a: 1, {"a": [1, 2], "large": "of", "draw": [Plot(Line("a"))]}, "needs a title"),
        (lambda a: 1, {"a": [1, 2], "folded": ["sum"]}, "the function returns no part 'sum'"),
    ],
)
def test_an_explorer_that_cannot_be_made_says_why(function, options, message):
    with pytest.raises(ValueError, match=message):
        explore(function, **WORDS, **options)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (
            Bars(range(4), "wieghts"),
            "a mark shows 'wieghts', which is no part of numbers, only 'w'",
        ),
        (Points("kind", 1), "a mark shows 'kind', which is no part of numbers, only 'w', 'lost'"),
        (Line("kernel"), "a mark shows 'kernel', which is no part of numbers"),
        (Line("a"), "no plot shows lost"),
    ],
)
def test_a_plot_of_what_is_not_there_says_why(mark, message):
    with pytest.raises(ValueError, match=message):
        explore(
            lambda a, kernel: {"w": [[0.1, 0.9]], "kind": "words", "lost": [1, 2, 3]},
            **WORDS,
            draw=[Plot(mark)],
            a=[1, 2],
            kernel=["box", "bell"],
        )


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.26894, 4, "0.2689"),
        (0.125, 2, "0.13"),
        (-0.00001, 4, "0.0000"),
        (1234567, 0, "1,234,567"),
        (-3.4028234663852886e38, 0, "-3.4e+38"),
        (float("nan"), 4, "nan"),
        ("(2, 4)", 4, "(2, 4)"),
    ],
)
def test_numbers_are_written_as_the_script_writes_them(value, digits, text):
    assert number_text(value, digits) == text


def test_colors_are_those_of_heat_maps_and_marks_stand_out_on_light_and_dark():
    from matplotlib import colormaps
    from matplotlib.colors import to_hex, to_rgb

    for value in (0.0, 0.1, 0.37, 0.5, 0.8, 1.0):
        ours, theirs = to_rgb(color(value)[0]), to_rgb(to_hex(colormaps["Blues"](value)))
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 0.02
    assert color(0.0)[1] != color(1.0)[1]

    def luminance(shade):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(shade)
        ]
        return np.dot([0.2126, 0.7152, 0.0722], linear)

    dark = dict(re.findall(r'\[fill="(#\w+)"\]{fill:(#\w+)}', examples.plots().html))
    for shade in set(COLORS.values()) - {"currentColor"}:
        assert 1.05 / (luminance(shade) + 0.05) >= 2.5, shade
        assert (luminance(dark.get(shade, shade)) + 0.05) / (luminance("#121212") + 0.05) >= 3


def test_ticks_are_round_numbers():
    assert ticks(0, 1) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(-3, 3) == [-3, -2, -1, 0, 1, 2, 3]
    assert ticks(2, 2) == [2]
