"""The exercises of chapter 6: scores with heads, and masks of two conventions."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake


def split(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads).swapaxes(1, 2)


def scores_of(q, k, d):
    return q @ k.swapaxes(-1, -2) / np.sqrt(d)


def head_scores(queries, keys, heads):
    return scores_of(split(queries, heads), split(keys, heads), queries.shape[-1] // heads)


def torn(x, heads):
    b, n, d = x.shape
    return x.reshape(b, heads, n, d // heads)


def every_other(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(0, 3, 1, 2)


def reshaped(x):
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2])


def softmax(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def queries_and_keys(rng):
    for b, n, m, d, heads in ((1, 3, 4, 10, 2), (2, 5, 6, 12, 3), (5, 4, 3, 14, 2)):
        yield rng.normal(size=(b, n, d)), rng.normal(size=(b, m, d)), heads


def keep_of(padding, hidden):
    return ~padding[:, None, None] & ~hidden


def two_masks(rng):
    for b, n, m in ((2, 3, 4), (3, 2, 5), (4, 7, 6)):
        lengths = rng.permutation(np.arange(1, m))[:b, None]
        hidden = rng.random((n, m)) < 0.3
        hidden[0, :2] = True, False
        yield np.arange(m) >= lengths, hidden


EXERCISES = (
    Exercise(
        "6.1",
        (1 / 8, 2 / 8, 0.0),
        mistakes=(
            Mistake(
                "padding counted",
                "You share the weight among all eight keys. The last two are padding: they take "
                "no part, and their weight is 0.",
                (1 / 10, 2 / 10, 1 / 10),
            ),
            Mistake(
                "padding in the denominator",
                "The padding has weight 0 in your answer, but it has gone into the sum before: "
                "four of one kind, two of the other and 0 do not make 1. Sum over six keys.",
                (1 / 10, 2 / 10, 0.0),
            ),
            Mistake(
                "each vector counted once",
                "You have taken each vector once. The sum of the softmax runs over keys: one "
                "vector stands in it four times, the other twice.",
                (1 / 3, 2 / 3, 0.0),
            ),
            Mistake(
                "weight of all equal keys together",
                "These are the totals of the four and of the two equal keys. The question is "
                "after the weight of one of them.",
                (1 / 2, 1 / 2, 0.0),
            ),
            Mistake(
                "no exponential",
                "You have divided the scores by their sum. The softmax takes exponentials first, "
                "and exp(0) is 1: a score of 0 is not a weight of 0.",
                (0.0, 1 / 2, 0.0),
            ),
            Mistake(
                "the two kinds swapped",
                "The higher score gets the larger weight, and ln 2 is more than 0.",
                (2 / 8, 1 / 8, 0.0),
            ),
            Mistake(
                "scores, not weights",
                "These are scores. The weights are what the softmax makes of them.",
                (0.0, np.log(2), 0.0),
            ),
            Mistake(
                "uniform",
                "Uniform weights need equal scores. Only the keys of one kind are equal here: "
                "the two kinds have the scores 0 and ln 2.",
                (1 / 6, 1 / 6, 0.0),
            ),
        ),
        hints=(
            "What are exp(0) and exp(ln 2)?",
            "Add the exponentials of the six valid keys: four times the one, twice the other.",
            "The sum is 8. A key of the first kind holds 1 of these 8 parts.",
        ),
    ),
    Exercise(
        "6.2",
        head_scores,
        queries_and_keys,
        mistakes=(
            Mistake(
                "root of the whole size",
                "You divide by the root of all d features. One head multiplies d/heads of them, "
                "and these count under its root.",
                lambda queries, keys, heads: head_scores(queries, keys, heads) / np.sqrt(heads),
            ),
            Mistake(
                "no scale",
                "The products are right and the scale is missing: divide by the root of the size "
                "of one head.",
                lambda queries, keys, heads: scores_of(
                    split(queries, heads), split(keys, heads), 1
                ),
            ),
            Mistake(
                "divided by the size, not by its root",
                "You divide by the size of a head. Divide by its square root.",
                lambda queries, keys, heads: scores_of(
                    split(queries, heads), split(keys, heads), (queries.shape[-1] // heads) ** 2
                ),
            ),
            Mistake(
                "reshape in place of transpose, heads",
                "Your heads are torn: one reshape to (b, heads, n, d/heads) puts features of "
                "several tokens into one row. Split the last axis first, to (b, n, heads, "
                "d/heads), and then swap the two axes in the middle.",
                lambda queries, keys, heads: scores_of(
                    torn(queries, heads), torn(keys, heads), queries.shape[-1] // heads
                ),
            ),
            Mistake(
                "reshape in place of transpose, keys",
                "The heads are split well, but the last two axes of the keys are reshaped. "
                "A reshape leaves the numbers in their order: swap the axes with transpose.",
                lambda queries, keys, heads: (
                    split(queries, heads)
                    @ reshaped(split(keys, heads))
                    / np.sqrt(queries.shape[-1] // heads)
                ),
            ),
            Mistake(
                "features dealt out in turn",
                "Your head 0 takes every so many features, as cards are dealt. A head takes "
                "neighbors: the last axis splits to (heads, d/heads), in this order.",
                lambda queries, keys, heads: scores_of(
                    every_other(queries, heads),
                    every_other(keys, heads),
                    queries.shape[-1] // heads,
                ),
            ),
            Mistake(
                "heads after the queries",
                "The numbers are right; the axes should be (b, heads, n, m), and yours are "
                "(b, n, heads, m).",
                lambda queries, keys, heads: head_scores(queries, keys, heads).swapaxes(1, 2),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across: the last two axes are n and m, in this order.",
                lambda queries, keys, heads: head_scores(queries, keys, heads).swapaxes(2, 3),
            ),
            Mistake(
                "root of the number of heads",
                "You divide by the root of the number of heads. It is the size of a head that "
                "counts: so many products are added up.",
                lambda queries, keys, heads: scores_of(
                    split(queries, heads), split(keys, heads), heads
                ),
            ),
            Mistake(
                "heads added up",
                "You have added the heads up. Each has scores of its own, and a softmax of its "
                "own follows: keep the axis.",
                lambda queries, keys, heads: head_scores(queries, keys, heads).sum(1),
            ),
            Mistake(
                "one head only",
                "These are the scores of one head that has all features, of shape (b, n, m). "
                "Split the features into heads before you multiply.",
                lambda queries, keys, heads: scores_of(queries, keys, queries.shape[-1]),
                lambda answer, target, queries, keys, heads: answer.ndim == 3,
            ),
            Mistake(
                "weights, not scores",
                "These are attention weights. The task asks for the scores, before the softmax.",
                lambda queries, keys, heads: softmax(head_scores(queries, keys, heads)),
            ),
        ),
        hints=(
            "Look at the chapter's section on heads: first a reshape that splits the last axis, "
            "then a transpose.",
            "With q and k of the shapes (b, heads, n, d/heads) and (b, heads, m, d/heads), the "
            "product q @ k.transpose(-2, -1) has the shape (b, heads, n, m).",
            "Divide by the root of q.shape[-1], after the split.",
        ),
    ),
    Exercise(
        "6.3",
        keep_of,
        two_masks,
        mistakes=(
            Mistake(
                "True for what is hidden",
                "Your mask says True where a key is left out, as the masks that came in do. "
                "Here True means: may attend.",
                lambda padding, hidden: padding[:, None, None] | hidden,
            ),
            Mistake(
                "OR in place of AND",
                "You let a query attend where one of the two masks allows it. Both must: "
                "the opposite of (A or B) is (not A) and (not B).",
                lambda padding, hidden: ~padding[:, None, None] | ~hidden,
            ),
            Mistake(
                "both masks at once hide",
                "Your mask is the opposite of (not A) or (not B): it is True only for pairs that "
                "both masks hide.",
                lambda padding, hidden: padding[:, None, None] & hidden,
            ),
            Mistake(
                "only the padding turned round",
                "You have turned the padding mask round and left the other as it came.",
                lambda padding, hidden: ~padding[:, None, None] & hidden,
            ),
            Mistake(
                "only the attention mask turned round",
                "You have turned the mask of pairs round and left the padding mask as it came.",
                lambda padding, hidden: padding[:, None, None] & ~hidden,
            ),
            Mistake(
                "padding forgotten",
                "Your mask does not depend on the padding.",
                lambda padding, hidden: np.repeat(~hidden[None, None], len(padding), 0),
                lambda answer, target, padding, hidden: answer.shape == (1, 1, *hidden.shape),
            ),
            Mistake(
                "attention mask forgotten",
                "Your mask does not depend on the mask of pairs: all queries get the same row.",
                lambda padding, hidden: np.repeat(~padding[:, None, None], len(hidden), 2),
                lambda answer, target, padding, hidden: (
                    answer.shape == (len(padding), 1, 1, padding.shape[1])
                ),
            ),
            Mistake(
                "no axis for the heads",
                "Your mask has the axes (b, n, m). Against scores (b, heads, n, m) broadcasting "
                "would take the batch for the heads: put an axis of size 1 behind the batch.",
                lambda padding, hidden: keep_of(padding, hidden)[:, 0],
                lambda answer, target, padding, hidden: (
                    answer.shape == (len(padding), *hidden.shape)
                ),
            ),
            Mistake(
                "batch and heads swapped",
                "The axis of size 1 stands before the batch; it belongs behind it: (b, 1, n, m).",
                lambda padding, hidden: keep_of(padding, hidden).swapaxes(0, 1),
                lambda answer, target, padding, hidden: (
                    answer.shape == (1, len(padding), *hidden.shape)
                ),
            ),
        ),
        hints=(
            "Turn each mask round by itself: ~ makes True of False.",
            "Give the padding mask axes of size 1 for heads and queries: (b, m) -> (b, 1, 1, m).",
            "Join the two with &; broadcasting makes (b, 1, n, m) of them.",
        ),
    ),
)
