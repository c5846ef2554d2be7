"""Compare the weights of trained models that outputs hold: nearly, and the text around exactly.

Training in double precision gives the same numbers on every CPU but for the last digits, and a
float16 keeps few digits: only one that lies between two float16s may come out as its neighbor.
"""

import base64
import copy
import re

import numpy as np
from nbformat import NotebookNode

HTML = "text/html"
WEIGHTS = re.compile(r'(?<= data-weights=")[\w+/= ]+(?=")')
RELATIVE, ABSOLUTE = 2**-10, 1e-5  # the gap between two neighbors, and what is nearly 0


def weights_apart(outputs: list[NotebookNode]) -> tuple[list[str], list[NotebookNode]]:
    """Return the weights that some outputs hold, as base64, and the outputs without these."""
    rest, found = copy.deepcopy(outputs), []
    for output in rest:
        if html := output.get("data", {}).get(HTML):
            found += WEIGHTS.findall(html)
            output["data"][HTML] = WEIGHTS.sub("", html)
    return found, rest


def weights_difference(new: list[str], stored: list[str]) -> str | None:
    """Say in one line how weights differ from the stored ones, or return None."""
    if [len(text) for text in new] != [len(text) for text in stored]:
        return f"{len(new)} models hold other numbers of weights than the {len(stored)} stored"
    for text, before in zip(new, stored, strict=True):
        values, wanted = decoded(text), decoded(before)
        apart = np.abs(values - wanted) - RELATIVE * np.abs(wanted)
        if not (apart <= ABSOLUTE).all():
            at = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
            return f"weight {at} of {len(values)} is {values[at]:g}, stored {wanted[at]:g}"
    return None


def decoded(text: str) -> np.ndarray:
    parts = (base64.b64decode(part) for part in text.split())
    return np.concatenate([np.frombuffer(part, "<f2") for part in parts]).astype(np.float64)
