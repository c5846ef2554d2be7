"""The checks of chapter 3: distances, norms, the gradient of the softmax, a covariance."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax


def halves(vectors):
    return 0.5 * (vectors**2).sum(-1)


def half_norms(vectors):
    return 0.5 * np.linalg.norm(vectors, axis=-1)


# ---- 3.1


def gaussian_scores(queries, keys):
    return queries @ keys.T - halves(keys) - halves(queries)[:, None]


def queries_and_keys(rng):
    for n, m, d, size in ((2, 4, 3, 1), (5, 3, 2, 1), (3, 7, 4, 15), (1, 4, 6, 1), (3, 1, 5, 1)):
        yield size * rng.normal(size=(n, d)), 1.5 * size * rng.normal(size=(m, d))


scores = Exercise(
    "3.1",
    gaussian_scores,
    queries_and_keys,
    most_elements=lambda queries, keys: max(queries.size, keys.size, len(queries) * len(keys)),
    without=("cdist", "pairwise_distances"),
)


@scores.expects
class ScoresMistakes:
    def norms_of_the_keys_missing(queries, keys):
        """The term -1/2 |k|^2 is missing. It differs from key to key, so these scores give other
        weights than the distances do."""
        return queries @ keys.T - halves(queries)[:, None]

    def norms_of_the_queries_missing(queries, keys):
        """The term -1/2 |q|^2 is missing. A softmax over the keys would hide that, but the task
        asks for the scores themselves."""
        return queries @ keys.T - halves(keys)

    def a_dot_product_and_nothing_else(queries, keys):
        """This is the dot product alone; the terms of the two norms are missing."""
        return queries @ keys.T

    def no_factor_one_half(queries, keys):
        """Your scores are twice the right ones: the factor 1/2 of (3.2) is missing."""
        return 2 * gaussian_scores(queries, keys)

    def norms_not_halved(queries, keys):
        """The dot product is right, but the squared norms are not halved: look at (3.4)."""
        return 2 * gaussian_scores(queries, keys) - queries @ keys.T

    def sign_of_the_norms(queries, keys):
        """You add the norms; both have a minus sign in (3.4)."""
        return queries @ keys.T + halves(keys) + halves(queries)[:, None]

    def norms_not_squared(queries, keys):
        """You subtract half the norms, and (3.4) has half the squared norms: take no root."""
        return queries @ keys.T - half_norms(keys) - half_norms(queries)[:, None]

    def distance_not_squared(queries, keys):
        """Your scores are made from the distance, and the task asks for the squared distance."""
        return -0.5 * np.sqrt(-2 * gaussian_scores(queries, keys))

    def a_squared_distance_instead_of_a_score(queries, keys):
        """The sign is wrong: a score must be larger for nearer keys."""
        return -gaussian_scores(queries, keys)

    def the_kernel_instead_of_its_exponent(queries, keys):
        """These are the similarities (3.1). The task asks for the scores, which are their
        exponents."""
        return np.exp(gaussian_scores(queries, keys))

    def weights_in_place_of_scores(queries, keys):
        return softmax(gaussian_scores(queries, keys))


# ---- 3.2


def with_coordinate(keys, coordinate):
    return np.concatenate([keys, np.broadcast_to(coordinate, keys[:, :1].shape)], -1)


def append_norm(keys):
    return with_coordinate(keys, -halves(keys)[:, None])


def some_keys(rng):
    for m, d, size in ((4, 2, 1), (3, 5, 1), (6, 4, 20), (1, 3, 1), (5, 1, 1)):
        yield (1.5 * size * rng.normal(size=(m, d)),)


longer = Exercise("3.2", append_norm, some_keys)


@longer.expects
class LongerMistakes:
    def sign(keys):
        """The new coordinate has the wrong sign: q.k - 1/2 |k|^2 has a minus."""
        return with_coordinate(keys, halves(keys)[:, None])

    def no_factor_one_half_in_it(keys):
        """The new coordinate is twice as large as it should be: half the squared norm."""
        return with_coordinate(keys, -2 * halves(keys)[:, None])

    def norm_not_squared(keys):
        """The new coordinate is half the norm; take half the squared norm, without a root."""
        return with_coordinate(keys, -half_norms(keys)[:, None])

    def a_1_for_the_key(keys):
        """The 1 belongs to the query. The new coordinate of a key is what multiplies that 1."""
        return with_coordinate(keys, 1)

    def in_front(keys):
        """The new coordinate stands in front. The query has its 1 at the end, so the key's new
        coordinate belongs there, too."""
        return np.roll(append_norm(keys), 1, -1)

    def one_norm_for_all_keys(keys):
        """You have summed over the keys as well: each key has a norm of its own."""
        return with_coordinate(keys, -halves(keys).sum())

    @when(lambda answer, target, keys: answer.shape == keys.shape)
    def the_norm_is_not_appended(keys):
        """Your result has d columns. Append a coordinate, for shape (m, d + 1)."""
        return keys - halves(keys)[:, None]


# ---- 3.3


def softmax_backward(weights, grad):
    return weights * (grad - (weights * grad).sum(-1, keepdims=True))


def weights_and_gradients(rng):
    for shape in ((2, 3), (5, 4), (3, 2, 6), (1, 7), (1, 2, 3, 4)):
        yield softmax(rng.normal(size=shape)), rng.normal(size=shape)
    yield softmax(500 * rng.normal(size=(3, 5))), rng.normal(size=(3, 5))  # one-hot: exact zeros
    weights = softmax(rng.normal(size=(4, 3)))
    weights[1] = 0  # a fully masked row
    yield weights, 50 * rng.normal(size=(4, 3))
    yield softmax(rng.normal(size=5)), rng.normal(size=5)  # no axis before the last


backward = Exercise(
    "3.3", softmax_backward, weights_and_gradients, most_elements=lambda weights, grad: weights.size
)


def along_first(answer, target, weights, grad):
    return np.allclose(answer, weights * (grad - (weights * grad).sum(0)), atol=1e-4)


@backward.expects
class BackwardMistakes:
    def diagonal_only(weights, grad):
        """This is diag(alpha) g, and alpha alpha^T g is missing: a score changes the weights of all
        keys, because they share the denominator."""
        return weights * grad

    def derivative_of_a_sigmoid(weights, grad):
        """alpha (1 - alpha) g keeps only the diagonal of J. The off-diagonal entries -alpha_i
        alpha_j count as well."""
        return weights * (1 - weights) * grad

    @when(along_first)
    def sum_over_the_queries(weights, grad):
        axis = -2 if weights.ndim > 1 else 0
        return weights * (grad - (weights * grad).sum(axis, keepdims=True))

    def one_sum_for_all(weights, grad):
        """You sum over everything. Each query has a Jacobian of its own: sum over the last axis,
        and keep it."""
        return weights * (grad - (weights * grad).sum())

    def mean_over_the_keys(weights, grad):
        """alpha^T g is a sum over the keys, and yours is their mean."""
        return weights * (grad - (weights * grad).mean(-1, keepdims=True))

    def mean_of_the_gradients_without_weights(weights, grad):
        """You subtract the plain mean of g. Subtract the mean under the weights, alpha^T g."""
        return weights * (grad - grad.mean(-1, keepdims=True))

    def not_multiplied_by_the_weights(weights, grad):
        """You have g - alpha^T g. The factor alpha in front is missing."""
        return grad - (weights * grad).sum(-1, keepdims=True)

    def plus_in_place_of_minus(weights, grad):
        """J is diag(alpha) minus alpha alpha^T, and you add."""
        return weights * (grad + (weights * grad).sum(-1, keepdims=True))


# ---- 3.6


def covariance(weights, keys):
    return product_of_deviations(keys - weights @ keys, weights[:, None])


def product_of_deviations(centered, weights):
    return (weights * centered).T @ centered


def weights_and_keys(rng):
    for m, d in ((4, 2), (5, 3), (3, 4), (4, 1)):
        yield softmax(rng.normal(size=m)), rng.normal(size=(m, d)) + np.arange(1, d + 1)
    yield softmax(np.array([0, -500, 1.0, 2.0])), 100 * rng.normal(size=(4, 3))


slope = Exercise("3.6", covariance, weights_and_keys)


@slope.expects
class SlopeMistakes:
    def mean_not_subtracted(weights, keys):
        """This is the weighted mean of k k^T. A covariance measures deviations: subtract the
        weighted mean from the keys first."""
        return product_of_deviations(keys, weights[:, None])

    def unweighted_mean(weights, keys):
        """You subtract the plain mean of the keys. The mean under the weights is the output of
        attention, the sum of alpha_j k_j."""
        return product_of_deviations(keys - keys.mean(0), weights[:, None])

    def weights_not_used(weights, keys):
        """This is the covariance of the keys with equal weights. Each key counts with its own
        weight, in the mean and in the sum."""
        return covariance(np.full(len(keys), 1 / len(keys)), keys)

    def equal_weights_and_m_minus_1(weights, keys):
        """This is the sample covariance, with equal weights and m - 1 in the denominator. Each key
        counts with its own weight."""
        return np.cov(keys.T)

    def sum_not_weighted(weights, keys):
        """You subtract the weighted mean, and then add up the deviations without weights."""
        return product_of_deviations(keys - weights @ keys, 1)

    def weights_twice(weights, keys):
        """You multiply both factors of the product by the weights, which squares them. Each key's
        product gets its weight once."""
        return product_of_deviations(keys - weights @ keys, weights[:, None] ** 2)

    def divided_by_m_as_well(weights, keys):
        """The weights sum to 1 already: the weighted sum is the mean. Do not divide by m again."""
        return covariance(weights, keys) / len(keys)

    @when(lambda answer, target, weights, keys: answer.shape == (len(keys), len(keys)))
    def keys_against_keys(weights, keys):
        """Your matrix has one row per key, shape (m, m). A covariance compares coordinates: shape
        (d, d). Transpose the first factor, not the second."""
        return product_of_deviations((keys - weights @ keys).T, weights)

    @when(lambda answer, target, weights, keys: answer.shape == keys.shape[1:])
    def variances_only(weights, keys):
        """You give one entry per coordinate, its variance. The covariance has one for each pair of
        coordinates: shape (d, d)."""
        return np.diag(covariance(weights, keys))
