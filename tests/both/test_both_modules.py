"""The same numbers through the PyTorch module and the JAX module: they must agree."""

import inspect
from functools import partial

import jax
import numpy as np
import pytest
import torch
from flax import nnx
from jax import numpy as jnp

import d2l_attention.jax as ours
import d2l_attention.torch as theirs

RNG = np.random.default_rng(0)
Q, K, V, X = (
    RNG.normal(size=shape).astype(np.float32)
    for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 4), (2, 3, 5))
)
LENS = [[5, 2, 0], [1, 4, 3]]
MASK = np.array([[1, 0, 1, 1, 1], [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]], bool)
R = RNG.normal(size=7).astype(np.float32) * 2
POINTS = RNG.normal(size=(6, 2)).astype(np.float32)

CALLS = {  # what is called, with arrays of either module
    **{
        name: partial(lambda d2l, r, name: getattr(d2l, name)(r), name=name)
        for name in ("gaussian", "boxcar", "triangular", "epanechnikov", "constant")
    },
    "unit_vectors": lambda d2l, r: d2l.unit_vectors(r.reshape(1, -1)),
    "rotate": lambda d2l, r: d2l.rotate(r[:6].reshape(3, 2)),
}
ON_SCORES = ("masked_softmax", "sink_softmax", "sparsemax")
PARAMETERS = {  # PyTorch's name -> ours; PyTorch keeps W, NNX its transpose
    "weight": lambda layer: layer.kernel,
    "bias": lambda layer: layer.bias,
}
LAYERS = {
    "DotProductAttention": {},
    "AdditiveAttention": {"num_hiddens": 6, "query_size": 4, "key_size": 4},
    "DistanceAttention": {},
    "BilinearAttention": {"query_size": 4, "key_size": 4},
    "BilinearAttention, rank 2": {"rank": 2, "query_size": 4, "key_size": 4},
    "CosineAttention": {"temperature": 0.5},
}


def compare(got, want, tolerance=1e-5):
    many = isinstance(got, tuple)
    for a, b in zip(got if many else [got], want if many else [want], strict=True):
        one, other = (np.asarray(x, np.float64) for x in (a, b.detach()))
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def both(function, *arrays):
    """Call function(module, arrays of its kind) for both modules, and compare."""
    got = function(ours, *map(jnp.asarray, arrays))
    compare(got, function(theirs, *map(torch.tensor, arrays)))


def copy_parameters(layer, other) -> int:
    """Give our layer the parameters of PyTorch's; return how many there were."""
    for name, parameter in other.named_parameters():
        *path, kind = name.split(".")
        place = layer
        for part in path:
            place = getattr(place, part)
        value = jnp.asarray(parameter.detach().numpy())
        place = getattr(place, kind) if not path else PARAMETERS[kind](place)
        place[...] = value.T if path and kind == "weight" else value
    return len(list(other.parameters()))


def pair(name, **options):
    """Our layer and PyTorch's with the same parameters, both in evaluation."""
    name = name.partition(",")[0]
    rngs = {} if name == "DotProductAttention" else {"rngs": nnx.Rngs(0)}
    layer = getattr(ours, name)(**options, **rngs)
    torch.manual_seed(0)
    sizes = ("query_size", "key_size", "value_size") if name == "MultiHeadAttention" else ()
    other = getattr(theirs, name)(**{k: v for k, v in options.items() if k not in sizes})
    other(*map(torch.tensor, (Q, K, V)))  # a lazy one gets its parameters
    found = copy_parameters(layer, other)
    assert found == len(jax.tree.leaves(nnx.state(layer, nnx.Param)))
    layer.eval()
    return layer, other.eval()


def test_public_names_are_the_same_but_for_the_counters_of_memory():
    assert set(ours.__all__) ^ set(theirs.__all__) == {"LiveBytes", "temporary_bytes"}


