"""What the right answers of several chapters are made of, in NumPy."""

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the softmax of scores of any shape along one axis."""
    exponentials = np.exp(scores - scores.max(axis, keepdims=True))
    return exponentials / exponentials.sum(axis, keepdims=True)
