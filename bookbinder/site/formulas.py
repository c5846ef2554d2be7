"""Turn the shapes and formulas that docstrings write in plain letters into TeX."""

import re

NAMES = "softmax|sigmoid|tanh|sqrt|exp|log|max|min|heads"
TOKEN = rf"(?:(?:{NAMES})(?![A-Za-z])|[A-Za-z](?:_[A-Za-z])?(?![A-Za-z_])|\d+|[-+/^=|;,<>()\[\]])"
FORMULA = re.compile(rf"(?<![\w`.'\"])(?:{TOKEN})(?: ?{TOKEN})+(?!\w)")
MARKS = re.compile(
    r"\^|(?:softmax|sigmoid|tanh|sqrt|exp|log)\(|\w / |<=|>=|\((?:\w+, )+\w+\)|\(\w,\)"
)
SQRT = re.compile(r"sqrt\(([^()]*)\)")


def with_math(text: str) -> str:
    """Return Markdown in which the formulas of `text` stand between dollars; code stays."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [FORMULA.sub(lambda m: in_dollars(m[0]), part) for part in parts[::2]]
    return "".join(parts)


def in_dollars(text: str) -> str:
    """Return a formula as TeX between dollars, or the text itself where it is none."""
    tail = ""
    while text and (text[-1] in " ,;=/+-<" or text.count("(") < text.count(")")):
        text, tail = text[:-1], text[-1] + tail
    head = ""
    while words := re.match(r"(?:a|A|I) (?=[A-Za-z(\[|])|[-,;)\]] ", text):
        head, text = head + words[0], text[words.end() :]
    if not MARKS.search(text) or text.count("(") != text.count(")"):
        return head + text + tail
    return f"{head}${tex(text)}${tail}"


def tex(text: str) -> str:
    text = SQRT.sub(r"\\sqrt{\1}", text)
    text = re.sub(r"\^T\b", r"^\\top", text)
    text = text.replace("->", r"\to").replace("<=", r"\le").replace(">=", r"\ge")
    text = re.sub(r"\b(softmax|sigmoid|heads)\b", r"\\mathrm{\1}", text)
    text = re.sub(r"(?<!\\)\b(tanh|exp|log|max|min)\b", r"\\\1", text)
    return text.replace(" ", r"\ ") if re.fullmatch(r"[\w ]+", text) else text
