"""The checks of chapter 19, Beyond the trained length."""

import numpy as np

from d2l_attention.practice.exercises import Exercise

# ---- 19.1


steep_enough = Exercise("19.1", np.log(2))


@steep_enough.expects
class SteepEnoughMistakes:
    def the_factor_in_place_of_the_slope():
        """This is the factor by which one step multiplies the weight. The slope s is in its
        exponent: solve exp(-s) = 1/2."""
        return 0.5

    def logarithm_to_base_two():
        """You take the logarithm to base 2. The softmax takes powers of e."""
        return 1.0

    def the_sign_of_the_slope():
        """With a negative slope, far keys get more weight than near ones. The bias is -s times the
        distance: its minus sign is already there."""
        return -np.log(2)

    def keys_on_both_sides():
        """You count keys before and after the query. Under a causal mask there are none after
        it."""
        return np.log(3)

    def the_largest_weight_is_not_half():
        """With any positive slope the key at distance 0 has the largest weight. The task asks for
        half of all weight."""
        return 0.0
