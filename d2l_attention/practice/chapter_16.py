"""The checks of chapter 16, What attention costs."""

from d2l_attention.practice.exercises import Exercise

# ---- 16.1


def layer_flops(n, D, H):
    return 8 * n * D**2 + 4 * n**2 * D


def layer_sizes(rng):
    yield 10, 12, 3
    for n, H in ((60, 4), (9, 6), (1, 5), (9, 1)):
        yield int(rng.integers(n)) + 1, H * int(rng.integers(3, 20)), H


flops = Exercise("16.1", layer_flops, layer_sizes)


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
