"""Attention with loops over Python's own float64: slow, and nothing shared with the module."""

import math
from collections.abc import Callable

import numpy as np

KERNELS = {
    "gaussian": lambda r: math.exp(-r * r / 2),
    "boxcar": lambda r: 1.0 if abs(r) <= 1 else 0.0,
    "triangular": lambda r: max(0.0, 1 - abs(r)),
    "epanechnikov": lambda r: 0.75 * max(0.0, 1 - r * r),
    "constant": lambda r: 1.0,
}


def allowed(shape, lens=None, mask=None) -> np.ndarray:
    """May a query attend to a key? Of scores (b, ..., n, m)."""
    keep = np.array(np.broadcast_to(True if mask is None else mask, shape))
    if lens is not None:
        lens = np.asarray(lens)
        for index in np.ndindex(shape[:-1]):
            length = lens[index[0]] if lens.ndim == 1 else lens[index[0], index[-1]]
            keep[index][length:] = False
    return keep


def softmax_of(scores: list[float], keep: list[bool]) -> list[float]:
    valid = [s for s, k in zip(scores, keep, strict=True) if k]
    if not valid:
        return [0.0] * len(scores)
    top = max(valid)
    total = sum(math.exp(s - top) for s in valid)
    return [math.exp(s - top) / total if k else 0.0 for s, k in zip(scores, keep, strict=True)]


def masked_softmax(X, lens=None, mask=None) -> np.ndarray:
    """Return the weights for scores of any number of axes, row by row."""
    X, weights = np.asarray(X, np.float64), np.zeros(np.shape(X))
    keep = allowed(X.shape, lens, mask)
    for index in np.ndindex(X.shape[:-1]):
        weights[index] = softmax_of(X[index].tolist(), keep[index].tolist())
    return weights


def attention(score: Callable, arrays, lens=None, mask=None) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs and weights of one minibatch without heads, for any score(query, key)."""
    queries, keys, values = (np.asarray(x).tolist() for x in arrays)
    sizes = (*np.shape(arrays[0])[:2], np.shape(arrays[1])[1])  # (b, n, m)
    scores, outputs = np.zeros(sizes), np.zeros((*sizes[:2], np.shape(arrays[2])[-1]))
    for i, r, j in np.ndindex(sizes):
        scores[i, r, j] = score(queries[i][r], keys[i][j])
    weights = masked_softmax(scores, lens, mask)
    for i, r, j in np.ndindex(sizes):
        if weight := weights[i, r, j]:
            outputs[i, r] += [float(weight) * x for x in values[i][j]]
    return outputs, weights


def dot(a, b) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def scaled_dot_score(q, k) -> float:
    return dot(q, k) / math.sqrt(len(q))


def additive_score(q, k, W_q, W_k, w_v) -> float:  # w_v: (1, h)
    hidden = [math.tanh(dot(a, q) + dot(b, k)) for a, b in zip(W_q, W_k, strict=True)]
    return dot(w_v[0], hidden)


def distance_score(q, k) -> float:
    return -sum((x - y) ** 2 for x, y in zip(q, k, strict=True)) / (2 * math.sqrt(len(q)))


def bilinear_score(q, k, W_q, W_k=None) -> float:
    """W_k None: the keys as they are."""
    a = [dot(row, q) for row in W_q]
    b = k if W_k is None else [dot(row, k) for row in W_k]
    return dot(a, b) / math.sqrt(len(a))


def cosine_score(q, k, temperature) -> float:
    lengths = math.sqrt(dot(q, q)) * math.sqrt(dot(k, k))
    return dot(q, k) / lengths / temperature if lengths else 0.0
