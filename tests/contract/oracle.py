"""Attention with plain loops over Python's own float64: slow, and nothing shared with the module.

Arrays come in as nested lists (`array.tolist()`); results go out as nested lists.
"""

import itertools
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


def at(nested, index):
    for i in index:
        nested = nested[i]
    return nested


def allowed(index, j, lens=None, mask=None, mask_shape=()) -> bool:
    """May row `index` = (example, ..., query) attend to key j?"""
    if lens is not None:
        length = lens[index[0]]
        length = length[index[-1]] if isinstance(length, list) else length
        if j >= length:
            return False
    if mask is None:
        return True
    full = (*index, j)[len(index) + 1 - len(mask_shape) :]
    return at(mask, [0 if size == 1 else i for i, size in zip(full, mask_shape, strict=True)])


def softmax_of(scores: list[float], keep: list[bool]) -> list[float]:
    valid = [s for s, k in zip(scores, keep, strict=True) if k]
    if not valid:
        return [0.0] * len(scores)
    top = max(valid)
    total = sum(math.exp(s - top) for s in valid)
    return [math.exp(s - top) / total if k else 0.0 for s, k in zip(scores, keep, strict=True)]


def masked_softmax(X, shape, lens=None, mask=None, mask_shape=()) -> dict[tuple, float]:
    """Return {index: weight} for scores of any number of axes."""
    weights = {}
    for index in itertools.product(*map(range, shape[:-1])):
        keep = [allowed(index, j, lens, mask, mask_shape) for j in range(shape[-1])]
        for j, weight in enumerate(softmax_of(at(X, index), keep)):
            weights[(*index, j)] = weight
    return weights


def attention(score, queries, keys, values, lens=None, mask=None, mask_shape=(), value_size=0):
    """Return outputs and weights of one minibatch without heads, for any score(query, key)."""
    outputs, weights = [], []
    for i, (qs, ks, vs) in enumerate(zip(queries, keys, values, strict=True)):
        outputs.append([])
        weights.append([])
        for r, q in enumerate(qs):
            keep = [allowed((i, r), j, lens, mask, mask_shape) for j in range(len(ks))]
            row = softmax_of([score(q, k) for k in ks], keep)
            blend = [0.0] * value_size
            for weight, v in zip(row, vs, strict=True):
                if weight:
                    blend = [total + weight * x for total, x in zip(blend, v, strict=True)]
            outputs[-1].append(blend)
            weights[-1].append(row)
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


def by_loops(score: Callable, arrays, lens=None, mask=None) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs and weights for NumPy arrays of any sizes."""
    queries, keys, values = (np.asarray(x, np.float64) for x in arrays)
    shape, v = () if mask is None else mask.shape, values.shape[-1]
    lists = (x.tolist() for x in (queries, keys, values))
    mask = None if mask is None else mask.tolist()
    outputs, weights = attention(score, *lists, as_lists(lens), mask, shape, v)
    b, n = queries.shape[:2]
    return np.reshape(outputs, (b, n, v)), np.reshape(weights, (b, n, keys.shape[1]))


def as_lists(lens):
    return lens if lens is None or isinstance(lens, list) else np.asarray(lens).tolist()
