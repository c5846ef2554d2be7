"""Attention with loops over Python's own float64: slow, and nothing shared with the module."""

import math
from collections.abc import Callable

import numpy as np

from d2l_attention.frameworks import to_numpy

KERNELS = {
    "gaussian": lambda r: math.exp(-r * r / 2),
    "boxcar": lambda r: 1.0 if abs(r) <= 1 else 0.0,
    "triangular": lambda r: max(0.0, 1 - abs(r)),
    "epanechnikov": lambda r: 0.75 * max(0.0, 1 - r * r),
    "constant": lambda r: 1.0,
}


def masked_softmax(X, lens=None, mask=None) -> np.ndarray:
    """Return the weights for scores (b, ..., n, m), row by row; a mask says: may attend."""
    X, weights = np.asarray(X, np.float64), np.zeros(np.shape(X))
    keep = np.broadcast_to(True if mask is None else mask, X.shape)
    lens = np.asarray(X.shape[-1] if lens is None else to_numpy(lens))
    for index in np.ndindex(X.shape[:-1]):
        length = lens[(*index[:1], *index[-1:])[: lens.ndim]]  # one for all, (b,) or (b, n)
        valid = [j for j in range(length) if keep[index][j]]
        top = max((X[index][j] for j in valid), default=0.0)
        total = sum(math.exp(X[index][j] - top) for j in valid)
        for j in valid:
            weights[index][j] = math.exp(X[index][j] - top) / total
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


def bilinear_score(q, k, W_q, W_k=None) -> float:  # None: the keys as they are
    return scaled_dot_score([dot(w, q) for w in W_q], [dot(w, k) for w in W_k] if W_k else k)


def cosine_score(q, k, log_ratio, temperature) -> float:
    lengths = math.sqrt(dot(q, q)) * math.sqrt(dot(k, k))
    return dot(q, k) / lengths / temperature / math.exp(log_ratio) if lengths else 0.0
