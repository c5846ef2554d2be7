"""Sliders over results that a chapter's own function computed beforehand."""

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice import drawing, words
from d2l_attention.practice.explorer_planes import Score, expanded
from d2l_attention.practice.explorer_plots import Parts, Plot, legend, named, places_of
from d2l_attention.practice.words import say, script_words

MOST_BYTES = {"explorer": 60_000, "arcs": 600_000, "traced": 24_000}
SCRIPTS = {"arcs": ["widgets", "controls", "models", "arcs"], "traced": ["widgets", "traced"]}
SCRIPTS["explorer"] = ["widgets", "controls", "explorer"]
TINY = 1e-5  # what a number that four decimals would round to 0 becomes
NUMBER = re.compile(r"[-+−]?\.?\d|inf$|∞$")  # how the labels of a slider of numbers begin
CONSTANTS = f'const BLUES = "{drawing.BLUES}", TINY = {TINY:g}, DIGITS = {drawing.DIGITS};'


class Explorer:
    """Sliders with a table or drawing that follows them; shown when it ends a cell.

    Args:
        kind: Its class in HTML, one of `SCRIPTS`, whose scripts and style it has.
        data: What the script takes.
        parts: What is shown, in HTML; without scripts, that is all.
        text: What is shown where there is no HTML.
    """

    def __init__(self, kind: str, data: Mapping[str, str], parts: Sequence[str], text: str):
        name, _, _ = kind.partition(" ")
        held = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items() if value)
        tables = drawing.STYLE * any("<table" in part for part in parts)
        style = tables + drawing.asset(f"{name}.css").replace("\n", "")
        self.text, self.composed = text, words.composed()
        script = "\n".join([CONSTANTS, *(drawing.asset(f"{file}.js") for file in SCRIPTS[name])])
        begin = f'<div class="d2l-{kind}"{held}>\n<style>{style}</style>'
        end = f"</div>\n<script>(() => {{\n{script}\n}})();</script>"
        self.html = "\n".join([begin, *filter(None, parts), end])
        if (weight := len(self.html.encode())) > MOST_BYTES[name]:
            raise ValueError(
                f"this may weigh {MOST_BYTES[name]} bytes and weighs {weight}: "
                "take fewer slider values, points or snapshots"
            )

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        metadata = {"composed": self.composed} if self.composed else {}
        return {"text/html": self.html, "text/plain": self.text}, metadata


class Toggles(dict):
    """A slider of words that are on or off, each a button: label -> one bool per word."""

    def __init__(self, words: Sequence[str]):
        self.words = [str(word) for word in words]
        for pattern in itertools.product((False, True), repeat=len(self.words)):
            self[", ".join(itertools.compress(self.words, pattern)) or "none"] = pattern


@dataclass(frozen=True)
class Slider:
    """What a reader may choose: labels and the values under them."""

    label: str
    choices: dict[str, object]
    start: int
    words: Sequence[str]  # of `Toggles`

    @property
    def held(self) -> list:
        """What the script takes; buttons stand in place of a slider if it goes through names."""
        named = any(not NUMBER.match(label) for label in self.choices)
        kind = [self.words] if self.words else [1] * named
        return [self.label, list(self.choices), self.start, *kind]


