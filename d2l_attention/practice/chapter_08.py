"""The checks of chapter 8, Attention by similarity: kernels."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, symptom, when
from d2l_attention.practice.numerics import softmax
from d2l_attention.practice.recurring_mistakes import columns_sum_to_1


def divided_by_its_sum(similarity):
    return similarity / similarity.sum(-1, keepdims=True)  # NaN where no key is in reach


# ---- 8.1


def scores_of(queries, keys, bandwidth):
    squares = ((queries[:, None] - keys) ** 2).sum(-1)
    return -0.5 * squares / bandwidth**2


def log_kernels(queries, keys, bandwidths, power=None):
    power = keys.shape[-1] if power is None else power
    return scores_of(queries, keys, bandwidths) - power * np.log(bandwidths)


def gaussian_weights(queries, keys, bandwidths):
    return softmax(log_kernels(queries, keys, bandwidths))


def near_and_far_queries(rng):
    sizes = (3, 4, 2, 0.5), (4, 5, 3, 2.0), (2, 6, 3, 1.5), (1, 5, 2, 1.0), (4, 7, 2, 0.1)
    for n, m, d, scale in sizes:
        keys = rng.normal(size=(m, d))
        keys[:, 0] = rng.permutation(m)
        queries = rng.uniform(0, m / 2, size=(n, d))
        if scale < 0.5:
            queries = keys[:n] + rng.uniform(-0.2, 0.2, size=(n, d))
        queries[0] = keys[0]  # where the distance has no gradient
        queries[-1] = [-192, *[0] * (d - 1)]  # where all kernels are 0, in double precision too
        yield queries, keys, scale * rng.permutation(np.linspace(0.6, 1.4, m))


gaussian = Exercise("8.1", gaussian_weights, near_and_far_queries, gradient=True)


@gaussian.expects
class GaussianMistakes:
    def exponential_before_the_logarithm(queries, keys, bandwidths):
        return divided_by_its_sum(np.exp(log_kernels(queries, keys, bandwidths)))

    @when(columns_sum_to_1)
    def softmax_over_the_queries(queries, keys, bandwidths):
        return softmax(log_kernels(queries, keys, bandwidths), 0)

    def factor_forgotten(queries, keys, bandwidths):
        """The factor of the kernel is missing. It differs from key to key, so the division by the
        sum does not cancel it."""
        return softmax(log_kernels(queries, keys, bandwidths, 0))

    def factor_without_the_dimension(queries, keys, bandwidths):
        """Your factor is 1 over the bandwidth. In d dimensions its power is d."""
        return softmax(log_kernels(queries, keys, bandwidths, 1))

    def factor_upside_down(queries, keys, bandwidths):
        """You multiply by the power of the bandwidth; the kernel divides by it."""
        return softmax(log_kernels(queries, keys, bandwidths, -keys.shape[-1]))

    def factor_times_the_score(queries, keys, bandwidths):
        """You multiply the score by the factor. The score is a logarithm, in which a factor becomes
        a summand."""
        scores = scores_of(queries, keys, bandwidths)
        return softmax(scores / bandwidths ** keys.shape[-1])

    def bandwidth_not_squared(queries, keys, bandwidths):
        scores = scores_of(queries, keys, np.sqrt(bandwidths))
        return softmax(scores - keys.shape[-1] * np.log(bandwidths))

    def no_factor_one_half(queries, keys, bandwidths):
        """The Gaussian kernel has a factor 1/2 in the exponent. Without it your kernel is
        narrower."""
        scores = 2 * scores_of(queries, keys, bandwidths)
        return softmax(scores - keys.shape[-1] * np.log(bandwidths))

    def one_bandwidth_for_all(queries, keys, bandwidths):
        """You use the same bandwidth for all keys. Each key has its own."""
        return gaussian_weights(queries, keys, bandwidths[:1])

    def the_farthest_key_wins(queries, keys, bandwidths):
        """The sign is wrong: the score must fall as the distance grows."""
        return softmax(-log_kernels(queries, keys, bandwidths))

    def dot_product_for_a_distance(queries, keys, bandwidths):
        """You use the dot product of query and key in place of their distance."""
        scores = queries @ keys.T / bandwidths**2
        return softmax(scores - keys.shape[-1] * np.log(bandwidths))


# ---- 8.2


def pair_scores(x, bandwidth):
    return scores_of(x[:, None], x[:, None], bandwidth)


def predictions(x, y, bandwidth, hidden):
    return softmax(np.where(hidden, -np.inf, pair_scores(x, bandwidth))) @ y


def itself(x):
    return np.eye(len(x), dtype=bool)


def leave_one_out(x, y, bandwidth):
    return predictions(x, y, bandwidth, itself(x))


def points_and_an_outlier(rng):
    for m, bandwidth, far in ((5, 0.5, 30), (7, 0.25, 3e4), (6, 0.4, 3e3), (8, 0.3, 3e4)):
        x = rng.permutation(m) / 2 + rng.uniform(-0.1, 0.1, m)
        x[rng.integers(m)] = far  # exp(-26**2 / 0.5) is 0, in double precision too
        if m == 8:  # two points in one place
            first, second = np.flatnonzero(x < far)[:2]
            x[second] = x[first]
        yield x, rng.normal(size=m) + 3, bandwidth
    yield np.array([0.5, 1.25]), np.array([2.0, 5.0]), 0.5


left_out = Exercise("8.2", leave_one_out, points_and_an_outlier)


@left_out.expects
class LeftOutMistakes:
    def own_key_kept(x, y, bandwidth):
        """Every point still votes for itself: these are the predictions on the training points.
        Mask the diagonal of the scores."""
        return softmax(pair_scores(x, bandwidth)) @ y

    def own_key_removed_after_the_division(x, y, bandwidth):
        """You set the own weight to 0 after the weights were normalized, so the rest sums to less
        than 1. Take the own key out before you normalize."""
        return (softmax(pair_scores(x, bandwidth)) * ~itself(x)) @ y

    def all_keys_at_distance_0_removed(x, y, bandwidth):
        """Two points may share their x, and you leave out both. Leave out the point itself only:
        the diagonal."""
        return predictions(x, y, bandwidth, pair_scores(x, bandwidth) == 0)

    def score_0_for_the_others(x, y, bandwidth):
        """Multiplying scores by 0 or 1 does not mask a key: a score of 0 is the largest one here.
        The own score must be minus infinity, or the own similarity 0."""
        return softmax(pair_scores(x, bandwidth) * itself(x)) @ y

    def exponential_before_the_logarithm(x, y, bandwidth):
        return divided_by_its_sum(np.exp(pair_scores(x, bandwidth)) * ~itself(x)) @ y

    def softmax_over_the_queries(x, y, bandwidth):
        """You normalize over the wrong axis. With as many queries as keys the shape is right all
        the same; the rows do not sum to 1."""
        return softmax(np.where(itself(x), -np.inf, pair_scores(x, bandwidth)), 0) @ y

    @symptom
    def a_large_constant_in_place_of_infinity(answer, target, x, y, bandwidth):
        """A large negative constant masks the diagonal only while all other scores are larger: far
        from all others, a point finds its own value. Use minus infinity."""
        off = ~np.isclose(answer, target, 1e-4, 1e-4)
        return (
            answer.shape == target.shape and 0 < off.sum() <= 2 and np.allclose(answer[off], y[off])
        )

    def mean_of_the_others(x, y, bandwidth):
        """You average all other points, however far away. Weight them with the kernel."""
        return (y.sum() - y) / (len(y) - 1)

    def bandwidth_not_squared(x, y, bandwidth):
        return leave_one_out(x, y, np.sqrt(bandwidth))

    def no_factor_one_half(x, y, bandwidth):
        return leave_one_out(x, y, bandwidth / np.sqrt(2))

    @when(
        lambda answer, target, x, y, bandwidth: (
            answer.shape == target.shape and np.allclose(abs(answer), abs(target - y), 1e-4)
        )
    )
    def errors_in_place_of_predictions(x, y, bandwidth):
        """You return the errors of the predictions. Return the predictions."""
        return leave_one_out(x, y, bandwidth) - y

    @when(lambda answer, target, x, y, bandwidth: answer.size == 1)
    def one_value_for_all(x, y, bandwidth):
        return np.sqrt(((leave_one_out(x, y, bandwidth) - y) ** 2).mean())
