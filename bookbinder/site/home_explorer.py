"""The explorer of the home page: what each word of the reader's sentence attends to.

The scores are those of chapter 0: letters counted, each word's counts scaled to length 1. That
gives every word a vector, so no list of words is needed (letters of all scripts count).
`look/home_explorer.js` computes the same.
"""

import unicodedata
from collections import Counter
from html import escape
from math import exp, sqrt
from pathlib import Path

SENTENCE = "the early bird catches the early worm"
MOST_WORDS = 12
CHOSEN = 1  # the word that is the query at first
SHARPNESS = 4
PAGE = Path(__file__).with_suffix(".html").read_text(encoding="utf-8").strip()


def words_of(text: str) -> list[str]:
    """Return the words of a sentence, in small letters and without punctuation."""
    words = (
        "".join(c for c in unicodedata.normalize("NFC", word).lower() if c.isalnum())
        for word in text.split()
    )
    return [word for word in words if word][:MOST_WORDS]


def scores(words: list[str]) -> list[list[float]]:
    """Return the dot products (n, n) of the words' letter counts, scaled to length 1."""
    counts = [Counter(word) for word in words]
    lengths = [sqrt(sum(n * n for n in count.values())) for count in counts]
    return [
        [
            sum(n * key[letter] for letter, n in query.items()) / (length * other)
            for key, other in zip(counts, lengths, strict=True)
        ]
        for query, length in zip(counts, lengths, strict=True)
    ]


def weights(row: list[float], sharpness: float) -> list[float]:
    """Return the attention weights (n,) of one query: the softmax of its scores, sharpened."""
    exps = [exp(sharpness * (score - max(row))) for score in row]
    return [part / sum(exps) for part in exps]


def explorer() -> str:
    """Return the explorer as HTML: what it says and its numbers stand there without a script."""
    words = words_of(SENTENCE)
    row = scores(words)[CHOSEN]
    shares = weights(row, SHARPNESS)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(word)}</th><td>{score:.2f}</td>'
        f"<td>{SHARPNESS * score:.2f}</td><td>{share:.2f}</td></tr>"
        for word, score, share in zip(words, row, shares, strict=True)
    )
    return PAGE.format(
        sentence=SENTENCE,
        most=MOST_WORDS,
        sharpness=SHARPNESS,
        chosen=CHOSEN,
        says=says(words, CHOSEN, shares),
        rows=rows,
    )


def says(words: list[str], chosen: int, shares: list[float]) -> str:
    """Say in words what the arcs show."""
    parts = [f"{word} {share:.2f}" for word, share in zip(words, shares, strict=True)]
    return f"“{words[chosen]}” attends to: {', '.join(parts)}."
