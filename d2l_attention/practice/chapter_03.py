"""The checks of chapter 3, Masks."""

import numpy as np

from d2l_attention.practice.exercises import Exercise, when

# ---- 3.1


def window_mask(n, m, width):
    steps_behind = np.arange(n)[:, None] - np.arange(m)  # of key j behind query i
    return (steps_behind >= 0) & (steps_behind < width)


def sizes(rng):
    a, b, c = sorted(rng.choice(range(3, 30), 3, replace=False).tolist())
    return (4, 6, 2), (b, a, a), (b, c, a), (c, b, 1), (1, a, 2), (a, b, c), (c, 2, a), (1, 1, 1)


window = Exercise("3.1", window_mask, sizes)


def without_own_position(mask):
    n, m = mask.shape
    return mask & (np.arange(n)[:, None] != np.arange(m))


@window.expects
class WindowMistakes:
    def looks_ahead(n, m, width):
        """Your window reaches to both sides, so a query sees keys that come after it. The window is
        causal: j is never larger than i."""
        return abs(np.arange(n)[:, None] - np.arange(m)) < width

    def one_key_too_many(n, m, width):
        """Your window is one key too wide: `width` counts the query's own position, too."""
        return window_mask(n, m, width + 1)

    def own_position_left_out(n, m, width):
        """Your window ends before the query. A query sees its own position, too, i - j = 0."""
        return without_own_position(window_mask(n, m, width))

    def window_one_step_too_early(n, m, width):
        """Your window has the right width and lies one step too far back: its last key should be
        the query's own position."""
        return without_own_position(window_mask(n, m, width + 1))

    @when(lambda answer, target, n, m, width: n != m and answer.shape == (m, n))
    def queries_and_keys_swapped(n, m, width):
        return window_mask(n, m, width).T

    def keys_counted_from_the_wrong_side(n, m, width):
        """The keys of your window come after the query. Check the sign: key j lies i - j steps
        behind query i."""
        return window_mask(m, n, width).T

    def everything_before_and_no_window(n, m, width):
        """This is a causal mask: it never forgets. Leave out the keys that lie `width` or more
        steps behind the query, too."""
        return np.tri(n, m, dtype=bool)

    def mask_inverted(n, m, width):
        return ~window_mask(n, m, width)
