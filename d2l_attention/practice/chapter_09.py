"""The checks of chapter 9, From kernels to dot products."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax


def halves(vectors):
    return 0.5 * (vectors**2).sum(-1)


def half_norms(vectors):
    return 0.5 * np.linalg.norm(vectors, axis=-1)


# ---- 9.1


def gaussian_scores(queries, keys):
    return queries @ keys.T - halves(keys) - halves(queries)[:, None]


def queries_and_keys(rng):
    for n, m, d, size in ((2, 4, 3, 1), (5, 3, 2, 1), (3, 7, 4, 15), (1, 4, 6, 1), (3, 1, 5, 1)):
        yield size * rng.normal(size=(n, d)), 1.5 * size * rng.normal(size=(m, d))


scores = Exercise(
    "9.1",
    gaussian_scores,
    queries_and_keys,
    most_elements=lambda queries, keys: max(queries.size, keys.size, len(queries) * len(keys)),
    without=("cdist", "pairwise_distance"),
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
        """Your scores are twice the right ones: the factor 1/2 of (9.2) is missing."""
        return 2 * gaussian_scores(queries, keys)

    def norms_not_halved(queries, keys):
        """The dot product is right, but the squared norms are not halved: look at (9.4)."""
        return 2 * gaussian_scores(queries, keys) - queries @ keys.T

    def sign_of_the_norms(queries, keys):
        """You add the norms; both have a minus sign in (9.4)."""
        return queries @ keys.T + halves(keys) + halves(queries)[:, None]

    def norms_not_squared(queries, keys):
        """You subtract half the norms, and (9.4) has half the squared norms: take no root."""
        return queries @ keys.T - half_norms(keys) - half_norms(queries)[:, None]

    def distance_not_squared(queries, keys):
        """Your scores are made from the distance, and the task asks for the squared distance."""
        return -0.5 * np.sqrt(-2 * gaussian_scores(queries, keys))

    def a_squared_distance_instead_of_a_score(queries, keys):
        """The sign is wrong: a score must be larger for nearer keys."""
        return -gaussian_scores(queries, keys)

    def the_kernel_instead_of_its_exponent(queries, keys):
        """These are the similarities (9.1). The task asks for the scores, which are their
        exponents."""
        return np.exp(gaussian_scores(queries, keys))

    def weights_in_place_of_scores(queries, keys):
        return softmax(gaussian_scores(queries, keys))


# ---- 9.2


def with_coordinate(keys, coordinate):
    return np.concatenate([keys, np.broadcast_to(coordinate, keys[:, :1].shape)], -1)


def append_norm(keys):
    return with_coordinate(keys, -halves(keys)[:, None])


def some_keys(rng):
    for m, d, size in ((4, 2, 1), (3, 5, 1), (6, 4, 20), (1, 3, 1), (5, 1, 1)):
        yield (1.5 * size * rng.normal(size=(m, d)),)


longer = Exercise("9.2", append_norm, some_keys)


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


# ---- 9.3


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
    "9.3", softmax_backward, weights_and_gradients, most_elements=lambda weights, grad: weights.size
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
