"""The checks of chapter 20, Scores that stay healthy."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, symptom
from d2l_attention.practice.numerics import masked_softmax, products, softmax

# ---- 20.1


def capped(scores, cap):
    return cap * np.tanh(scores / cap)


def capped_weights(scores, cap, keep):
    return masked_softmax(capped(scores, cap), keep)


def capped_scores_and_masks(rng):
    sizes = (1, 3, 5, 2.0, 4), (2, 4, 3, 5.0, 20), (3, 1, 6, 30.0, 500), (1, 4, 2, 1.0, 3)
    for b, n, m, cap, spread in sizes:
        keep = rng.random((b, n, m)) < 0.6
        keep[..., 0] |= ~keep.any(-1)  # each row has a key
        keep[0, 0, -1] = False
        keep[0, 0, 0] = True
        scores = spread * rng.normal(size=(b, n, m))
        scores[0, 0, -1] = 600.0  # a masked score that must not matter
        yield scores, cap, keep
    keep = np.tri(4, 5, 1, dtype=bool)[None]  # all capped scores are so low that any number leaks
    yield -rng.uniform(1e11, 2e11, size=(1, 4, 5)), 1e9, keep


cap_then_mask = Exercise("20.1", capped_weights, capped_scores_and_masks)


@cap_then_mask.expects
class CapThenMaskMistakes:
    def masked_before_the_cap(scores, cap, keep):
        """Your cap sees the mask: c tanh(-∞) is -c, so masked keys get some weight. Cap first, then
        mask."""
        return softmax(capped(np.where(keep, scores, -np.inf), cap))

    def no_mask(scores, cap, keep):
        """Masked keys get weight: fill their capped scores with -∞ before the softmax."""
        return softmax(capped(scores, cap))

    def mask_after_the_softmax(scores, cap, keep):
        """You zero out weights after the softmax, so the rows no longer sum to 1. Mask the capped
        scores."""
        return softmax(capped(scores, cap)) * keep

    def mask_inverted(scores, cap, keep):
        return masked_softmax(capped(scores, cap), ~keep)

    def no_cap(scores, cap, keep):
        """These are the weights of the scores as they are. Cap them first: c tanh(a / c)."""
        return masked_softmax(scores, keep)

    def not_multiplied_by_the_cap(scores, cap, keep):
        """Your capped scores lie between -1 and 1: multiply the tanh by the cap."""
        return masked_softmax(np.tanh(scores / cap), keep)

    def not_divided_by_the_cap(scores, cap, keep):
        """You take the tanh of the scores as they are, which flattens scores far below the cap:
        divide them by the cap inside the tanh."""
        return masked_softmax(cap * np.tanh(scores), keep)

    def a_hard_cap(scores, cap, keep):
        """You clip the scores. The soft cap is a tanh, which has a slope everywhere."""
        return masked_softmax(np.clip(scores, -cap, cap), keep)

    def softmax_over_the_queries(scores, cap, keep):
        return softmax(np.where(keep, capped(scores, cap), -1e9), -2)

    def filled_with_a_number(scores, cap, keep):
        """You fill masked scores with a number. Where the kept scores are as low, masked keys get
        weight: fill with -∞."""
        return softmax(np.where(keep, capped(scores, cap), -cap - 30).astype(np.float32))

    @symptom
    def masked_keys_with_weight(answer, target, scores, cap, keep):
        """Masked keys get weight. If you fill their scores with a number, the kept scores can be as
        low: fill with -∞."""
        return answer.shape == target.shape and bool((answer[~keep] > 1e-4).any())


# ---- 20.2


def beside(scores, sink):
    column = np.broadcast_to(sink[:, None, None], (*scores.shape[:-1], 1))
    return np.concatenate([scores, column], -1)


def weights_with_sink(scores, sink):
    return softmax(beside(scores, sink))[..., :-1]


def scores_and_sinks(rng):
    sizes = (1, 2, 3, 4, 1), (2, 3, 1, 5, 3), (3, 1, 4, 1, 2), (2, 4, 5, 3, 1)
    for b, heads, n, m, spread in sizes:
        yield spread * rng.normal(size=(b, heads, n, m)), 1 + rng.normal(size=heads)
    loud = rng.uniform(-500, 500, size=(2, 3, 4, 5))
    loud[0, 0] = -500 + rng.normal(size=(4, 5))  # below the sink by far
    yield loud, np.array([499.0, -499.0, 0.5])
    yield rng.normal(size=(1, 2, 5, 3)) - 500, np.array([-500.0, -499.0])


learned_sink = Exercise("20.2", weights_with_sink, scores_and_sinks)


@learned_sink.expects
class LearnedSinkMistakes:
    def no_sink(scores, sink):
        """Your rows sum to 1, so nothing goes to the sink: it belongs in the denominator."""
        return softmax(scores)

    def maximum_not_subtracted(scores, sink):
        e = np.exp(scores.astype(np.float32))
        return e / (np.exp(sink.astype(np.float32))[:, None, None] + e.sum(-1, keepdims=True))

    def sink_not_shifted(scores, sink):
        """You subtract the row's maximum from the scores and not from the sink: its exponential
        must shrink by the same factor."""
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / (np.exp(sink)[:, None, None] + e.sum(-1, keepdims=True))

    def a_one_in_place_of_the_sink(scores, sink):
        """Your sink has score 0 in every head. Each head has a score of its own for it."""
        return weights_with_sink(scores, np.zeros_like(sink))

    def the_sink_itself_added(scores, sink):
        """You add the sink's score to the denominator. Add its exponential."""
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - top)
        return e / (sink[:, None, None] * np.exp(-top) + e.sum(-1, keepdims=True))

    def sink_with_the_wrong_sign(scores, sink):
        """The sign of the sink's score is wrong: a larger score takes more of the weight."""
        return weights_with_sink(scores, -sink)

    def sink_column_kept(scores, sink):
        """You return a weight for the sink, too. Drop the last column."""
        return softmax(beside(scores, sink))

    def softmax_over_the_queries(scores, sink):
        row = np.broadcast_to(sink[:, None, None], (*scores.shape[:-2], 1, scores.shape[-1]))
        return softmax(np.concatenate([scores, row], -2), -2)[..., :-1, :]


