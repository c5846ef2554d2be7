"""Explorers: every frame is what the function gives, and the page stands still without scripts."""

import json
import re
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import explorer_examples as examples
import numpy as np
import pytest
from matplotlib.path import Path

from bookbinder.text import seen_in_html
from d2l_attention.practice import (
    Arrow,
    Bars,
    Curve,
    Line,
    Live,
    Plot,
    Points,
    Score,
    Toggles,
    explore,
)
from d2l_attention.practice.drawing import color, number_text, ticks

WORDS = {"caption": "Caption.", "question": "Question?"}


def spread(frame, curves):
    """Return the numbers of a frame, with those of curves that are stored once."""
    return [v for held in frame for v in (curves[held[0]] if isinstance(held, list) else [held])]


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
        examples.weights(t, n).round(4).ravel().tolist()
        for t in (0.1, 0.5, 1.0, 2.0, 5.0)
        for n in (1, 2, 3, 4)
    ]
    assert frames == [pytest.approx(frame, abs=1.1e-5) for frame in expected]
    assert frames[1][:3] == [1e-5, 1, 0]  # exp(-20) and a masked key: only the second is 0


def test_the_still_picture_is_the_start_frame():
    html = examples.heat_map().html
    shown = [f"{w:.2f}" if w else "" for w in examples.weights(1.0, 3).ravel()]
    assert cells(html) == shown
    assert titles(html) == [f"{w:.4f}" for w in examples.weights(1.0, 3).ravel()]
    assert html.count('class="v masked"') == 2
    assert "Still picture at temperature = 1, valid len = 3." in html
    assert "<input" not in html  # no slider that does nothing
    assert "&lt;pad&gt;" in html


def drawn(html):
    """Return the plots of an explorer as a browser reads them."""
    sources = re.findall(r'<img class="plot[^>]*src="data:[^,]*,([^"]*)"', html)
    return [ElementTree.fromstring(unquote(unescape(source))) for source in sources]


def test_plots_stand_still_at_the_start_frame():
    html = examples.plots().html
    bars, plane = drawn(html)
    weights = examples.pooled(1.0, 1.0)["weights"][0].tolist()
    (path,) = bars.findall("{*}path[@class='bars']")
    tops = [float(y) for y in re.findall(r"V([\d.]+)H", path.get("d"))]
    bottom = float(bars.get("data-scale").split()[6])
    assert tops == pytest.approx([bottom + w * (10 - bottom) for w in weights], abs=0.06)
    alts = [unescape(alt) for alt in re.findall('<img[^>]*alt="([^"]*)', html)]
    assert alts[0].startswith("weights, query: Weights of <four> keys & their weighted sum. Still")
    assert len(set(alts)) == 2
    kinds = [mark.get("class") for mark in plane.findall("{*}path[@class]")]
    assert kinds == ["curve", "points", "points", "line", "arrow"]
    assert "d" in [text.text for text in bars.iterfind(".//{*}text")]  # a name under its bar


def test_a_mark_names_its_numbers_in_every_frame_and_curves_are_stored_once():
    html = examples.plots().html
    frames, curves = attribute(html, "data-frames"), attribute(html, "data-curves")
    (curve,) = drawn(html)[1].findall("{*}path[@class='curve']")
    place, count = map(int, curve.get("data-y")[1:].split(":"))
    for i, frame in enumerate(frames):  # six queries, three values of sharpness
        shown = spread(frame, curves)[place : place + count]
        wanted = examples.pooled(0.0, (0.1, 1.0, 5.0)[i % 3])["all outputs"].tolist()
        assert shown[:-2] == pytest.approx(wanted[:-2], abs=1e-4)
        assert shown[-2:] == [None, None]  # a gap
    assert len(curves) == 3 + 6  # not 18 of each kind


KINDS = ("dot product", "distance", "cosine", "additive")


def values_of(html, frame):
    """Return all numbers of a frame, as the script sees them: weights, then what is stored once."""
    return spread(attribute(html, "data-frames")[frame], attribute(html, "data-curves"))


def slice_of(values, mark, axis):
    begin, count = map(int, mark.get(f"data-{axis}")[1:].split(":"))
    return np.array([np.nan if v is None else v for v in values[begin : begin + count]])


def inside(values, mark):
    """Return which points of the plane of the examples an area holds."""
    corners = np.stack([slice_of(values, mark, axis) for axis in "xy"], -1)
    points, held = examples.PLANE, np.zeros(len(examples.PLANE), bool)
    for ring in np.split(corners, np.flatnonzero(np.isnan(corners[:, 0]))):
        ring = ring[np.isfinite(ring[:, 0])]
        held ^= Path(ring).contains_points(points) if len(ring) > 2 else False
    return held


