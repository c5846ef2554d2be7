"""The checks of chapter 17, One pass, blocks, machines."""

from functools import wraps

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice.exercises import Exercise, when

# ---- 17.1


def state(blocks, factor=np.exp, factor_of_scores=np.exp, update=np.maximum):
    """Return maximum, sum and sum of scores after a stream; the keywords make mistakes."""
    c, s, o = -np.inf, 0.0, 0.0
    for block in blocks:
        a = as_array(block)  # (n, block)
        old, c = c, update(c, a.max(-1, keepdims=True))
        e = np.exp(a - c)
        s = factor(old - c) * s + e.sum(-1, keepdims=True)
        o = factor_of_scores(old - c) * o + (e * a).sum(-1, keepdims=True)
    return c[:, 0], s[:, 0], o[:, 0]


def entropy_of(c, s, o):
    return c + np.log(s) - o / s


def entropies(blocks):
    return entropy_of(*state(blocks))


def streams(rng):
    for parts, n, size, offset, scale in (
        (5, 3, 2, 0, 1),
        (4, 5, 3, 750, 1),  # exponentials overflow
        (6, 2, 4, -750, 1),  # and underflow
        (3, 4, 5, 0, 60),  # also where a block's smallest score is subtracted
        (5, 1, 3, 0, 1),
        (1, 4, 6, 0, 1),
        (7, 4, 1, 0, 1),
    ):
        rising_or_falling = np.linspace(-1, 1, n)[:, None] * np.arange(parts)[:, None, None]
        yield (offset + rising_or_falling + scale * rng.normal(size=(parts, n, size)),)


on_the_way = Exercise(
    "17.1",
    entropies,
    streams,
    tolerance=5e-4,
    most_elements=lambda blocks: max(2 * blocks[0].size, 4 * blocks.shape[1]),
    stream=True,
)


def at_the_end(rule):
    """Declare a mistake in the last line: `rule` makes the answer from maximum and sums."""
    return wraps(rule)(lambda blocks: rule(*state(blocks)))


def wrong_for_large_scores(answer, target, blocks):
    return np.abs(blocks).min() > 500 and np.abs(answer - target).max() < 0.3


@on_the_way.expects
class OnTheWayMistakes:
    def nothing_rescaled(blocks):
        """You forgot to rescale: what was added under the old maximum must shrink by exp(old
        maximum - new maximum) when a larger score comes."""
        return entropy_of(*state(blocks, lambda _: 1, lambda _: 1))

    def sum_not_rescaled(blocks):
        """You rescale the sum of the scores but not that of the exponentials. Both were made under
        the old maximum."""
        return entropy_of(*state(blocks, factor=lambda _: 1))

    def sum_of_the_scores_not_rescaled(blocks):
        """You rescale the sum of the exponentials but not the weighted sum of the scores. Both were
        made under the old maximum."""
        return entropy_of(*state(blocks, factor_of_scores=lambda _: 1))

    def factor_upside_down(blocks):
        """The old sums must shrink when the maximum grows, and yours grow: the factor is exp(old
        maximum - new maximum)."""

        def upside_down(old_minus_new):
            return np.exp(-old_minus_new) if np.isfinite(old_minus_new).all() else 0

        return entropy_of(*state(blocks, upside_down, upside_down))

    def the_last_block_only(blocks):
        """This is the entropy of the last block alone. Carry maximum and sums from block to
        block."""
        for block in blocks:
            last = block
        return entropies([last])

    @at_the_end
    def without_the_maximum(c, s, o):
        """You leave out the maximum at the end: the log-sum-exp is c + log s."""
        return np.log(s) - o / s

    @at_the_end
    def log_sum_exp(c, s, o):
        """This is the log-sum-exp of the scores. Subtract their mean under the weights."""
        return c + np.log(s)

    @at_the_end
    def mean_score(c, s, o):
        """This is the mean of the scores under the weights. Subtract it from the log-sum-exp."""
        return o / s

    @at_the_end
    def scores_not_divided_by_the_sum(c, s, o):
        """You subtract the weighted sum of the scores before it is divided by the sum of the
        exponentials."""
        return c + np.log(s) - o

    def negative(blocks):
        """Your entropy has the wrong sign: the logarithms of weights are below 0."""
        return -entropies(blocks)

    def maximum_not_subtracted(blocks):
        """Exponentials of large scores overflow. Subtract the running maximum inside."""
        scores = np.concatenate([as_array(block) for block in blocks], -1)
        e = np.exp(scores)
        return np.log(e.sum(-1)) - (e * scores).sum(-1) / e.sum(-1)

    def one_value_for_all(blocks):
        return entropies(blocks).sum()

    @when(wrong_for_large_scores)
    def cancellation_of_rounded_terms(blocks):
        """Two large terms cancel in the entropy, and yours were rounded on the way: near 750, a
        log-sum-exp is right to four decimals only, and so are weights made of its differences.
        Carry the maximum and the sums apart; divide and subtract once, at the end."""
        log_sum, mean = np.float32(-np.inf), np.float32(0)
        for block in blocks:
            a = as_array(block).astype(np.float32)
            of_block = np.logaddexp.reduce(a, -1)
            both = np.logaddexp(log_sum, of_block)
            means = np.exp(log_sum - both) * mean, (np.exp(a - both[:, None]) * a).sum(-1)
            log_sum, mean = both, sum(means)
        return log_sum - mean