def explore(
    function: Callable,
    *,
    caption: str,
    question: str,
    start: Mapping[str, object] | None = None,
    labels: Mapping[str, str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[object] | None = None,
    draw: Sequence[Plot | Sequence[Plot]] | Mapping[str, Sequence[Plot]] = (),
    live: Callable[..., Sequence[Score]] | None = None,
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
        start, labels: Slider -> value of the first picture, and what readers see.
        rows, columns: Names of a matrix's rows (queries) and columns (keys).
        draw: Plots, whose marks name the parts (or sliders) that they show, side by side, or those
            of a list below each other; {name: plots} has buttons for which one is large.
            Matrices then stand in a folded table below them.
        live: Is called with all sliders but the last two, which are a query in the plane. Returns
            a `Score` for each row of the matrix of weights, which the script then computes.
        masked: Whether an exact 0 among weights means a masked cell, which is hatched.
        steps: The slider that has Back, Play and Next buttons, too.
        row: The slider through the rows of the second matrix. The first matrix is that row alone,
            and gives its colors to the columns' names.
        folded: Numbers and words that stand in the folded table of a drawing.
        **sliders: Each a list of values, or a dict of label -> value. A choice between names
            becomes a row of buttons, and `Toggles` a row of words to turn on and off.
    """
    controls = sliders_of(sliders, start or {}, labels or {})
    page = Page(controls, rows, columns, draw, live, masked, steps, row, folded)
    return page.explorer(function, caption, question)


def sliders_of(sliders: Mapping, start: Mapping, labels: Mapping) -> dict[str, Slider]:
    controls = {}
    for name, values in sliders.items():
        if not isinstance(values, Mapping):
            values = {label_of(value): value for value in values}
        choices = {str(label): value for label, value in values.items()}
        at = list(choices).index(label_of(start[name])) if name in start else 0
        label = labels.get(name, name.replace("_", " "))
        controls[name] = Slider(label, choices, at, getattr(values, "words", ()))
    return controls


def label_of(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def frame(result: object) -> Parts:
    """Return what a function returned as named parts, rounded to four decimals."""
    parts = result if isinstance(result, Mapping) else {"": np.atleast_2d(as_array(result))}
    return {n: part if isinstance(part, str) else rounded(part) for n, part in parts.items()}


def rounded(value: object) -> np.ndarray:
    """Round to four decimals; numbers that were integers come out as an integer array."""
    array = as_array(value)
    array = array.reshape(array.shape[-2:])  # an explorer shows matrices
    if array.dtype.kind != "f":
        return array.astype(np.int64)
    short = array.round(drawing.DIGITS) + 0.0  # -0.0 becomes 0.0
    tiny = (short == 0) & (array != 0) & (array.ndim == 2)  # a weight that is not masked
    return np.where(tiny, np.copysign(TINY, array), short)


def plain(part: np.ndarray) -> list:
    """Return numbers for JSON: NaN as None, whole ones without a decimal point."""
    values = [None if np.isnan(v) else v for v in part.ravel().tolist()]
    return [int(v) if v is not None and v % 1 == 0 else v for v in values]


def as_json(values: object) -> str:
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r"(?<=[\[,-])Infinity(?=[,\]])", "1e999", text)  # JSON has no infinity


class Page:
    """What an explorer shows; the options are those of `explore`."""

    def __init__(self, sliders, rows, columns, draw, live, masked, steps, row, folded):
        self.sliders, self.rows, self.columns, self.live = sliders, rows, columns, live
        self.masked, self.steps, self.row, self.folded = masked, steps, row, folded
        self.large = next(iter(draw)) if isinstance(draw, Mapping) else ""
        draw = draw[self.large] if self.large else draw
        self.stacks = [[plots] if isinstance(plots, Plot) else [*plots] for plots in draw]

    def explorer(self, function: Callable, caption: str, question: str) -> Explorer:
        self.compute(function)
        still = ", ".join(f"{s.label} = {[*s.choices][s.start]}" for s in self.sliders.values())
        fixed = say(
            "Still picture at {still}. "
            "Sliders appear where scripts may run: in a trusted notebook or on a web page."
        ).format(still=still)
        shown, folded = self.matrices(), self.numbers(self.folded)
        if self.plots:
            alt = f"{caption} " + say("Still picture at {still}.").format(still=still)
            hidden, summary = "\n".join(filter(None, [*shown, folded])), say("Numbers")
            fold = f"<details><summary>{summary}</summary>\n{hidden}\n</details>"
            shown = [self.pictures(alt), legend(self.plots), fold * bool(hidden)]
        shown.append(self.numbers([n for n in self.of_axes(0) if n not in self.folded]))
        kind = " many" * (len(self.stacks) > 1) or " beside" * bool(self.row)
        read_out = sum(np.size(p) for p in self.shown.values() if np.ndim(p) != 1) <= 24
        parts = [
            f'<p class="q">{escape(question)}</p>',
            f'<p class="still">{escape(fixed)}</p>',
            f'<div class="parts{kind}"' + ' aria-live="polite"' * read_out + ">",
            *shown,
            "</div>",
            f'<p class="cap">{escape(caption)}</p>',
        ]
        text = f"{caption} " + say("(sliders at {still})").format(still=still)
        return Explorer("explorer", self.data(), parts, text)

    def data(self) -> dict[str, str]:
        """Return what the script takes: frames of numbers, words, and in lists places of rows.

        Rows of matrices and curves that frames share are stored once.
        """
        names, pool, frames = list(self.sliders), {}, []
        for parts in self.frames:
            frames.append([])
            for part in parts.values():
                if np.ndim(part):
                    texts = (as_json(plain(row)) for row in np.atleast_2d(part))
                    frames[-1] += [[pool.setdefault(text, len(pool))] for text in texts]
                else:
                    frames[-1] += [part] if isinstance(part, str) else plain(part)
        return {
            "frames": as_json(frames),
            "curves": f"[{','.join(pool)}]",
            "sliders": as_json([slider.held for slider in self.sliders.values()]),
            "scores": as_json(self.scores()) if self.live else "",
            "row": str(names.index(self.row)) if self.row else "",
            "steps": str(names.index(self.steps)) if self.steps else "",
            "words": as_json(script_words("explorer.js")) if self.steps else "",
        }

    def scores(self) -> dict:
        """Return the scores of each frame, and where their weights and the query belong."""
        *others, up, across = [slider.choices for slider in self.sliders.values()]
        names = list(self.sliders)
        held = [
            [score.held() for score in self.live(**dict(zip(names, values, strict=False)))]
            for values in itertools.product(*(choices.values() for choices in others))
        ]
        weights = self.places[self.of_axes(2)[0]]
        query = [self.places[name] for name in names[-2:]]
        return {"every": len(up) * len(across), "frames": held, "weights": weights, "query": query}

    def compute(self, function: Callable) -> None:
        """Keep what the function gives at all values, and plots of it."""
        choices = {name: list(slider.choices.values()) for name, slider in self.sliders.items()}
        starts = {name: slider.start for name, slider in self.sliders.items()}
        for name in list(choices)[-2:] if self.live else ():  # one frame will do
            choices[name], starts[name] = [choices[name][starts[name]]], 0
        draw = [plot for stack in self.stacks for plot in stack]
        moving = named([mark for plot in draw for mark in plot.marks])
        frames = []
        for values in itertools.product(*choices.values()):
            values = dict(zip(choices, values, strict=True))
            parts = frame(function(**values))
            shown = {n: np.array([v]) for n, v in values.items() if n in moving - {*parts}}
            frames.append(parts | shown)
        shapes = [{n: np.shape(part) for n, part in parts.items()} for parts in frames]
        if other := [each for each in shapes if each != shapes[0]]:
            raise ValueError(f"the function returns {shapes[0]} and {other[0]}")
        self.plots, self.frames = expanded(draw, frames)
        sizes = [len(values) for values in choices.values()]
        self.first = int(np.ravel_multi_index([*starts.values()], sizes))
        self.shown = self.frames[self.first]
        self.places = places_of(self.shown)

    def of_axes(self, axes: int) -> list[str]:
        """Return the names of the parts with so many axes; words count as numbers, with none."""
        return [name for name, part in self.shown.items() if np.ndim(part) == axes]

    def matrices(self) -> list[str]:
        """Return the matrices of a frame as tables, or those of one row each as one."""
        names = self.of_axes(2)
        shapes = {self.shown[name].shape for name in names}
        if self.rows is None and len(names) > 1 and len(shapes) == 1 and max(shapes)[0] == 1:
            rows = [self.rows_of(name, [name])[0] for name in names]
            boxes = " boxes" * any(row.zeros == "absent" for row in rows)
            return [drawing.table(rows, columns=self.columns, kind=boxes)]
        html = []
        for i, name in enumerate(names):
            lit = bool(self.row) and i == 0
            rows = self.rows_of(name, None if lit else self.rows, marked=not lit)
            html.append(drawing.table(rows, title=name, columns=self.columns, lit=lit))
        return html

    def rows_of(self, name: str, heads: Sequence | None, marked: bool = False) -> list[drawing.Row]:
        """Return the rows of a matrix: of weights two decimals and a color, and nothing for a 0."""
        matrix = self.shown[name]
        numbers = np.concatenate([np.ravel(parts[name]) for parts in self.frames])
        numbers = numbers[np.isfinite(numbers)]
        whole = numbers.dtype == np.int64
        weights = not whole and bool(((numbers >= 0) & (numbers <= 1)).all())
        alone = heads == [name]  # in a table with others
        digits = 2 if weights else 0 if (numbers % 1 == 0).all() else drawing.DIGITS
        zeros = ("masked" if self.masked else "empty") if weights else "absent" * (alone and whole)
        texts = [drawing.number_text(v, digits) for v in np.unique(numbers)] if alone else []
        now = self.sliders[self.row].start if self.row and marked else None
        return [
            drawing.Row(
                row,
                name=str(head),
                digits=digits,
                colored=weights,
                zeros=zeros,
                wide=max((len(text) - text.count(",") // 2 for text in texts), default=0),
                at=self.places[name] + i * matrix.shape[1],
                now=i == now,
            )
            for i, (row, head) in enumerate(zip(matrix, heads or [""] * len(matrix), strict=True))
        ]

    def numbers(self, names: Sequence[str]) -> str:
        """Return named numbers or words as rows of a table, each with digits of its own."""
        rows, widest = [], 0
        for name in names:
            values = [np.asarray(parts[name]) for parts in self.frames]
            whole = all(value.dtype.kind in "iU" for value in values)
            digits = 0 if whole else drawing.DIGITS
            wide = max(len(drawing.number_text(value.item(), digits)) for value in values)
            widest, value = max(widest, wide), values[self.first].item()
            at = self.places[name]  # and nothing moves with the sliders
            rows.append(drawing.Row([value], name, digits, wide=min(wide, 40), at=at))
        kind = " numbers" + " long" * (widest > 40)  # takes all the width, breaks lines on a phone
        return drawing.table(rows, kind=kind) if rows else ""

    def pictures(self, alt: str) -> str:
        """Return plots side by side or below each other, or one that is large beside all others."""
        drawn = [plot.picture(self.shown, list(self.sliders), alt) for plot in self.plots]
        if self.large:
            drawn[0] = drawn[0].replace('class="plot"', 'class="plot large"', 1)
            return f'<div class="zoom" data-name="{escape(self.large)}">{"".join(drawn)}</div>'
        left = iter(drawn)
        stacks = ["".join(itertools.islice(left, len(stack))) for stack in self.stacks]
        return "\n".join(
            f'<div class="stack">{stack}</div>' if stack.count("<img") > 1 else stack
            for stack in stacks
        )
