"""Sliders over results that a chapter's own function computed beforehand."""

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from d2l_attention.arrays import as_array, dtype_of, kind_of
from d2l_attention.practice import drawing, explorer_planes, explorer_plots
from d2l_attention.practice.explorer_live import Live
from d2l_attention.practice.explorer_plots import Parts, Plot
from d2l_attention.practice.words import say, script_words

MOST_BYTES = 60_000
MOST_SLIDERS = 4
TINY = 1e-5  # what a number that four decimals would round to 0 becomes
NUMBER = re.compile(r"[-+−]?\.?\d|inf$|∞$")  # how the labels of a slider of numbers begin
CONSTANTS = f'const BLUES = "{drawing.BLUES}", TINY = {TINY:g}, DIGITS = {drawing.DIGITS};'


class Toggles(dict):
    """A slider of words that are on or off, each a button: label -> one bool per word."""

    def __init__(self, words: Sequence[str]):
        self.words = [str(word) for word in words]
        for pattern in itertools.product((False, True), repeat=len(self.words)):
            on = [word for word, is_on in zip(self.words, pattern, strict=True) if is_on]
            self[", ".join(on) or "none"] = pattern
        if len(self) < 2 ** len(self.words):
            raise ValueError(f"toggles need different words, got {self.words}")


class Explorer:
    """Sliders with a table or drawing that follows them; shown when it ends a cell."""

    def __init__(self, html: str, text: str):
        self.html, self.text = html, text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


@dataclass(frozen=True)
class Slider:
    """What a reader may choose: labels and the values under them."""

    label: str
    choices: dict[str, object]
    start: int
    words: Sequence[str] = ()  # of `Toggles`

    @property
    def held(self) -> list:
        """What the script takes; buttons stand in place of a slider if it goes through names."""
        named = any(not NUMBER.match(label) for label in self.choices)
        kind = [self.words] if self.words else [1] * named
        return [self.label, list(self.choices), self.start, *kind]

    @property
    def still(self) -> str:
        return f"{self.label} = {list(self.choices)[self.start]}"


@dataclass(frozen=True)
class Look:
    """How frames are shown: these are options of `explore`."""

    rows: Sequence[str] | None
    columns: Sequence[object] | None
    draw: Sequence[Plot | Sequence[Plot]]
    large: str
    masked: bool
    steps: str
    row: str
    folded: Sequence[str]

    @property
    def stacks(self) -> list[list[Plot]]:
        return [[held] if isinstance(held, Plot) else [*held] for held in self.draw]


