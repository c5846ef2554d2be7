"""What an explorer shows over a plane: which key wins where, and how high a surface is.

A function gives heights on a grid. Outlines of few corners take their place: they are smooth at
any size, and all frames that share them store them once.
"""

import copy
import itertools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from contourpy import contour_generator

from d2l_attention.arrays import as_array
from d2l_attention.practice.explorer_plots import (
    SHADES,
    Area,
    Mark,
    Name,
    Numbers,
    Parts,
    Piece,
    Plot,
    Points,
    named,
)

SAME = 1e-3  # scores that nowhere in the plane differ by more belong to keys that always tie
STRAIGHT = 0.004  # a corner is left out that is so little off a straight line: in plane widths
DIGITS = 2
WIDE = 3.0, 1.0  # how much more room a name needs across than up
ROOM = 0.04  # half of its height
DARK_TO_BRIGHT = "00224e 35456c 666970 948e77 c8b866 fee838"  # cividis: one order for all eyes

Band = tuple[np.ndarray, float]  # where heights (y, x) are larger than a number
Outlines = tuple[list[np.ndarray], np.ndarray]  # rings (points, 2) of each band, places of names


@dataclass(frozen=True)
class Field(Mark):
    """Heights over a grid of `x` (across) and `y` (up), which stay: areas show them."""

    heights: Numbers = ()  # a part, or numbers that stay: (..., y, x), or (..., y times x)
    _: KW_ONLY
    names: Sequence[str] = ()

    def grids(self, parts: Parts) -> np.ndarray:
        held = parts[self.heights] if isinstance(self.heights, str) else as_array(self.heights)
        return np.asarray(held, float).reshape(-1, as_array(self.y).size, as_array(self.x).size)

    def outlines(self, grids: np.ndarray, stay: list) -> Outlines:
        """Return the outlines of all bands, and where their names stand, off what stays."""
        x, y = (np.asarray(as_array(n), float) for n in (self.x, self.y))
        bands, places = self.bands(grids), []
        for lead, low in bands[: len(self.names)]:
            places.append(roomiest(x, y, lead > low, stay + places))
        return [rings_of(x, y, *band) for band in bands], np.reshape(places, (-1, 2))


@dataclass(frozen=True)
class Regions(Field):
    """Heights are scores of up to five keys: each shades where its score is the largest.

    Its name stands in its region. Keys that tie all over the plane share one.
    """

    def bands(self, scores: np.ndarray) -> list[Band]:
        leads = []
        for own in scores:
            others = [s for s in scores if abs(s - own).max() > SAME]
            leads.append(own - np.max(others, axis=0))
        return [(lead, 0.0) for lead in leads]

    def looks(self) -> list[dict[str, str]]:
        return [{"color": shade} for shade in SHADES[: len(self.names)]]


@dataclass(frozen=True, kw_only=True)
class Surface(Field):
    """A surface from above: a band between each two `levels`, the higher the brighter.

    The first and the last have all that is below and above.
    """

    levels: Sequence[float]

    def bands(self, grids: np.ndarray) -> list[Band]:
        lows = [-np.inf, *self.levels[1:-1]]  # each band lies upon those below it, without gaps
        return [(grids[0], low) for low in lows]

    def looks(self) -> list[dict[str, str]]:
        last = len(self.levels) - 2
        ends = {0: f"≤ {self.levels[1]:g}", last: f"≥ {self.levels[-2]:g}"} if self.label else {}
        labels = [f"{self.label} {ends[i]}" if i in ends else "" for i in range(last + 1)]
        return [{"color": shade(i / last), "label": text} for i, text in enumerate(labels)]


def shade(height: float) -> str:
    """Return the color of a height from 0 to 1."""
    channels = np.array([list(bytes.fromhex(stop)) for stop in DARK_TO_BRIGHT.split()]).T
    places = np.linspace(0, 1, len(channels[0]))
    return "#" + bytes(round(np.interp(height, places, c)) for c in channels).hex()


def rings_of(x: np.ndarray, y: np.ndarray, z: np.ndarray, low: float) -> np.ndarray:
    """Return the rings around z > low as rows (x, y), with NaN between two rings."""
    polygons, offsets = contour_generator(x, y, z).filled(low, np.inf)
    rows = []
    for corners, begins in zip(polygons, offsets, strict=True):
        for begin, end in itertools.pairwise(begins):
            ring = simpler(corners[begin:end], STRAIGHT * (x[-1] - x[0]))[:-1].round(DIGITS)
            if len(ring) > 2:
                rows += [*ring, [np.nan, np.nan]]
    return np.array(rows[:-1]).reshape(-1, 2)