# ---- 17.2


def divided(o, s):
    return o / np.where(s == 0, 1, s)


def finite(c):
    return np.where(c == -np.inf, 0, c)


def merged(c_1, s_1, o_1, c_2, s_2, o_2):
    top = finite(np.maximum(c_1, c_2))
    f_1, f_2 = np.exp(c_1 - top), np.exp(c_2 - top)
    return divided(f_1 * o_1 + f_2 * o_2, f_1 * s_1 + f_2 * s_2)


def part(scores, values):
    c = scores.max(-1, keepdims=True)
    e = np.exp(scores - finite(c))
    return c, e.sum(-1, keepdims=True), e @ values


def two_parts(rng):
    for n, first, second, v, offset in (
        (3, 4, 5, 2, 0),
        (5, 6, 2, 3, 0),
        (4, 3, 5, 2, 900),  # exponentials overflow
        (4, 5, 2, 3, -900),  # and underflow
        (1, 3, 4, 2, 0),
    ):
        parts = []
        for m in (first, second):
            scores = offset + 2 * rng.normal(size=(n, m))
            if n > 1:
                scores[-1] = -np.inf  # sees no key in either part
                scores[0 if m == first else 1] = -np.inf  # sees keys in the other part only
            parts += part(scores, rng.normal(size=(m, v)))
        yield tuple(parts)


merging = Exercise("17.2", merged, two_parts, tolerance=5e-4)


def by_rule(rule):
    """Declare a mistake, told by the rows that have seen keys on both machines; others may be NaN.

    Args:
        rule: Makes the output from (f_1, s_1, o_1, f_2, s_2, o_2), where the factors f bring both
            machines to the larger maximum.
    """

    @wraps(rule)
    def wrong(c_1, s_1, o_1, c_2, s_2, o_2):
        top = finite(np.maximum(c_1, c_2))
        return rule(np.exp(c_1 - top), s_1, o_1, np.exp(c_2 - top), s_2, o_2)

    def when(answer, target, *parts):
        seen = np.isfinite(parts[0] + parts[3])[:, 0]
        return np.allclose(answer[seen], wrong(*parts)[seen], 5e-4, 5e-4)

    return wrong, when


