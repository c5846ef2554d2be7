"""Sliders over results that a chapter's own function computed beforehand."""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from d2l_attention.arrays import as_array, dtype_of, kind_of
from d2l_attention.practice import drawing, explorer_live, explorer_planes, explorer_plots
from d2l_attention.practice.words import say, script_with_words

MOST_BYTES = 60_000
MOST_SLIDERS = 4
HERE = Path(__file__).parent
STYLE = (HERE / "explorer.css").read_text(encoding="utf-8").strip()
TINY = 1e-5  # what a number that four decimals would round to 0 becomes

NUMBER = re.compile(r"[-+−]?\.?\d|inf$|∞$")  # how the labels of a slider of numbers begin

Parts = dict[str, np.ndarray | str]  # what one frame shows: name -> numbers or words


def script(*kits: str) -> str:
    """Return what moves an explorer, with those kits that it needs; some are styles alone."""
    files = [*(HERE / f"explorer_{kit}.js" for kit in kits), HERE / "explorer.js"]
    text = "".join(file.read_text(encoding="utf-8") for file in files if file.exists())
    lines = [re.sub(r"(^|\s)//.*", "", line).strip() for line in text.splitlines()]
    constants = f'const BLUES = "{drawing.BLUES}", TINY = {TINY:g}, DIGITS = {drawing.DIGITS};'
    text = "\n".join(["(() => {", constants, "const kits = [];", *filter(None, lines), "})();"])
    return script_with_words(text)


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


