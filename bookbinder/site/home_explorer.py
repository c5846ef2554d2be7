"""The explorer of the home page: what each word of the reader's sentence attends to.

The scores are those of chapter 0: letters counted, each word's counts scaled to length 1. That
gives every word a vector, so no list of words is needed (letters of all scripts count).
`look/sentence.js` computes the same.
"""

import unicodedata
from collections import Counter
from html import escape
from math import exp, sqrt

SENTENCE = "the early bird catches the early worm"
MOST_WORDS = 12
CHOSEN = 1  # the word that is the query at first
SHARPNESS = 4


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


PAGE = """\
<div class="sentence" data-most="{most}" data-chosen="{chosen}">
<p class="sentence-ask">Point at a word: what does it look at?</p>
<div class="sentence-set" hidden>
<label>Your sentence <input type="text" maxlength="100" value="{sentence}" \
autocomplete="off" spellcheck="false"></label>
<label>Sharpness <input type="range" min="0" max="16" step="0.5" value="{sharpness}">
<output>{sharpness}</output></label>
</div>
<div class="sentence-stage" hidden><svg aria-hidden="true"></svg>
<div class="sentence-words" role="group" \
aria-label="Words; the pressed one is the query"></div></div>
<p class="sentence-says" role="status">{says}</p>
<details><summary>The numbers</summary>
<table><thead><tr><th scope="col">Key</th><th scope="col">Score</th>
<th scope="col">Sharpness × score</th><th scope="col">Weight</th></tr></thead>
<tbody>
{rows}
</tbody></table></details>
<p class="sentence-rule">A word’s vector counts its letters, scaled to length 1; a score is the \
dot product of two vectors, and the softmax of sharpness × score gives the weights. So these words \
attend to spelling, not to meaning: <a href="00_start_here.html">chapter 0</a> shows the code.</p>
</div>
<script src="_static/sentence.js"></script>"""
