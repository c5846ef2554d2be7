"""Make a picture of matplotlib's light: what no eye can tell apart is written once, and short."""

import re

PATH = re.compile(r'(?<= d=")[^"]*')
GAP = re.compile(r" ?\n(?=[A-Za-z]|$)|(?<=[A-Z]) ")
LONG_NUMBER = re.compile(r"-?\d+\.\d+")
SHIFT = re.compile(r'(?<=") transform="translate\(([-\d.]+) 0\)"(?=/>)')  # of a letter
PLACE = re.compile(r'(?<= transform=")translate\([^)]*\)|(?<=" x=")[-\d.]+(?="/>)')
GLYPH = re.compile(r'( id="| xlink:href="#)DejaVuSans(?=-)')
NAME = re.compile(r'(?<=<g) id="(?!QuadMesh)[^"]*"')
EMPTY = re.compile(r"\n?<g(?:/>|>\s*</g>)")
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
INDENT = re.compile(r"\n\s+")
HEAT_MAP = re.compile(r'(<g id="QuadMesh_\d+")>(.*?)</g>', re.DOTALL)
CELL = re.compile(r'<path d="([^"]*)" (clip-path="[^"]*") style="(fill: #\w+)((?:; [^"]*)?)"/>')
BOX = re.compile(r"M(\S+) (\S+)L(\S+) \2L\3 ([^\sLz]+)L\1 \4(?:L\1 \2z?|z)(?=[\"M])")
HATCHED = re.compile(r'(?<=<path d=")(?:M\S+ \S+h\S+v\S+h\S+z)+(?="[^>]*fill: url)')
SAME = 0.03  # CSS pixels: two edges that are one
SIDES = re.compile(r"M(\S+) (\S+?)h(\S+?)v(\S+?)h\S+?z")


def slim(svg: str) -> str:
    """Return a picture whose paths have two decimals, and heat maps one path for equal cells."""
    svg = PATH.sub(lambda path: GAP.sub("", LONG_NUMBER.sub(shorter, path[0])), svg)
    svg = PLACE.sub(lambda place: LONG_NUMBER.sub(shorter, place[0]), SHIFT.sub(r' x="\1"', svg))
    svg = NAME.sub("", GLYPH.sub(r"\1", svg))
    more = 1
    while more:  # ticks without marks are groups of empty groups
        svg, more = EMPTY.subn("", svg)
    svg = BOX.sub(box, INDENT.sub("\n", METADATA.sub("", svg)))
    return HATCHED.sub(with_neighbors_joined, HEAT_MAP.sub(with_equal_cells_joined, svg))


def shorter(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def box(corners: re.Match) -> str:
    """Return a rectangle as one corner and two sides."""
    left, top, right, bottom = map(float, corners.groups())
    return f"M{left:g} {top:g}h{right - left:.4g}v{bottom - top:.4g}h{left - right:.4g}z"


def with_neighbors_joined(boxes: re.Match) -> str:
    """Return hatched rectangles, which have no edges, with a row of equal ones as one."""
    joined: list[list[float]] = []
    for sides in SIDES.findall(boxes[0]):
        left, top, across, down = map(float, sides)
        last = joined[-1] if joined else None
        if last and last[1::2] == [top, down] and abs(last[0] + last[2] - left) < SAME:
            last[2] = left + across - last[0]
        else:
            joined.append([left, top, across, down])
    return "".join(f"M{x:g} {y:g}h{w:.4g}v{h:.4g}h{-w:.4g}z" for x, y, w, h in joined)


def with_equal_cells_joined(heat_map: re.Match) -> str:
    """Return a heat map with one path for equal cells, and with what all share said once."""
    cells = CELL.findall(heat_map[2])
    if len({clip for _, clip, _, _ in cells}) != 1 or len(cells) != heat_map[2].count("<path"):
        return heat_map[0]
    joined: dict[tuple[str, str], list[str]] = {}
    for shape, _, fill, line in cells:  # none lies upon another
        joined.setdefault((fill, line), []).append(shape)
    shared = longest_shared([line for _, line in joined])
    paths = [
        f'<path d="{"".join(shapes)}" style="{fill}{line.removesuffix(shared)}"/>'
        for (fill, line), shapes in joined.items()
    ]
    style = f' style="{shared[2:]}"' if shared else ""
    return "\n".join([f"{heat_map[1]} {cells[0][1]}{style}>", *paths, "</g>"])


def longest_shared(styles: list[str]) -> str:
    """Return the declarations at the end of all styles: "; stroke-width: 0.4"."""
    first = styles[0].split("; ")
    ends = ("".join(f"; {part}" for part in first[at:]) for at in range(1, len(first)))
    return next((end for end in ends if all(style.endswith(end) for style in styles)), "")