def simpler(line: np.ndarray, most: float) -> np.ndarray:
    """Leave corners out that are no farther than `most` from the line without them.

    Douglas and Peucker: keep the corner that is farthest off the straight line, and go on.
    """
    along, back = line[-1] - line[0], line - line[0]
    length = np.hypot(*along)  # of a ring 0: then its farthest corner is kept
    off = (
        abs(along[0] * back[:, 1] - along[1] * back[:, 0]) / length if length else np.hypot(*back.T)
    )
    at = off.argmax()
    if off[at] <= most:
        return line[[0, -1]]
    return np.concatenate([simpler(line[: at + 1], most)[:-1], simpler(line[at:], most)])


def roomiest(x: np.ndarray, y: np.ndarray, inside: np.ndarray, taken: list) -> list[float]:
    """Return the place inside that is farthest from the outside and from what is taken.

    It is NaN where there is no room for a name.
    """
    across, up = np.meshgrid(x[1:-1:2], y[1:-1:2])
    within = inside[1:-1:2, 1:-1:2]
    nowhere = [np.nan, np.nan]
    if not within.any():
        return nowhere
    own = np.stack([across[within], up[within]], -1)
    out = np.stack([across[~within], up[~within]], -1)
    edges = (np.stack([own - [x[0], y[0]], [x[-1], y[-1]] - own]) / WIDE).min((0, 2))
    rest = np.concatenate([out, np.reshape(taken, (-1, 2))])
    rest = rest[np.isfinite(rest).all(1)]
    away = abs((own[:, None] - rest) / WIDE).max(2).min(1, initial=np.inf)
    room = np.minimum(edges, away).round(DIGITS)
    return own[room.argmax()].tolist() if room.max() >= ROOM * (y[-1] - y[0]) else nowhere


def expanded(draw: Sequence[Plot], frames: list[Parts]) -> tuple[list[Plot], list[Parts]]:
    """Return plots with an area for each band and a text for each name in the place of fields.

    In each frame the heights that a field shows become one row of numbers: its outlines.
    """
    frames, plots = [dict(parts) for parts in frames], [copy.copy(plot) for plot in draw]
    for plot in plots:
        stay = dots(plot)
        plot.marks = [
            part
            for mark in plot.marks
            for part in (areas(mark, stay, frames) if isinstance(mark, Field) else [mark])
        ]
    return plots, frames


def areas(field: Field, stay: list, frames: list[Parts]) -> list[Mark]:
    """Return the marks of a field, and put the numbers that they show into the frames."""
    stays = not isinstance(field.heights, str)
    known: dict[bytes, Outlines] = {}  # many frames share heights
    held = []
    for parts in frames[:1] if stays else frames:
        grids = field.grids(parts)
        if grids.tobytes() not in known:
            known[grids.tobytes()] = field.outlines(grids, stay)
        held.append(known[grids.tobytes()])
    corners = np.max([[len(ring) for ring in rings] for rings, _ in held], axis=0)
    rows = [np.concatenate([*columns(rings, corners), *names.T]) for rings, names in held]
    if not stays:
        for parts, row in zip(frames, rows, strict=True):
            parts[field.heights] = row

    def piece(begin: int, count: int) -> Numbers:
        return (
            rows[0][begin : begin + count].tolist() if stays else Piece(field.heights, begin, count)
        )

    marks, begin, y, names = [], 0, int(corners.sum()), len(field.names)
    for count, look in zip(corners.tolist(), field.looks(), strict=True):
        marks.append(Area(piece(begin, count), piece(y + begin, count), **look))
        begin += count
    return marks + [
        Name(piece(2 * y + i, 1), piece(2 * y + names + i, 1), text=name)
        for i, name in enumerate(field.names)
    ]


def columns(rings: list[np.ndarray], corners: Sequence[int]) -> list[np.ndarray]:
    """Return all x, then all y, with NaN up to so many corners."""
    missing = [((0, n - len(r)), (0, 0)) for r, n in zip(rings, corners, strict=True)]
    padded = [np.pad(r, m, constant_values=np.nan) for r, m in zip(rings, missing, strict=True)]
    return [r[:, 0] for r in padded] + [r[:, 1] for r in padded]


def dots(plot: Plot) -> list[list[float]]:
    """Return the points of a plot that stay, which names ought not to cover."""
    return [
        [float(x), float(y)]
        for mark in plot.marks
        if isinstance(mark, Points) and not named([Plot(Points(mark.x, mark.y))])
        for x, y in zip(as_array(mark.x), as_array(mark.y), strict=True)
    ]