FRAMEWORKS_OWN = {"rngs", "device", "query_size", "key_size", "value_size"}
FRAMEWORKS_OWN |= {"dtype", "param_dtype", "deterministic"}
DIFFERENT = {  # JAX's own function drops nothing; a cache there has a fixed size
    "fused_attention": {"dropout", "implementation"},
    "attention_without_padding": {"dropout"},
    "check_shape": {"tensor", "array"},
    "zero_padding": {"tensors", "arrays"},
    "KeyValueCache": {"b", "num_heads", "m", "d"},
}


def arguments(module, name) -> list[str]:
    """The arguments of a function, or of the making and the calling of a layer."""
    named = getattr(module, name)
    functions = [named]
    if inspect.isclass(named):
        called = "forward" if module is theirs else "__call__"
        functions = [named.__init__, *(vars(c)[called] for c in named.__mro__ if called in vars(c))]
        functions = functions[:2]  # the first that is defined hides the others
    left_out = FRAMEWORKS_OWN | DIFFERENT.get(name, set())
    return [p for f in functions for p in inspect.signature(f).parameters if p not in left_out]


@pytest.mark.parametrize("name", sorted(set(ours.__all__) & set(theirs.__all__)))
def test_arguments_have_the_same_names_and_order(name):
    assert arguments(ours, name) == arguments(theirs, name)


@pytest.mark.parametrize("function", CALLS.values(), ids=CALLS)
def test_functions_of_one_array_agree(function):
    both(function, R)


@pytest.mark.parametrize("name", ON_SCORES)
@pytest.mark.parametrize("lens", [None, [5, 0], LENS])
@pytest.mark.parametrize("mask", [None, MASK], ids=["no mask", "mask"])
def test_weights_of_scores_agree_with_their_gradients(name, lens, mask):
    got, pull = jax.vjp(lambda X: getattr(ours, name)(X, lens, mask), jnp.asarray(X))
    scores = torch.tensor(X, requires_grad=True)
    want = getattr(theirs, name)(scores, None if lens is None else torch.tensor(lens),
                                 None if mask is None else torch.tensor(mask))  # fmt: skip
    compare(got, want)
    want.backward(torch.tensor(X))
    compare(pull(jnp.asarray(X))[0], scores.grad)


def test_regression_and_distances_agree():
    both(lambda d2l, x: d2l.pairwise_distances(x[:2], x[2:]), POINTS)
    both(lambda d2l, x: d2l.nadaraya_watson(x[:4], x[:4, 0], x[4:], d2l.gaussian), POINTS)


@pytest.mark.parametrize("i", [0, 3], ids=["query", "key"])
def test_a_point_that_is_nan_has_no_distance_in_either(i):
    points = POINTS.copy()
    points[i, 1] = np.nan
    both(lambda d2l, x: d2l.pairwise_distances(x[:2], x[2:]), points)
    both(lambda d2l, x: d2l.nadaraya_watson(x[2:], x[2:, 0], x[:2], d2l.gaussian), points)
    assert np.isnan(ours.pairwise_distances(points[:2], points[2:])).sum() == (4 if i < 2 else 2)


def test_positions_agree():
    both(lambda d2l: (d2l.sinusoidal_positions(6, 4), d2l.relative_positions(2, 5),
                      d2l.alibi_slopes(3), d2l.alibi_bias(d2l.alibi_slopes(3), 2, 5)))  # fmt: skip
    both(lambda d2l, x, at: d2l.rotate(x, at), Q, np.array([3, 100, 0]))
    layer, other = ours.RelativeBias(2, 3), theirs.RelativeBias(2, 3)
    torch.nn.init.normal_(other.bias)
    assert copy_parameters(layer, other) == 1
    compare(layer(2, 6), other(2, 6))