@merging.expects
class MergingMistakes:
    @by_rule
    def not_rescaled(f_1, s_1, o_1, f_2, s_2, o_2):
        """The two machines have subtracted different maxima. Bring both to the larger one first:
        multiply s and o by exp(c - larger)."""
        return divided(o_1 + o_2, s_1 + s_2)

    @by_rule
    def mean_of_the_two_outputs(f_1, s_1, o_1, f_2, s_2, o_2):
        """You take the mean of two outputs. A machine whose keys score higher must count for more:
        by its rescaled sum."""
        return (divided(o_1, s_1) + divided(o_2, s_2)) / 2

    @by_rule
    def sum_of_the_two_outputs(f_1, s_1, o_1, f_2, s_2, o_2):
        """You add two outputs. The weights behind each sum to 1, so yours sum to 2."""
        return divided(o_1, s_1) + divided(o_2, s_2)

    @by_rule
    def only_the_weighted_sums_rescaled(f_1, s_1, o_1, f_2, s_2, o_2):
        """You rescale the weighted sums of values but not the sums s, so the weights do not sum to
        1."""
        return divided(f_1 * o_1 + f_2 * o_2, s_1 + s_2)

    @by_rule
    def only_the_sums_rescaled(f_1, s_1, o_1, f_2, s_2, o_2):
        """You rescale the sums s but not the weighted sums of values: both were made under the old
        maximum."""
        return divided(o_1 + o_2, f_1 * s_1 + f_2 * s_2)

    @by_rule
    def not_divided_by_the_sum(f_1, s_1, o_1, f_2, s_2, o_2):
        """This is the weighted sum before the division: divide it by the joint sum at the end."""
        return f_1 * o_1 + f_2 * o_2

    @by_rule
    def factors_swapped(f_1, s_1, o_1, f_2, s_2, o_2):
        """Each machine's s and o need the factor of its own maximum, and yours get the factor of
        the other one."""
        return divided(f_2 * o_1 + f_1 * o_2, f_2 * s_1 + f_1 * s_2)

    @by_rule
    def higher_machine_takes_all(f_1, s_1, o_1, f_2, s_2, o_2):
        """You take the output of the machine with the larger maximum. The keys of the other one
        have weight, too."""
        return np.where(f_1 == 1, divided(o_1, s_1), divided(o_2, s_2))

    def exponentials_of_the_maxima(c_1, s_1, o_1, c_2, s_2, o_2):
        """On paper this is right. But the exponential of a large maximum overflows, and that of a
        very negative one is 0. Subtract the larger of the two maxima first."""
        f_1, f_2 = np.exp(c_1), np.exp(c_2)
        return divided(f_1 * o_1 + f_2 * o_2, f_1 * s_1 + f_2 * s_2)

    def nan_where_nothing_was_seen(c_1, s_1, o_1, c_2, s_2, o_2):
        """A query that has seen no key on either machine has two maxima of minus infinity, and inf
        - inf is NaN. Subtract 0 there, and divide by 1 in place of 0."""
        c = np.maximum(c_1, c_2)
        f_1, f_2 = np.exp(c_1 - c), np.exp(c_2 - c)
        return (f_1 * o_1 + f_2 * o_2) / (f_1 * s_1 + f_2 * s_2)


# ---- 17.3


def partner(rank, P):
    return 2 * P - 1 - rank


def machines(rng):
    yield 0, 4
    yield from ((int(rng.integers(P)), P) for P in rng.choice(range(2, 60), 5).tolist())
    yield 0, 1


sharing = Exercise("17.3", partner, machines)


@sharing.expects
class SharingMistakes:
    def the_next_block(rank, P):
        """You give block r and block r + 1 to machine r: two machines then have the same block."""
        return rank + 1

    def neighbors(rank, P):
        """Machine r is to have block r; the blocks P to 2P - 1 are to be given away, the one with
        the most work first."""
        return 2 * rank + 1

    def in_the_same_order(rank, P):
        """You deal out the second half in the order of the first. The machine with the least work
        gets the least again: it should get the most."""
        return P + rank

    def one_too_far(rank, P):
        """Blocks are counted from 0: the last one is 2P - 1."""
        return 2 * P - rank

    def within_the_first_half(rank, P):
        """There are 2P blocks, two for each machine. You pair the first P of them."""
        return P - 1 - rank
