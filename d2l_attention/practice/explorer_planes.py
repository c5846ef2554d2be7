"""What an explorer shows over a plane: which key wins where, and what a query that is dragged gets.

A function gives the scores of the keys on a grid; outlines of few corners take their place. Frames
for each place of a query would be too many: the script computes its weights by `Score`.
"""

import copy
import itertools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from contourpy import contour_generator

from d2l_attention.arrays import as_array
from d2l_attention.practice.explorer_plots import Area, Mark, Name, Piece, Plot, Points, named

SHADES = [f"#808080{alpha}" for alpha in ("08", "28", "4A", "70", "98")]  # of the keys' regions
SAME = 1e-3  # scores that nowhere in the plane differ by more belong to keys that always tie
STRAIGHT = 0.005  # a corner is left out that is so little off a straight line: in plane widths
DIGITS = 2
ROOM = 0.05  # half of a name's height
SIGNIFICANT = 8  # digits of what makes a score


@dataclass(frozen=True)
class Score:
    """The score of a query q in the plane with key j: sum over i of c[j, i] g(a[i] q + b[j, i]).

    Args:
        c: (m, h), or (1, h) where all keys share it; float64, as in float32 the last digits depend
            on the CPU.
        a: (h, 2); by default the identity.
        b: (m, h); by default 0.
        origin: What is subtracted from q before.
        unit: Whether q - origin is then divided by its length, if it has one.
        tanh: Whether g is the tanh, and not the identity.
    """

    c: Sequence
    a: Sequence | None = None
    b: Sequence | None = None
    origin: Sequence = (0.0, 0.0)
    unit: bool = False
    tanh: bool = False

    def held(self) -> list:
        """Return what the script takes."""
        arrays = (self.c, self.a, self.b, self.origin)
        numbers = [None if array is None else short(as_array(array)) for array in arrays]
        return [*numbers, int(self.unit), int(self.tanh)]


def short(array: np.ndarray) -> list:
    if array.ndim > 1:
        return [short(row) for row in array]
    digits = [float(f"{v:.{SIGNIFICANT}g}") for v in array.tolist()]
    return [int(v) if v % 1 == 0 else v for v in digits]


@dataclass(frozen=True)
class Regions(Mark):
    """Scores of up to five keys over a grid of `x` (across) and `y` (up), which stay.

    Each key shades where its score is the largest, and the first letter of its name stands there.
    Keys that tie all over the plane share a region.
    """

    heights: str = ""  # the part that holds the scores: (key, y, x), or (key, y times x)
    _: KW_ONLY
    names: Sequence[str] = ()

    def outlines(self, heights: np.ndarray, stay: list) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the rings (points, 2) of each region, and places of the names, off what stays."""
        x, y = (np.asarray(as_array(n), float) for n in (self.x, self.y))
        scores = heights.reshape(-1, y.size, x.size)
        rings, places = [], []
        for own in scores:
            others = [s for s in scores if abs(s - own).max() > SAME]
            lead = own - np.max(others, axis=0)
            places.append(roomiest(x, y, lead > 0, stay + places))
            rings.append(rings_of(x, y, lead))
        return rings, np.reshape(places, (-1, 2))


def rings_of(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the rings around z > 0 as rows (x, y), with NaN between two rings."""
    polygons, offsets = contour_generator(x, y, z).filled(0, np.inf)
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
    area = abs(along[0] * back[:, 1] - along[1] * back[:, 0])
    off = area / length if length else np.hypot(*back.T)
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
    own, out = (np.stack([across[which], up[which]], -1) for which in (within, ~within))
    edges = np.stack([own - [x[0], y[0]], [x[-1], y[-1]] - own]).min((0, 2))
    rest = np.concatenate([out, np.reshape(taken, (-1, 2))])
    rest = rest[np.isfinite(rest).all(1)]
    away = abs(own[:, None] - rest).max(2).min(1, initial=np.inf)
    room = np.minimum(edges, away).round(DIGITS)
    if room.max(initial=0) < ROOM * (y[-1] - y[0]):
        return [np.nan, np.nan]
    return own[room.argmax()].round(1).tolist()


def expanded(draw: Sequence[Plot], frames: list[dict]) -> tuple[list[Plot], list[dict]]:
    """Return plots with an area for each region and a text for each name in the place of regions.

    In each frame the scores that they show become one row of numbers: the outlines.
    """
    frames, plots = [dict(parts) for parts in frames], [copy.copy(plot) for plot in draw]
    for plot in plots:
        dots = [m for m in plot.marks if isinstance(m, Points) and not named([m])]
        stay = [list(at) for m in dots for at in np.stack([as_array(m.x), as_array(m.y)], -1)]
        plot.marks = [
            part
            for mark in plot.marks
            for part in (areas(mark, stay, frames) if isinstance(mark, Regions) else [mark])
        ]
    return plots, frames


def areas(regions: Regions, stay: list, frames: list[dict]) -> list[Mark]:
    """Return the marks of regions, and put the numbers that they show into the frames.

    These are the x of all corners, with NaN up to the most that any frame has, and of the names,
    then the y of both.
    """
    part, names = regions.heights, regions.names
    outlines = [regions.outlines(np.asarray(parts[part], float), stay) for parts in frames]
    corners = np.max([[len(ring) for ring in rings] for rings, _ in outlines], axis=0)
    for parts, (rings, places) in zip(frames, outlines, strict=True):
        missing = [((0, n - len(ring)), (0, 0)) for ring, n in zip(rings, corners, strict=True)]
        padded = map(partial(np.pad, constant_values=np.nan), rings, missing)
        parts[part] = np.concatenate([*padded, places]).T.ravel()
    sizes = [*corners.tolist(), *[1] * len(names)]
    *begins, half = itertools.accumulate(sizes, initial=0)
    pieces = zip(begins, sizes, strict=True)
    points = [(Piece(part, at, size), Piece(part, half + at, size)) for at, size in pieces]
    shades = [Area(x, y, color=color) for (x, y), color in zip(points, SHADES, strict=False)]
    letters = zip(points[len(names) :], names, strict=True)
    return shades[: len(names)] + [Name(x, y, text=name[0]) for (x, y), name in letters]
