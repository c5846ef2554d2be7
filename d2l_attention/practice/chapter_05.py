"""The exercises of chapter 5: one matrix product per example."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake


def step_scores(query, keys):
    return np.einsum("el,ejl->ej", query, keys)


def heads(x, h):
    b, n, d = x.shape
    return x.reshape(b, n, h, d // h).swapaxes(1, 2)


def scores(queries, keys):
    return queries @ keys.swapaxes(-1, -2)


def head_scores(queries, keys, h):
    return scores(heads(queries, h), heads(keys, h))


def in_one_step(x, h):
    b, n, d = x.shape
    return x.reshape(b, h, n, d // h)


def interleaved(x, h):
    b, n, d = x.shape
    return np.moveaxis(x.reshape(b, n, d // h, h), -1, 1)


def one_query_each(rng):
    for b, m, d in ((2, 4, 3), (3, 5, 2), (5, 2, 4)):
        yield rng.normal(size=(b, d)), rng.normal(size=(b, m, d))


def with_heads(rng):
    for b, n, m, d, h in ((2, 3, 5, 4, 2), (3, 5, 2, 6, 3), (2, 3, 4, 10, 5)):
        yield 2 * rng.normal(size=(b, n, d)), rng.normal(size=(b, m, d)), h


EXERCISES = (
    Exercise(
        "5.1",
        (4, 2, 3, 7),
        mistakes=(
            Mistake(
                "the batch of the left side",
                "The right side has a batch as well: its 2 meets the 1 of the left side, and the "
                "1 is stretched.",
                (4, 1, 3, 7),
            ),
            Mistake(
                "the batch of the right side",
                "The left side has a further axis, the 4. The right side lacks it, which counts "
                "as 1, and a 1 is stretched.",
                (2, 3, 7),
            ),
            Mistake(
                "batch axes swapped",
                "Axes are lined up from the right: the 2 stands under the 1, the second axis.",
                (2, 4, 3, 7),
            ),
            Mistake(
                "the summed axis kept",
                "The product sums over the 5, so it is not in the result. The last two axes are "
                "rows of the left matrix and columns of the right one.",
                (4, 2, 3, 5),
            ),
            Mistake(
                "matrix axes swapped",
                "The last two axes are in the wrong order: rows of the left matrix first.",
                (4, 2, 7, 3),
            ),
            Mistake(
                "no broadcasting",
                "The axes before the last two are the batch, and you have them in part only: "
                "(4, 1) and (2,) give (4, 2).",
                (4, 3, 7),
            ),
            Mistake(
                "number of entries",
                "The task asks for the shape, one number for each axis.",
                168,
            ),
        ),
        hints=(
            "`@` multiplies the last two axes as matrices. What is (3, 5) times (5, 7)?",
            "The axes before them are the batch: (4, 1) on the left, (2,) on the right. "
            "Write them below each other, lined up on the right.",
            "A missing axis counts as 1, and a 1 is stretched: the batch is (4, 2).",
        ),
    ),
    Exercise(
        "5.2",
        step_scores,
        one_query_each,
        mistakes=(
            Mistake(
                "every query with every example",
                "Your result has the batch twice: the matrix of all queries was multiplied with "
                "each example. Give each query an axis of its own, (b, 1, d).",
                lambda query, keys: scores(query[None], keys),
                lambda answer, target, query, keys: (
                    answer.shape in ((len(query), *target.shape), (*target.shape, len(query)))
                ),
            ),
            Mistake(
                "an axis of size 1 too many",
                "The numbers are right, and the axis of the one query is still there: take it "
                "away at the end, (b, 1, m) -> (b, m).",
                lambda query, keys: step_scores(query, keys)[:, None],
            ),
            Mistake(
                "not summed over the features",
                "The products are there, and the sum over the features is missing: "
                "(b, m, d) -> (b, m).",
                lambda query, keys: query[:, None] * keys,
            ),
            Mistake(
                "summed over the keys",
                "You have summed over the keys, and a score belongs to each key: sum over the "
                "features, the last axis.",
                lambda query, keys: (query[:, None] * keys).sum(1),
            ),
            Mistake(
                "one query for all examples",
                "All examples are compared with the query of the first one.",
                lambda query, keys: keys @ query[0],
            ),
            Mistake(
                "the mean, not the sum",
                "A dot product is a sum over the features; yours is their mean.",
                lambda query, keys: (query[:, None] * keys).mean(-1),
            ),
            Mistake(
                "summed over the examples",
                "A letter that is missing in the result is summed: here the batch is.",
                lambda query, keys: step_scores(query, keys).sum(0),
            ),
            Mistake(
                "softmax taken",
                "These are attention weights. The task asks for scores, before the softmax.",
                when=lambda answer, target, query, keys: (
                    answer.shape == target.shape and np.allclose(answer.sum(-1), 1, atol=1e-4)
                ),
                wrong=lambda query, keys: (
                    np.exp(step_scores(query, keys))
                    / np.exp(step_scores(query, keys)).sum(-1, keepdims=True)
                ),
            ),
        ),
        hints=(
            "Each example has one query: a matrix with one row. Which axis is missing in (b, d)?",
            "query[:, None] has the shape (b, 1, d). Multiply it with the transposed keys.",
            "The product has the shape (b, 1, m): take the middle axis away with [:, 0]. "
            "Or name the letters: el,ejl->ej.",
        ),
    ),
    Exercise(
        "5.3",
        head_scores,
        with_heads,
        mistakes=(
            Mistake(
                "one reshape in place of split and transpose",
                "The shape is right, and your heads hold parts of other queries: split the last "
                "axis first, (b, n, h, d/h), then transpose.",
                lambda queries, keys, h: scores(in_one_step(queries, h), in_one_step(keys, h)),
            ),
            Mistake(
                "keys reshaped, not transposed",
                "The keys have the right shape for the product and the wrong numbers: swap their "
                "last two axes with mT; a reshape breaks the lines in other places.",
                lambda queries, keys, h: (
                    heads(queries, h)
                    @ heads(keys, h).reshape((len(keys), h, queries.shape[-1] // h, keys.shape[1]))
                ),
            ),
            Mistake(
                "features dealt out like cards",
                "Head 0 is to get the first d/h features, and yours gets every h-th one: the last "
                "axis splits into (h, d/h), in this order.",
                lambda queries, keys, h: scores(interleaved(queries, h), interleaved(keys, h)),
            ),
            Mistake(
                "heads before the batch",
                "Your result is (h, b, n, m): the heads come after the batch.",
                lambda queries, keys, h: head_scores(queries, keys, h).swapaxes(0, 1),
            ),
            Mistake(
                "queries and keys swapped",
                "Queries go down and keys across: (b, h, n, m), and yours is (b, h, m, n).",
                lambda queries, keys, h: head_scores(keys, queries, h),
            ),
            Mistake(
                "all features in every head",
                "Every head has the same scores, those of all d features: each head is to see d/h "
                "of them.",
                lambda queries, keys, h: np.repeat(scores(queries, keys)[:, None], h, 1),
            ),
            Mistake(
                "summed over the heads",
                "Your result has no axis of heads: these are the scores of one head of size d.",
                lambda queries, keys, h: scores(queries, keys),
            ),
            Mistake(
                "scaled",
                "You divide by the square root of the head size; that comes in chapter 6. "
                "The task asks for the products alone.",
                lambda queries, keys, h: (
                    head_scores(queries, keys, h) / np.sqrt(queries.shape[-1] / h)
                ),
            ),
        ),
        hints=(
            "Split the last axis of both: (b, n, d) -> (b, n, h, d/h). A reshape may do that, "
            "because it splits one axis.",
            "Move the heads beside the batch: transpose(1, 2) gives (b, h, n, d/h).",
            "Now the last two axes are matrices: queries @ keys.mT is (b, h, n, m).",
        ),
    ),
)
