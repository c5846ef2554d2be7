"""The strip, one query's way to its output: the picture at the head of every chapter."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import sqrt, tanh
from typing import NamedTuple

from kit import (
    CARD,
    DIAGRAMS,
    INK,
    KEY,
    MASKED,
    PALE,
    QUERY,
    SOFT,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    Say,
    Vector,
    dot,
    number,
    softmax,
)

STEPS = ("query", "scores", "mask", "weights", "weighted sum")
EDGES = ((8, 106), (121, 223), (238, 340), (355, 498), (513, 648))  # left and right of each step
Q = (2, 1)
KEYS = ((1, 0), (0, 1), (-1, 2), (1, 1))
VALUES = ((0, 2), (3, 1), (2, 0), (0, 0))
MASKED_KEY = 3
UNIT = 30  # of the planes in which vectors are drawn
GRAY = Role("#C9C9C9", SOFT)


class Strip(NamedTuple):
    """What one strip shows: the canonical one, or what a chapter changes in it."""

    change: str  # in words, for those who do not see it
    lit: Mapping[str, str] = {}  # steps with the names that stand over them; without any, all
    dim: bool = True  # whether the other steps are gray
    score: Callable[[Vector], float] = lambda key: dot(Q, key)
    bars: Callable[[Vector], float] | None = None  # what the bars show, where not the scores
    weigh: Callable[[Sequence[float]], list[float]] = softmax
    many: Sequence[str] = ()  # steps that are there many times, as stacked sheets
    matrix: bool = False  # the scores of four queries instead of one
    shown: int = 5  # how many steps are there already


def scaled(key: Vector) -> float:
    """Return the scaled dot product of the query and a key."""
    return dot(Q, key) / sqrt(len(Q))


def away(key: Vector) -> float:
    """Return the distance of a key from the query."""
    return sqrt(sum((a - b) ** 2 for a, b in zip(Q, key, strict=True)))


def additive(key: Vector) -> float:
    """Return an additive score: 1 and -1 times the identity for query and key, ones outside."""
    return sum(tanh(a - b) for a, b in zip(Q, key, strict=True))


def biased(key: Vector) -> float:
    """Return the dot product less half the distance of the key's position from the third."""
    return dot(Q, key) - abs(KEYS.index(key) - 2) / 2


def sparsemax(scores: Sequence[float]) -> list[float]:
    """Return weights of which some are exactly 0."""
    ranked = sorted(scores, reverse=True)
    sums = [sum(ranked[: k + 1]) - 1 for k in range(len(ranked))]
    level = max(total / (k + 1) for k, total in enumerate(sums))
    return [max(score - level, 0) for score in scores]