# ---- 20.4


def index_scores(index_queries, index_keys, w, each=lambda x: np.maximum(x, 0)):
    return (w[..., None] * each(products(index_queries, index_keys[:, None]))).sum(1)


def weights_of_the_largest(index, scores, k, keep):
    """Return the softmax over the k kept keys of each query with the largest index scores."""
    index = np.where(keep, index, -np.inf)
    least = np.sort(index, -1)[..., -k, None]  # -∞ where fewer than k keys are kept
    return masked_softmax(scores, keep & (index >= least))


def chosen_weights(scores, index_queries, index_keys, w, k, keep):
    index = index_scores(index_queries, index_keys, w)
    return weights_of_the_largest(index, scores, k, keep)


def scores_to_choose_from(rng):
    for b, n, m, heads, e, k, spread in (
        (1, 3, 7, 2, 4, 2, 2),
        (2, 5, 9, 3, 4, 4, 1),
        (3, 1, 8, 4, 5, 3, 2),
        (2, 6, 7, 5, 3, 3, 90),
        (3, 8, 12, 2, 4, 4, 1),
    ):
        apart = False
        while not apart:  # no query hesitates between two keys
            queries, keys = rng.normal(size=(b, heads, n, e)), rng.normal(size=(b, m, e))
            w = rng.normal(size=(b, heads, n)) + 0.5
            keep = np.arange(m) <= np.arange(m - n, m)[:, None]
            keep = keep & (rng.random((b, n, m)) < 0.8)
            keep[..., 0] = True
            keep[0, 0, 1:] = False  # fewer than k keys
            index = np.where(keep, index_scores(queries, keys, w), -np.inf)
            ranked = -np.sort(-index, -1)
            with np.errstate(invalid="ignore"):
                gaps = ranked[..., k - 1] - ranked[..., k]
            apart = not (gaps < 0.01).any()
        yield spread * rng.normal(size=(b, n, m)), queries, keys, w, k, keep


choosing = Exercise("20.4", chosen_weights, scores_to_choose_from)


@choosing.expects
class ChoosingMistakes:
    def all_keys(scores, index_queries, index_keys, w, k, keep):
        """All keys that the mask keeps get weight. Keep only the k with the largest index
        scores."""
        return masked_softmax(scores, keep)

    def chosen_before_the_mask(scores, index_queries, index_keys, w, k, keep):
        """You choose among all keys and mask afterwards, so keys that nobody may see take places
        of others. Mask the index scores first."""
        index = index_scores(index_queries, index_keys, w)
        return masked_softmax(scores, keep & (index >= np.sort(index, -1)[..., -k, None]))

    def mask_forgotten(scores, index_queries, index_keys, w, k, keep):
        """You choose keys that the mask hides. Give them an index score of -∞, and no weight
        where fewer than k are left."""
        index = index_scores(index_queries, index_keys, w)
        return weights_of_the_largest(index, scores, k, np.ones_like(keep))

    def relu_forgotten(scores, index_queries, index_keys, w, k, keep):
        """The relu is missing: negative products of a head count as 0."""
        index = index_scores(index_queries, index_keys, w, each=lambda x: x)
        return weights_of_the_largest(index, scores, k, keep)

    def relu_after_the_sum(scores, index_queries, index_keys, w, k, keep):
        """You take the relu of the sum. Take it of each head's products, before the weights."""
        index = np.maximum(index_scores(index_queries, index_keys, w, each=lambda x: x), 0)
        return weights_of_the_largest(index, scores, k, keep)

    def heads_without_weights(scores, index_queries, index_keys, w, k, keep):
        """Your heads count alike. Each query weighs them by g before it sums."""
        index = index_scores(index_queries, index_keys, np.ones_like(w))
        return weights_of_the_largest(index, scores, k, keep)

    def the_smallest_index(scores, index_queries, index_keys, w, k, keep):
        """You keep the keys with the smallest index scores. Keep those with the largest."""
        index = -index_scores(index_queries, index_keys, w)
        return weights_of_the_largest(index, scores, k, keep)

    def one_key_too_few(scores, index_queries, index_keys, w, k, keep):
        """You keep one key too few: the key with the k-th largest index score counts, too."""
        index = index_scores(index_queries, index_keys, w)
        return weights_of_the_largest(index, scores, k - 1, keep)

    def index_in_place_of_scores(scores, index_queries, index_keys, w, k, keep):
        """Your weights are the softmax of the index scores. They only choose: the weights come
        from the scores."""
        index = index_scores(index_queries, index_keys, w)
        return weights_of_the_largest(index, index, k, keep)

    def chosen_after_the_softmax(scores, index_queries, index_keys, w, k, keep):
        """You zero out weights after the softmax, so the rows no longer sum to 1. Choose first."""
        chosen = chosen_weights(scores, index_queries, index_keys, w, k, keep) > 0
        return masked_softmax(scores, keep) * chosen
