"""What maps or compiles a function on one input gives a function right on all others."""

import numpy as np
import pytest

from tests.contract.comparing import close, refuses
from tests.contract.framework import adapter, array, ours, xp
from tests.contract.samples import LAYERS, MASKS, B, D, M, N, arrays_of, batch, normal

LENS = np.array([[2, 4], [0, 3], [1, 1]], np.int32)  # three minibatches of two examples
every_layer = pytest.mark.parametrize("name", LAYERS)


@pytest.mark.parametrize("kind", [list, np.array])
def test_what_takes_an_array_takes_lists_and_arrays_of_numpy_inside_a_program_too(kind):
    x, lens, places = (kind(x.tolist()) for x in (normal(B, N, M), LENS[0], np.arange(N)))
    for function, more in ((ours.masked_softmax, lens), (ours.rotate, places)):
        want = function(array(x), array(more))
        close(function(x, more), want)
        close(adapter.compiled(lambda x, f=function, m=more: f(x, m))[0](array(x)), want)
    points = normal(M, D), normal(M), normal(N, D)
    want, _ = ours.nadaraya_watson(*map(array, points), ours.gaussian)
    close(ours.nadaraya_watson(*(kind(x.tolist()) for x in points), ours.gaussian)[0], want)


@every_layer
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_a_mapped_layer_equals_a_loop(name):
    layer, many = LAYERS[name].make(), [np.stack([x, x + 1, x * 2]) for x in batch()]
    weighed = xp.vmap(lambda *inputs: adapter.call(layer, *inputs, need_weights=True))
    lean = xp.vmap(lambda *inputs: adapter.call(layer, *inputs, need_weights=False)[0])
    arrays = [*map(array, [*many, LENS])]
    output, weights = weighed(*arrays)
    close(lean(*arrays), output, 1e-4)
    for i in range(3):
        want = adapter.call(layer, *(array(x[i]) for x in [*many, LENS]), need_weights=True)
        close(output[i], want[0], 1e-4)
        close(weights[i], want[1], 1e-4)


@pytest.mark.slow
@every_layer
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_compiled_layer_is_one_program_for_all_lengths(name, need_weights):
    layer, arrays = LAYERS[name].make(), arrays_of()

    def call(lens, *arrays):
        return adapter.call(layer, *arrays, lens, need_weights=need_weights)[0]

    program, traced = adapter.compiled(call)
    for lens in map(array, LENS):
        close(program(lens, *arrays), call(lens, *arrays))
    assert len(traced) == 1


def test_inside_a_program_the_shape_of_lengths_is_checked_and_their_range_is_not():
    X, keep = array(normal(1, B, N, M)), array(MASKS["(n, m)"])
    mapped = xp.vmap(lambda X, lens: ours.masked_softmax(X, lens, keep))
    assert mapped(X, array([[9, 2]])).shape == (1, B, N, M)
    refuses(mapped, ValueError, "must have shape (2,)", X, array([[1, 2, 3]]))
    refuses(mapped, TypeError, "valid_lens must hold integers, got ", X, array([[1.0, 2.0]]))