STRIPS = {
    "00": Strip("the picture of this book."),
    "01": Strip("this chapter builds the whole of it."),
    "02": Strip(
        "this chapter learns what makes the query, and what the weighted sum brings.",
        {"query": "learned", "weighted sum": "learned"},
        score=scaled,
    ),
    "03": Strip("this chapter is about the mask.", {"mask": "mask"}),
    "04": Strip(
        "this chapter adds the position to the scores.",
        {"scores": "+ position"},
        score=biased,
    ),
    "05": Strip(
        "this chapter stacks many strips, one for each head, so there are several weights.",
        {"weights": "H × weights"},
        dim=False,
        score=scaled,
        many=STEPS,
    ),
    "06": Strip(
        "this chapter takes a trained model apart, step by step.", score=scaled, many=STEPS
    ),
    "07": Strip(
        "this chapter goes on from the weighted sum to the next token.",
        {"weighted sum": "next token"},
        score=scaled,
        many=STEPS,
    ),
    "08": Strip(
        "this chapter changes the scores, to distances, and the weights, to kernels.",
        {"scores": "distance", "weights": "kernel"},
        score=lambda key: -0.5 * away(key) ** 2,
        bars=away,
    ),
    "09": Strip(
        "this chapter changes the scores: dot products, divided by the root of d.",
        {"scores": "q·k / √d"},
        score=scaled,
    ),
    "10": Strip(
        "this chapter is about the mask and the weights that it leaves.",
        {"mask": "mask", "weights": "weights"},
    ),
    "11": Strip(
        "this chapter computes the scores of a whole batch at once.",
        {"scores": "b × scores"},
        many=["scores"],
    ),
    "12": Strip(
        "this chapter makes a layer of all steps, with scores divided by the root of d.",
        {"scores": "q·k / √d"},
        dim=False,
        score=scaled,
    ),
    "13": Strip(
        "this chapter changes the scores: a small network with a tanh computes them.",
        {"scores": "tanh"},
        score=additive,
    ),
    "14": Strip(
        "this chapter changes the scores: distances, bilinear forms and, here, cosines.",
        {"scores": "cosine"},
        score=lambda key: dot(Q, key) / sqrt(dot(Q, Q) * dot(key, key)),
    ),
    "15": Strip(
        "this chapter takes the query from a decoder, which writes.",
        {"query": "decoder"},
    ),
    "16": Strip(
        "this chapter counts what the scores cost: n queries with m keys have n times m.",
        {"scores": "n × m"},
        matrix=True,
    ),
    "17": Strip(
        "this chapter computes the weights and the weighted sum in one pass over the keys.",
        {"weights": "one pass", "weighted sum": "one pass"},
        score=scaled,
    ),
    "18": Strip(
        "this chapter keeps the keys of earlier tokens for the scores, and lets heads share them.",
        {"scores": "kept keys"},
        score=scaled,
        many=STEPS,
    ),
    "19": Strip(
        "this chapter adds positions beyond the trained length to the scores.",
        {"scores": "+ position"},
        score=biased,
    ),
    "20": Strip(
        "this chapter changes how scores become weights: here one weight is exactly 0.",
        {"weights": "sparsemax"},
        score=scaled,
        weigh=sparsemax,
    ),
    "21": Strip("this chapter tests all steps."),
    "22": Strip("this chapter finds all steps in another package."),
    # Chapter 0 lets the strip grow, one step after the other.
    **{
        step.split()[-1]: Strip(f"so far: {', '.join(STEPS[:i])}.", {step: step}, False, shown=i)
        for i, step in enumerate(STEPS, start=1)
    },
}

DESC = (
    "From left to right: a query among four keys; the score of each key; a mask that hides the "
    "last key; the weights of the others, which sum to 1; the weighted sum of the values;"
)


def strip(s: Strip, say: Say = str) -> str:
    """Draw the picture at the head of a chapter."""
    top = 18 if s.many else 8  # as far from the card's edge as at the sides
    d = Drawing(656, 136 + top, "Attention, step by step", f"{DESC} {s.change}", say)
    draw_steps(d, s, top)
    return d.svg()


def draw_steps(d: Drawing, s: Strip, top: float = 0) -> None:
    """Draw the steps from left to right, each under a rule and its name."""
    scores = [s.score(key) for key in KEYS]
    weights = [*s.weigh(scores[:MASKED_KEY]), 0.0]
    for i, (step, (left, right)) in enumerate(zip(STEPS, EDGES, strict=True)):
        there, lit = i < s.shown, step in s.lit
        gray = not there or (bool(s.lit) and s.dim and not lit)
        edge, thick = (INK, 4) if lit else (PALE if gray else SOFT, 2)
        for sheet in (2, 1) if step in s.many else ():
            d.rect(left + 4 * sheet, top + 1 - 5 * sheet, right - left - 8 * sheet, 2, edge)
        d.rect(left, top + 1, right - left, thick, edge)
        name = s.lit.get(step, step)
        d.text(left, top + 20, f"**{name}**" if lit else name, 16, "start", SOFT if gray else INK)
        if i:
            middle = top + 71
            d.line((left - 12, middle - 7), (left - 5, middle), (left - 12, middle + 7), edge=PALE)
        place = Place(d, left, right - left, top + 102, gray, there)
        if step == "query":
            draw_vectors(place)
        elif step == "scores" and s.matrix:
            draw_matrix(place)
        elif step in ("scores", "mask"):
            draw_scores(place, s, step == "mask")
        elif step == "weights":
            draw_weights(place, weights)
        else:
            draw_sum(place, weights)


