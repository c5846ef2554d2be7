"""The exercises of chapter 7: pairs of queries and keys, additive scores, their memory."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax


def pairs(queries, keys):
    return np.hstack([np.repeat(queries, len(keys), 0), np.tile(keys, (len(queries), 1))])


def some_vectors(rng):
    yield np.array([[10.0, 11, 12], [20, 21, 22]]), np.array([[1.0, 2], [3, 4], [5, 6]])
    for n, q_size, m, k_size in ((3, 4, 5, 2), (4, 2, 6, 3)):
        yield rng.normal(size=(n, q_size)), rng.normal(size=(m, k_size))


def projected(queries, keys, W_q, W_k):
    q, k = queries @ W_q.T, keys @ W_k.T
    return q[:, :, None], k[:, None]  # (b, n, 1, h), (b, 1, m, h)


def hidden_units(queries, keys, W_q, W_k):
    return np.tanh(np.add(*projected(queries, keys, W_q, W_k)))


def all_scores(queries, keys, W_q, W_k, w_v):
    return hidden_units(queries, keys, W_q, W_k) @ w_v


def early_tanh(queries, keys, W_q, W_k, w_v):
    q, k = projected(queries, keys, W_q, W_k)
    return (np.tanh(q) + np.tanh(k)) @ w_v


def tiled(queries, keys, W_q, W_k, w_v):
    q, k = queries @ W_q.T, keys @ W_k.T
    (b, n, h), m = q.shape, k.shape[1]
    return np.tanh(np.tile(q, (1, m, 1)).reshape(b, n, m, h) + k[:, None]) @ w_v


def keys_one_by_one(queries, keys, W_q, W_k, w_v):
    q, k = queries @ W_q.T, keys @ W_k.T
    (b, n, h), m = q.shape, k.shape[1]
    return np.tanh(q[:, :, None] + np.repeat(k, n, 1).reshape(b, n, m, h)) @ w_v


def reshaped(queries, keys, W_q, W_k, w_v):
    q, k = queries @ W_q.reshape(W_q.shape[::-1]), keys @ W_k.reshape(W_k.shape[::-1])
    return np.tanh(q[:, :, None] + k[:, None]) @ w_v


def layers(rng):
    for b, n, m, q_size, k_size, h in ((1, 2, 3, 4, 2, 5), (2, 4, 3, 5, 6, 7), (3, 2, 5, 4, 2, 6)):
        sizes = (b, n, q_size), (b, m, k_size), (h, q_size), (h, k_size), (h,)
        yield tuple(rng.normal(size=size) for size in sizes)


EXERCISES = (
    Exercise(
        "7.1",
        (768_000, 3_072_000, 17),
        mistakes=(
            Mistake(
                "batch forgotten",
                "You have counted one example. All examples of the minibatch are there at once.",
                (192_000, 768_000, 68),
            ),
            Mistake(
                "added in place of multiplied",
                "You have counted the projections, one vector per query and one per key. "
                "The step in the middle holds a vector for each pair of them: n times m.",
                (40_960, 163_840, 17),
            ),
            Mistake(
                "scores counted",
                "You have counted the scores. The hidden units come before them, h for each pair.",
                (6_000, 24_000, 2_184),
            ),
            Mistake(
                "numbers, not bytes",
                "The second number should be bytes: each number of float32 takes 4 of them.",
                (768_000, 768_000, 17),
            ),
            Mistake(
                "bits",
                "The second number should be bytes, and yours are bits: float32 takes 32 bits, "
                "which are 4 bytes.",
                (768_000, 24_576_000, 17),
            ),
            Mistake(
                "rounded up",
                "One query more than the block can hold: round the quotient down.",
                (768_000, 3_072_000, 18),
            ),
            Mistake(
                "block in bytes",
                "The size of the block counts numbers, not bytes: do not divide by 4 again.",
                (768_000, 3_072_000, 4),
            ),
        ),
        hints=(
            "Which shape has the tensor q + k after broadcasting? It has four axes.",
            "It holds b * n * m * h numbers of 4 bytes each.",
            "One query, for all examples, takes b * m * h numbers: "
            "how often do they go into the block?",
        ),
    ),
    Exercise(
        "7.2",
        pairs,
        some_vectors,
        mistakes=(
            Mistake(
                "queries tiled",
                "Both are repeated as a whole, so the queries and the keys take turns together "
                "and some pairs come twice, others never. Repeat each query as often as there "
                "are keys, one copy after the other: repeat_interleave.",
                lambda queries, keys: np.hstack(
                    [np.tile(queries, (len(keys), 1)), np.tile(keys, (len(queries), 1))]
                ),
            ),
            Mistake(
                "keys row by row",
                "Both are repeated row by row, so the queries and the keys move on together. "
                "The list of all keys is to come again for each query: repeat it as a whole.",
                lambda queries, keys: np.hstack(
                    [np.repeat(queries, len(keys), 0), np.repeat(keys, len(queries), 0)]
                ),
            ),
            Mistake(
                "query runs fastest",
                "All pairs are there, in another order: yours keeps the key and changes the "
                "query. A reshape to (n, m) would then mix them up. Keep the query, change the "
                "key.",
                lambda queries, keys: np.hstack(
                    [np.tile(queries, (len(keys), 1)), np.repeat(keys, len(queries), 0)]
                ),
            ),
            Mistake(
                "key first",
                "Your rows are [k; q]. The columns of W = [W_q | W_k] expect the query first.",
                lambda queries, keys: np.hstack(
                    [np.tile(keys, (len(queries), 1)), np.repeat(queries, len(keys), 0)]
                ),
            ),
            Mistake(
                "one axis for each",
                "The pairs are right, in a tensor with three axes, (n, m, ...). The network "
                "would read it, but the task asks for a list of n * m rows.",
                lambda queries, keys: pairs(queries, keys).reshape(len(queries), len(keys), -1),
                lambda answer, target, queries, keys: (
                    answer.shape == (len(queries), len(keys), target.shape[1])
                ),
            ),
            Mistake(
                "not every pair",
                "Each query is to meet each key: that makes n * m rows.",
                when=lambda answer, target, queries, keys: (
                    answer.ndim == 2 and len(answer) in (len(queries), len(keys))
                ),
            ),
        ),
        hints=(
            "Write down the six rows for two queries and three keys.",
            "The left half repeats each query m times in a row, the right half repeats the whole "
            "list of keys n times.",
            "queries.repeat_interleave(m, dim=0) beside keys.repeat(n, 1), joined by torch.cat "
            "along dim=1.",
        ),
    ),
    Exercise(
        "7.3",
        all_scores,
        layers,
        mistakes=(
            Mistake(
                "tanh before the sum",
                "You bend query and key apart and add them afterward. Such a score is a sum of a "
                "query part and a key part, and the softmax forgets the query. Add, then bend.",
                early_tanh,
            ),
            Mistake(
                "no tanh",
                "The tanh is missing. Without it the softmax forgets the query.",
                lambda queries, keys, W_q, W_k, w_v: (
                    np.add(*projected(queries, keys, W_q, W_k)) @ w_v
                ),
            ),
            Mistake(
                "tanh around the score",
                "You bend the score. The hidden units are to be bent, before w_v weighs them.",
                lambda queries, keys, W_q, W_k, w_v: np.tanh(
                    np.add(*projected(queries, keys, W_q, W_k)) @ w_v
                ),
            ),
            Mistake(
                "no w_v",
                "You add the hidden units up, all with the weight 1. Weigh them with w_v.",
                lambda queries, keys, W_q, W_k, w_v: hidden_units(queries, keys, W_q, W_k).sum(-1),
            ),
            Mistake(
                "hidden units not added up",
                "These are the hidden units, h for each pair. The product with w_v must sum over "
                "the last axis: @, not *.",
                lambda queries, keys, W_q, W_k, w_v: hidden_units(queries, keys, W_q, W_k) * w_v,
                lambda answer, target, *inputs: answer.shape[:-1] == target.shape,
            ),
            Mistake(
                "difference in place of sum",
                "You subtract the keys from the queries. The score is additive: add them.",
                lambda queries, keys, W_q, W_k, w_v: all_scores(queries, keys, W_q, -W_k, w_v),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across, (b, n, m), and yours are (b, m, n): the new "
                "axes stand the wrong way round. (b, n, 1, h) + (b, 1, m, h) is meant.",
                lambda queries, keys, W_q, W_k, w_v: all_scores(
                    queries, keys, W_q, W_k, w_v
                ).swapaxes(1, 2),
            ),
            Mistake(
                "repeated in the wrong order",
                "The queries are repeated as a whole and then reshaped, so that query i has left "
                "row i. Repeat each query m times in a row (repeat_interleave), or let "
                "broadcasting do it with a new axis.",
                tiled,
            ),
            Mistake(
                "keys repeated in the wrong order",
                "The queries are in order. The keys are repeated one by one, so that key j has "
                "left column j: repeat their whole list, or let broadcasting do it.",
                keys_one_by_one,
            ),
            Mistake(
                "sigmoid in place of tanh",
                "You bend with a sigmoid, which runs from 0 to 1. By (7.5), the tanh of x is "
                "twice the sigmoid of 2x, less 1.",
                lambda queries, keys, W_q, W_k, w_v: (
                    1 / (1 + np.exp(-np.add(*projected(queries, keys, W_q, W_k)))) @ w_v
                ),
            ),
            Mistake(
                "reshape in place of transpose",
                "You reshape the matrices to make them fit. That leaves the numbers in their "
                "order: take the transpose, W_q.T and W_k.T.",
                reshaped,
            ),
            Mistake(
                "weights, not scores",
                "These are attention weights. The task asks for the scores, before the softmax.",
                lambda *inputs: softmax(all_scores(*inputs)),
            ),
        ),
        hints=(
            "Project first: queries @ W_q.T has the shape (b, n, h), keys @ W_k.T has (b, m, h).",
            "Make the shapes (b, n, 1, h) and (b, 1, m, h) with unsqueeze, and add.",
            "Bend the sum with tanh; @ w_v then turns (b, n, m, h) into (b, n, m).",
        ),
    ),
)
