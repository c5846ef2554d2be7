"""Replace the theme's icon script, 1.5 MB, by a style sheet of the icons that the pages use."""

import re
from urllib.parse import quote

USED = re.compile(r"\bfa-([a-z][a-z0-9-]*)\b")
SHAPE = r'(?<![\w-])"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+",(\[[^\]]*\]|"[^"]*")\]'
BASE = (
    ":is(i,span)[class*=fa-]{display:inline-block;width:1em;height:1em;vertical-align:-.125em;"
    "background:currentColor;"
    "mask:var(--icon,linear-gradient(#0000,#0000)) center/contain no-repeat}"
    ":is(i,span)[class*=fa-]::before{content:none!important}"
)


def icons_used(pages: list[str]) -> set[str]:
    """Return the names after `fa-` in the texts of pages and scripts."""
    return {name for page in pages for name in USED.findall(page)}


def icon_styles(names: set[str], script: str) -> str:
    """Return the style sheet of those icons that the icon script defines."""
    rules = [BASE]
    for name in sorted(names):
        if match := re.search(SHAPE.format(name=re.escape(name)), script):
            width, height, shape = match.groups()
            path = shape if shape.startswith('"') else shape[1:-1].split(",")[-1]
            svg = (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
                f"<path d={path}/></svg>"
            )
            rules.append(f'.fa-{name}{{--icon:url("data:image/svg+xml,{quote(svg)}")}}')
    return "\n".join(rules) + "\n"
