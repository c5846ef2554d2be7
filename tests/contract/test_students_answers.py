"""Answers as students write them with a framework's functions: the check names their mistakes."""

import pytest

from d2l_attention.practice import check
from tests.contract.framework import ours, xp

INF = float("inf")


def entropy(scores, keep):
    weights = ours.masked_softmax(scores, mask=keep)
    return -xp.sum(weights * xp.log(xp.where(weights > 0, weights, 1)), -1)


def entropy_by_nansum(scores, keep):
    weights = ours.masked_softmax(scores, mask=keep)
    return -xp.nansum(weights * xp.log(weights), -1)


def additive_one_by_one(queries, keys, W_q, W_k, w_v):  # too large, behind a map
    q, k = queries @ xp.swapped(W_q), keys @ xp.swapped(W_k)
    return xp.vmap(lambda q, k: xp.einsum("nmh,h->nm", xp.tanh(q[:, None] + k), w_v))(q, k)


def entropies(blocks):  # with the state in one array (n, 3)
    state = None
    for a in blocks:
        c, s, o = (-INF, 0.0, 0.0) if state is None else (state[:, i : i + 1] for i in range(3))
        new = xp.maximum(xp.asarray(c), xp.amax(a, -1)[..., None])
        shrink, e = xp.exp(c - new), xp.exp(a - new)
        s = shrink * s + xp.sum(e, -1)[..., None]
        o = shrink * o + xp.sum(e * a, -1)[..., None]
        state = xp.concatenate([new, s, o], -1)
    return (new + xp.log(s) - o / s)[:, 0]


def entropies_of_a_list(blocks):
    return entropies([xp.concatenate(list(blocks), -1)])


def entropies_in_two_passes(blocks):
    largest = -INF
    for block in blocks:
        largest = xp.maximum(xp.asarray(largest), xp.amax(block, -1))
    return largest + xp.log(sum(xp.sum(xp.exp(block - largest[:, None]), -1) for block in blocks))


@pytest.mark.parametrize(
    ("number", "answer", "mistake", "says"),
    [
        ("4.3", entropy, None, "passed"),
        ("4.3", entropy_by_nansum, "gradient", "not finite"),
        ("7.3", additive_one_by_one, "an array too large", "makes an array of shape"),
        ("9.2", entropies, None, "passed"),
        ("9.2", entropies_of_a_list, "exception", "you keep what has gone by"),
        ("9.2", entropies_in_two_passes, "exception", "it can be read only once"),
    ],
)
def test_answers_of_students(number, answer, mistake, says):
    result = check(number, answer)
    assert result.mistake == mistake
    assert says in result.text()