@pytest.mark.parametrize("frame", range(4))
def test_a_region_holds_the_places_where_its_key_wins(frame):
    html = examples.planes().html
    areas = drawn(html)[0].findall("{*}path[@class='area']")
    scores = examples.scores_of(KINDS[frame], examples.PLANE)
    assert len(areas) == 4
    for key, area in enumerate(areas):
        others = [j for j in range(4) if abs(scores[:, j] - scores[:, key]).max() > 1e-9]
        lead = scores[:, key] - scores[:, others].max(1)
        clear = (abs(lead) > 0.15) & (abs(examples.PLANE).max(1) < 2.9)
        assert (inside(values_of(html, frame), area) == (lead > 0))[clear].all()


def test_each_name_stands_in_its_region_and_no_two_at_one_place():
    html = examples.planes().html
    regions = drawn(html)[0]
    names = regions.findall("{*}text[@class='name']")
    assert [name.text for name in names] == list("abcd")
    for frame, kind in enumerate(KINDS):
        values = values_of(html, frame)
        places = [[slice_of(values, n, axis)[0] for axis in "xy"] for n in names]
        seen = [tuple(place) for place in places if np.isfinite(place).all()]
        assert len(set(seen)) == len(seen) >= 3
        scores = examples.scores_of(kind, np.array(places))
        for key, place in enumerate(places):
            best = scores[key].max()
            assert not np.isfinite(place).all() or scores[key, key] == pytest.approx(best)
    assert np.isnan(slice_of(values_of(html, 0), names[0], "x"))  # a never wins


@pytest.mark.parametrize("frame", range(4))
def test_a_surface_lies_in_bands(frame):
    html = examples.planes().html
    areas = drawn(html)[1].findall("{*}path[@class='area']")
    heights = examples.scores_of(KINDS[frame], examples.PLANE)[:, 0]
    within = abs(examples.PLANE).max(1) < 2.9
    away = np.hypot(*examples.PLANE.T) > 0.5  # where no cosine jumps
    for low, area in zip((-np.inf, *range(-3, 4)), areas, strict=True):
        clear = within & away & (abs(heights - low) > 0.15)
        assert (inside(values_of(html, frame), area) == (heights > low))[clear].all()


def test_a_surface_that_stays_takes_no_numbers():
    static = drawn(examples.planes().html)[2]
    assert static.findall("{*}path[@class='area']") == []
    assert len(static.findall("{*}path[@fill-rule]")) == 2


def test_plots_side_by_side_share_a_legend():
    html = examples.planes().html
    (legend,) = re.findall("<ul>.*?</ul>", html)
    assert re.findall("</svg>(.*?)</li>", legend) == ["query", "score ≤ -3", "score ≥ 3"]


def test_a_script_gets_what_gives_the_scores_of_the_function():
    stored = attribute(examples.planes().html, "data-scores")
    assert stored["every"] == 13 * 13
    queries = np.array([[0.0, 0.0], [-1.5, 2.5], [3.0, 1.0]])
    for kind, ((c, a, b, origin, unit, tanh),) in zip(KINDS, stored["frames"], strict=True):
        for query in queries:
            q = query - origin
            q = q / (np.hypot(*q) or 1) if unit else q
            inner = (np.array(a) @ q if a else q) + (np.array(b) if b else 0)
            scores = (np.array(c) * (np.tanh(inner) if tanh else inner)).sum(-1)
            wanted = examples.scores_of(kind, query[None])[0]
            assert scores - scores[0] == pytest.approx(wanted - wanted[0], abs=1e-6)


def test_letters_light_up_in_the_color_of_their_weight():
    html = examples.film().html
    (head,) = re.findall(r'<table class="d2l-cells lit".*?<thead>(.*?)</thead>', html, re.DOTALL)
    lit = re.findall(r"<th[^>]*background-color:(#\w+);color:(#\w+)\">([^<]*)</th>", head)
    assert lit == [
        (*color(w), letter)
        for w, letter in zip((0, 0.25, 0.75), ("&lt;a&gt;", "b", "c"), strict=True)
    ]
    assert html.index("d2l-cells lit") < html.index('<img class="plot"')  # open, above the plot
    assert '"d2l-cells lit"' not in examples.plots().html


