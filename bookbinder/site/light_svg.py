"""Make a picture of matplotlib's light: what no eye can tell apart is written once, and short."""

import re
from itertools import groupby

PATH = re.compile(r'(?<= d=")[^"]*')
GAP = re.compile(r" ?\n(?=[A-Za-z]|$)|(?<=[A-Z]) ")
LONG_NUMBER = re.compile(r"-?\d+\.\d+")
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
INDENT = re.compile(r"\n\s+")
HEAT_MAP = re.compile(r'(<g id="QuadMesh_\d+")>(.*?)</g>', re.DOTALL)
CELL = re.compile(r'<path d="([^"]*)" (clip-path="[^"]*") style="(fill: #\w+)((?:; [^"]*)?)"/>')
BOX = re.compile(r"M(\S+) (\S+)L(\S+) \2L\3 (\S+)L\1 \4L\1 \2z?(?=\")")


def slim(svg: str) -> str:
    """Return a picture whose paths have two decimals, and heat maps one path for equal cells."""
    svg = PATH.sub(lambda path: GAP.sub("", LONG_NUMBER.sub(shorter, path[0])), svg)
    return HEAT_MAP.sub(with_equal_cells_joined, INDENT.sub("\n", METADATA.sub("", svg)))


def shorter(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def with_equal_cells_joined(heat_map: re.Match) -> str:
    """Return a heat map with one path for equal cells, and with what all share said once."""
    cells = CELL.findall(BOX.sub(r"M\1 \2H\3V\4H\1z", heat_map[2]))
    if len({clip for _, clip, _, _ in cells}) != 1 or len(cells) != heat_map[2].count("<path"):
        return heat_map[0]
    lines = {line for _, _, _, line in cells}
    shared = f' style="{lines.pop()[2:]}"' if len(lines) == 1 else ""
    paths = [
        f'<path d="{"".join(cell[0] for cell in equal)}" style="{fill}{"" if shared else line}"/>'
        for (fill, line), equal in groupby(cells, key=lambda cell: cell[2:])
    ]
    return "\n".join([f"{heat_map[1]} {cells[0][1]}{shared}>", *paths, "</g>"])