def explore(
    function: Callable,
    *,
    caption: str,
    question: str,
    start: Mapping[str, object] | None = None,
    labels: Mapping[str, str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    draw: Sequence[explorer_plots.Plot | Sequence[explorer_plots.Plot]] = (),
    large: str = "",
    live: explorer_live.Live | None = None,
    masked: bool = False,
    steps: str = "",
    lit: str = "",
    row: str = "",
    folded: Sequence[str] = (),
    **sliders: Sequence | Mapping[str, object],
) -> Explorer:
    """Call `function` for every combination of slider values and show one at a time.

    Args:
        function: Is called with one keyword argument per slider. Returns a matrix (n, m), drawn as
            a heat map whose colors go from 0 to 1; or a dict of named parts: matrices, curves
            (1 axis), numbers and words. Every call returns parts of the same names and shapes.
            Several matrices (1, m) become the rows of one table, where of integers 0 is no cell.
        caption: What is shown; also the alt text of a drawing.
        question: What the reader can find out by moving the sliders.
        start: Slider -> value of the first picture; by default the first value of each.
        labels: Slider -> what readers see; by default its name, with spaces.
        rows, columns: Names of a heat map's rows (queries) and columns (keys).
        draw: Plots, whose marks name the parts (or sliders) that they show, side by side, or those
            of a list below each other. Matrices then stand in a folded table below them.
        large: The name of a row of buttons with the titles of all plots, of which one is large.
        live: Weights that the script computes, for any query in the plane.
        masked: Whether an exact 0 in a heat map means a masked cell, which is hatched.
        steps: The slider that has Back, Play and Next buttons, too.
        lit: The matrix that stays open beside a drawing; its first row colors the columns' names.
        row: The slider whose value marks a row of the other heat maps.
        folded: Numbers and words that stand in the folded table of a drawing.
        **sliders: One to four, each a list of values or a dict of label -> value. A choice
            between names becomes a row of buttons, and `Toggles` a row of words to turn on and off.

    Returns:
        An object that notebooks show: a still first picture, which a script in it turns into
        sliders. Nothing is downloaded, and no kernel is needed.

    Raises:
        ValueError: Too many sliders or frames, frames that do not fit together, curves that no
            plot shows, or a plot, steps, lit, row or folded of what is not there.
    """
    if not 1 <= len(sliders) <= MOST_SLIDERS:
        raise ValueError(f"an explorer has one to {MOST_SLIDERS} sliders, got {len(sliders)}")
    for option, name in {"steps": steps, "row": row}.items():
        if name and name not in sliders:
            raise ValueError(f"{option}: there is no slider {name!r}, only {', '.join(sliders)}")
    choices = {name: labelled(values) for name, values in sliders.items()}
    starts = {name: position(name, choices[name], (start or {}).get(name)) for name in sliders}
    framed = {name: list(values.values()) for name, values in choices.items()}
    for name in explorer_live.query_of(live, sliders):  # one frame will do
        framed[name] = [framed[name][starts[name]]]
    stacks = [[given] if isinstance(given, explorer_plots.Plot) else [*given] for given in draw]
    planes = explorer_planes.Planes([plot for stack in stacks for plot in stack])
    plots, frames = all_frames(function, framed, planes, (lit, *folded))
    lengths = [len(values) for values in framed.values()]
    first = int(np.ravel_multi_index(list(starts.values()), lengths, mode="clip"))
    shown = {name: (labels or {}).get(name, name.replace("_", " ")) for name in sliders}
    still = ", ".join(f"{shown[name]} = {list(choices[name])[starts[name]]}" for name in sliders)
    marked = starts[row] if row else None
    tables = heat_maps(frames, first, rows, columns, masked, lit, marked)
    values = {name: list(labelled.values()) for name, labelled in choices.items()}
    explorer_plots.check(plots, frames[0], values)
    if large and not all(plot.title for plot in plots):
        raise ValueError("large: each plot needs a title")
    if plots:
        opened = tables[:1] if lit else []
        alt = say("Still picture at {still}.").format(still=still)
        drawn = draw_all(plots, frames, first, values, f"{caption} {alt}")
        shapes = in_zoom(drawn, large) if large else in_stacks(drawn, map(len, stacks))
        hidden = [*tables[len(opened) :], number_table(frames, first, folded)]
        hidden = fold(say("Numbers"), "\n".join(filter(None, hidden)))
        tables = [*opened, shapes, explorer_plots.legend(plots), hidden]
    alone = [name for name in of_axes(frames[0], 0) if name not in folded]
    tables.append(number_table(frames, first, alone))
    boxes = any("d2l-cells boxes" in table for table in tables)
    kits = {"live": live, "plots": plots, "rows": lit or boxes, "zoom": large, "steps": steps}
    html = page(
        data_of(frames)
        | {
            "scores": as_json(live.stored(choices, place_of_parts(frames[0]))) if live else "",
            "sliders": as_json(
                [
                    [shown[name], list(choices[name]), starts[name], *buttons_of(sliders[name])]
                    for name in sliders
                ]
            ),
            "row": str(list(sliders).index(row)) if row else "",
            "steps": f"{list(sliders).index(steps)} {len(choices[steps]) - 1}" if steps else "",
        },
        question,
        caption,
        still,
        "\n".join(filter(None, tables)),
        [kit for kit, on in kits.items() if on],
        "" if len(stacks) == 1 else " many" if plots else " beside" * bool(lit),
        read_out=sum(np.size(p) for p in frames[0].values() if np.ndim(p) != 1) <= 24,
    )
    if len(html.encode()) > MOST_BYTES:
        raise ValueError(
            f"an explorer may weigh {MOST_BYTES} bytes and {len(frames)} frames weigh "
            f"{len(html.encode())}: take fewer slider values or points"
        )
    return Explorer(html, plain(frames[first], caption, still, planes.parts))


def all_frames(
    function: Callable,
    framed: dict[str, list],
    planes: explorer_planes.Planes,
    ahead: Sequence[str],
) -> tuple[Sequence[explorer_plots.Plot], list[Parts]]:
    """Return what the function gives at all values, parts `ahead` first, and plots of it."""
    frames = []
    named = [
        dict(zip(framed, values, strict=True)) for values in itertools.product(*framed.values())
    ]
    for values in named:
        shown = first_of(frame(function(**values)), *ahead)
        frames.append(planes.traced(with_sliders(shown, values, planes.draw)))
    plots, frames = planes.expanded(frames)
    for values, parts in zip(named, frames, strict=True):
        if shapes(parts) != shapes(frames[0]):
            raise ValueError(
                f"at {values} the function returns {shapes(parts)}, "
                f"and at the first values {shapes(frames[0])}"
            )
    return plots, frames


def labelled(values: Sequence | Mapping) -> dict[str, object]:
    """Return a slider's values under their labels."""
    if not isinstance(values, Mapping):
        values = {label_of(v): v for v in values}
    if len(values) < 2:
        raise ValueError(f"a slider needs two or more different values, got {list(values)}")
    return {str(label): value for label, value in values.items()}


def buttons_of(values: Sequence | Mapping) -> list:
    """Return what buttons, in place of a slider, add to its name, labels and place."""
    if isinstance(values, Toggles):
        return [values.words]
    return [1] * any(not NUMBER.match(label) for label in labelled(values))


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


def frame(result: object) -> Parts:
    """Return what a function returned as named parts, rounded to four decimals."""
    if not isinstance(result, Mapping):
        array = np.atleast_2d(leading_ones_dropped(as_array(result)))
        return {"": rounded(array, result)}
    return {
        str(name): value
        if isinstance(value, str)
        else rounded(leading_ones_dropped(as_array(value)), value)
        for name, value in result.items()
    }


def first_of(parts: Parts, *names: str) -> Parts:
    """Return the parts with those of these names in front, which the page shows first."""
    if lost := set(names) - {"", *parts}:
        raise ValueError(f"the function returns no part {', '.join(map(repr, sorted(lost)))}")
    return {name: parts[name] for name in names if name} | parts


def with_sliders(
    parts: Parts, values: Mapping[str, object], draw: Sequence[explorer_plots.Plot]
) -> Parts:
    """Return a frame with the values of the sliders that a mark of a plot names."""
    shown = {n: v for n, v in values.items() if n in explorer_plots.named(draw) - set(parts)}
    for name, value in shown.items():
        if not isinstance(value, (int, float)):
            raise ValueError(f"a mark shows the slider {name!r}, whose values are no numbers")
    return parts | {name: np.array([value]) for name, value in shown.items()}


def leading_ones_dropped(array: np.ndarray) -> np.ndarray:
    """Return (1, n, m) as (n, m)."""
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.ndim > 2:
        raise ValueError(f"an explorer shows matrices, got shape {array.shape}")
    return array


def rounded(array: np.ndarray, value: object) -> np.ndarray:
    """Round to four decimals; numbers that were integers come out as an integer array."""
    if kind_of(dtype_of(value)) == "floating point":
        short = array.round(drawing.DIGITS) + 0.0  # -0.0 becomes 0.0
        tiny = (short == 0) & (array != 0) & (array.ndim == 2)  # a weight that is not masked
        return np.where(tiny, np.copysign(TINY, array), short)
    return array.astype(np.int64)


def shapes(parts: Parts) -> dict[str, tuple | str]:
    return {n: "words" if isinstance(p, str) else p.shape for n, p in parts.items()}


def of_axes(parts: Parts, axes: int) -> list[str]:
    """Return the names of the parts with so many axes; words count as numbers, with none."""
    return [n for n, p in parts.items() if (0 if isinstance(p, str) else p.ndim) == axes]


def digits_of(frames: list[Parts], name: str) -> int:
    arrays = [parts[name] for parts in frames]
    if all(isinstance(a, str) or a.dtype == np.int64 for a in arrays):
        return 0
    across = sum(frames[0][n].shape[1] for n in of_axes(frames[0], 2))
    return 2 if name in of_axes(frames[0], 2) and across > 6 else drawing.DIGITS


def are_weights(frames: list[Parts], name: str) -> bool:
    """Return whether a part holds fractions between 0 and 1 in every frame, as weights do."""
    shown = np.concatenate([parts[name].ravel() for parts in frames])
    shown = shown[np.isfinite(shown)]
    return shown.dtype != np.int64 and bool(((shown >= 0) & (shown <= 1)).all())


def heat_maps(
    frames: list[Parts],
    first: int,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    masked: bool,
    lit: str,
    marked: int | None,
) -> list[str]:
    """Return the matrices of a frame; of weights two decimals, and nothing for an exact 0."""
    html, matrices = [], {name: frames[first][name] for name in of_axes(frames[first], 2)}
    sizes = {matrix.shape for matrix in matrices.values()}
    if rows is None and len(matrices) > 1 and len(sizes) == 1 and max(sizes)[0] == 1:
        return [one_table(frames, first, columns, masked)]
    for name, matrix in matrices.items():
        is_lit = bool(lit) and name == lit
        names = None if is_lit and len(matrices) > 1 else rows
        for what, heads, size in zip(
            ("rows", "columns"), (names, columns), matrix.shape, strict=True
        ):
            if heads is not None and len(heads) != size:
                raise ValueError(f"{what} must name {size} {what}, got {len(heads)}")
        weights = are_weights(frames, name)
        html.append(
            drawing.table(
                matrix,
                title=name,
                rows=names,
                columns=columns,
                digits=2 if weights else digits_of(frames, name),
                zeros=("masked" if masked else "empty") if weights else "",
                lit=is_lit,
                now=None if is_lit else marked,
            )
        )
    return html


def one_table(frames: list[Parts], first: int, columns: Sequence[str] | None, masked: bool) -> str:
    """Return parts of one row each below each other; of integers, 0 stands for no cell."""
    parts, widest, html = frames[first], 0, []
    for name in of_axes(parts, 2):
        shown = np.concatenate([frame[name] for frame in frames])
        weights, zeros = are_weights(frames, name), ""
        if weights:
            zeros = "masked" if masked else "empty"
        elif shown.dtype == np.int64:
            zeros = "absent"
        whole = bool((shown[np.isfinite(shown)] % 1 == 0).all())
        digits = 2 if weights else 0 if whole else digits_of(frames, name)
        texts = {drawing.number_text(value, digits) for value in np.unique(shown)}
        widest = max(widest, *(len(text) - text.count(",") // 2 for text in texts))
        scale = (0.0, 1.0) if weights else None
        html.append(
            f'<tr data-digits="{digits}"'
            + (' data-scale="0 1"' if scale else "")
            + (f' data-zeros="{zeros}">' if zeros else ">")
            + f'<th scope="row">{escape(name)}</th>'
            + drawing.cells(parts[name][0], digits, scale, zeros)
            + "</tr>"
        )
    if columns is not None:
        if len(columns) != parts[name].shape[1]:
            raise ValueError(f"columns must name {parts[name].shape[1]}, got {len(columns)}")
        heads = "".join(f'<th scope="col">{escape(str(head))}</th>' for head in columns)
        html.insert(0, f"<tr><td></td>{heads}</tr>")
    rows, boxes = "\n".join(html), " boxes" * ('data-zeros="absent"' in html[-1])
    style = f'class="d2l-cells{boxes}" style="--cell:{widest}ch"'
    return f"<table {style}><tbody>\n{rows}</tbody></table>"


def number_table(frames: list[Parts], first: int, names: Sequence[str]) -> str:
    """Return named numbers or words as rows of a table, each with digits of its own."""
    rows, widest = [], 0
    for name in names:
        digits = digits_of(frames, name)
        texts = [drawing.number_text(value_of(parts[name]), digits) for parts in frames]
        wide = max(map(len, texts))  # so that nothing moves with the sliders
        widest = max(widest, wide)
        rows.append(
            f'<tr style="--cell:{min(wide, 40)}ch"><th scope="row">{escape(name)}</th>'
            f'<td class="v" data-digits="{digits}">{escape(texts[first])}</td></tr>'
        )
    if not rows:
        return ""
    kind = " long" * (widest > 40)  # takes all the width, and breaks lines on a phone
    return (
        f'<table class="d2l-cells numbers{kind}"><tbody>\n' + "\n".join(rows) + "</tbody></table>"
    )


def value_of(part: np.ndarray | str) -> float | str:
    return part if isinstance(part, str) else float(part)


def fold(summary: str, html: str) -> str:
    return html and f"<details><summary>{summary}</summary>\n{html}\n</details>"


def draw_all(
    plots: Sequence[explorer_plots.Plot],
    frames: list[Parts],
    first: int,
    sliders: dict,
    still: str,
) -> list[str]:
    """Return the plots of a frame."""
    at = {n: f"@{begin}:{size}" for n, (begin, size) in place_of_parts(frames[0]).items()}
    return [explorer_plots.picture(p, frames, first, at, sliders, still) for p in plots]


def in_stacks(drawn: Sequence[str], sizes: Iterable[int]) -> str:
    """Return pictures side by side, and so many at a time below each other."""
    left = iter(drawn)
    stacks = ["".join(itertools.islice(left, size)) for size in sizes]
    return "\n".join(s if s.count("<img") == 1 else f'<div class="stack">{s}</div>' for s in stacks)


def in_zoom(drawn: Sequence[str], name: str) -> str:
    """Return pictures of which the first is large; buttons of this name choose another."""
    first = drawn[0].replace('class="plot"', 'class="plot large"', 1)
    return f'<div class="zoom" data-name="{escape(name)}">{first}{"".join(drawn[1:])}</div>'


def place_of_parts(parts: Parts) -> dict[str, tuple[int, int]]:
    """Return where each part begins among the numbers of a frame, and how many it has."""
    places, begin = {}, 0
    for name in of_axes(parts, 2) + of_axes(parts, 0) + of_axes(parts, 1):
        places[name] = begin, np.size(parts[name])
        begin += np.size(parts[name])
    return places


def data_of(frames: list[Parts]) -> dict[str, str]:
    """Return all frames for the script: numbers, and in lists the places of curves.

    Curves, and matrices that frames share, are stored once.
    """
    pool: dict[str, int] = {}
    matrices = {n: [as_json(plain_numbers(p[n])) for p in frames] for n in of_axes(frames[0], 2)}
    once = {n for n, texts in matrices.items() if 2 * len(set(texts)) <= len(texts)}
    rows = []
    for parts in frames:
        rows.append([])
        for name in place_of_parts(parts):
            if isinstance(parts[name], str):
                rows[-1].append(parts[name])
            elif name in once or parts[name].ndim == 1:
                text = as_json(plain_numbers(parts[name]))
                rows[-1].append([pool.setdefault(text, len(pool))])
            else:
                rows[-1] += plain_numbers(parts[name])
    return {"frames": as_json(rows), "curves": f"[{','.join(pool)}]" if pool else ""}


def page(
    data: dict[str, str],
    question: str,
    caption: str,
    still: str,
    picture: str,
    kits: Sequence[str],
    layout: str,
    read_out: bool,
) -> str:
    """Return the HTML of an explorer: a still picture, all frames, and the script that moves it.

    `layout`: " many" where numbers stand below plots, " beside" where the second table stands
    beside all others. `read_out`: whether a screen reader tells of each change; many numbers take
    too long.
    """
    sheets = [HERE / f"explorer_{kit}.css" for kit in kits]
    style = STYLE + "".join(sheet.read_text("utf-8") for sheet in sheets if sheet.exists())
    parts = f'class="parts{layout}"' + ' aria-live="polite"' * read_out
    fixed = say(
        "Still picture at {still}. "
        "Sliders appear where scripts may run: in a trusted notebook or on a web page."
    ).format(still=still)
    held = "".join(f' data-{name}="{escape(text)}"' for name, text in data.items() if text)
    return "\n".join(
        [
            f'<div class="d2l-explorer"{held}>',
            f"<style>{''.join(style.splitlines())}</style>",
            f'<p class="q">{escape(question)}</p>',
            f'<p class="still">{escape(fixed)}</p>',
            f"<div {parts}>",
            picture,
            "</div>",
            f'<p class="cap">{escape(caption)}</p>',
            "</div>",
            f"<script>{script(*kits)}</script>",
        ]
    )


def as_json(values: object) -> str:
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return re.sub(r"(?<=[\[,-])Infinity(?=[,\]])", "1e999", text)  # JSON has no infinity


def plain_numbers(part: np.ndarray) -> list:
    """Return numbers for JSON: NaN as None, whole ones without a decimal point."""
    values = [None if np.isnan(v) else v for v in part.ravel().tolist()]
    return [int(v) if v is not None and v % 1 == 0 else v for v in values]


def plain(parts: Parts, caption: str, still: str, outlines: set[str]) -> str:
    """Return the first picture as text."""
    lines = [caption + " " + say("(sliders at {still})").format(still=still)]
    for name, part in parts.items():
        if isinstance(part, str):
            lines.append(f"{name}: {part}")
        elif part.ndim == 0:
            lines.append(f"{name}: {drawing.number_text(float(part), digits_of([parts], name))}")
        elif part.ndim == 1 and name in outlines:
            continue
        elif part.ndim == 1:
            lines.append(f"{name}: from {part[0]:.4f} to {part[-1]:.4f}")
        else:
            lines += [name] if name else []
            lines += drawing.text_rows(part, digits=digits_of([parts], name))
    return "\n".join(lines)
