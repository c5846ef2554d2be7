"""The exercises of chapter 6: attention with heads, and masks of two conventions."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax


def split(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads).swapaxes(1, 2)


def join(x):
    b, heads, n, d = x.shape
    return x.swapaxes(1, 2).reshape(b, n, heads * d)


def torn(x, heads):
    b, n, d = x.shape
    return x.reshape(b, heads, n, d // heads)


def every_other(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(0, 3, 1, 2)


def attended(q, k, v, d):
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(d)) @ v


def by_heads(queries, keys, values, heads, cut=split):
    """The output of every head, before they are joined: (b, heads, n, v/heads)."""
    d = queries.shape[-1] // heads
    return attended(cut(queries, heads), cut(keys, heads), cut(values, heads), d)


def attend_by_heads(queries, keys, values, heads):
    return join(by_heads(queries, keys, values, heads))


def scaled_by(root):
    def attend(queries, keys, values, heads):
        q, k, v = split(queries, heads), split(keys, heads), split(values, heads)
        return join(attended(q, k, v, root(queries.shape[-1], heads)))

    return attend


def softmax_over(axis):
    def attend(queries, keys, values, heads):
        q, k, v = split(queries, heads), split(keys, heads), split(values, heads)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        return join(softmax(scores.swapaxes(axis, -1)).swapaxes(axis, -1) @ v)

    return attend


def to_split(rng):
    for b, n, m, d, v, heads in ((1, 3, 5, 6, 4, 2), (2, 5, 4, 12, 9, 3), (3, 4, 5, 10, 8, 2)):
        sizes = (n, d), (m, d), (m, v)
        yield *(rng.normal(size=(b, *size)) for size in sizes), heads


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
        attend_by_heads,
        to_split,
        mistakes=(
            Mistake(
                "root of the whole size",
                "You divide by the root of all d features. One head multiplies d/heads of them, "
                "and these count under its root.",
                scaled_by(lambda d, heads: d),
            ),
            Mistake(
                "no scale",
                "The scale is missing: divide the scores by the root of the size of one head.",
                scaled_by(lambda d, heads: 1),
            ),
            Mistake(
                "divided by the size, not by its root",
                "You divide by the size of a head. Divide by its square root.",
                scaled_by(lambda d, heads: (d // heads) ** 2),
            ),
            Mistake(
                "root of the number of heads",
                "You divide by the root of the number of heads. It is the size of a head that "
                "counts: so many products are added up.",
                scaled_by(lambda d, heads: heads),
            ),
            Mistake(
                "joined without a transpose",
                "Each head is right, and they are joined wrongly: a reshape of (b, heads, n, "
                "v/heads) puts several queries of one head into a row. Swap heads and queries "
                "back first.",
                lambda queries, keys, values, heads: by_heads(queries, keys, values, heads).reshape(
                    attend_by_heads(queries, keys, values, heads).shape
                ),
            ),
            Mistake(
                "features and heads swapped at the joint",
                "Each head is right, and its features are dealt out over the row when you join. "
                "The features of one head stay neighbors: (b, n, heads, v/heads) -> (b, n, v).",
                lambda queries, keys, values, heads: (
                    by_heads(queries, keys, values, heads)
                    .transpose(0, 2, 3, 1)
                    .reshape(attend_by_heads(queries, keys, values, heads).shape)
                ),
            ),
            Mistake(
                "not joined",
                "These are the outputs of the single heads. Put them side by side, (b, n, v).",
                by_heads,
                lambda answer, target, queries, keys, values, heads: (
                    answer.ndim == 4 and answer.size == target.size
                ),
            ),
            Mistake(
                "heads added up",
                "You have added the heads up. Their outputs stand side by side in the result.",
                lambda queries, keys, values, heads: by_heads(queries, keys, values, heads).sum(1),
            ),
            Mistake(
                "heads averaged",
                "You have averaged the heads. Their outputs stand side by side in the result.",
                lambda queries, keys, values, heads: by_heads(queries, keys, values, heads).mean(1),
            ),
            Mistake(
                "reshape in place of transpose, split and joint",
                "Your heads are torn: one reshape to (b, heads, n, d/heads) puts features of "
                "several tokens into one row. Split the last axis first, to (b, n, heads, "
                "d/heads), and then swap the two axes in the middle; on the way back the other "
                "way round.",
                lambda queries, keys, values, heads: by_heads(
                    queries, keys, values, heads, torn
                ).reshape(attend_by_heads(queries, keys, values, heads).shape),
            ),
            Mistake(
                "reshape in place of transpose, split",
                "Your heads are torn: one reshape to (b, heads, n, d/heads) puts features of "
                "several tokens into one row. Split the last axis first, to (b, n, heads, "
                "d/heads), and then swap the two axes in the middle.",
                lambda queries, keys, values, heads: join(
                    by_heads(queries, keys, values, heads, torn)
                ),
            ),
            Mistake(
                "features dealt out in turn",
                "Your head 0 takes every so many features, as cards are dealt. A head takes "
                "neighbors: the last axis splits to (heads, d/heads), in this order.",
                lambda queries, keys, values, heads: join(
                    by_heads(queries, keys, values, heads, every_other)
                ),
            ),
            Mistake(
                "softmax over the queries",
                "Your softmax runs over the queries. Each query shares out its weight over the "
                "keys: the last axis of the scores.",
                softmax_over(-2),
            ),
            Mistake(
                "softmax over the heads",
                "Your softmax runs over the heads. Each head has weights of its own, over the "
                "keys: the last axis of the scores.",
                softmax_over(1),
            ),
            Mistake(
                "one head only",
                "This is one head that has all features. Split queries, keys and values into "
                "heads before you multiply.",
                lambda queries, keys, values, heads: attended(
                    queries, keys, values, queries.shape[-1]
                ),
            ),
        ),
        hints=(
            "Split all three, as in the chapter's section on heads: (b, n, d) -> (b, n, heads, "
            "d/heads) -> (b, heads, n, d/heads).",
            "Attend as without heads, on the last two axes. Under the root stands the last size of "
            "the split queries.",
            "Go back the way you came: transpose to (b, n, heads, v/heads), then join the last two "
            "axes with flatten(-2).",
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
