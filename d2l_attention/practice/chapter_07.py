"""The checks of chapter 7, A model that writes, and its model in the page."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.words import say, script_words


def go_on(
    stored: Mapping[str, np.ndarray], symbols: Sequence[str], text: str, written: str = ""
) -> Explorer:
    """Return a widget that continues what a reader types, on the site, which has the weights.

    Until then, and without scripts, it shows what the model has `written`.
    """
    shapes = [stored[name].shape for name in stored]
    held = {"shapes": shapes, "reads": list(symbols), "text": text}
    words = {"ask": say("Your beginning")} | script_words("arcs.js")
    still = say("On the site of this book, where scripts may run, it goes on from what you type.")
    parts = [
        '<div class="set"></div><p class="says" role="status"></p>',
        f'<div class="out">{escape(written)}</div>',
        f'<p class="still">{escape(still)}</p>',
    ]
    data = {"model": "writer", "held": as_json(held), "words": as_json(words)}
    return Explorer("arcs writer", data, parts, still)


# ---- 7.1

LAYERS, HEADS, KEY_HEADS, DIMENSION, TOKENS, BYTES = 40, 40, 8, 128, 6000, 2
cache = Exercise("7.1", 2 * LAYERS * KEY_HEADS * DIMENSION * TOKENS * BYTES / 1e6)


@cache.expects
class CacheMistakes:
    def keys_or_bytes_forgotten():
        """Too small: both keys and values are kept, and each entry has 2 bytes."""
        return cache.reference / 2

    def keys_and_bytes_forgotten():
        """Far too small: both keys and values are kept, and each entry has 2 bytes."""
        return cache.reference / 4

    def keys_of_every_head():
        """You count keys and values for every head of the queries. The heads share them: 8 are
        kept."""
        return cache.reference * HEADS / KEY_HEADS

    def one_layer():
        """This is the cache of one layer. Every layer has keys and values of its own."""
        return cache.reference / LAYERS

    def one_token():
        """This is the cache for one token. Every token of the text leaves its keys and values."""
        return cache.reference / TOKENS

    def in_bytes():
        """These are bytes. The task asks for megabytes."""
        return cache.reference * 1e6

    def powers_of_two():
        """You divide by 1024 twice. The task counts megabytes of a million bytes."""
        return cache.reference * 1e6 / 2**20
