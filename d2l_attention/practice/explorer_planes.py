"""What an explorer shows over a plane: which key wins where.

A function gives the scores of the keys on a grid. Outlines of few corners take their place: they
are smooth at any size, and all frames that share them store them once.
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
    Parts,
    Piece,
    Plot,
    Points,
    named,
)

SAME = 1e-3  # scores that nowhere in the plane differ by more belong to keys that always tie
STRAIGHT = 0.005  # a corner is left out that is so little off a straight line: in plane widths
DIGITS = 2
ROOM = 0.05  # half of a name's height

Outlines = tuple[list[np.ndarray], np.ndarray]  # rings (points, 2) of each region, places of names


@dataclass(frozen=True)
class Regions(Mark):
    """Scores of up to five keys over a grid of `x` (across) and `y` (up), which stay.

    Each key shades where its score is the largest, and the first letter of its name stands there.
    Keys that tie all over the plane share a region.
    """

    heights: str = ""  # the part that holds the scores: (key, y, x), or (key, y times x)
    _: KW_ONLY
    names: Sequence[str] = ()

    def outlines(self, heights: np.ndarray, stay: list) -> Outlines:
        """Return the outlines of all regions, and where their names stand, off what stays."""
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
    edges = np.stack([own - [x[0], y[0]], [x[-1], y[-1]] - own]).min((0, 2))
    rest = np.concatenate([out, np.reshape(taken, (-1, 2))])
    rest = rest[np.isfinite(rest).all(1)]
    away = abs(own[:, None] - rest).max(2).min(1, initial=np.inf)
    room = np.minimum(edges, away).round(DIGITS)
    return own[room.argmax()].round(1).tolist() if room.max() >= ROOM * (y[-1] - y[0]) else nowhere


def expanded(draw: Sequence[Plot], frames: list[Parts]) -> tuple[list[Plot], list[Parts]]:
    """Return plots with an area for each region and a text for each name in the place of regions.

    In each frame the scores that they show become one row of numbers: the outlines.
    """
    frames, plots = [dict(parts) for parts in frames], [copy.copy(plot) for plot in draw]
    for plot in plots:
        stay = dots(plot)
        plot.marks = [
            part
            for mark in plot.marks
            for part in (areas(mark, stay, frames) if isinstance(mark, Regions) else [mark])
        ]
    return plots, frames


def areas(regions: Regions, stay: list, frames: list[Parts]) -> list[Mark]:
    """Return the marks of regions, and put the numbers that they show into the frames."""
    part, names = regions.heights, regions.names
    known: dict[bytes, Outlines] = {}  # many frames share scores
    held = []
    for parts in frames:
        heights = np.asarray(parts[part], float)
        key = heights.tobytes()
        if key not in known:
            known[key] = regions.outlines(heights, stay)
        held.append(known[key])
    corners = np.max([[len(ring) for ring in rings] for rings, _ in held], axis=0)
    for parts, (rings, places) in zip(frames, held, strict=True):
        parts[part] = np.concatenate([*columns(rings, corners), *places.T])
    marks, begin, y = [], 0, int(corners.sum())
    for count, color in zip(corners.tolist(), SHADES[: len(names)], strict=True):
        marks.append(Area(Piece(part, begin, count), Piece(part, y + begin, count), color=color))
        begin += count
    return marks + [
        Name(Piece(part, 2 * y + i, 1), Piece(part, 2 * y + len(names) + i, 1), text=name[0])
        for i, name in enumerate(names)
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