def explore(
    function: Callable,
    *,
    caption: str,
    question: str,
    start: Mapping[str, object] | None = None,
    labels: Mapping[str, str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[object] | None = None,
    draw: Sequence[Plot | Sequence[Plot]] = (),
    large: str = "",
    live: Live | None = None,
    masked: bool = False,
    steps: str = "",
    row: str = "",
    folded: Sequence[str] = (),
    **sliders: Sequence | Mapping[str, object],
) -> Explorer:
    """Call `function` for every combination of slider values and show one at a time.

    Args:
        function: Is called with one keyword argument per slider. Returns a matrix (n, m), or a
            dict of named parts, the same in every call: matrices, where weights from 0 to 1 have
            colors, curves (1 axis), numbers and words. Several matrices (1, m) become the rows of
            one table, where of integers 0 is no cell.
        caption: What is shown; also the alt text of a drawing.
        question: What the reader can find out by moving the sliders.
        start: Slider -> value of the first picture; by default the first value of each.
        labels: Slider -> what readers see; by default its name, with spaces.
        rows, columns: Names of a matrix's rows (queries) and columns (keys).
        draw: Plots, whose marks name the parts (or sliders) that they show, side by side, or those
            of a list below each other. Matrices then stand in a folded table below them.
        large: The name of a row of buttons with the titles of all plots, of which one is large.
        live: Weights that the script computes, for any query in the plane.
        masked: Whether an exact 0 among weights means a masked cell, which is hatched.
        steps: The slider that has Back, Play and Next buttons, too.
        row: The slider through the rows of the second matrix. The first matrix is that row alone,
            and gives its colors to the columns' names.
        folded: Numbers and words that stand in the folded table of a drawing.
        **sliders: One to four, each a list of values or a dict of label -> value. A choice
            between names becomes a row of buttons, and `Toggles` a row of words to turn on and off.

    Returns:
        An object that notebooks show: a still picture, and a script that turns it into sliders.
    """
    look = Look(rows, columns, draw, large, masked, steps, row, folded)
    controls = sliders_of(sliders, start or {}, labels or {}, look)
    frames, plots = all_frames(function, controls, look, live)
    return explorer(frames, plots, controls, look, live, caption, question)


def sliders_of(
    given: Mapping[str, Sequence | Mapping], start: Mapping, labels: Mapping, look: Look
) -> dict[str, Slider]:
    if not 1 <= len(given) <= MOST_SLIDERS:
        raise ValueError(f"an explorer has one to {MOST_SLIDERS} sliders, got {len(given)}")
    for name in {look.steps, look.row} - {"", *given}:
        raise ValueError(f"there is no slider {name!r}, only {', '.join(given)}")
    sliders = {}
    for name, values in given.items():
        if not isinstance(values, Mapping):
            values = {label_of(v): v for v in values}
        if len(values) < 2:
            raise ValueError(f"a slider needs two or more different values, got {list(values)}")
        choices = {str(label): value for label, value in values.items()}
        at = position(name, choices, start.get(name))
        label = labels.get(name, name.replace("_", " "))
        sliders[name] = Slider(label, choices, at, getattr(values, "words", ()))
    return sliders


def label_of(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def position(name: str, choices: dict[str, object], wanted: object) -> int:
    if wanted is None:
        return 0
    for at, (label, value) in enumerate(choices.items()):
        if label == wanted or value is wanted or (np.isscalar(value) and value == wanted):
            return at
    raise ValueError(f"start: {name} has no value {wanted!r}, only {', '.join(choices)}")


class Frames:
    """What the function gives at all places of the sliders."""

    def __init__(self, frames: list[Parts], first: int):
        self.all, self.first, self.shown = frames, first, frames[first]
        sizes = [np.size(part) for part in self.shown.values()]
        self.places = dict(zip(self.shown, np.cumsum([0, *sizes]).tolist(), strict=False))

    def of_axes(self, axes: int) -> list[str]:
        """Return the names of the parts with so many axes; words count as numbers, with none."""
        parts = self.shown.items()
        return [n for n, p in parts if (0 if isinstance(p, str) else p.ndim) == axes]

    def finite(self, name: str) -> np.ndarray:
        """Return what a part of numbers holds in all frames."""
        numbers = np.concatenate([np.ravel(parts[name]) for parts in self.all])
        return numbers[np.isfinite(numbers)]

    def are_weights(self, name: str) -> bool:
        """Return whether a part holds fractions between 0 and 1 in every frame, as weights do."""
        numbers = self.finite(name)
        return numbers.dtype != np.int64 and bool(((numbers >= 0) & (numbers <= 1)).all())

    def digits(self, name: str) -> int:
        """Return how many decimals readers see."""
        whole = (isinstance(p[name], str) or p[name].dtype == np.int64 for p in self.all)
        return 0 if all(whole) else drawing.DIGITS

    def held(self) -> dict[str, str]:
        """Return all frames for the script: numbers, words, and in lists the places of rows.

        Rows of matrices and curves that frames share are stored once.
        """
        pool: dict[str, int] = {}
        rows = []
        for parts in self.all:
            rows.append([])
            for part in parts.values():
                if isinstance(part, str):
                    rows[-1].append(part)
                elif part.ndim == 0:
                    rows[-1] += plain_numbers(part)
                else:
                    texts = (as_json(plain_numbers(row)) for row in np.atleast_2d(part))
                    rows[-1] += [[pool.setdefault(text, len(pool))] for text in texts]
        return {"frames": as_json(rows), "curves": f"[{','.join(pool)}]"}


def all_frames(
    function: Callable, sliders: dict[str, Slider], look: Look, live: Live | None
) -> tuple[Frames, list[Plot]]:
    """Return what the function gives at all values, and plots of it."""
    choices = {name: list(slider.choices.values()) for name, slider in sliders.items()}
    starts = {name: slider.start for name, slider in sliders.items()}
    for name in live.query_among(sliders) if live else ():  # one frame will do
        choices[name], starts[name] = [choices[name][starts[name]]], 0
    draw = [plot for stack in look.stacks for plot in stack]
    places = [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]
    frames = [with_sliders(frame(function(**values)), values, draw) for values in places]
    plots, frames = explorer_planes.expanded(draw, frames)
    for values, parts in zip(places, frames, strict=True):
        if shapes(parts) != shapes(frames[0]):
            raise ValueError(
                f"at {values} the function returns {shapes(parts)}, "
                f"and at the first values {shapes(frames[0])}"
            )
    explorer_plots.check(plots, frames[0])
    if look.large and not all(plot.title for plot in plots):
        raise ValueError("large: each plot needs a title")
    first = np.ravel_multi_index([*starts.values()], [len(values) for values in choices.values()])
    return Frames(frames, int(first)), plots


def frame(result: object) -> Parts:
    """Return what a function returned as named parts, rounded to four decimals."""
    if not isinstance(result, Mapping):
        result = {"": result}
    return {
        name: value if isinstance(value, str) else rounded(value, matrix=name == "")
        for name, value in result.items()
    }


def rounded(value: object, matrix: bool) -> np.ndarray:
    """Round to four decimals; numbers that were integers come out as an integer array."""
    array = as_array(value)
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.ndim > 2:
        raise ValueError(f"an explorer shows matrices, got shape {array.shape}")
    array = np.atleast_2d(array) if matrix else array
    if kind_of(dtype_of(value)) != "floating point":
        return array.astype(np.int64)
    short = array.round(drawing.DIGITS) + 0.0  # -0.0 becomes 0.0
    tiny = (short == 0) & (array != 0) & (array.ndim == 2)  # a weight that is not masked
    return np.where(tiny, np.copysign(TINY, array), short)


def with_sliders(parts: Parts, values: Mapping[str, object], draw: Sequence[Plot]) -> Parts:
    """Return a frame with the values of the sliders of numbers that a mark of a plot names."""
    names = explorer_plots.named(draw) - set(parts)
    shown = {n: v for n, v in values.items() if n in names and isinstance(v, (int, float))}
    return parts | {name: np.array([value]) for name, value in shown.items()}


def shapes(parts: Parts) -> dict[str, tuple | str]:
    return {n: "words" if isinstance(p, str) else p.shape for n, p in parts.items()}


def plain_numbers(part: np.ndarray) -> list:
    """Return numbers for JSON: NaN as None, whole ones without a decimal point."""
    values = [None if np.isnan(v) else v for v in part.ravel().tolist()]
    return [int(v) if v is not None and v % 1 == 0 else v for v in values]


def as_json(values: object) -> str:
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r"(?<=[\[,-])Infinity(?=[,\]])", "1e999", text)  # JSON has no infinity


def matrices(frames: Frames, look: Look, now: int | None) -> list[str]:
    """Return the matrices of a frame as tables, or those of one row each as one."""
    names = frames.of_axes(2)
    shapes = {frames.shown[name].shape for name in names}
    if look.rows is None and len(names) > 1 and len(shapes) == 1 and max(shapes)[0] == 1:
        rows = [rows_of(frames, name, look, [name])[0] for name in names]
        boxes = " boxes" * any(row.zeros == "absent" for row in rows)
        return [drawing.table(rows, columns=look.columns, kind=boxes)]
    html = []
    for i, name in enumerate(names):
        lit = bool(look.row) and i == 0
        rows = rows_of(frames, name, look, None if lit else look.rows, None if lit else now)
        html.append(drawing.table(rows, title=name, columns=look.columns, lit=lit))
    return html


def rows_of(
    frames: Frames, name: str, look: Look, heads: Sequence[str] | None, now: int | None = None
) -> list[drawing.Row]:
    """Return the rows of a matrix: of weights two decimals and a color, and nothing for a 0."""
    matrix, numbers, weights = frames.shown[name], frames.finite(name), frames.are_weights(name)
    if heads is not None and len(heads) != len(matrix):
        raise ValueError(f"rows must name {len(matrix)} rows, got {len(heads)}")
    alone = heads == [name]  # in a table with others
    digits = 2 if weights else 0 if (numbers % 1 == 0).all() else frames.digits(name)
    zeros = ("masked" if look.masked else "empty") if weights else ""
    if alone and numbers.dtype == np.int64:
        zeros = "absent"
    texts = [drawing.number_text(v, digits) for v in np.unique(numbers)] if alone else []
    return [
        drawing.Row(
            row,
            name=str(heads[i]) if heads is not None else "",
            digits=digits,
            colored=weights,
            zeros=zeros,
            wide=max((len(text) - text.count(",") // 2 for text in texts), default=0),
            at=frames.places[name] + i * matrix.shape[1],
            now=i == now,
        )
        for i, row in enumerate(matrix)
    ]


def numbers(frames: Frames, names: Sequence[str]) -> str:
    """Return named numbers or words as rows of a table, each with digits of its own."""
    if lost := set(names) - {*frames.of_axes(0)}:
        raise ValueError(f"the function returns no part {', '.join(map(repr, sorted(lost)))}")
    rows, widest = [], 0
    for name in names:
        digits = frames.digits(name)
        texts = {drawing.number_text(value_of(parts[name]), digits) for parts in frames.all}
        wide = max(map(len, texts))  # so that nothing moves with the sliders
        widest, at, value = max(widest, wide), frames.places[name], value_of(frames.shown[name])
        rows.append(drawing.Row([value], name, digits, wide=min(wide, 40), at=at))
    kind = " numbers" + " long" * (widest > 40)  # takes all the width, breaks lines on a phone
    return drawing.table(rows, kind=kind) if rows else ""


def value_of(part: np.ndarray | str) -> float | str:
    return part if isinstance(part, str) else float(part)


def pictures(frames: Frames, plots: list[Plot], sliders: dict, look: Look, alt: str) -> str:
    """Return plots side by side or below each other, or one that is large beside all others."""
    drawn = [
        explorer_plots.picture(plot, frames.all, frames.first, frames.places, sliders, alt)
        for plot in plots
    ]
    if look.large:
        drawn[0] = drawn[0].replace('class="plot"', 'class="plot large"', 1)
        return f'<div class="zoom" data-name="{escape(look.large)}">{"".join(drawn)}</div>'
    left = iter(drawn)
    stacks = ["".join(itertools.islice(left, len(stack))) for stack in look.stacks]
    return "\n".join(s if s.count("<img") == 1 else f'<div class="stack">{s}</div>' for s in stacks)


def explorer(
    frames: Frames,
    plots: list[Plot],
    sliders: dict[str, Slider],
    look: Look,
    live: Live | None,
    caption: str,
    question: str,
) -> Explorer:
    """Return the page of frames, and its first picture as text."""
    still = ", ".join(slider.still for slider in sliders.values())
    shown = matrices(frames, look, sliders[look.row].start if look.row else None)
    folded = numbers(frames, look.folded)
    if plots:
        alt = f"{caption} " + say("Still picture at {still}.").format(still=still)
        hidden = "\n".join(filter(None, [*shown, folded]))
        summary = say("Numbers")
        fold = f"<details><summary>{summary}</summary>\n{hidden}\n</details>"
        shown = [pictures(frames, plots, sliders, look, alt), explorer_plots.legend(plots)]
        shown += [fold] * bool(hidden)
    shown.append(numbers(frames, [n for n in frames.of_axes(0) if n not in look.folded]))
    names, kind = list(sliders), " many" * (len(look.stacks) > 1) or " beside" * bool(look.row)
    read_out = sum(np.size(p) for p in frames.shown.values() if np.ndim(p) != 1) <= 24
    data = frames.held() | {
        "sliders": as_json([slider.held for slider in sliders.values()]),
        "scores": as_json(live.held(sliders, frames.places)) if live else "",
        "row": str(names.index(look.row)) if look.row else "",
        "steps": str(names.index(look.steps)) if look.steps else "",
        "words": as_json(script_words("explorer.js")) if look.steps else "",
    }
    parts = f'<div class="parts{kind}"' + ' aria-live="polite"' * read_out + ">\n"
    parts += "\n".join(filter(None, shown)) + "\n</div>"
    html = page(data, question, caption, still, parts)
    if len(html.encode()) > MOST_BYTES:
        raise ValueError(
            f"an explorer may weigh {MOST_BYTES} bytes and {len(frames.all)} frames weigh "
            f"{len(html.encode())}: take fewer slider values or points"
        )
    return Explorer(html, f"{caption} " + say("(sliders at {still})").format(still=still))


def page(data: dict[str, str], question: str, caption: str, still: str, parts: str) -> str:
    """Return the HTML of an explorer: a still picture, all frames, and the script that moves it."""
    fixed = say(
        "Still picture at {still}. "
        "Sliders appear where scripts may run: in a trusted notebook or on a web page."
    ).format(still=still)
    held = "".join(f' data-{name}="{escape(text)}"' for name, text in data.items() if text)
    return "\n".join(
        [
            f'<div class="d2l-explorer"{held}>',
            f"<style>{drawing.STYLE}{drawing.asset('explorer.css')}</style>".replace("\n", ""),
            f'<p class="q">{escape(question)}</p>',
            f'<p class="still">{escape(fixed)}</p>',
            parts,
            f'<p class="cap">{escape(caption)}</p>',
            "</div>",
            "<script>(() => {",  # a site lets all explorers share what begins so
            CONSTANTS,
            drawing.asset("explorer.js"),
            "})();</script>",
        ]
    )
