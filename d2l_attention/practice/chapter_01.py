"""The exercises of chapter 1: the softmax, the slope of a blend, gradients that vanish."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake
from d2l_attention.practice.reference import softmax


def softmax_at_temperature(scores, temperature):
    return softmax(scores / temperature)


def overflowing(scores, temperature):
    exponentials = np.exp(scores / temperature)
    return exponentials / exponentials.sum(-1, keepdims=True)


def one_maximum(scores, temperature):
    exponentials = np.exp((scores - scores.max()) / temperature)
    return exponentials / exponentials.sum(-1, keepdims=True)


def nan_below_the_best_row(answer, target, scores, temperature):
    lost = np.isnan(answer).all(-1)
    best = scores.max(-1) == scores.max()
    return answer.shape == target.shape and (lost == ~best).all()


def far_apart_scores(rng):
    # Quarters and powers of 2, so that single precision loses nothing in either order.
    for n, m, temperature in ((3, 4, 0.5), (2, 5, 2.0), (4, 3, 4.0)):
        shifts = rng.permutation([0, 8192, -8192, 16384][:n])
        yield rng.permutation(n * m).reshape(n, m) / 4 + shifts[:, None], temperature


def covariance(weights, keys):
    centered = keys - weights @ keys
    return (weights[:, None] * centered).T @ centered


def weights_and_keys(rng):
    for m, d in ((4, 2), (5, 3), (3, 4)):
        yield softmax(rng.normal(size=m)), rng.normal(size=(m, d)) + np.arange(1, d + 1)


EXERCISES = (
    Exercise(
        "1.3",
        softmax_at_temperature,
        far_apart_scores,
        mistakes=(
            Mistake(
                "softmax over the queries",
                "Your columns sum to 1, not your rows: take maximum and sum over the keys, "
                "the last axis.",
                lambda scores, temperature: softmax(scores / temperature, -2),
                lambda answer, target, scores, temperature: (
                    answer.shape == target.shape and np.allclose(answer.sum(-2), 1)
                ),
            ),
            Mistake(
                "the largest score is not subtracted",
                "The exponentials of large scores are infinite and those of very low ones are 0, "
                "so you divide inf by inf or 0 by 0. Shift each row first: that changes no weight.",
                overflowing,
            ),
            Mistake(
                "one maximum for all rows",
                "You subtract the largest score of the whole matrix. The other rows then lie far "
                "below 0, and all their exponentials are 0. Each row needs its own maximum.",
                one_maximum,
                nan_below_the_best_row,
            ),
            Mistake(
                "no temperature",
                "Your weights do not depend on the temperature: divide the scores by it.",
                lambda scores, temperature: softmax(scores),
            ),
            Mistake(
                "times the temperature",
                "You multiply by the temperature. A high temperature is to make weights more "
                "equal, so divide the scores by it.",
                lambda scores, temperature: softmax(scores * temperature),
            ),
            Mistake(
                "temperature after the exponential",
                "You divide by the temperature after the exponential, where it is a mere factor: "
                "the rows do not sum to 1. Divide the scores.",
                lambda scores, temperature: softmax(scores) / temperature,
            ),
            Mistake(
                "no exponential",
                "You divide scores by their sum, without the exponential.",
                lambda scores, temperature: scores / scores.sum(-1, keepdims=True),
            ),
            Mistake(
                "logarithms of the weights",
                "These are the logarithms of the weights: one exponential is missing.",
                lambda scores, temperature: np.maximum(
                    (scaled := (scores - scores.max(-1, keepdims=True)) / temperature)
                    - np.log(np.exp(scaled).sum(-1, keepdims=True)),
                    -1e30,
                ),
            ),
        ),
        hints=(
            "Divide the scores by the temperature. What must you do to each row before you "
            "take the exponential, and why does it change no weight?",
            "Subtract the largest score of each row; keep the axis, so that (n, 1) is subtracted "
            "from (n, m).",
            "e = (a - a.amax(-1, keepdim=True)).exp(), and each row is divided by its own sum.",
        ),
    ),
    Exercise(
        "1.4",
        covariance,
        weights_and_keys,
        mistakes=(
            Mistake(
                "mean not subtracted",
                "This is the weighted mean of k k^T. A covariance measures deviations: subtract "
                "the weighted mean from the keys first.",
                lambda weights, keys: (weights[:, None] * keys).T @ keys,
            ),
            Mistake(
                "unweighted mean",
                "You subtract the plain mean of the keys. The mean under the weights is the "
                "answer of attention, weights @ keys.",
                lambda weights, keys: (
                    (weights[:, None] * (keys - keys.mean(0))).T @ (keys - keys.mean(0))
                ),
            ),
            Mistake(
                "weights not used",
                "This is the covariance of the keys with equal weights. Each key is to count with "
                "its own weight, in the mean and in the sum.",
                lambda weights, keys: covariance(np.full(len(keys), 1 / len(keys)), keys),
            ),
            Mistake(
                "equal weights and m - 1",
                "This is the sample covariance, with equal weights and m - 1 in the denominator. "
                "Each key is to count with its own weight.",
                lambda weights, keys: np.cov(keys.T),
            ),
            Mistake(
                "sum not weighted",
                "You subtract the weighted mean, and then add up the deviations without weights.",
                lambda weights, keys: (keys - weights @ keys).T @ (keys - weights @ keys),
            ),
            Mistake(
                "weights twice",
                "You multiply both factors of the product by the weights, which squares them. "
                "Each key's product gets its weight once.",
                lambda weights, keys: (
                    (weights[:, None] * (keys - weights @ keys)).T
                    @ (weights[:, None] * (keys - weights @ keys))
                ),
            ),
            Mistake(
                "divided by m as well",
                "The weights sum to 1 already: the weighted sum is the mean, and nothing is left "
                "to be divided by m.",
                lambda weights, keys: covariance(weights, keys) / len(keys),
            ),
            Mistake(
                "keys against keys",
                "Your matrix has one row per key, shape (m, m). A covariance compares coordinates: "
                "shape (d, d). Transpose the first factor, not the second.",
                lambda weights, keys: (
                    (weights[:, None] * (keys - weights @ keys)) @ (keys - weights @ keys).T
                ),
                lambda answer, target, weights, keys: answer.shape == (len(keys), len(keys)),
            ),
            Mistake(
                "variances only",
                "You give one number per coordinate, its variance. The covariance has one for "
                "each pair of coordinates: shape (d, d).",
                lambda weights, keys: np.diag(covariance(weights, keys)),
                lambda answer, target, weights, keys: answer.shape == keys.shape[1:],
            ),
        ),
        hints=(
            "Find the mean of the keys under the weights first. You know its other name.",
            "Subtract it from every key: (m, d) - (d,). Then add up, over the keys, weight times "
            "deviation times deviation transposed.",
            "The sum over the keys is a matrix product, (d, m) x (m, d): multiply the rows of one "
            "of the two factors by weights[:, None].",
        ),
    ),
    Exercise(
        "1.5",
        (1, 0, -1),
        mistakes=(
            Mistake(
                "the gradient of the weight",
                "That is the gradient of the weight itself, which has vanished. The logarithm "
                "multiplies it by 1 over the weight: do that on paper before you round.",
                (0, 0, 0),
            ),
            Mistake(
                "sign",
                "A larger score of entry 1 makes its weight larger, so the first number is "
                "positive. You have the gradient of the negative logarithm, the loss.",
                (-1, 0, 1),
            ),
            Mistake(
                "denominator forgotten",
                "The first number is right. The score of the winner stands in the denominator of "
                "the weight: raising it costs the others weight.",
                (1, 0, 0),
            ),
            Mistake(
                "the losers share",
                "How much each score counts is said by its own weight: entry 2 has as good as no "
                "weight and does not matter.",
                (1, -0.5, -0.5),
            ),
            Mistake(
                "the weights",
                "These are the weights. The gradient of the logarithm of weight 1 is (1, 0, 0) "
                "minus the weights.",
                (0, 0, 1),
            ),
            Mistake(
                "0 divided by 0",
                "That is what a computer gives that takes the logarithm of a weight of 0. On paper "
                "the weight is positive: simplify first.",
                (np.nan, np.nan, np.nan),
            ),
        ),
        hints=(
            "Write out the logarithm of (1.2): a difference of two terms.",
            "The first term is the score a_1. The derivative of the second, the logarithm of the "
            "sum, with respect to a_j is the weight of entry j.",
            "So the gradient is (1, 0, 0) minus the weights, and the weights are (0, 0, 1) to "
            "many digits.",
        ),
    ),
)
