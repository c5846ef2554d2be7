"""Small trained models that run in the page and draw their attention as arcs.

The weights are those of a chapter's own training, as float16 in the output of its cell; the script
computes with them whatever a reader types. Without scripts, a table shows the first weights.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice import drawing
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.words import say, script_words, worded


@dataclass(frozen=True)
class Kind:
    """A model that `models.js` computes."""

    ask: str  # what a reader types
    asker: str  # what asks in the picture, and is chosen by a slider
    result: str  # the words before what the model answers
    size: tuple[int, int, int]  # of a drawing; 1 where its weights stand below the words
    panels: tuple[str, ...] = ("",)  # the names of the drawings


KINDS = {
    "sentence": Kind(worded("Your sentence"), "", worded("Its output names:"), (660, 176, 1)),
    "translator": Kind(worded("Your date"), worded("written"), worded("It writes:"), (380, 140, 0)),
    "singer": Kind(
        worded("Your song"),
        worded("letter that asks"),
        worded("It expects next:"),
        (380, 76, 0),
        (
            worded("layer 1, head 1"),
            worded("layer 1, head 2"),
            worded("layer 2, head 1"),
            worded("layer 2, head 2"),
        ),
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
        snapshots: Training steps -> the model's arrays, in the order in which `models.js` takes
            them, each (outputs, inputs), but of a sentence with a row for each word.
        text, result: What stands there at first, and what the last snapshot answers to it.
        weights: Its attention weights: (n, m), or (heads, n, m).
        reads, writes: The vocabularies; asks: the place of the token that asks at first.
        question, caption: What a reader can find out, and what is shown.
        **more: What else `arcs.js` takes: `pattern`, `choices` and `chosen` of a sentence.
    """
    model = KINDS[kind]
    arrays = {step: list(map(as_array, held)) for step, held in snapshots.items()}
    tokens = text.split() if kind == "sentence" else list(text)
    asking = list(result) if kind == "translator" else tokens
    held = {
        "kind": kind,
        "steps": list(arrays),
        "shapes": [array.shape for array in next(iter(arrays.values()))],
        "text": text,
        "reads": list(reads),
        "writes": list(writes),
        "asks": asks % len(asking),
        "step": len(arrays) - 1,
        "size": model.size,
        "panels": model.panels,
    } | more
    rows = as_array(weights).reshape(len(model.panels), -1, np.shape(weights)[-1])[:, asks]
    names = model.panels if len(rows) > 1 else [asking[asks]]
    look = {"digits": 2, "colored": True, "zeros": "empty"}
    named = zip(rows.round(2), map(say, names), strict=True)
    table = [drawing.Row(*row, **look) for row in named]
    answer = f"{say(model.result)} {result}"
    parts = parts_of(held, question, caption, drawing.table(table, columns=tokens), answer)
    return Explorer("arcs", data_of(held, arrays), parts, f"{caption}\n{answer}")


def data_of(held: Mapping, arrays: Mapping[int, Sequence[np.ndarray]]) -> dict[str, str]:
    """Return what the script takes."""
    model = KINDS[held["kind"]]
    words = {name: say(getattr(model, name)) for name in ("ask", "asker", "result")}
    words |= {name: say(name) for name in model.panels if name} | script_words("arcs.js")
    weights = " ".join(map(packed, arrays.values()))
    data = {"kind": held["kind"], "held": as_json(held), "words": as_json(words)}
    return data | {"weights": weights}


def packed(arrays: Sequence[np.ndarray]) -> str:
    """Return arrays as float16 in base64."""
    flat = np.concatenate([a.ravel() for a in arrays])
    if not (abs(flat) <= np.finfo("f2").max).all():
        raise ValueError("a weight is not finite as float16")
    return base64.b64encode(flat.astype("<f2").tobytes()).decode()


def parts_of(held: Mapping, question: str, caption: str, table: str, answer: str) -> list[str]:
    """Return the HTML of what is shown."""
    still = say(
        "Still picture of “{text}” after {steps} training steps. Where scripts may run, in a "
        "trusted notebook or on a web page, you can type your own."
    ).format(text=held["text"], steps=held["steps"][-1])
    four = " four" * (len(held["panels"]) > 1)
    return [
        f'<p class="q">{escape(question)}</p>',
        '<div class="set"></div>',
        f'<div class="stage{four}">',
        table,
        "</div>",
        '<p class="says" role="status"></p>',
        f'<p class="out">{escape(answer)}</p>',
        f'<p class="still">{escape(still)}</p>',
        f'<p class="cap">{escape(caption)}</p>',
    ]
