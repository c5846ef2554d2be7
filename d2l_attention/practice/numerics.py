"""What the right answers of several chapters are made of, in NumPy."""

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the softmax of scores of any shape along one axis."""
    exponentials = np.exp(scores - scores.max(axis, keepdims=True))
    return exponentials / exponentials.sum(axis, keepdims=True)


def normalized(similarity: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return similarities divided by their sum along one axis; a sum of 0 leaves zeros."""
    totals = similarity.sum(axis, keepdims=True)
    return similarity / np.where(totals == 0, 1, totals)


def masked_softmax(scores: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Return the softmax over the keys that a mask keeps; a fully masked row becomes zeros."""
    kept = np.where(keep, scores, -np.inf)
    largest = kept.max(-1, keepdims=True)
    return normalized(np.exp(kept - np.where(np.isfinite(largest), largest, 0)))


def entropy(weights: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the entropy of weights along one axis, in nats; 0 log 0 counts as 0."""
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis)


def distances(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of every query from every key: (n, d), (m, d) -> (n, m)."""
    return np.sqrt(((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(-1))


def transposed(x: np.ndarray) -> np.ndarray:
    """Return an array with its last two axes swapped."""
    return x.swapaxes(-1, -2)


def products(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the dot product of every query with every key: (..., n, d), (..., m, d) -> n by m."""
    return queries @ transposed(keys)