@pytest.mark.parametrize("lens", [None, [5, 0]])
def test_the_functions_of_whole_attention_agree(lens):
    def keep(d2l):
        return None if lens is None else d2l.attention_mask((2, 3, 5), lens)

    both(lambda d2l, *arrays: d2l.fused_attention(*arrays, keep(d2l)), Q, K, V)
    both(lambda d2l, *arrays: d2l.blockwise_attention(*arrays, keep(d2l), 2), Q, K, V)
    both(lambda d2l, *arrays: d2l.linear_attention(*arrays, lens), Q, K, V)
    both(lambda d2l, *arrays: d2l.linear_attention(*arrays, lens, causal=True), K, V, K)
    both(lambda d2l, *arrays: d2l.attention_without_padding(*arrays, lens or [5, 5]), Q, K, V)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_with_the_same_parameters_agree(name):
    layer, other = pair(name, **LAYERS[name])
    arrays, tensors = [jnp.asarray(x) for x in (Q, K, V)], [torch.tensor(x) for x in (Q, K, V)]
    for lens in (None, [5, 0], LENS):
        output, weights = layer(*arrays, lens, MASK, need_weights=True)
        for need_weights in (False, True):
            compare(output, other(*tensors, lens, torch.tensor(MASK), need_weights=need_weights))
        compare(weights, other.attention_weights)


@pytest.mark.parametrize("name", ["AdditiveAttention", "BilinearAttention, rank 2"])
def test_gradients_of_layers_with_the_same_parameters_agree(name):
    layer, other = pair(name, **LAYERS[name])
    gradients = nnx.grad(lambda layer: (layer(*map(jnp.asarray, (Q, K, V)), LENS) ** 2).sum())
    found = gradients(layer)
    (other(*map(torch.tensor, (Q, K, V)), LENS) ** 2).sum().backward()
    for part, parameter in other.named_parameters():
        compare(found[part.split(".")[0]]["kernel"][...].T, parameter.grad, 1e-4)


@pytest.mark.parametrize("options", [{}, {"bias": True, "num_kv_heads": 2}])
def test_multi_head_attention_with_the_same_parameters_agrees(options):
    sizes = {"query_size": 4, "key_size": 4, "value_size": 4}
    layer, other = pair("MultiHeadAttention", num_hiddens=8, num_heads=4, **sizes, **options)
    arrays, tensors = [jnp.asarray(x) for x in (Q, K, V)], [torch.tensor(x) for x in (Q, K, V)]
    for causal in (False, True):
        output, weights = layer(*arrays, LENS, mask=MASK, causal=causal, need_weights=True)
        compare(output, other(*tensors, LENS, mask=torch.tensor(MASK), causal=causal))
        compare(weights, other.attention_weights)


def test_both_caches_give_the_same_outputs():
    sizes = {"query_size": 4, "key_size": 4, "value_size": 4}
    layer, other = pair("MultiHeadAttention", num_hiddens=8, num_heads=4, **sizes)
    mine, other_cache = ours.KeyValueCache(2, 4, 5, 2), theirs.KeyValueCache()
    for i in range(5):
        token = K[:, i : i + 1]
        got = layer(*[jnp.asarray(token)] * 3, causal=True, cache=mine)
        compare(got, other(*[torch.tensor(token)] * 3, causal=True, cache=other_cache))
    compare(mine.keys[...], other_cache.keys)
    assert int(mine.length[...]) == len(other_cache)


WRONG = {
    "lengths": lambda d2l, x: d2l.masked_softmax(x, [9, 1]),
    "shape of lengths": lambda d2l, x: d2l.masked_softmax(x, [1, 2, 3]),
    "axes": lambda d2l, x: d2l.masked_softmax(x[0]),
    "sizes": lambda d2l, x: d2l.DotProductAttention()(x, x, x[:, :1]),
    "dimensions": lambda d2l, x: d2l.DotProductAttention()(x, x[..., :2], x),
    "odd": lambda d2l, x: d2l.rotate(x),
    "queries": lambda d2l, x: d2l.relative_positions(3, 2),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_errors_say_the_same(call):
    said = []
    for module, array in ((ours, jnp.asarray(X)), (theirs, torch.tensor(X))):
        with pytest.raises(ValueError, match="must") as error:
            call(module, array)
        said.append(str(error.value))
    assert said[0] == said[1]
