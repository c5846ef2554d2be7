"""Give pictures a dark version: an SVG that follows the color scheme of the page around it.

A browser tells a picture the `color-scheme` of its <img>. Where it tells nothing, the picture keeps
its own background in both versions, so that it can be read on any page.
"""

import colorsys
import re

ROOT = re.compile(r"<svg\b[^>]*>")
HEAT_MAP = re.compile(r'<g id="QuadMesh_\d+".*?</g>', re.DOTALL)  # the filter turns it
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


def with_dark_version(svg: str) -> str:
    """Return an SVG that also has the colors for a dark page."""
    root = ROOT.search(svg)
    if root is None or not (rules := dark_rules(svg)):
        return svg
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    turned = FILTER if 'id="QuadMesh' in svg else ""
    return svg[: root.end()] + style + turned + svg[root.end() :]


def dark_rules(svg: str) -> list[str]:
    """Return the rules for the colors that change.

    Diagrams have attributes, fill="#F4F4F4", and text on pale boxes; figures have styles, and
    colored cells, which a filter turns.
    """
    rules = [f"svg{{fill:{dark('#000000')}}}"]  # text without a color of its own
    if 'id="QuadMesh' in svg:
        rules.append(f"{CELLS}{{fill:#000;filter:url(#dark-cells)}}")  # black ones name no fill
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
