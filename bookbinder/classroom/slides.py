"""Cut a page of the site into slides, by the form of its text alone.

A slide is one thing: an equation, a cell, a figure, an explorer, a list, a table, a box. Above it
stands the sentence before it; then come, each with the next key, its output and the first sentence
after it: the room predicts, runs, explains. The rest of the prose is for the speaker's notes.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import bs4
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from bookbinder.chapters import NO_SLIDE
from bookbinder.classroom.slide_code import count, for_a_wall

SKIPPED = re.compile(r"imports|check")  # what a fold says that it has
RESULT = re.compile(r'class="(?:fragment )?(?:out|picture|bd-article live)')
LONGEST_LEAD = 330  # letters
LONGEST_LIST = 800  # letters
BESIDE_ITS_QUESTION = 170  # letters above an explorer, which has a sentence of its own
ROOM = (1152, 520)  # CSS pixels that a picture may have, and how much it may grow
GROWTH = 2.0
TALL = 0.7  # height by width of a picture that stands beside its text
LINE = 36  # CSS pixels of a line of code
WIDEST, WRAPPED = 105, 80  # letters of a line that need not, and may, go on in the next
MOST_LINES, MOST_ABOVE = 21, 15  # of code with printed lines, and with a picture
MOST_WITH_GAPS = 6  # lines; a longer output is shown without blank ones
ENOUGH = 0.8  # of a picture's height
SENTENCE = re.compile(r"\n(?![^<]*>)")  # in this book a line is a sentence
# A sentence that begins so needs the one before it.
LEANS = re.compile(
    r".*\bsuch\b|(?:\S+ ){0,4}(?:it|they|this|these|them|its|their)\b|(?:It|They|This|These|That|"
    r"Those|Such|So|Then|Thus|Their|Its|Both|But|And|Or|Only|Neither|Here|There|Now|Each|All|None|"
    r"Instead|Otherwise|Again|Below|Look|Which one|[a-z])\b"
)
TO_LOOK = re.compile(r"\b[Ll]ook (?:at|for|where|how)\b|^Compare\b|^Watch\b")
OF_A_PICTURE = re.compile(r"\b(?:picture|diagram|panels?|heat maps?)\b")
# A sentence that leads on, not back.
ANNOUNCES = re.compile(
    r"^(?:There (?:is|are)|In the (?:picture|diagram|explorer)|Next|Now|Let |Take |Suppose|But )"
    r"|^(?:Two|Three|Four|Five) \w+ (?:follow|remain|are)\b|\b(?:two|three|four|five) \w+\.$"
    rf"|{TO_LOOK.pattern}"
)


@dataclass
class Slide:
    heading: str
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        heading = f"<h2>{self.heading}</h2>"
        notes = f'<aside class="notes">{"".join(self.notes)}</aside>' if self.notes else ""
        return f"{heading}{''.join(self.parts)}{notes}"


@dataclass
class Cutter:
    """What stands between the last slide and the next: paragraphs, each a list of sentences."""

    heading: str
    slides: list[Slide] = field(default_factory=list)
    waiting: list[list[str]] = field(default_factory=list)

    def prose(self, paragraph: bs4.Tag) -> None:
        sentences = filter(None, map(str.strip, SENTENCE.split(paragraph.decode_contents())))
        self.waiting.append(list(sentences))

    def show(self, *parts: str) -> None:
        """Make a slide of a thing; the waiting prose ends the slide before and leads to this."""
        longest = BESIDE_ITS_QUESTION if "d2l-" in parts[0] else LONGEST_LEAD
        lead, rest = lead_of(self.waiting, longest)
        if len(self.waiting) > 1 or self.shows_result():
            self.conclude(rest)
        self.waiting = []
        if lead and not fits(plain(lead[-1]), "".join(parts)):
            self.waiting, lead = [lead], []
        notes = [paragraph_of(sentences) for sentences in rest if sentences]
        shown = [f'<div class="lead">{paragraph_of(lead)}</div>'] if lead else []
        self.slides.append(Slide(self.heading, [*shown, *parts], notes))

    def shows_result(self) -> bool:
        """Say whether the last slide shows what a cell gave, which the text then explains."""
        return bool(RESULT.search(self.shown()))

    def shown(self) -> str:
        return "".join(self.slides[-1].parts) if self.slides else ""

    def conclude(self, paragraphs: list[list[str]]) -> None:
        """Give the last slide the first of these sentences, and its notes that paragraph."""
        if not (self.slides and paragraphs and paragraphs[0]):
            return
        first = paragraphs[0][0]
        if announces(first) or first.startswith("<strong") or "d2l-explorer" in self.shown():
            return
        sentence, *more = paragraphs.pop(0)
        shown = "conclusion" if plain(first)[:1].islower() else "conclusion fragment"
        self.slides[-1].parts.append(f'<div class="{shown}">{paragraph_of([sentence])}</div>')
        self.slides[-1].notes += [paragraph_of(more)] if more else []

    def close(self) -> list[Slide]:
        """Return the slides of a section; one without a thing to show is its first sentences."""
        if not self.slides and self.waiting:
            first, *rest = self.waiting
            shown = [s for at, s in enumerate(first) if len(plain(*first[: at + 1])) < LONGEST_LEAD]
            self.waiting = [first[len(shown) :], *rest]
            part = f'<div class="lead">{paragraph_of(shown)}</div>'
            self.slides.append(Slide(self.heading, [part]))
        else:
            self.conclude(self.waiting)
        if self.slides:
            self.slides[-1].notes += [paragraph_of(p) for p in self.waiting if p]
        return self.slides


def plain(*html: str) -> str:
    return re.sub(r"<mjx-container.*?</mjx-container>|<[^>]+>", "", " ".join(html)).strip()


def paragraph_of(sentences: Iterable[str]) -> str:
    return f"<p>{' '.join(sentences)}</p>"


def fits(sentence: str, html: str) -> bool:
    """Say whether a sentence may be about this thing: one about a picture waits for a picture."""
    if OF_A_PICTURE.search(sentence):
        return "<figure" in html or "d2l-" in html
    return bool(RESULT.search(html)) or 'class="code' not in html or not TO_LOOK.search(sentence)


def announces(sentence: str) -> bool:
    return bool(ANNOUNCES.search(plain(sentence))) or plain(sentence).endswith(":")


def belongs(sentence: str, following: str) -> bool:
    """Say whether the second of two sentences cannot stand without the first."""
    return bool(LEANS.match(plain(following))) or announces(sentence)


def lead_of(paragraphs: list[list[str]], longest: int) -> tuple[list[str], list[list[str]]]:
    """Return the sentences that lead to a thing, and the paragraphs without them.

    These are the last one and, as long as a sentence needs it, the one before; "Break it:" and the
    like stand with all that follows.
    """
    if not paragraphs:
        return [], []
    *before, last = paragraphs
    aside = [s for s in last if plain(s).startswith("(")]
    last = [s for s in last if s not in aside]
    at = max(len(last) - 1, 0)
    while at and (last[0].startswith("<strong") or belongs(last[at - 1], last[at])):
        if len(plain(*last[at - 1 :])) > longest:
            break
        at -= 1
    rest = last[:at] + aside
    if at and not before and re.search(r"[^.?!”)]$", plain(last[-1])):
        before = [[]]  # an unfinished sentence: its whole paragraph leads on
    return last[at:], [*before, rest] if rest else before


def slides_of(section: bs4.Tag) -> list[Slide]:
    """Return the slides of a section of a page, with those of the sections in it."""
    heading = section.find(re.compile("^h[2-4]$"), recursive=False)
    cutter = Cutter(heading.decode_contents().strip())
    inner: list[Slide] = []
    for child in section.find_all(recursive=False):
        kind = set(child.get("class", []))
        if child.name == "section":
            inner += slides_of(child)
        elif child.name == "p" and child.find("img"):
            cutter.show(picture(child.img))
        elif child.name == "p":
            cutter.prose(child)
        elif "cell" in kind:
            show_cell(cutter, child, kind)
        elif child.name == "details" and "hint" not in kind and cutter.slides:
            child.summary.decompose()
            cutter.slides[-1].notes.append(child.decode_contents())
        elif "highlight-default" in kind:
            cutter.show(
                f'<div class="code highlight"><pre>{child.pre.decode_contents()}</pre></div>'
            )
        elif "math" in kind:
            cutter.show(str(child))
        elif child.name in ("ul", "ol"):
            show_list(cutter, child)
        elif child.name == "blockquote" or "pst-scrollable-table-container" in kind:
            cutter.show(f'<div class="bd-article thing">{child}</div>')
    return [*cutter.close(), *inner]


def show_list(cutter: Cutter, items: bs4.Tag) -> None:
    """Make slides of a list, as many as its letters need."""
    pages: list[list[bs4.Tag]] = [[]]
    for item in items.find_all("li", recursive=False):
        letters = len(plain(*map(str, [*pages[-1], item])))
        pages.append([item]) if letters > LONGEST_LIST else pages[-1].append(item)
    start = 1
    for page in pages:
        of = f'<{items.name} start="{start}">{"".join(map(str, page))}</{items.name}>'
        cutter.show(f'<div class="bd-article thing">{of}</div>')
        start += len(page)


def show_cell(cutter: Cutter, cell: bs4.Tag, kind: Collection[str]) -> None:
    """Make slides of a cell: its code, where it is not folded, and what it shows."""
    folded = cell.select_one("details.hide")
    source = "" if folded else cell.select_one(".cell_input").get_text().strip()
    shown = list(outputs(cell))
    skipped = folded and SKIPPED.search(folded.summary.get_text())
    if f"tag_{NO_SLIDE}" in kind or skipped or not (source or shown):
        return
    *before, last = for_a_wall(source) if source else [""]
    for part in before:
        cutter.show(code(part))
    if not source:
        cutter.show(*(html for html, _ in shown))
        return
    height = sum(map(float, re.findall(r"--height: (\d+)", "".join(html for html, _ in shown))))
    lines = sum(lines for _, lines in shown)
    most = MOST_ABOVE - height * ENOUGH / LINE if height else MOST_LINES
    if shown and count(last) + lines > most:
        cutter.show(code(last))
        cutter.show(*(html for html, _ in shown))
    else:
        hidden = (re.sub(r'class="', 'class="fragment ', html, count=1) for html, _ in shown)
        cutter.show(code(last), *hidden)


def outputs(cell: bs4.Tag) -> Iterable[tuple[str, int]]:
    """Yield each output of a cell, and how many lines of text it has."""
    for output in cell.select(".cell_output > *"):
        if output.name == "img":
            yield picture(output), 0
        elif "text_html" in output.get("class", []):
            if output.select_one("details.calls") is None:
                yield f'<div class="bd-article live">{output}</div>', 10
        elif output.pre is not None:
            text, widest = output.pre.decode_contents().rstrip(), WIDEST
            if "traceback" in output["class"]:  # its last lines say what is wrong
                text, widest = text.rpartition("\n\n")[2], WRAPPED
            if text.count("\n") > MOST_WITH_GAPS:
                text = re.sub(r"\n\s*\n", "\n", text)
            lines = plain(text).split("\n")
            letters = max(map(len, lines))
            style = f'style="--letters: {letters if letters <= widest else WRAPPED}"'
            yield f'<div class="out highlight"><pre {style}>{text}</pre></div>', len(lines)


def code(source: str) -> str:
    html = highlight(source, PythonLexer(), HtmlFormatter())
    letters = max(map(len, source.split("\n")))
    return f'<div class="code" style="--letters: {letters}">{html}</div>'


def picture(image: bs4.Tag) -> str:
    """Return a picture as large as a slide has room for."""
    width, height = float(image["width"]), float(image["height"])
    scale = min(ROOM[0] / width, ROOM[1] / height, GROWTH)
    kind = "picture tall" if height > TALL * width else "picture"
    image["width"], image["height"] = f"{width * scale:.0f}", f"{height * scale:.0f}"
    return f'<figure class="{kind}" style="--height: {height * scale:.0f}px">{image}</figure>'
