"""Answers as students write them with a framework's functions: the check names their mistakes."""

import pytest

from d2l_attention.practice import check
from tests.contract.framework import ours, xp

INF = float("inf")


def plogp(weights):
    return -weights * xp.log(weights)


def entropy_of(weights):
    return -xp.sum(weights * xp.log(xp.where(weights > 0, weights, 1)), -1)


def additive_at_once(queries, keys, W_q, W_k, w_v):
    q, k = queries @ xp.swapped(W_q), keys @ xp.swapped(W_k)
    return xp.einsum("bnmh,h->bnm", xp.tanh(q[:, :, None] + k[:, None]), w_v)


def additive_one_by_one(queries, keys, W_q, W_k, w_v):  # as large, behind a map
    q, k = queries @ xp.swapped(W_q), keys @ xp.swapped(W_k)
    return xp.vmap(lambda q, k: xp.einsum("nmh,h->nm", xp.tanh(q[:, None] + k), w_v))(q, k)


def entropy(scores, keep):
    return entropy_of(ours.masked_softmax(scores, mask=keep))


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
    ("number", "answer", "mistake"),
    [
        ("4.3", entropy, None),
        ("4.3", lambda s, keep: xp.sum(plogp(ours.masked_softmax(s, mask=keep)), -1), "zero times"),
        (
            "4.3",
            lambda s, keep: xp.nansum(plogp(ours.masked_softmax(s, mask=keep)), -1),
            "gradient",
        ),
        ("4.3", lambda s, keep: xp.mean(entropy(s, keep)), "wrong shape"),
        ("5.2", xp.vmap(lambda query, keys: xp.einsum("d,md->m", query, keys)), None),
        ("7.3", additive_at_once, "an array too large"),
        ("7.3", additive_one_by_one, "an array too large"),
        ("9.2", entropies, None),
    ],
)
def test_answers_of_students(number, answer, mistake):
    result = check(number, answer)
    assert result.passed is (mistake is None)
    assert mistake is None or result.mistake.startswith(mistake)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (entropies_of_a_list, "you keep what has gone by"),
        (entropies_in_two_passes, "it can be read only once"),
    ],
)
def test_a_stream_is_read_once_and_not_kept(answer, complaint):
    result = check("9.2", answer)
    assert not result.passed
    assert complaint in result.message
