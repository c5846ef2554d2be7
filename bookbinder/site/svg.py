"""Make pictures light, and give them a dark version that follows the color scheme of the page.

A browser tells a picture the `color-scheme` of its <img>. Where it tells nothing, the picture keeps
its own background in both versions, so that it can be read on any page.
"""

import colorsys
import re

HEAT_MAP = re.compile(r'<g id="QuadMesh_\d+"([^>]*)>(.*?)</g>', re.DOTALL)
FOUND = re.compile(r'(?:(fill|stroke): |(fill|stroke)=")(#[0-9a-fA-F]{6})\b')
PAGE, INK = 0.07, 0.95  # the lightness that white and black become; #121212 is the dark page
GRAY = 12  # how far the channels of a gray may lie apart, of 255
PALE = 0.5  # a fill of a diagram that is lighter has dark text on it
ROLES = {"#0072B2": "#3f9bd4", "#D55E00": "#ec7d2c"}  # weights and queries, as on the home page
# The colors of heat maps say how large a number is: a filter turns them all at once, so that 0 is
# as dark as the page. It inverts, for the same lightness as `dark`, and turns the hue back.
CELLS = '[id^="QuadMesh"]'
TURNED = ".505 -1.258 -.127 0 .94 -.375 -.378 -.127 0 .94 -.375 -1.258 .753 0 .94 0 0 0 1 0"
FILTER = (
    '<filter id="dark-cells" color-interpolation-filters="sRGB">'
    f'<feColorMatrix values="{TURNED}"/></filter>'
)
PATH = re.compile(r'(?<= d=")[^"]*')
GAP = re.compile(r" ?\n(?=[A-Za-z]|$)|(?<=[A-Z]) ")
LONG_NUMBER = re.compile(r"-?\d+\.\d+")
PLACE = re.compile(r'(?<= transform=")translate\([^)]*\)')
NAME = re.compile(r'(?<=<g) id="(?!QuadMesh)[^"]*"')
CELL = re.compile(r'<path d="([^"]*)" (clip-path="[^"]*" style="[^"]*")/>')
BOX = re.compile(r"M(\S+) (\S+)L(\S+) \2L\3 ([^\sLz]+)L\1 \4(?:L\1 \2z?|z)(?=[\"M])")


def slim(svg: str) -> str:
    """Return a picture whose places have two decimals, and heat maps one path for equal cells."""
    svg = PATH.sub(lambda path: GAP.sub("", LONG_NUMBER.sub(shorter, path[0])), svg)
    svg = PLACE.sub(lambda place: LONG_NUMBER.sub(shorter, place[0]), svg)
    svg = "\n".join(line.lstrip() for line in svg.split("\n"))
    svg = BOX.sub(box, NAME.sub("", svg))
    return HEAT_MAP.sub(with_equal_cells_joined, svg)


def shorter(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def box(corners: re.Match) -> str:
    """Return a rectangle as one corner and two sides."""
    left, top, right, bottom = map(float, corners.groups())
    return f"M{left:g} {top:g}h{right - left:.4g}v{bottom - top:.4g}h{left - right:.4g}z"


def with_equal_cells_joined(heat_map: re.Match) -> str:
    """Return a heat map with one path for equal cells, which do not lie upon each other."""
    cells = CELL.findall(heat_map[2])
    if len(cells) != heat_map[2].count("<path"):
        return heat_map[0]
    joined: dict[str, list[str]] = {}
    for shape, style in cells:
        joined.setdefault(style, []).append(shape)
    paths = (f'<path d="{"".join(shapes)}" {style}/>' for style, shapes in joined.items())
    begin = heat_map[0].partition(">")[0]
    return "\n".join([f"{begin}>", *paths, "</g>"])


def with_dark_version(svg: str) -> str:
    """Return an SVG that also has the colors for a dark page."""
    root = svg.index(">", svg.index("<svg")) + 1
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(dark_rules(svg))}}}</style>"
    turned = FILTER if 'id="QuadMesh' in svg else ""
    return svg[:root] + style + turned + svg[root:]


def dark_rules(svg: str) -> list[str]:
    """Return the rules for the colors that change.

    Diagrams have attributes, fill="#F4F4F4", and text on pale boxes; figures have styles, and
    colored cells, which a filter turns.
    """
    rules = [f"svg{{fill:{dark('#000000')}}}"]  # text without a color of its own
    if 'id="QuadMesh' in svg:
        rules.append(f"{CELLS}{{filter:url(#dark-cells);fill:#000}}")  # a black cell says no color
    for in_style, attribute, color in sorted(set(FOUND.findall(HEAT_MAP.sub("", svg)))):
        pale = attribute == "fill" and lightness(color) > PALE
        if not (is_gray(color) or pale or color.upper() in ROLES):
            continue
        where = f'[style*="{in_style}: {color}"]:not({CELLS} *)'
        if attribute:
            where = f'[{attribute}="{color}"]'
        rules.append(f"{where}{{{in_style or attribute}:{dark(color)}!important}}")
    return rules


def dark(color: str) -> str:
    """Return the color for a dark page: of the same hue, dark where it was light."""
    if color.upper() in ROLES:
        return ROLES[color.upper()]
    hue, light, saturation = colorsys.rgb_to_hls(*channels(color))
    turned = colorsys.hls_to_rgb(hue, INK - (INK - PAGE) * light, saturation)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in turned)


def is_gray(color: str) -> bool:
    return 255 * (max(channels(color)) - min(channels(color))) <= GRAY


def lightness(color: str) -> float:
    return colorsys.rgb_to_hls(*channels(color))[1]


def channels(color: str) -> tuple[float, ...]:
    """Return red, green and blue of "#0072B2", each between 0 and 1."""
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
