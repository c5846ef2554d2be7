"""Small trained models that run in the page and draw their attention as arcs.

The weights are those of a chapter's own training, as float16 in the output of its cell; the script
computes with them whatever a reader types. Without scripts, a table shows the first weights.
"""

import base64
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice import drawing
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.words import say, script_words, worded

KINDS = {  # what a reader types, what asks and is chosen by a slider, the words before the answer
    "sentence": (worded("Your sentence"), "", worded("Its output names:")),
    "translator": (worded("Your date"), worded("written"), worded("It writes:")),
}
SIZES = {"sentence": (660, 176, 1), "translator": (380, 140, 0)}  # 1: weights below the words


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
        kind: "sentence" (chapter 2's layer) or "translator" (chapter 15).
        snapshots: Training steps -> the model's arrays, in the order in which `models.js` takes
            them, each (outputs, inputs), but of a sentence with a row for each word.
        text, result: What stands there at first, and what the last snapshot answers to it.
        weights: Its attention weights, (n, m) or (1, n, m).
        reads, writes: The vocabularies; asks: the place of the token that asks at first.
        question, caption: What a reader can find out, and what is shown.
        **more: What else `arcs.js` takes: `pattern` and `choices` of a sentence.
    """
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
        "size": SIZES[kind],
    } | more
    look = {"digits": 2, "colored": True, "zeros": "empty"}
    shares = as_array(weights).reshape(-1, len(tokens))[asks]
    row = drawing.Row(shares.round(2), say(asking[asks]), **look)
    answer = f"{say(KINDS[kind][2])} {result}"
    parts = parts_of(held, question, caption, drawing.table([row], columns=tokens), answer)
    words = dict(zip(("ask", "asker", "result"), map(say, KINDS[kind]), strict=True))
    data = {"kind": kind, "held": as_json(held), "words": as_json(words | script_words("arcs.js"))}
    data["weights"] = " ".join(map(packed, arrays.values()))
    return Explorer("arcs", data, parts, f"{caption}\n{answer}")


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
    return [
        f'<p class="q">{escape(question)}</p>',
        '<div class="set"></div>',
        f'<div class="stage">\n{table}\n</div>',
        '<p class="says" role="status"></p>',
        f'<p class="out">{escape(answer)}</p>',
        f'<p class="still">{escape(still)}</p>',
        f'<p class="cap">{escape(caption)}</p>',
    ]
