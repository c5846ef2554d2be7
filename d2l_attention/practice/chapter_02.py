"""The checks of chapter 2, A layer that learns."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when
from d2l_attention.practice.numerics import softmax


def covariance(weights, keys):
    return product_of_deviations(keys - weights @ keys, weights[:, None])


def product_of_deviations(centered, weights):
    return (weights * centered).T @ centered


def weights_and_keys(rng):
    for m, d in ((4, 2), (5, 3), (3, 4), (2, 5)):  # not 1, where libraries drop the axes
        yield softmax(rng.normal(size=m)), rng.normal(size=(m, d)) + np.arange(1, d + 1)
    yield softmax(np.array([0, -500, 1.0, 2.0])), 100 * rng.normal(size=(4, 3))


slope = Exercise("2.2", covariance, weights_and_keys)


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
