"""The drawing of chapter 7, still: whole in chapter 0, and with a part lit in chapters 1 to 6."""

from functools import partial

from kit import CARD, DIAGRAMS, INK, SMALL, TINY, Drawing, Say

from d2l_attention.practice.chapter_07 import picture

ALONE = ("3", "4", "5")  # what these steps alone show does not stand in the whole picture
BUILT = {1: 416, 2: 258, 3: 277, 4: 296, 5: 315, 6: 205, 7: 40}  # by a chapter: at which height
LIT = {  # chapter -> the parts that it builds, where they begin, how high they are, what it says
    1: ("letters vectors said0", 512, 106, "a letter alone: its vector, and a guess"),
    2: ("band2 streams arcs2 shares2", 332, 92, "+ attention: the last letter looks at all"),
    3: ("band2 streams masked", 332, 92, "+ causal mask: no later letter counts"),
    4: ("band2 streams turns scores", 332, 92, "+ positions: rotated, then scored"),
    5: ("band2 streams heads arcs2 feed2", 332, 92, "+ four heads and a network: a block"),
    6: (
        "band2 band3 streams arcs2 arcs3 shares2 shares3",
        228,
        196,
        "two blocks: what do their heads look at?",
    ),
}
DESC = "Six letters rise through four blocks, and the model says which letter comes next"
PHONE = "svg>text{font-size:20px;transform:translate(-150px)}.map{display:none}"


def whole(say: Say = str) -> str:
    """Draw the whole model, and at its left which chapter builds what."""
    d = Drawing(390, 480, "The model of Part I", f"{DESC}.", say)
    svg = picture(say, lambda _, steps: ' display="none"' * (steps in ALONE))
    d.parts.append(f'<g transform="translate(30)scale(.75)">{svg}</g>')
    for chapter, y in BUILT.items():
        d.disc((16, y), 8, INK)
        d.text(16, y, f"**{chapter}**", TINY, ink=CARD)
    return d.svg()


def lit(chapter: int, say: Say = str) -> str:
    """Draw the model small, with the part lit that a chapter builds, and beside it this part."""
    parts, top, height, name = LIT[chapter]
    width = 480 if chapter == 1 else 384  # without the bars
    tall = height * 480 / width
    d = Drawing(656, round(tall) + 72, "The model of Part I", f"{DESC}; {name}.", say)

    def look(part: str, steps: str) -> str:
        dim = ' display="none"' if steps in ALONE else ' opacity=".15"'
        return "" if part in parts.split() else dim

    frame = f'<rect x="4" y="{top}" width="{width - 8}" height="{height}" fill="none"'
    size = f'viewBox="0 {top} {width} {height}" width="480" height="{tall:g}"'
    phone = f".part{{transform:translate(0,38px)scale({(tall + 33) / tall:.2f})}}"
    d.parts += [
        f"<style>@media(max-width:500px){{{PHONE}{phone}}}</style>",
        f'<defs><g id="model">{picture(say, look)}</g></defs>',
        '<svg class="map" x="8" y="6" width="114" height="152" viewBox="0 0 480 640">',
        f'<use href="#model"/>{frame} stroke="{INK}" stroke-width="5"/></svg>',
        f'<g class="part" transform="translate(150 56)"><svg {size}><use href="#model"/></svg></g>',
    ]
    d.text(180, 28, f"**{name}**", SMALL, "start")
    return d.svg()


DIAGRAMS["machine"] = whole
DIAGRAMS |= {f"machine_{chapter}": partial(lit, chapter) for chapter in LIT}
