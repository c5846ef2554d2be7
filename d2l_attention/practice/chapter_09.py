"""The exercises of chapter 9: FLOPs, the softmax in one pass, and parts put together."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, Mistake, one_of


def layer_flops(n, size, heads):
    return 8 * n * size**2 + 4 * n**2 * size


def running(scores):
    return walked(scores)


def walked(
    scores,
    rescale=lambda old, new: np.exp(old - new),
    update=max,
    start=-np.inf,
):
    """Return running maximum and sum (m, 2); the keywords make mistakes."""
    maximum, total, rows = start, 0.0, []
    for score in scores:
        old, maximum = maximum, update(maximum, score)
        total = rescale(old, maximum) * total + np.exp(score - maximum)
        rows.append((maximum, total))
    return np.array(rows)


def one_final_maximum(scores):
    return np.stack([np.full_like(scores, scores.max()), np.exp(scores - scores.max()).cumsum()], 1)


def largest_so_far(scores):
    return np.stack([np.maximum.accumulate(scores), np.exp(scores).cumsum()], 1)


def some_scores(rng):
    yield (np.array([0.5, 2.0, -1.0, 3.0, 1.5]),)
    yield (np.append(rng.normal(size=3) - 4, 3 * rng.normal(size=3)),)  # at first all negative
    yield (np.sort(rng.normal(size=4))[::-1].copy(),)


def merged(c_1, s_1, o_1, c_2, s_2, o_2):
    c = np.maximum(c_1, c_2)
    top = finite(c)
    f_1, f_2 = np.exp(c_1 - top), np.exp(c_2 - top)
    s = f_1 * s_1 + f_2 * s_2
    return (f_1 * o_1 + f_2 * o_2) / np.where(s == 0, 1, s)


def literally_merged(c_1, s_1, o_1, c_2, s_2, o_2):
    c = np.maximum(c_1, c_2)
    f_1, f_2 = np.exp(c_1 - c), np.exp(c_2 - c)
    return (f_1 * o_1 + f_2 * o_2) / (f_1 * s_1 + f_2 * s_2)


def finite(c):
    return np.where(c == -np.inf, 0, c)


def divided(o, s):
    return o / np.where(s == 0, 1, s)


def merging_mistake(name, say, rule):
    """Return a mistake told by the rows that have seen keys on both machines; others may be NaN."""

    def wrong(c_1, s_1, o_1, c_2, s_2, o_2):
        top = finite(np.maximum(c_1, c_2))
        return rule(np.exp(c_1 - top), s_1, o_1, np.exp(c_2 - top), s_2, o_2)

    def when(answer, target, *parts):
        seen = np.isfinite(parts[0] + parts[3])[:, 0]
        return np.allclose(answer[seen], wrong(*parts)[seen], 1e-4, 1e-4)

    return Mistake(name, say, wrong, when)


def part(scores, values):
    c = scores.max(-1, keepdims=True)
    e = np.exp(scores - finite(c))
    return c, e.sum(-1, keepdims=True), e @ values


def two_parts(rng):
    for n, first, second, v in ((3, 4, 5, 2), (5, 6, 2, 3)):
        parts = []
        for m in (first, second):
            scores = 2 * rng.normal(size=(n, m))
            scores[-1] = -np.inf  # sees no key in either part
            scores[0 if m == first else 1] = -np.inf  # sees keys in the other part only
            parts += part(scores, rng.normal(size=(m, v)))
        yield tuple(parts)


EXERCISES = (
    Exercise(
        "9.1",
        layer_flops,
        lambda rng: ((10, 12, 3), (64, 32, 4), (7, 48, 6)),
        mistakes=(
            Mistake(
                "multiplications only",
                "You count the multiplications. Each comes with an addition: 2 n m d FLOPs.",
                lambda n, size, heads: layer_flops(n, size, heads) / 2,
            ),
            Mistake(
                "every head of full size",
                "A head works with vectors of size size / heads, so all heads together cost as "
                "much as one of full size.",
                lambda n, size, heads: 8 * n * size**2 + 4 * n**2 * size * heads,
            ),
            Mistake(
                "one head only",
                "You count the products of one head. There are `heads` of them.",
                lambda n, size, heads: 8 * n * size**2 + 4 * n**2 * size / heads,
            ),
            Mistake(
                "three projections",
                "You count three projections. The output goes through a fourth matrix.",
                lambda n, size, heads: 6 * n * size**2 + 4 * n**2 * size,
            ),
            Mistake(
                "no projections",
                "These are the two products of attention. The four projections are missing.",
                lambda n, size, heads: 4 * n**2 * size,
            ),
            Mistake(
                "scores without the blend",
                "The scores are one product; the blend of the values is a second one, equally "
                "large here.",
                lambda n, size, heads: 8 * n * size**2 + 2 * n**2 * size,
            ),
            Mistake(
                "projections for each head",
                "The heads share the projections: one matrix of size × size makes the queries of "
                "all heads.",
                lambda n, size, heads: 8 * n * size**2 * heads + 4 * n**2 * size,
            ),
        ),
        hints=(
            "Count one projection first: n rows of `size` numbers times a square matrix.",
            "Four projections make 8 n size². A head has n queries and n keys of size d, "
            "with d = v = size / heads: put that into (9.1).",
            "All heads together: heads · 2 n n · 2 size / heads. What becomes of the heads?",
        ),
    ),
    Exercise(
        "9.2",
        running,
        some_scores,
        mistakes=(
            Mistake(
                "sum not rescaled",
                "You forgot to rescale the sum: what was added under the old maximum must shrink "
                "by exp(old maximum - new maximum) when a larger score comes.",
                lambda scores: walked(scores, rescale=lambda old, new: 1),
            ),
            Mistake(
                "factor upside down",
                "The old sum must shrink when the maximum grows, and yours grows: the factor is "
                "exp(old maximum - new maximum).",
                lambda scores: walked(
                    scores, rescale=lambda old, new: np.exp(new - old) if old > -np.inf else 0
                ),
            ),
            Mistake(
                "wrong maximum: the latest score",
                "You take each new score for the maximum. The maximum is the largest so far.",
                lambda scores: walked(scores, update=lambda old, score: score),
            ),
            Mistake(
                "wrong maximum: the final one",
                "You use the maximum of all scores from the start. That takes a pass of its own; "
                "after step t only the first t scores are known.",
                one_final_maximum,
            ),
            Mistake(
                "wrong maximum: the first score",
                "You keep the first score for the maximum. The maximum is the largest so far.",
                lambda scores: walked(
                    scores, update=lambda old, score: score if old == -np.inf else old
                ),
            ),
            Mistake(
                "wrong maximum: it starts at 0",
                "Your maximum starts at 0, so that it is wrong as long as all scores are "
                "negative. Start at minus infinity.",
                lambda scores: walked(scores, start=0.0),
            ),
            Mistake(
                "smallest so far",
                "You keep the smallest score. Exponentials of differences from it overflow.",
                lambda scores: walked(
                    np.asarray(scores), update=lambda old, s: s if old == -np.inf else min(old, s)
                ),
            ),
            Mistake(
                "maximum not subtracted",
                "Your sum is one of exp(score). Subtract the running maximum inside, "
                "or large scores overflow.",
                largest_so_far,
            ),
            Mistake(
                "rows and columns swapped",
                "One row for each key, with maximum and sum: the shape is (m, 2).",
                lambda scores: running(scores).T,
            ),
        ),
        hints=(
            "Walk over the scores with two numbers, maximum = -inf and total = 0, "
            "and append both to a list after each step.",
            "Keep the old maximum until you have corrected the sum: "
            "total = exp(old - new) * total + exp(score - new).",
            "torch.stack makes a tensor of a list of tensors: of [maximum, total] after each step, "
            "and of these rows in the end.",
        ),
    ),
    Exercise(
        "9.3",
        merged,
        two_parts,
        mistakes=(
            merging_mistake(
                "not rescaled",
                "The two machines have subtracted different maxima. Bring both to the larger one "
                "first: multiply s and o by exp(c - larger).",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: divided(o_1 + o_2, s_1 + s_2),
            ),
            merging_mistake(
                "mean of the two outputs",
                "You take the mean of two outputs. A machine whose keys score higher must count "
                "for more: by its rescaled sum.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: (divided(o_1, s_1) + divided(o_2, s_2)) / 2,
            ),
            merging_mistake(
                "sum of the two outputs",
                "You add two outputs. Their weights sum to 1 each, so that yours sum to 2.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: divided(o_1, s_1) + divided(o_2, s_2),
            ),
            merging_mistake(
                "only the blends rescaled",
                "You rescale the blends and not the sums, so that the weights do not sum to 1.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: divided(f_1 * o_1 + f_2 * o_2, s_1 + s_2),
            ),
            merging_mistake(
                "only the sums rescaled",
                "You rescale the sums and not the blends: both were made under the old maximum.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: divided(o_1 + o_2, f_1 * s_1 + f_2 * s_2),
            ),
            merging_mistake(
                "not divided by the sum",
                "This is the blend, not the output: divide it by the sum in the end.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: f_1 * o_1 + f_2 * o_2,
            ),
            merging_mistake(
                "higher machine takes all",
                "You take the output of the machine with the larger maximum. "
                "The keys of the other one have weight, too.",
                lambda f_1, s_1, o_1, f_2, s_2, o_2: np.where(
                    f_1 == 1, divided(o_1, s_1), divided(o_2, s_2)
                ),
            ),
            Mistake(
                "NaN where nothing was seen",
                "A query that has seen no key on either machine has two maxima of minus infinity, "
                "and inf - inf is NaN. Subtract 0 there, and divide by 1 in place of 0.",
                literally_merged,
            ),
        ),
        hints=(
            "Compare with fold_in: the second machine's numbers come in place of a new block.",
            "The new maximum is c = maximum(c_1, c_2). The first machine's s and o must shrink by "
            "exp(c_1 - c); the second machine's by exp(c_2 - c).",
            "Where c is -inf, subtract 0 in its place: top = where(c == -inf, 0, c). "
            "Divide the joint blend by where(s == 0, 1, s).",
        ),
    ),
    Exercise(
        "9.4",
        129,
        mistakes=(
            Mistake(
                "as much, not more",
                "At this length the two are equal. The task asks for more.",
                128,
            ),
            Mistake(
                "without the output",
                "You compare with the three inputs. The output is n d numbers, too.",
                when=one_of(96, 97),
            ),
            Mistake(
                "one table",
                "You count one table. At the peak scores and weights are alive together.",
                when=one_of(192, 193, 256, 257),
            ),
            Mistake(
                "one input",
                "You compare with one or two of the four tensors of n d numbers.",
                when=one_of(32, 33, 64, 65),
            ),
        ),
        hints=(
            "Write down both sides in numbers, not in bytes: the factor 4 is on both.",
            "Tables: 2 n² numbers. Queries, keys, values and output: n d numbers each.",
            "2 n² > 4 n d is n > 2 d.",
        ),
    ),
)