def test_what_is_folded_stands_with_the_numbers_and_in_the_order_of_the_frames():
    html = examples.film().html
    folded = re.search(r"<details><summary>Numbers</summary>(.*?)</details>", html, re.DOTALL)[1]
    assert cells(folded) == ["forwards"]
    assert cells(html) == ["", "0.25", "0.75", "forwards", "3"]
    frames = attribute(html, "data-frames")
    curves = attribute(html, "data-curves")
    assert [spread(frame, curves)[:5] for frame in frames[4:6]] == [
        [1, 0, 0, n, 1] for n in ("forwards", "backwards")
    ]
    assert curves.count([1, 0, 0]) == 1  # as weights and as the sizes of points


def test_a_slider_marks_its_row_of_a_heat_map():
    maps = {"now": [[0.1, 0.9]], "all": [[0.1, 0.9], [0.6, 0.4], [0.5, 0.5]]}
    options = {"lit": "now", "rows": "abc", "columns": "xy", "row": "token", "start": {"token": 2}}
    html = explore(lambda token: maps, **WORDS, **options, token=[1, 2, 3]).html
    assert re.findall(r'<tr class="now"><th scope="row">(.)', html) == ["b"]
    assert 'data-row="0"' in html
    assert 'class="parts beside"' in html


def test_of_plots_that_buttons_choose_from_the_first_is_large():
    html = examples.planes().html
    assert re.findall(r'<div class="zoom" data-name="(\w+)"><img class="([\w ]+)"', html) == [
        ("picture", "plot large")
    ]
    assert [
        text.text for plot in drawn(html) for text in plot.iterfind(".//{*}text[@data-title]")
    ] == ["regions", "one score", "saddle"]
    assert "enlarge" in html
    assert "enlarge" not in examples.plots().html


def test_plots_in_a_list_stand_below_each_other():
    def three(a):
        return {"y": [a, 2]}

    ways = [Plot(Curve([0, 1], "y"), title=name) for name in "abc"]
    html = explore(three, **WORDS, draw=[ways[:2], ways[2]], a=[1, 2]).html
    (stack,) = re.findall(r'<div class="stack">(.*?)</div>', html)
    assert (stack.count("<img"), html.count("<img")) == (2, 3)


def test_ticks_are_smaller_than_labels():
    for plot in drawn(examples.plots().html):
        ticks, label = plot.find("{*}g").get("font-size"), plot.get("font-size")
        assert 10 < float(ticks) < float(label) < 16


def test_ticks_have_the_names_that_a_plot_gives_them():
    (plot,) = drawn(examples.film().html)
    texts = [text.text for text in plot.iterfind(".//{*}text")]
    assert texts == ["a", "b", "c", "none", "all"]


def test_only_an_explorer_with_steps_carries_their_script_and_style():
    html = examples.film().html
    assert 'data-steps="0 3"' in html
    assert all(word in html for word in ("stepper", '"Next"', ".steps button"))
    assert "<button" not in html  # none that does nothing
    for other in (examples.plots(), examples.heat_map()):
        assert not re.search("step(per|s)", other.html)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "b"}, "steps: there is no slider 'b', only a"),
        ({"row": "b"}, "row: there is no slider 'b', only a"),
        ({"large": "of", "draw": [Plot(Line("a"))]}, "large: each plot needs a title"),
        ({"lit": "wieghts"}, "the function returns no part 'wieghts'"),
        ({"folded": ["sum"]}, "the function returns no part 'sum'"),
    ],
)
def test_steps_and_folds_of_what_is_not_there_say_why(options, message):
    with pytest.raises(ValueError, match=message):
        explore(lambda a: {"weights": [[0.5]]}, **WORDS, a=[1, 2], **options)


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


def test_words_are_on_or_off_in_every_pattern():
    html = examples.one_row().html
    words, fill = attribute(html, "data-sliders")
    assert words[3] == examples.TEA
    assert len(fill[1]) == 3
    assert words[1][words[2]] == "two, sugars"
    assert "Still picture at words = two, sugars, fill = -inf." in html
    for at, frame in enumerate(attribute(html, "data-frames")):  # as the script counts
        pattern = tuple(digit == "1" for digit in f"{at // 3:03b}")
        shown = examples.stages(pattern, (-np.inf, -1e6, 0.0)[at % 3])["weights"][0]
        weights = [float("nan") if w is None else w for w in frame[3:6]]
        assert weights == pytest.approx(shown.tolist(), abs=1e-4, nan_ok=True)


def test_words_to_turn_on_and_off_must_differ():
    with pytest.raises(ValueError, match=r"different words, got \['tea', 'tea'\]"):
        Toggles(["tea", "tea"])


