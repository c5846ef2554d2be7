"""The exercises of chapter 2: Gaussian weights, leave-one-out, widths that adapt."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax


def distances(queries, keys):
    return np.sqrt(((queries[:, None] - keys) ** 2).sum(-1))


def normalized(similarity):
    return similarity / similarity.sum(-1, keepdims=True)


def gaussian_weights(queries, keys, width):
    return softmax(-0.5 * (distances(queries, keys) / width) ** 2)


def near_and_far_queries(rng):
    for n, m, d, width in ((3, 4, 2, 0.5), (4, 5, 3, 2.0), (2, 6, 3, 1.5)):
        keys = rng.normal(size=(m, d))
        keys[:, 0] = rng.permutation(m)  # a full step apart, so that far away one key wins
        queries = rng.uniform(0, m / 2, size=(n, d))
        queries[-1] = [-96, *[0] * (d - 1)]  # exp(-96**2 / 8) is 0, in double precision too
        yield queries, keys, width


def leave_one_out(x, y, width):
    return softmax(other_scores(x, width)) @ y


def scores_of(x, width):
    return -0.5 * ((x[:, None] - x) / width) ** 2


def other_scores(x, width):
    return np.where(np.eye(len(x), dtype=bool), -np.inf, scores_of(x, width))


def points_and_an_outlier(rng):
    for m, width in ((5, 0.5), (7, 0.25), (6, 0.4)):
        x = rng.permutation(m) / 2 + rng.uniform(-0.1, 0.1, m)
        x[rng.integers(m)] = 30  # exp(-27**2 / 0.5) is 0, in double precision too
        yield x, rng.normal(size=m) + 3, width


def adaptive_weights(queries, keys, k):
    return with_reach(queries, keys, lambda r: np.sort(r, -1)[:, k - 1 : k])


def nearest(queries, keys, k):
    return np.sort(distances(queries, keys), -1)[:, k - 1 : k]


def with_reach(queries, keys, reach):
    r = distances(queries, keys)
    return normalized(np.maximum(0, 1 - (r / reach(r)) ** 2))


def points_and_counts(rng):
    for n, m, d, k in ((4, 6, 2, 3), (5, 7, 3, 5), (3, 5, 2, 2)):
        yield rng.normal(size=(n, d)), rng.normal(size=(m, d)), k


EXERCISES = (
    Exercise(
        "2.1",
        gaussian_weights,
        near_and_far_queries,
        mistakes=(
            Mistake(
                "exponential first",
                "For the query far away every exponential is 0, and 0/0 is NaN. Its weights exist: "
                "hand the logarithms of the similarities to the softmax.",
                lambda queries, keys, width: normalized(
                    np.exp(-0.5 * (distances(queries, keys) / width) ** 2)
                ),
            ),
            Mistake(
                "softmax over the queries",
                "Your columns sum to 1, not your rows: normalize over the keys, the last axis.",
                lambda queries, keys, width: softmax(
                    -0.5 * (distances(queries, keys) / width) ** 2, 0
                ),
                lambda answer, target, queries, keys, width: (
                    answer.shape == target.shape and np.allclose(answer.sum(-2), 1)
                ),
            ),
            Mistake(
                "width not squared",
                "The distance is divided by the width and then squared, so the width is squared "
                "too.",
                lambda queries, keys, width: softmax(-0.5 * distances(queries, keys) ** 2 / width),
            ),
            Mistake(
                "no one half",
                "The Gaussian kernel has a factor 1/2 in the exponent. Without it your kernel is "
                "narrower.",
                lambda queries, keys, width: softmax(-((distances(queries, keys) / width) ** 2)),
            ),
            Mistake(
                "distance not squared",
                "The exponent has the square of the distance; yours has the distance.",
                lambda queries, keys, width: softmax(-0.5 * distances(queries, keys) / width),
            ),
            Mistake(
                "width ignored",
                "Your weights do not depend on the width.",
                lambda queries, keys, width: softmax(-0.5 * distances(queries, keys) ** 2),
            ),
            Mistake(
                "softmax of the similarities",
                "You exponentiate twice: the softmax takes the exponential of its argument, so "
                "hand it the logarithm of the kernel.",
                lambda queries, keys, width: softmax(
                    np.exp(-0.5 * (distances(queries, keys) / width) ** 2)
                ),
            ),
            Mistake(
                "the farthest key wins",
                "The sign is wrong: the score must fall as the distance grows.",
                lambda queries, keys, width: softmax(0.5 * (distances(queries, keys) / width) ** 2),
            ),
            Mistake(
                "summed before squared",
                "You add up the differences of the coordinates and square the sum, so that they "
                "can cancel. Square each difference first.",
                lambda queries, keys, width: softmax(
                    -0.5 * ((queries[:, None] - keys).sum(-1) / width) ** 2
                ),
            ),
            Mistake(
                "dot product for a distance",
                "You use the dot product of query and key in place of their distance. It leaves "
                "out the norm of the key.",
                lambda queries, keys, width: softmax(queries @ keys.T / width**2),
            ),
        ),
        hints=(
            "Which number for each query and key does the Gaussian take the exponential of?",
            "That number is the score, -0.5 * (r / width) ** 2 with the distance r, of shape "
            "(n, m). Which function turns scores into weights without underflow?",
            "Return the softmax of these scores over the last axis.",
        ),
    ),
    Exercise(
        "2.2",
        leave_one_out,
        points_and_an_outlier,
        mistakes=(
            Mistake(
                "own key kept",
                "Every point still votes for itself: these are the predictions on the training "
                "points. Take the diagonal of the weights out.",
                lambda x, y, width: softmax(scores_of(x, width)) @ y,
            ),
            Mistake(
                "own key removed after the division",
                "You set the own weight to 0 after the weights were made to sum to 1, so the rest "
                "sums to less. Take the own key out before you normalize.",
                lambda x, y, width: (softmax(scores_of(x, width)) * (1 - np.eye(len(x)))) @ y,
            ),
            Mistake(
                "score 0 for others",
                "Multiplying scores by 0 or 1 does not hide a key: a score of 0 is the largest "
                "one here. The own score must be minus infinity, or the own similarity 0.",
                lambda x, y, width: softmax(scores_of(x, width) * np.eye(len(x))) @ y,
            ),
            Mistake(
                "exponential first",
                "For a point that lies apart all other exponentials are 0, and 0/0 is NaN. Use a "
                "softmax of scores, with minus infinity as a point's own score.",
                lambda x, y, width: (
                    normalized(np.exp(scores_of(x, width)) * (1 - np.eye(len(x)))) @ y
                ),
            ),
            Mistake(
                "softmax over the queries",
                "You normalize over the wrong axis. With as many queries as keys the shape is "
                "right all the same; the rows do not sum to 1.",
                lambda x, y, width: softmax(other_scores(x, width), 0) @ y,
            ),
            Mistake(
                "mean of the others",
                "You average all other points, however far away. Weight them with the kernel.",
                lambda x, y, width: (y.sum() - y) / (len(y) - 1),
            ),
            Mistake(
                "width not squared",
                "The distance is divided by the width and then squared, so the width is squared "
                "too.",
                lambda x, y, width: leave_one_out(x, y, np.sqrt(width)),
            ),
            Mistake(
                "errors, not predictions",
                "You return how far the predictions are from the labels. Return the predictions.",
                lambda x, y, width: leave_one_out(x, y, width) - y,
                lambda answer, target, x, y, width: (
                    answer.shape == target.shape and np.allclose(abs(answer), abs(target - y), 1e-4)
                ),
            ),
            Mistake(
                "one number for all",
                "You return one number. Return a prediction for each point, shape (m,).",
                lambda x, y, width: np.sqrt(((leave_one_out(x, y, width) - y) ** 2).mean()),
                lambda answer, target, x, y, width: answer.size == 1,
            ),
        ),
        hints=(
            "The points are queries and keys at the same time: the scores have shape (m, m). "
            "Where in this matrix does a point meet itself?",
            "A weight is exactly 0 if its score is minus infinity. Put that on the diagonal, "
            "before the softmax.",
            "scores.masked_fill(torch.eye(len(x), dtype=torch.bool), -torch.inf) does it; "
            "then softmax over the last axis, times y.",
        ),
    ),
    Exercise(
        "2.3",
        adaptive_weights,
        points_and_counts,
        mistakes=(
            Mistake(
                "one neighbor too many",
                "Your width is the distance to neighbor k + 1. Python counts from 0, so that the "
                "k-th smallest has index k - 1.",
                lambda queries, keys, k: with_reach(
                    queries, keys, lambda r: np.sort(r, -1)[:, k : k + 1]
                ),
            ),
            Mistake(
                "negative weights",
                "Some weights are negative: beyond the width the kernel is 0, and yours goes on "
                "falling.",
                lambda queries, keys, k: normalized(
                    1 - (distances(queries, keys) / nearest(queries, keys, k)) ** 2
                ),
                lambda answer, target, queries, keys, k: (
                    answer.shape == target.shape and (answer < -1e-3).any()
                ),
            ),
            Mistake(
                "one width per key",
                "You look for the k-th nearest query of each key. The width belongs to the query: "
                "sort along the keys, the last axis.",
                lambda queries, keys, k: with_reach(
                    queries, keys, lambda r: np.sort(r, 0)[k - 1 : k]
                ),
            ),
            Mistake(
                "one width for all",
                "You use the same width for all queries. Keep the axis: widths of shape (n, 1).",
                lambda queries, keys, k: with_reach(
                    queries, keys, lambda r: np.sort(r, -1)[:, k - 1].mean()
                ),
            ),
            Mistake(
                "the farthest keys",
                "You sort from far to near: your width is the k-th largest distance.",
                lambda queries, keys, k: with_reach(
                    queries, keys, lambda r: np.sort(r, -1)[:, -k][:, None]
                ),
            ),
            Mistake(
                "triangular kernel",
                "Your kernel falls on a straight line, which is the triangular one. "
                "Epanechnikov's has the square of r / s.",
                lambda queries, keys, k: normalized(
                    np.maximum(0, 1 - distances(queries, keys) / nearest(queries, keys, k))
                ),
            ),
            Mistake(
                "Gaussian kernel",
                "Every key has weight: this is the Gaussian kernel, which ends nowhere. The task "
                "asks for Epanechnikov's.",
                lambda queries, keys, k: softmax(
                    -0.5 * (distances(queries, keys) / nearest(queries, keys, k)) ** 2
                ),
            ),
            Mistake(
                "equal weights",
                "All k nearest keys get the same weight, which is the boxcar.",
                lambda queries, keys, k: normalized(
                    1.0 * (distances(queries, keys) <= nearest(queries, keys, k))
                ),
            ),
            Mistake(
                "not divided by the sum",
                "These are similarities: each row must be divided by its sum.",
                lambda queries, keys, k: np.maximum(
                    0, 1 - (distances(queries, keys) / nearest(queries, keys, k)) ** 2
                ),
                lambda answer, target, queries, keys, k: (
                    answer.shape == target.shape
                    and (answer.sum(-1) > 1e-3).all()
                    and np.allclose(normalized(answer), target, 1e-3, 1e-3)
                ),
            ),
        ),
        hints=(
            "Compute all distances first, shape (n, m). Each row has a width of its own.",
            "Sort each row and take the number with index k - 1; keep the axis, so that the "
            "widths have shape (n, 1).",
            "epanechnikov(r / s), divided by its sum over the last axis, is the answer.",
        ),
    ),
)
