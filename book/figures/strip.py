"""The strip, one query's way to its output: what chapter 0 tells step by step."""

from functools import partial
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
SCORES = [dot(Q, key) for key in KEYS]
WEIGHTS = [*softmax(SCORES[:MASKED_KEY]), 0.0]
UNIT = 30  # of the planes in which vectors are drawn
GRAY = Role("#C9C9C9", SOFT)
BESIDE = {"up": (0, -15), "right": (14, 0), "left": (-13, 0), "down": (0, 15)}  # of a tip, a dot
DESC = (
    "From left to right: a query among four keys; the score of each key; a mask that hides the "
    "last key; the weights of the others, which sum to 1; the weighted sum of the values;"
)


def strip(shown: int, say: Say = str) -> str:
    """Draw the first steps, the last of them lit, each under a rule and its name."""
    d = Drawing(656, 152, "Attention, step by step", f"{DESC} so far: {shown} of 5.", say)
    for i, (step, (left, right)) in enumerate(zip(STEPS, EDGES, strict=True), start=1):
        lit = i == shown
        edge, thick = (INK, 4) if lit else (SOFT if i < shown else PALE, 2)
        d.rect(left, 9, right - left, thick, edge)
        d.text(left, 28, f"**{step}**" if lit else step, 16, "start", INK if i <= shown else SOFT)
        if i > 1:
            d.line((left - 12, 76), (left - 5, 83), (left - 12, 90), edge=PALE)
        place = Place(d, left, right - left, 120, i <= shown)
        if step == "query":
            draw_vectors(place)
        elif step == "weighted sum":
            draw_sum(place)
        else:
            draw_bars(place, step)
    return d.svg()


class Place(NamedTuple):
    """Where a step is drawn, on its baseline, and whether it is there yet."""

    d: Drawing
    left: float
    width: float
    base: float
    there: bool

    def at(self, point: Vector) -> tuple[float, float]:
        """Return where a point of the plane lies, the lowest left one at (0, 0)."""
        return self.left + 7 + UNIT * point[0], self.base - UNIT * point[1]

    def plane(self) -> None:
        """Draw the points with whole coordinates."""
        for x in range(4):
            for y in range(3):
                self.d.disc(self.at((x, y)), 1.5, PALE)

    def name(self, point: Vector, key: object, side: str, ink: str = INK) -> None:
        """Write which key something belongs to beside its point of the plane."""
        (x, y), (right, down) = self.at(point), BESIDE[side]
        self.d.text(x + right, y + down, f"**{key}**", 14, ink=ink)


def draw_vectors(place: Place) -> None:
    """Draw the query among the keys, whose arrows are numbered."""
    place.plane()
    for key, side, vector in zip((1, 2, 3, 4), ("down", "up", "right", "up"), KEYS, strict=True):
        place.d.arrow(place.at((1, 0)), place.at((vector[0] + 1, vector[1])), edge=KEY.edge)
        place.name((vector[0] + 1, vector[1]), key, side)
    place.d.arrow(place.at((1, 0)), place.at((Q[0] + 1, Q[1])), edge=QUERY.edge)
    place.name((3, 1), "q", "down", QUERY.edge)


def draw_bars(place: Place, step: str) -> None:
    """Draw a bar for each key, its number above it and below it whose it is."""
    heights = WEIGHTS if step == "weights" else SCORES
    texts = [number(x, 2 if step == "weights" and x else 0) for x in heights]
    roles = [GRAY] * len(heights)
    if step == "weights":
        roles = [Role(mix(WEIGHT.edge, min(0.3 + 0.9 * w, 1)), WEIGHT.edge) for w in heights]
    if step == "mask":
        texts[MASKED_KEY], roles[MASKED_KEY] = "−∞", MASKED
    pitch = place.width / len(heights)
    for j, (height, role, text) in enumerate(zip(heights, roles, texts, strict=True)):
        x, h = place.left + (j + 0.5) * pitch, height * (72 if step == "weights" else 17)
        if place.there:
            if h:
                place.d.bar(x - 9, place.base - h, 18, h, role)
            place.d.text(x, place.base - h - 11, text, 14)
        place.d.text(x, place.base + 15, f"**{j + 1}**", 14, ink=INK if place.there else SOFT)
    right = place.left + place.width
    place.d.line((place.left, place.base), (right, place.base), edge=SOFT if place.there else PALE)


def draw_sum(place: Place) -> None:
    """Draw the output among the values, tied to each by a line as thick as its weight."""
    place.plane()
    if not place.there:
        return
    output = [sum(w * v[axis] for w, v in zip(WEIGHTS, VALUES, strict=True)) for axis in (0, 1)]
    for w, value in zip(WEIGHTS, VALUES, strict=True):
        if w:
            ends = place.at(output), place.at(value)
            place.d.line(*ends, edge=WEIGHT.edge, width=1 + 6 * w)
    for j, (value, side) in enumerate(zip(VALUES, ("right", "right", "down", "down"), strict=True)):
        role = MASKED if j == MASKED_KEY else Role(VALUE.edge, VALUE.edge)
        place.d.disc(place.at(value), 6, role.fill, role.edge)
        place.name(value, j + 1, side)
    place.d.disc(place.at(output), 6, CARD, INK)
    x, y = place.at(output)
    place.d.text(x + 14, y - 8, f"({number(output[0])}, {number(output[1])})", 14, "start")


def mix(color: str, part: float) -> str:
    """Return a color of which so large a part is `color` and the rest is white."""
    rgb = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (c - 255)):02X}" for c in rgb)


for count, step in enumerate(STEPS, start=1):
    DIAGRAMS[f"strip_{step.split()[-1]}"] = partial(strip, count)
