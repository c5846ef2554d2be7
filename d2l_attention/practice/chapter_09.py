"""The checks of chapter 9: FLOPs, the softmax in one pass, and parts put together."""

from functools import wraps

import numpy as np

from d2l_attention.practice.exercises import Exercise, one_of, when
from d2l_attention.practice.numerics import transposed

# ---- 9.1


def layer_flops(n, D, H):
    return 8 * n * D**2 + 4 * n**2 * D


flops = Exercise(
    "9.1",
    layer_flops,
    lambda rng: ((10, 12, 3), (64, 32, 4), (7, 48, 6), (1, 20, 5), (9, 15, 1)),
)


@flops.expects
class FlopsMistakes:
    def multiplications_only(n, D, H):
        """You count the multiplications. Each comes with an addition: 2 n m d FLOPs."""
        return layer_flops(n, D, H) / 2

    def every_head_of_full_size(n, D, H):
        """A head works with vectors of dimension D / H, so all heads together cost as much as one
        of dimension D."""
        return 8 * n * D**2 + 4 * n**2 * D * H

    def one_head_only(n, D, H):
        """You count the products of one head. There are H of them."""
        return 8 * n * D**2 + 4 * n**2 * D / H

    def three_projections(n, D, H):
        """You count three projections. The output goes through a fourth matrix."""
        return 6 * n * D**2 + 4 * n**2 * D

    def no_projections(n, D, H):
        """These are the two products of attention. The four projections are missing."""
        return 4 * n**2 * D

    def projections_only(n, D, H):
        """These are the four projections. The two products of attention are missing."""
        return 8 * n * D**2

    def scores_without_the_weighted_sum(n, D, H):
        """The scores are one product; the weighted sum of the values is a second one, equally large
        here."""
        return 8 * n * D**2 + 2 * n**2 * D

    def projections_for_each_head(n, D, H):
        """The heads share the projections: one D × D matrix makes the queries of all heads."""
        return 8 * n * D**2 * H + 4 * n**2 * D


# ---- 9.2


def running(scores):
    return walked(scores)


def walked(scores, rescale=lambda old, new: np.exp(old - new), update=max, start=-np.inf):
    """Return running maximum and sum (m, 2); the keywords make mistakes."""
    maximum, total, rows = start, 0.0, []
    for score in scores:
        old, maximum = maximum, update(maximum, score)
        total = rescale(old, maximum) * total + np.exp(score - maximum)
        rows.append((maximum, total))
    return np.array(rows)


def some_scores(rng):
    yield (np.array([0.5, 2.0, -1.0, 3.0, 1.5]),)
    yield (np.append(rng.normal(size=3) - 4, 3 * rng.normal(size=3)),)  # at first all negative
    yield (np.sort(rng.normal(size=4))[::-1].copy(),)
    yield (np.array([-1.0, 850.0, 850.0, 849.0, -900.0, 851.0, 0.0]),)  # ties, and overflow
    yield (np.array([-1e30]),)


on_the_way = Exercise("9.2", running, some_scores, most_elements=lambda scores: 2 * scores.size)


@on_the_way.expects
class OnTheWayMistakes:
    def sum_not_rescaled(scores):
        """You forgot to rescale the sum: what was added under the old maximum must shrink by
        exp(old maximum - new maximum) when a larger score comes."""
        return walked(scores, rescale=lambda old, new: 1)

    def factor_upside_down(scores):
        """The old sum must shrink when the maximum grows, and yours grows: the factor is exp(old
        maximum - new maximum)."""
        return walked(scores, rescale=lambda old, new: np.exp(new - old) if old > -np.inf else 0)

    def the_new_score_not_shifted(scores):
        """You add exp(score). Subtract the new maximum inside, as for all scores before."""
        maxima = np.maximum.accumulate(scores)
        rows = [(-np.inf, 0.0)]
        for score, new in zip(scores, maxima, strict=True):
            old, total = rows[-1]
            rows.append((new, np.exp(old - new) * total + np.exp(score)))
        return np.array(rows[1:])

    def the_latest_score_for_the_maximum(scores):
        """You take each new score for the maximum. The maximum is the largest so far."""
        return walked(scores, update=lambda old, score: score)

    def the_final_maximum(scores):
        """You use the maximum of all scores from the start. That takes a pass of its own; after
        step t only the first t scores are known."""
        largest = scores.max()
        return np.stack([np.full_like(scores, largest), np.exp(scores - largest).cumsum()], 1)

    def the_first_score_for_the_maximum(scores):
        """You keep the first score for the maximum. The maximum is the largest so far."""
        return walked(scores, update=lambda old, score: score if old == -np.inf else old)

    def the_maximum_starts_at_0(scores):
        """Your maximum starts at 0, so it is wrong as long as all scores are negative. Start at
        minus infinity."""
        return walked(scores, start=0.0)

    def the_smallest_so_far(scores):
        """You keep the smallest score. Exponentials of differences from it overflow."""
        return walked(
            scores, update=lambda old, score: score if old == -np.inf else min(old, score)
        )

    def maximum_not_subtracted(scores):
        """Your sum is one of exp(score), and large scores overflow. Subtract the running maximum
        inside."""
        return np.stack([np.maximum.accumulate(scores), np.exp(scores).cumsum()], 1)

    def a_step_late(scores):
        """Your rows come one step late: row t already contains score t."""
        return np.concatenate([[(-np.inf, 0.0)], running(scores)[:-1]])

    @when(lambda answer, target, scores: np.array_equal(answer, target[:, ::-1]))
    def sum_before_maximum(scores):
        """Your columns are swapped: the maximum comes first, then the sum."""
        return running(scores)[:, ::-1]

    @when(lambda answer, target, scores: np.array_equal(answer, target[-1]))
    def the_last_row_only(scores):
        """You return maximum and sum at the end. The task asks for them after each score."""
        return running(scores)[-1]

    def rows_and_columns_swapped(scores):
        """Make one row for each score, with maximum and sum: the shape is (m, 2)."""
        return transposed(running(scores))


# ---- 9.3


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


merging = Exercise("9.3", merged, two_parts, tolerance=5e-4)


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


# ---- 9.4


shortest = Exercise("9.4", 129)


@shortest.expects
class ShortestMistakes:
    def as_much_and_not_more():
        """At this length the two are equal. The task asks for more."""
        return 128

    @when(one_of(96, 97))
    def without_the_output():
        """You compare with the three inputs. The output has n d entries, too."""
        return 97

    @when(one_of(192, 193, 256, 257))
    def one_matrix():
        """You count one matrix. At the peak scores and weights are alive together."""
        return 257

    @when(one_of(32, 33, 64, 65))
    def one_input():
        """You compare with one or two of the four. Queries, keys, values and output have n d
        each."""
        return 65
