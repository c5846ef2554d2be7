"""What maps, compiles or exports a function on one input gives a function right on all others."""

import numpy as np
import pytest

from tests.contract.comparing import close, refuses
from tests.contract.framework import adapter, array, ours, xp
from tests.contract.samples import LAYERS, MASKS, B, D, M, N, arrays_of, batch, normal

LENS = np.array([[2, 4], [0, 3], [1, 1]], np.int32)  # three minibatches of two examples
every_layer = pytest.mark.parametrize("name", LAYERS)


def test_a_softmax_mapped_over_lengths_alone_equals_a_loop():
    X, keep = array(normal(B, N, M)), array(MASKS["(n, m)"])
    weights = xp.vmap(lambda lens: ours.masked_softmax(X, lens, keep))(array(LENS))
    for i in range(3):
        close(weights[i], ours.masked_softmax(X, array(LENS[i]), keep))


@pytest.mark.parametrize("kind", [list, np.array], ids=["lists", "arrays of NumPy"])
def test_what_takes_an_array_takes_lists_and_arrays_of_numpy_inside_a_program_too(kind):
    lens, keep, places = (kind(x.tolist()) for x in (LENS[0], MASKS["(n, m)"], np.arange(N)))
    for function, more in ((ours.masked_softmax, (lens, keep)), (ours.rotate, (places,))):
        x = normal(B, N, M)
        want = function(array(x), *map(array, map(np.array, more)))
        close(function(array(x), *more), want)
        close(function(kind(x.astype(np.float32).tolist()), *more), want)
        close(adapter.compiled(lambda x, f=function, m=more: f(x, *m))[0](array(x)), want)
    points = normal(M, D), normal(M), normal(N, D)
    given, want = ([of(x) for x in points] for of in (lambda x: kind(x.tolist()), array))
    for got, wanted in zip(
        *(ours.nadaraya_watson(*x, ours.gaussian) for x in (given, want)), strict=True
    ):
        close(got, wanted)


@every_layer
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_a_mapped_layer_equals_a_loop(name, need_weights):
    layer, many = LAYERS[name].make(), [np.stack([x, x + 1, x * 2]) for x in batch()]

    def call(*inputs):
        results = adapter.call(layer, *inputs, need_weights=need_weights)
        return results if need_weights else results[:1]

    mapped = xp.vmap(call)(*map(array, [*many, LENS]))
    for i in range(3):
        alone = call(*(array(x[i]) for x in [*many, LENS]))
        for got, want in zip(mapped, alone, strict=True):
            close(got[i], want, 1e-4)


@pytest.mark.slow
@every_layer
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_compiled_layer_is_one_program_for_all_lengths(name, need_weights):
    layer, arrays = LAYERS[name].make(), arrays_of()

    def call(lens, *arrays):
        results = adapter.call(layer, *arrays, lens, need_weights=need_weights)
        return results if need_weights else results[:1]

    program, traced = adapter.compiled(call)
    for lens in map(array, LENS):
        for got, want in zip(program(lens, *arrays), call(lens, *arrays), strict=True):
            close(got, want)
    assert len(traced) == 1


@pytest.mark.slow
@every_layer
def test_a_program_for_all_sizes_is_right_for_each(name):
    layer = LAYERS[name].make()
    program = adapter.for_all_sizes(layer, *arrays_of(), array(LENS[0]))
    for b, n, m in ((2, 3, 4), (3, 5, 7), (4, 30, 26)):
        inputs = [*arrays_of(b, n, m), array(np.arange(b, dtype=np.int32))]
        close(program(*inputs), layer(*inputs))


def test_inside_a_program_the_shape_of_lengths_is_checked_and_their_range_is_not():
    X = array(normal(1, B, N, M))

    def mapped(lens):
        return xp.vmap(ours.masked_softmax)(X, array([lens]))

    assert mapped([9, 2]).shape == (1, B, N, M)
    refuses(mapped, ValueError, "must have shape (2,)", [1, 2, 3])
    refuses(mapped, TypeError, "valid_lens must hold integers, got ", [1.0, 2.0])
