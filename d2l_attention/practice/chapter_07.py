"""The checks of chapter 7, A model that writes, its model in the page, and a drawing of it."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from d2l_attention.letters import SYMBOLS
from d2l_attention.practice.chapter_04 import rotate_halves
from d2l_attention.practice.exercises import Exercise
from d2l_attention.practice.explorer import Explorer, as_json
from d2l_attention.practice.numerics import products, softmax
from d2l_attention.practice.words import say, script_words

STORED = Path(__file__).parents[1] / "data" / "writer.npz"
LETTERS, BLOCKS, HEAD = "softma", range(4), 3  # what is traced; the last head is drawn
X = *OTHERS, MINE = [66 + 58 * i for i in range(len(LETTERS))]  # of the columns
INK, SOFT, GRAY, BAND = "#222", "#667", "#BBC", "#F1F3F6"
ORANGE, BLUE = "#D55E00", "#0072B2"  # of who asks, and of weights


def traced(without: Sequence[int] = ()) -> tuple[list[np.ndarray], ...]:
    """Return what the stored model computes of the letters, without the attention of some blocks.

    Vectors before each block and at the end (n, D), and the logits of the next letter there; of
    each block scores and weights (H, n, n), and hidden units of the last letter.
    """
    with np.load(STORED) as stored:
        embedding, *W = (stored[name].astype(float) for name in stored)
    x = embedding[[SYMBOLS.index(letter) for letter in LETTERS]]
    vectors, scores, weights, hidden = [x], [], [], []
    for b in BLOCKS:
        g1, b1, g2, b2, *projections, W_o, up, up_b, down, down_b = W[12 * b : 12 * b + 12]
        h = normalized(x, g1, b1)
        q, k, v = ((h @ M.T).reshape(len(x), 4, -1).swapaxes(0, 1) for M in projections)
        q, k = (rotate_halves(y[..., np.r_[:32:2, 1:32:2]], np.arange(len(x))) for y in (q, k))
        scores.append(products(q, k) / q.shape[-1] ** 0.5)
        weights.append(softmax(np.where(np.tri(len(x)), scores[b], -np.inf)))
        if b not in without:
            x = x + (weights[b] @ v).swapaxes(0, 1).reshape(x.shape) @ W_o.T
        units = np.maximum(normalized(x, g2, b2) @ up.T + up_b, 0)
        hidden.append(units[-1])
        vectors.append(x := x + units @ down.T + down_b)
    logits = [normalized(x[-1], *W[-4:-2]) @ W[-2].T + W[-1] for x in vectors]
    return vectors, logits, scores, weights, hidden


def normalized(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return a layer normalization."""
    away = x - x.mean(-1, keepdims=True)
    return away / np.sqrt((away**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def likeliest(logits: np.ndarray) -> tuple[str, float]:
    """Return a letter and its probability."""
    return SYMBOLS[logits.argmax()], softmax(logits).max()


def text(x: float, y: float, words: object, more: str = "") -> str:
    return f'<text x="{x}" y="{y}"{more}>{words}</text>'


def row(y: float, texts: Iterable[object], look: str = "") -> str:
    """Return a text in each column, none where it is empty."""
    cells = (text(x, y, t) for x, t in zip(X, texts, strict=True) if t)
    return f"<g{look}>{''.join(cells)}</g>"


def line(path: str, color: str, width: float, more: str = "") -> str:
    return f'<path d="{path}" stroke="{color}" stroke-width="{width}"{more}/>'


def boxes(y: float, w: float, h: float, xs: Sequence[float], edge: str) -> str:
    path = "".join(f"M{x - w // 2} {y}h{w}v{h}h-{w}z" for x in xs)
    return line(path, edge, 1.5 if edge == SOFT else 3, ' fill="#fff" paint-order="fill"')


def arcs(weights: np.ndarray, y: float, i: int = -1, least: float = -1) -> str:
    """Return arcs from all letters to letter i, each as thick as its weight."""
    paths = ""
    for x, weight in zip(X, weights[i], strict=True):
        r = (X[i] - x) / 2  # from itself, a small loop
        ends = f"{x - 7 * (not r)} {y}a{r or 7:g} {13 + r / 5:g} 0 {int(not r)} 1 {2 * r or 14:g}"
        paths += f'<path d="M{ends} 0" stroke-width="{15 * weight:.2g}"/>' * bool(weight > least)
    return f'<g fill="none" stroke="{BLUE}">{paths}</g>'


def drawn(say: Callable[[str], str]) -> Iterator[tuple[str, str, str]]:
    """Yield each part of the drawing, the lowest first: its name, its steps, its SVG."""
    vectors, logits, scores, weights, _ = traced()
    for b in BLOCKS:  # what stands in all is explained in block 2
        band = f'<rect x="30" y="{436 - 104 * b}" width="346" height="92" rx="8" fill="{BAND}"/>'
        number = text(15, 490 - 104 * b, b + 1, f' fill="{SOFT}"')
        yield f"band{b + 1}", "345678" if b == 1 else "78", band + number
    streams = line("".join(f"M{x} 572V84" for x in OTHERS), SOFT, 2, ' opacity=".6"')
    yield "streams", "2345678", streams + line(f"M{MINE} 580V72", ORANGE, 4)
    numbers = row(632, map(SYMBOLS.index, LETTERS), f' fill="{SOFT}"')
    letters = row(603, LETTERS, ' font-weight="700"') + numbers
    frames = boxes(580, 40, 34, OTHERS, SOFT) + boxes(580, 40, 34, [MINE], ORANGE)
    yield "letters", "123456789", frames + letters
    cells = [""] * 5  # by how dark they are, the first six numbers of each vector
    for (i, k), number in np.ndenumerate(vectors[0][:, :6]):
        cells[min(round(20 * abs(number)), 4)] += f"M{X[i] - 18 + 7 * k} 540v24"
    shades = (line(cells[dark], INK, 6, f' opacity="{dark / 4}"') for dark in (1, 2, 3, 4))
    yield "vectors", "2", "".join(shades)
    later = "".join(f"M182 380a{29 * n} {13 + 6 * n} 0 0 1 {58 * n} 0" for n in (1, 2, 3))
    later = line(later, SOFT, 2, ' fill="none" stroke-dasharray="2 5"')
    yield "masked", "4", arcs(weights[1][HEAD], 380, 2, least=0) + later  # of the third letter
    yield "heads", "5", "".join(arcs(head, 380, least=0.09) for head in weights[1][:HEAD])
    for b in BLOCKS:
        mine = weights[b][HEAD]
        yield f"arcs{b + 1}", "4578" if b == 1 else "78", arcs(mine, 484 - 104 * b)
        shares = (f"{w:.2f}" if w >= 0.095 else "" for w in mine[-1])
        shares = row(502 - 104 * b, shares, f' fill="{BLUE}"')
        yield f"shares{b + 1}", "478" if b == 1 else "78", shares
    hands = (
        f"M{x - 8} 380a8 8 0 1 1 16 0a8 8 0 1 1-16 0m8 0l{8 * np.cos(i):.1f} {-8 * np.sin(i):.1f}"
        for i, x in enumerate(X)
    )
    yield "turns", "3", line("".join(hands), INK, 2, ' fill="#fff" paint-order="fill"')
    yield "scores", "3", row(400, (f"{score:.2f}" for score in scores[1][HEAD, -1]))
    for b in BLOCKS:
        feed = line(f"M50 {515 - 104 * b}H339", GRAY, 14, ' stroke-dasharray="32 26"')
        feed += line(f"M{MINE - 16} {515 - 104 * b}h32", ORANGE, 14)
        yield f"feed{b + 1}", "678" if b == 1 else "78", feed
    for b, (letter, p) in enumerate(map(likeliest, logits)):
        bar = f'class="bar" x="392" y="{531 - 104 * b}" width="{74 * p:.0f}" height="14"'
        said = f'<rect {bar} fill="{BLUE}"/>' + text(392, 526 - 104 * b, f"{letter} {p:.2f}")
        said += "" if b else text(392, 567, say("would say"))
        yield f"said{b}", "78" if b else "278", f'<g text-anchor="start">{said}</g>'
    chance = text(MINE - 48, 60, f"{p:.2f}", ' class="chance"')
    letter = f' class="next">{letter}</text>'
    yield "out", "89", f'{boxes(36, 44, 36, [MINE], INK)}<text x="{MINE}" y="60"{letter}{chance}'
    loop = line("M378 54H470V597h-32", INK, 2, ' fill="none" stroke-dasharray="5 4"')
    loop += boxes(580, 40, 34, [MINE + 58], INK)
    yield "again", "9", f'{loop}<text x="{MINE + 58}" y="603"{letter}'


def picture(say: Callable[[str], str], look: Callable[[str, str], str]) -> str:
    """Return the drawing; `look` returns attributes for the name and the steps of a part."""
    parts = "".join(f"<g{look(name, steps)}>{svg}</g>" for name, steps, svg in drawn(say))
    halo = f'stroke="{BAND}" stroke-width="4" paint-order="stroke"'  # around texts
    return f'<g text-anchor="middle" font-size="15" fill="{INK}" {halo}>{parts}</g>'


def sentences() -> dict[str, str]:
    """Return what is said of each step, by its head."""
    vectors, logits, scores, weights, hidden = traced()
    rows = {"row": vectors[0][-1, :4], "scores": scores[1][HEAD, -1], "all": weights[1][HEAD, -1]}
    fields = {name: ", ".join(f"{value:.2f}" for value in row) for name, row in rows.items()}
    first, *later = (f"{letter} {p:.2f}" for letter, p in map(likeliest, logits))
    fields |= {"first": first, "later": ", ".join(later)}
    fields |= zip(("letter", "p"), later[-1].split(" "), strict=True)
    fields |= {"warm": f"{likeliest(logits[-1] / 2)[1]:.2f}", "active": (hidden[1] > 0).sum()}
    fields |= {"kinds": len(SYMBOLS), "s": SYMBOLS.index("s"), "a": SYMBOLS.index("a")}
    told = {
        say("Six letters."): say(
            "Each of {kinds} symbols has a number: “s” has {s}, and “a” has {a}. (Chapter 1)"
        ),
        say("Six vectors."): say(
            "Each letter gets 128 learned numbers; those of “a” begin {row}. "
            "Alone they would say {first}. (Chapters 1, 2)"
        ),
        say("The last letter asks."): say(
            "Head 4 of block 2 rotates queries and keys by their places; then the query of “a” "
            "scores the six keys {scores}. (Chapters 1, 2, 4)"
        ),
        say("Softmax."): say(
            "“a” gives the six letters the weights {all}. "
            "No letter gives any to a later one, as the dots of “f” show. (Chapters 1, 3)"
        ),
        say("Four heads, then a sum."): say(
            "Each head fetches values with its own weights; a matrix mixes them, and the mix is "
            "added to the vector of “a”. (Chapters 2, 5)"
        ),
        say("Each letter by itself."): say(
            "A network reads each sum alone: for “a”, {active} of its 512 hidden units are above "
            "0, and its output is added, too. (Chapter 5)"
        ),
        say("Four times."): say(
            "After each block it would say {later}: the x comes last. (Chapters 5, 6)"
        ),
        say("Logits, softmax, a letter."): say(
            "With all attention, {kinds} logits give {letter} the probability {p}, and {warm} at "
            "temperature 2. Take a block's away: which letter wins? (Chapters 1, 7)"
        ),
        say("Append, and ask again."): say(
            "The {letter} becomes the seventh letter, and all seven are read. (Chapters 1, 7)"
        ),
    }
    return {head: words.format(**fields) for head, words in told.items()}


def trace_letters() -> Explorer:
    """Return the drawing, with buttons for its nine steps and for the attention of each block.

    Without scripts it shows everything, and the nine sentences stand below.
    """
    frames, told = [], sentences()
    for off in itertools.product((0, 1), repeat=len(BLOCKS)):
        _, logits, _, weights, _ = traced(np.flatnonzero(off))
        says = (f"{letter}{100 * p:.0f}" for letter, p in map(likeliest, logits))
        thick = ((1 - off[b]) * w for b in BLOCKS for w in weights[b][HEAD, -1])
        frames.append(" ".join([*says, "".join(np.base_repr(round(35 * w), 36) for w in thick)]))
    arcs = {f"arcs{b + 1}": ' class="arcs"' for b in BLOCKS}
    svg = picture(say, lambda name, steps: f' data-at="{steps}"{arcs.get(name, "")}')
    steps = (f"<li value={i}><b>{head}</b> {told[head]}</li>" for i, head in enumerate(told, 1))
    caption = say(
        "The stored model with six letters of “softmax”: a column for each letter, a band for each "
        "block, arcs for the weights of head 4, and at the right what it would say next."
    )
    question = say("Six letters go in. Where does the x come from?")
    size = 'viewBox="0 0 480 640" width="480" height="640" aria-hidden="true"'
    parts = [
        f'<p class="q">{question}</p>',
        f'<div class="stage"><svg {size}>{svg}</svg><div><div class="set"></div>',
        f'<ol aria-live="polite">{"".join(steps)}</ol><p role="status"></p></div></div>',
        f'<p class="cap">{caption}</p>',
    ]
    data = {"frames": ";".join(frames), "words": as_json(script_words("traced.js"))}
    return Explorer("traced", data, parts, "\n".join([caption, *map(" ".join, told.items())]))


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