class Place(NamedTuple):
    """Where a step is drawn, on its baseline, and whether in gray, or not yet at all."""

    d: Drawing
    left: float
    width: float
    base: float
    gray: bool
    there: bool

    def of(self, role: Role) -> Role:
        """Return the role as it is drawn here."""
        return Role("#EEEEEE", PALE) if self.gray and role.fill[0] == "#" else role

    def at(self, point: Vector) -> tuple[float, float]:
        """Return where a point of the plane lies, the lowest left one at (0, 0)."""
        return self.left + 7 + UNIT * point[0], self.base - UNIT * point[1]

    def note(self, x: float, text: str, size: int = 14) -> None:
        """Write below the baseline."""
        self.d.text(self.left + x, self.base + 15, text, size, ink=SOFT)

    def plane(self) -> None:
        """Draw the points with whole coordinates."""
        for x in range(4):
            for y in range(3):
                self.d.disc(self.at((x, y)), 1.5, PALE)

    def bars(
        self, heights: Sequence[float], unit: float, roles: Sequence[Role], texts: Sequence[str]
    ) -> None:
        """Draw a bar for each key, and its number below."""
        pitch = self.width / len(heights)
        size = 13 if pitch < 30 and any("." in text for text in texts) else 14
        for j, (height, role, text) in enumerate(zip(heights, roles, texts, strict=True)):
            if self.there:
                x, h = self.left + (j + 0.5) * pitch - 9, unit * height
                if h:
                    self.d.bar(x, self.base - h, 18, h, self.of(role))
                self.note(x + 9 - self.left, text, size)
        right = self.left + self.width
        edge = PALE if self.gray else SOFT
        self.d.line((self.left, self.base), (right, self.base), edge=edge)


def draw_vectors(place: Place) -> None:
    """Draw the query among the keys."""
    place.plane()
    if not place.there:
        return
    origin = place.at((1, 0))
    for vector, role in [(key, KEY) for key in KEYS] + [(Q, QUERY)]:
        tip = place.at((vector[0] + 1, vector[1]))
        place.d.arrow(origin, tip, edge=place.of(role).edge)
    place.note(52, f"({Q[0]}, {Q[1]})")


def draw_scores(place: Place, s: Strip, masked: bool) -> None:
    """Draw a bar for each score, or for what it comes from; the masked one is hatched."""
    heights = [(s.bars or s.score)(key) for key in KEYS]
    texts = [number(x, 0 if x == int(x) else 1) for x in heights]
    roles = [GRAY] * len(heights)
    if masked:
        texts[MASKED_KEY] = "∞" if s.bars else "−∞"
        roles[MASKED_KEY] = Role(MASKED.fill, place.of(GRAY).edge)
    place.bars(heights, 16, roles, texts)


def draw_matrix(place: Place) -> None:
    """Draw the scores of four queries as a matrix, the darker the larger."""
    for i, query in enumerate([Q, (1, 2), (-1, 1), (0, 2)]):
        for j, key in enumerate(KEYS):
            part = 0.1 + 0.15 * max(dot(query, key), 0)
            x, y = place.left + 18 + 16 * j, place.base - 65 + 16 * i
            place.d.bar(x, y, 16, 16, Role(mix(SOFT, part), SOFT))
    place.note(50, "16 scores")


def draw_weights(place: Place, weights: Sequence[float]) -> None:
    """Draw a bar for each weight, the darker the larger."""
    roles = [Role(mix(WEIGHT.edge, min(0.3 + 0.9 * w, 1)), WEIGHT.edge) for w in weights]
    place.bars(weights, 64, roles, [number(w) if w else "0" for w in weights])


def draw_sum(place: Place, weights: Sequence[float]) -> None:
    """Draw the output among the values, tied to each by a line as thick as its weight."""
    place.plane()
    if not place.there:
        return
    output = [sum(w * v[axis] for w, v in zip(weights, VALUES, strict=True)) for axis in (0, 1)]
    here = place.at(output)
    for w, value in zip(weights, VALUES, strict=True):
        if w:
            thick, edge = 1 + 6 * w, place.of(WEIGHT).edge
            place.d.line(here, place.at(value), edge=edge, width=thick)
    for j, value in enumerate(VALUES):
        role = (
            Role(MASKED.fill, PALE if place.gray else SOFT)
            if j == MASKED_KEY
            else place.of(Role(VALUE.edge, VALUE.edge))
        )
        place.d.disc(place.at(value), 6, role.fill, role.edge)
    place.d.disc(here, 6, CARD, PALE if place.gray else INK)
    place.note(52, f"({number(output[0])}, {number(output[1])})")


def mix(color: str, part: float) -> str:
    """Return a color of which so large a part is `color` and the rest is white."""
    rgb = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (c - 255)):02X}" for c in rgb)


DIAGRAMS |= {f"strip_{name}": partial(strip, s) for name, s in STRIPS.items()}