def test_parts_of_one_row_each_are_rows_of_one_table_with_digits_of_their_own():
    html = examples.one_row().html
    assert html.count("<table") == 2  # the other one holds the sum
    assert cells(html) == ["1", "3", "-inf", "0.12", "0.88", "", "1.0000"]
    assert titles(html) == ["0.1192", "0.8808", "0.0000"]
    assert re.findall(r'<th scope="(?:row|col)">([^<]*)', html) == [
        *examples.TEA,
        "score",
        "weights",
        "sum",
    ]
    assert html.count('class="v masked"') == 1
    with pytest.raises(ValueError, match="columns must name 3, got 1"):
        explore(examples.stages, **WORDS, columns=["x"], fill=[1.0, 2.0], words=Toggles("abc"))


def test_of_integers_in_one_table_zero_is_no_cell():
    shapes = explore(lambda a: {"in": [[0, 2, a]], "out": [[0, 0, 2]]}, **WORDS, a=[3, 4])
    assert cells(shapes.html) == ["", "2", "3", "", "", "2"]
    assert titles(shapes.html) == []
    assert 'class="d2l-cells boxes"' in shapes.html


def test_numbers_words_and_counts_stand_in_a_table():
    def counted(a):
        return {"sum": a / 3, "kind": "smooth" if a == 1 else "boxed", "n": 1000}

    html = explore(counted, **WORDS, a=[1, 2]).html
    assert cells(html) == ["0.3333", "smooth", "1,000"]
    assert attribute(html, "data-frames") == [[0.3333, "smooth", 1000], [0.6667, "boxed", 1000]]


def test_text_shows_the_start_frame():
    assert repr(examples.heat_map()).splitlines() == [
        "Attention weights of two queries. (sliders at temperature = 1, valid len = 3)",
        "0.0900  0.6652  0.2447  0.0000",
        "0.2447  0.0900  0.6652  0.0000",
    ]
    assert set(examples.heat_map()._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.parametrize("name", ["heat_map", "plots", "one_row", "planes", "film"])
def test_an_explorer_is_whole_and_always_the_same(name):
    example = getattr(examples, name)
    html = example().html
    assert example().html == html
    assert not re.search(r"https?://(?!www\.w3\.org)|\bid=|src=\"(?!data:)", html)
    page = re.sub(r"<[^>]*/>", "", html.partition("<script>")[0])
    for tag in set(re.findall(r"<(\w+)", page)) - {"img", "input"}:
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>"), tag


def test_values_that_are_not_finite_are_shown_and_survive():
    def odd(value):
        return np.array([[value * np.nan, np.inf, -np.inf, -0.00001]])

    html = explore(odd, **WORDS, value=[0.0, 1.0]).html
    assert cells(html) == ["nan", "inf", "-inf", "0.0000"]
    words = explore(lambda a: {"is": "NaN", "or": a}, **WORDS, a=[1, 2_000_000])
    assert cells(words.html) == ["NaN", "1"]
    assert attribute(words.html, "data-frames")[1] == ["NaN", 2_000_000]
    assert repr(words).splitlines()[1:] == ["is: NaN", "or: 1"]
    held = spread(attribute(html, "data-frames")[0], attribute(html, "data-curves"))
    assert held == [None, float("inf"), float("-inf"), -1e-5]


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
        (lambda a: 1, {n: [1, 2] for n in "abcde"}, "one to 4 sliders, got 5"),
        (lambda a: np.ones((a, 2)), {"a": [1, 2]}, "at {'a': 2} the function returns"),
        (lambda a: np.ones((2, 2, 2)), {"a": [1, 2]}, "matrices, got shape"),
        (lambda a: np.ones((2, 2)), {"a": [1, 2], "rows": ["x"]}, "rows must name 2 rows, got 1"),
        (lambda a: np.ones(2), {"a": [1, 2], "start": {"a": 3}}, "a has no value 3, only 1, 2"),
        (lambda a: {"y": [1, 2]}, {"a": [1, 2]}, "no plot shows y"),
        (
            lambda a: np.linspace(0, 1, 3600).reshape(60, 60),
            {"a": range(5)},
            "may weigh 60000 bytes and 5 frames",
        ),
        (lambda a, b: 1, {"a": [1, 2], "b": [1, 2], "live": Live("", "ba", list)}, "b and a must"),
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
        (Plot(Line("a"), title="same"), "two plots have the name 'same': give them titles"),
    ],
)
def test_a_plot_of_what_is_not_there_says_why(plot, message):
    draw = [plot, Plot(Line("a"), title="same")]
    with pytest.raises(ValueError, match=message):
        explore(lambda a, kernel: FOUR, **WORDS, draw=draw, a=[1, 2], kernel=["box", "bell"])


def test_a_score_in_single_precision_is_refused():
    with pytest.raises(TypeError, match="a Score stores float64"):
        Score(c=np.ones((5, 2)), b=np.ones((5, 2), np.float32)).held()


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
