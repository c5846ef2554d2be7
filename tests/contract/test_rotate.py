"""rotate against a loop over pairs of features."""

import math

import numpy as np
import pytest

from d2l_attention.checks import kind
from tests.contract.comparing import TOLERANCE, close, gradients, refuses
from tests.contract.framework import adapter, array, dtype_of, numpy, ours, rounded
from tests.contract.samples import normal

pytestmark = pytest.mark.skipif(not hasattr(ours, "rotate"), reason="no chapter on positions")


def rotated(x, positions, base=10_000.0) -> np.ndarray:
    """Vectors (..., n, d), turned by loops."""
    y, d = np.array(x, np.float64), np.shape(x)[-1]
    for (*at, t), i in np.ndenumerate(np.broadcast_to(positions, x.shape[:-1])[..., None]):
        assert t == 0
        for pair in range(d // 2):
            angle = float(i) * base ** (-2 * pair / d)
            cos, sin = math.cos(angle), math.sin(angle)
            even, odd = x[(*at, 2 * pair)], x[(*at, 2 * pair + 1)]
            y[(*at, 2 * pair)] = cos * even - sin * odd
            y[(*at, 2 * pair + 1)] = sin * even + cos * odd
    return y


def turn(x, positions=None, **options) -> np.ndarray:
    return numpy(ours.rotate(array(x), array(positions), **options))


def test_positions_count_from_0_and_nothing_in_gives_nothing_out():
    x = normal(2, 3, 4)
    close(turn(x), rotated(x, np.arange(3)))
    assert turn(np.ones((2, 0, 4))).shape == (2, 0, 4)


@pytest.mark.parametrize("shape", [(3,), (2, 1, 3), (1, 4, 3), (1, 1, 3), (2, 4, 3)])
def test_positions_broadcast_axis_by_axis(shape):
    x, at = normal(2, 4, 3, 6), np.arange(math.prod(shape)).reshape(shape)
    close(turn(x, at, base=10.0), rotated(x, at, base=10.0))


@pytest.mark.slow
def test_a_mapped_or_compiled_rotation_is_right_for_all_positions():
    x, at = normal(3, 2, 4), np.array([[0, 1], [4, 2], [9, 9]])
    mapped = adapter.xp.vmap(ours.rotate)(array(x), array(at))
    compiled = adapter.compiled(ours.rotate)[0]
    for i in range(3):
        close(mapped[i], rotated(x[i], at[i]))
        close(compiled(array(x[i]), array(at[i])), rotated(x[i], at[i]))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_half_precision_keeps_its_type_and_knows_far_positions(dtype):
    x, at = normal(3, 4), np.array([1000, 1001, 4097])
    got = ours.rotate(array(x, dtype), array(at))
    assert dtype_of(got) == dtype
    tolerance = max(4 * TOLERANCE[dtype], 1e-9 if dtype == "float64" else 1e-3)
    close(got, rotated(rounded(x, dtype), at), tolerance)


def test_the_gradient_of_a_rotation_turns_back():
    direction = normal(3, 4, seed=2)
    (gradient,) = gradients(ours.rotate, [normal(3, 4)], direction)
    close(gradient, turn(direction, -np.arange(3)))


BROADCAST = "(3,) or broadcast to {} with all axes, as {} does"
SHAPES = {  # of vectors; what fits; positions that might belong to other axes, or add some
    (2, 2, 3, 4): (
        BROADCAST.format((2, 2, 3), (2, 1, 3)),
        [(2, 3), (1, 3), (1, 1, 1, 3), (2, 1, 1), (3, 1, 3), (2, 3, 1), ()],
    ),
    (1, 3, 4): (BROADCAST.format((1, 3), (1, 3)), [(2, 3)]),
    (3, 4): ("(3,)", [(1, 3), (4,), ()]),
}


@pytest.mark.parametrize("vectors", SHAPES)
def test_positions_that_do_not_fit_are_refused_with_what_would(vectors):
    fits, wrong = SHAPES[vectors]
    for shape in wrong:
        message = f"positions must have shape {fits}, got {shape}"
        positions = array(np.zeros(shape, np.int32))
        refuses(ours.rotate, ValueError, message, array(normal(*vectors)), positions)


def test_vectors_of_odd_dimension_or_of_integers_are_refused():
    message = "dimension must be even, as features go in pairs, got 3; 2 or 4 would fit"
    refuses(ours.rotate, ValueError, message, array(np.ones((2, 3))))
    x = array(np.ones((2, 4), np.int32))
    refuses(ours.rotate, TypeError, f"x must be floating point, got {kind(x)}", x)
    for shape in ((), (4,)):
        refuses(ours.rotate, ValueError, "x must have 2 axes or more", array(np.ones(shape)))
    refuses(
        ours.rotate, ValueError, "positions must be rectangular", array(np.ones((2, 4))), [[1], 2]
    )
