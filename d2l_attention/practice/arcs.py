"""Small trained models that run in the page and draw their attention as arcs.

The weights are those of a chapter's own training, as float16 in the output of its cell; `arcs.js`
computes with them, for whatever a reader types. No kernel and no network is needed. Without
scripts, a table of the first state's weights is there.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice import drawing
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.words import say, script_words, worded

MOST_BYTES = 600_000
STORED = re.compile(r'(?<= data-weights=")[\w+/= ]+(?=")')


@dataclass(frozen=True)
class Kind:
    """A model that `arcs.js` computes.

    Args:
        ask: What a reader types.
        asker: What asks in the picture, and is chosen by a slider.
        result: The words before what the model answers.
        arrays: How many arrays a snapshot has.
        size: Width and height of a drawing, and 1 where its weights stand below the words.
        panels: The names of the drawings.
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
        worded("It expects next:"),
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
        kind: "sentence" (chapter 2's layer), "translator" (chapter 15) or "singer" (chapter 6).
        snapshots: Training steps -> the model's arrays, in the order in which `arcs.js` takes
            them, each (outputs, inputs), but of a sentence with a row for each word.
        text: What stands there at first, for the last snapshot.
        weights: Its attention weights: (n, m), or (heads, n, m).
        result: What the model answers to it.
        reads, writes: The vocabularies.
        asks: The place of the token that asks at first.
        question, caption: What a reader can find out, and what is shown.
        **more: What else `arcs.js` takes: `pattern`, `choices` and `chosen` of a sentence.
    """
    model = KINDS[kind]
    arrays = arrays_of(kind, snapshots, len(reads))
    rows = as_array(weights).reshape(len(model.panels), -1, np.shape(weights)[-1])[:, asks]
    tokens = text.split() if kind == "sentence" else list(text)
    asking = list(result) if kind == "translator" else tokens
    held = {
        "kind": kind,
        "steps": list(arrays),
        "shapes": [a.shape for a in next(iter(arrays.values()))],
        "text": text,
        "reads": list(reads),
        "writes": list(writes),
        "asks": asks % len(asking),
        "step": len(arrays) - 1,
        "size": model.size,
        "panels": model.panels,
    } | more
    names = model.panels if len(rows) > 1 else [asking[asks]]
    table = [
        drawing.Row(row.round(2), say(name), digits=2, colored=True, zeros="empty")
        for name, row in zip(names, rows, strict=True)
    ]
    html = page(held, arrays, question, caption, drawing.table(table, columns=tokens), result)
    return Explorer(html, f"{caption}\n{say(model.result)} {result}")


def arrays_of(
    kind: str, snapshots: Mapping[int, Sequence], count: int
) -> dict[int, list[np.ndarray]]:
    """Return the arrays of each snapshot, which must be those of the model, for so many tokens."""
    arrays = {step: [as_array(a) for a in held] for step, held in snapshots.items()}
    shapes = [a.shape for a in next(iter(arrays.values()))]
    for step, held in arrays.items():
        if len(held) != KINDS[kind].arrays or [a.shape for a in held] != shapes:
            raise ValueError(
                f"a {kind} has {KINDS[kind].arrays} arrays of the same shapes in every snapshot; "
                f"at step {step} there are {len(held)}"
            )
    if shapes[0][:1] != (count,):
        raise ValueError(f"the first array must have a row for each of {count} tokens")
    return arrays


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
    return json.loads(unescape(re.search(r' data-held="([^"]*)"', html)[1]))


def page(
    held: dict,
    arrays: dict[int, list[np.ndarray]],
    question: str,
    caption: str,
    table: str,
    result: str,
) -> str:
    """Return the HTML of a widget; ValueError if it weighs more than a page should carry."""
    model = KINDS[held["kind"]]
    words = {name: say(getattr(model, name)) for name in ("ask", "asker", "result")}
    words |= {name: say(name) for name in model.panels if name} | script_words("arcs.js")
    still = say(
        "Still picture of “{text}” after {steps} training steps. Where scripts may run, in a "
        "trusted notebook or on a web page, you can type your own."
    ).format(text=held["text"], steps=held["steps"][-1])
    four = " four" * (len(model.panels) > 1)
    html = "\n".join(
        [
            f'<div class="d2l-arcs" data-kind="{held["kind"]}" data-held="{escape(as_json(held))}" '
            f'data-words="{escape(as_json(words))}" '
            f'data-weights="{" ".join(map(packed, arrays.values()))}">',
            f"<style>{drawing.STYLE}{drawing.asset('arcs.css')}</style>".replace("\n", ""),
            f'<p class="q">{escape(question)}</p>',
            '<div class="set"></div>',
            f'<div class="stage{four}">',
            table,
            "</div>",
            '<p class="says" role="status"></p>',
            f'<p class="out">{escape(f"{say(model.result)} {result}")}</p>',
            f'<p class="still">{escape(still)}</p>',
            f'<p class="cap">{escape(caption)}</p>',
            "</div>",
            f"<script>(() => {{\n{drawing.asset('arcs.js')}\n}})();</script>",
        ]
    )
    if len(html.encode()) > MOST_BYTES:
        raise ValueError(
            f"a widget may weigh {MOST_BYTES} bytes, and this one weighs {len(html.encode())}: "
            "take fewer snapshots"
        )
    return html
