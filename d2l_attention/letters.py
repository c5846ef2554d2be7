"""The text of Part I: this book's own English, in a copy that no longer changes, as numbers."""

from collections.abc import Iterator
from importlib.resources import files

import numpy as np

TEXT = (files("d2l_attention") / "data" / "book.txt").read_text("utf-8")
SYMBOLS = sorted(set(TEXT))  # letters, digits, marks; a letter is its number here
BLOCKS = np.array_split([SYMBOLS.index(symbol) for symbol in TEXT], 100)
SEEN = np.concatenate([block for i, block in enumerate(BLOCKS) if i % 10 < 9])
APART = np.concatenate(BLOCKS[9::10])  # every tenth block, never trained on
UNSEEN = APART[: 200 * 65].reshape(200, 65)


def windows(steps: int = 200, n: int = 64, b: int = 16) -> Iterator[np.ndarray]:
    """Yield for each step texts (b, n + 1) from anywhere in what is seen, always the same."""
    rng = np.random.default_rng(0)
    for _ in range(steps):
        first = rng.integers(0, len(SEEN) - n, b)[:, None]
        yield SEEN[first + np.arange(n + 1)]
