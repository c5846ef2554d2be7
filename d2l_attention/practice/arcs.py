"""Small trained models that run in the page and draw their attention as arcs.

The weights are those of a chapter's own training, as float16 in the output of its cell; `arcs.js`
computes with them, for whatever a reader types. No kernel and no network is needed. Without
scripts, a still picture of the first state is there, with its weights in words.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice import drawing
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.words import say, script_with_words, worded

MOST_BYTES = 600_000
HERE = Path(__file__).parent
STYLE, SCRIPT = ((HERE / f"arcs.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
STORED = re.compile(r'(?<= data-weights=")[\w+/= ]+(?=")')
GRAY, BLUE, VERMILION = "#767676", "#0072b2", "#d55e00"  # of a picture on any background


@dataclass(frozen=True)
class Kind:
    """A model that `arcs.js` computes.

    Args:
        ask: What a reader types.
        asker: What asks in the picture, and is chosen by a slider.
        result: The words before what the model answers.
        arrays: How many arrays a snapshot has.
        size: Width and height of a picture, and 1 where its weights stand below the words.
        panels: The names of the pictures.
    """

    ask: str
    asker: str
    result: str
    arrays: int
    size: tuple[int, int, int]
    panels: tuple[str, ...] = ("",)


HEADS = (
    worded("layer 1, head 1"),
    worded("layer 1, head 2"),
    worded("layer 2, head 1"),
    worded("layer 2, head 2"),
)
KINDS = {
    "sentence": Kind(worded("Your sentence"), "", worded("Its output names:"), 3, (660, 176, 1)),
    "translator": Kind(
        worded("Your date"), worded("written"), worded("It writes:"), 15, (380, 140, 0)
    ),
    "singer": Kind(
        worded("Your song"),
        worded("letter that asks"),
        worded("It sings on:"),
        29,
        (380, 76, 0),
        HEADS,
    ),
}


def draw_arcs(
    kind: str,
    snapshots: Mapping[int, Sequence],
    *,
    text: str,
    weights: Sequence,
    result: str,
    reads: Sequence[str],
    writes: Sequence[str] = (),
    asks: int = 0,
    question: str,
    caption: str,
    **more: object,
) -> Explorer:
    """Return a widget that runs a trained model on what a reader types.

    Args:
        kind: "sentence" (chapter 3's layer), "translator" (chapter 10) or "singer" (chapter 12).
        snapshots: Training steps -> the model's arrays, in the order in which `arcs.js` takes
            them, each as in the equations: (outputs, inputs), and (inputs, outputs) in (3.17).
        text: What stands there at first, for the last snapshot.
        weights: Its attention weights: (n, m), or (heads, n, m).
        result: What the model answers to it.
        reads, writes: The vocabularies.
        asks: The place of the token that asks at first.
        question: What a reader can find out.
        caption: What is shown; also the alt text of the still picture.
        **more: What else `arcs.js` takes: `pattern`, `choices` and `chosen` of a sentence.

    Raises:
        ValueError: Arrays that are not the model's, in another order, of other shapes than at
            first, too large for float16, or of more bytes than a page should carry.
    """
    model = KINDS[kind]
    arrays = {step: [as_array(a) for a in held] for step, held in snapshots.items()}
    shapes = [a.shape for a in next(iter(arrays.values()))]
    for step, held in arrays.items():
        if len(held) != model.arrays or [a.shape for a in held] != shapes:
            raise ValueError(
                f"a {kind} has {model.arrays} arrays of the same shapes in every snapshot; "
                f"at step {step} there are {len(held)}"
            )
    if shapes[0][:1] != (len(reads),):
        raise ValueError(f"the first array must have a row for each of {len(reads)} tokens")
    rows = as_array(weights).reshape(len(model.panels), -1, np.shape(weights)[-1])[:, asks]
    tokens = text.split() if kind == "sentence" else list(text)
    asking = list(result) if kind == "translator" else tokens
    steps = list(arrays)
    told = says(asking[asks], tokens, rows, kind != "sentence")
    held = {
        "kind": kind,
        "steps": steps,
        "shapes": shapes,
        "text": text,
        "reads": list(reads),
        "writes": list(writes),
        "asks": asks % len(asking),
        "step": len(steps) - 1,
        "size": model.size,
        "panels": [say(name) for name in model.panels],
        "ask": say(model.ask),
        "asker": say(model.asker),
        "result": say(model.result),
        **more,
    }
    pictures = [
        picture(kind, tokens, asking, row, asks % len(asking), f"{caption} {told}") for row in rows
    ]
    html = page(kind, held, arrays, question, caption, told, result, pictures)
    if len(html.encode()) > MOST_BYTES:
        raise ValueError(
            f"a widget may weigh {MOST_BYTES} bytes, and this one weighs {len(html.encode())}: "
            "take fewer snapshots"
        )
    return Explorer(html, f"{caption}\n{told}\n{say(model.result)} {result}")


def packed(arrays: Sequence[np.ndarray]) -> str:
    """Return arrays as float16 in base64."""
    flat = np.concatenate([a.ravel() for a in arrays])
    if not (abs(flat) <= np.finfo("f2").max).all():
        raise ValueError("a weight is not finite as float16")
    return base64.b64encode(flat.astype("<f2").tobytes()).decode()


def unpacked(html: str) -> list[tuple[int, list[np.ndarray]]]:
    """Return the arrays of each snapshot that a widget holds, with its training steps."""
    held = held_by(html)
    found = []
    for step, text in zip(held["steps"], STORED.search(html)[0].split(), strict=True):
        flat = np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64)
        ends = np.cumsum([int(np.prod(shape)) for shape in held["shapes"]])
        parts = np.split(flat, ends)[:-1]
        found.append((step, [p.reshape(s) for p, s in zip(parts, held["shapes"], strict=True)]))
    return found


def held_by(html: str) -> dict:
    """Return what a widget tells its script."""
    from html import unescape

    return json.loads(unescape(re.search(r' data-held="([^"]*)"', html)[1]))


def says(asker: str, tokens: Sequence[str], panels: np.ndarray, letters: bool) -> str:
    """Say in words what the arcs show; `arcs.js` says the same."""

    def named(j: int) -> str:
        if not letters:
            return tokens[j]
        return say("letter {j} ({tokens})").format(
            j=j + 1, tokens=tokens[j].replace(" ", say("gap"))
        )

    def gets(weights: np.ndarray, most: int) -> str:
        order = sorted(range(len(weights)), key=lambda j: (-weights[j], j))[:most]
        kept = [j for j in order if weights[j] >= 0.05]
        rest = 1 - sum(weights[j] for j in kept)
        told = [f"{named(j)} {drawing.number_text(weights[j], 2)}" for j in kept]
        if most > 1 and rest >= 0.05:
            told.append(say("all others {rest}").format(rest=drawing.number_text(rest, 2)))
        return ", ".join(told)

    if len(panels) == 1:
        told = say("“{asker}” gives weight to: {gets}.")
        return told.format(asker=asker, gets=gets(panels[0], 3))
    each = ", ".join(gets(row, 1) or say("none") for row in panels)
    told = say("“{asker}” gives most weight to, head by head: {panels}.")
    return told.format(asker=asker, panels=each)


def line(tokens: Sequence[str], width: int) -> tuple[float, list[float]]:
    """Return the size of the letters of tokens in a row, and where the middle of each is."""
    sizes = [8.4 * len(token) + 14 if len(token) > 1 else 22 for token in tokens]
    scale = min(1.15, width / sum(sizes))
    ends = (width - sum(sizes) * scale) / 2 + np.cumsum(sizes) * scale
    return 16 * scale, list(ends - np.array(sizes) * scale / 2)


def picture(
    kind: str,
    tokens: Sequence[str],
    asking: Sequence[str],
    weights: np.ndarray,
    asks: int,
    alt: str,
) -> str:
    """Return the still picture: arcs from what asks to what gets weight."""
    width, height, numbers = KINDS[kind].size
    font, x = line(tokens, width)
    two = kind == "translator"
    base = font if two else height - (24 if numbers else 8)
    thick = 16 if numbers else 11
    paths, words = [], []
    for j, weight in enumerate(weights):
        if two:
            small, below = line(asking, width)
            start, end = height - 12 - small, 8 + font
            d = bow(below[asks], start, x[j], end, (start + end) / 2)
        else:
            far = abs(x[j] - x[asks])
            apart, end = 0 if far else 9, base - font
            up = end - min(22 + 0.4 * far if far else 36, end - 14) * 4 / 3
            d = bow(x[asks] + apart, end, x[j] - apart, end, up)
        paths.append(f'<path d="{d}" stroke-width="{weight * thick:.1f}"/>')
    for j, token in enumerate(tokens):
        words.append(word(token, x[j], base, font, not two and j == asks))
        if numbers and weights[j] >= 0.05:
            words.append(word(drawing.number_text(weights[j], 2), x[j], height - 6, 12))
    if two:
        words += [word(t, below[i], height - 8, small, i == asks) for i, t in enumerate(asking)]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" fill="{GRAY}" text-anchor="middle" '
        f'font-family="system-ui,sans-serif"><g fill="none" stroke="{BLUE}" opacity=".85">'
        f"{''.join(paths)}</g>{''.join(words)}</svg>"
    )
    return (
        f'<img alt="{escape(alt)}" width="{width}" height="{height}" '
        f'src="data:image/svg+xml,{quote(svg, safe=DATA_SAFE)}">'
    )


DATA_SAFE = " /=:,;()'.-*!"


def bow(x: float, y: float, to_x: float, to_y: float, middle: float) -> str:
    return f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"


def word(text: str, x: float, y: float, size: float, asks: bool = False) -> str:
    look = f' fill="{VERMILION}" font-weight="700"' if asks else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}"{look}>{escape(text)}</text>'


def page(
    kind: str,
    held: dict,
    arrays: dict[int, list[np.ndarray]],
    question: str,
    caption: str,
    told: str,
    result: str,
    pictures: list[str],
) -> str:
    model = KINDS[kind]
    lines = [re.sub(r"(^|\s)//.*", "", line).strip() for line in SCRIPT.splitlines()]
    moving = script_with_words("\n".join(filter(None, lines)))
    still = say(
        "Still picture of “{text}” after {steps} training steps. Where scripts may run, in a "
        "trusted notebook or on a web page, you can type your own."
    ).format(text=held["text"], steps=held["steps"][-1])
    figures = "\n".join(
        f"<figure><figcaption>{escape(say(name))}</figcaption>{image}</figure>" if name else image
        for name, image in zip(model.panels, pictures, strict=True)
    )
    return "\n".join(
        [
            f'<div class="d2l-arcs" data-kind="{kind}" data-held="{escape(as_json(held))}" '
            f'data-weights="{" ".join(map(packed, arrays.values()))}">',
            f"<style>{''.join(STYLE.splitlines())}</style>",
            f'<p class="q">{escape(question)}</p>',
            '<div class="set"></div>',
            f'<div class="stage{" four" * (len(pictures) > 1)}">',
            figures,
            "</div>",
            f'<p class="says" role="status">{escape(told)}</p>',
            f'<p class="out">{escape(f"{say(model.result)} {result}")}</p>',
            f'<p class="still">{escape(still)}</p>',
            f'<p class="cap">{escape(caption)}</p>',
            "</div>",
            f"<script>(() => {{\n{moving}\n}})();</script>",
        ]
    )
