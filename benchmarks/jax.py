"""Measures d2l, this book's functions and JAX's own in JAX, operation by operation and jitted."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
from flax import linen, nnx

from benchmarks.d2l_source import d2l_of
from benchmarks.measure import Measured, measure
from d2l_attention import jax as ours

d2l = d2l_of("jax.py", jax=jax, jnp=jax.numpy, nn=linen, math=math)
PACKAGES = ("jax", "flax", "d2l")


@dataclass
class Case:
    """Functions of the same inputs; the first one is what the others are compared with."""

    title: str
    functions: dict[str, Callable]  # from the inputs to the output
    inputs: tuple
    gradients: tuple[int, ...] = ()  # the inputs that also get gradients

    def measured(self, functions: dict[str, Callable]) -> dict[str, Measured]:
        calls = {name: partial(self.call, f) for name, f in functions.items()}
        return measure(calls, not gpu_name())

    def call(self, function: Callable) -> None:
        jax.block_until_ready(function(*self.inputs))


def gpu_name() -> str:
    """Return the name of the GPU that computes, or nothing."""
    device = jax.devices()[0]
    return "" if device.platform == "cpu" else device.device_kind


def rows() -> Iterator[dict]:
    """Measure every case as it is written, and jitted."""
    for case in cases():
        passes = {"forward": case.functions}
        if case.gradients:
            passes["gradient"] = {
                name: jax.grad(lambda *inputs, f=f: f(*inputs).sum(), case.gradients)
                for name, f in case.functions.items()
            }
        for name, functions in passes.items():
            jitted = {each: jax.jit(function) for each, function in functions.items()}
            for way, these in ((name, functions), (f"{name}, jitted", jitted)):
                for each, measured in case.measured(these).items():
                    more = {"temporary MiB": ""}
                    if these is jitted:
                        size = ours.temporary_bytes(these[each], *case.inputs)
                        more = {"temporary MiB": f"{size / 2**20:.3g}"}
                    yield {"titles": (case.title, way, each), "measured": measured, "more": more}


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> jax.Array:
        return jax.numpy.asarray(rng.normal(size=shape), "float32")

    def lengths(m: int, *shape: int) -> jax.Array:
        return jax.numpy.asarray(rng.integers(1, m + 1, shape))

    b, n, m, d = 8, 512, 512, 64
    yield softmax_case("(b,)", normal(b, n, m), lengths(m, b))
    yield softmax_case("(b, n)", normal(b, n, m), lengths(m, b, n))
    yield dot_product_case(normal(b, n, d), normal(b, m, d), normal(b, m, d), lengths(m, b))
    b, n, m, h = 4, 256, 512, 128
    yield additive_case(normal(b, n, h), normal(b, m, h), normal(b, m, h), lengths(m, b))
    yield heads_case(normal(4, 256, 256), heads=8, kv_heads=8)
    for kv_heads in (16, 4):
        yield heads_case(normal(4, 1, 512), heads=16, kv_heads=kv_heads, places=2048)


def softmax_case(kind: str, scores: jax.Array, lens: jax.Array) -> Case:
    return Case(
        f"masked softmax {scores.shape}, lengths {kind}",
        {
            "d2l": d2l.masked_softmax,
            "ours": ours.masked_softmax,
            "no mask": lambda scores, lens: jax.nn.softmax(scores),
        },
        (scores, lens),
    )


def dot_product_case(*inputs: jax.Array) -> Case:
    """Return the case of these queries, keys, values and lengths."""
    theirs, own = d2l.DotProductAttention(0.0), ours.DotProductAttention()
    b, n, d = inputs[0].shape

    def builtin(queries, keys, values, lens):
        q, k, v = (x[:, :, None] for x in (queries, keys, values))  # (b, n, 1, d)
        return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=lens)[:, :, 0]

    return Case(
        f"dot product {(b, n, inputs[1].shape[1])}, d={d}",
        {
            "d2l": lambda *inputs: theirs.apply({}, *inputs)[0],
            "ours": own,
            "ours, with weights": partial(own, need_weights=True),
            "jax.nn.dot_product_attention": builtin,
        },
        inputs,
    )


def additive_case(*inputs: jax.Array) -> Case:
    b, n, h = inputs[0].shape
    theirs = d2l.AdditiveAttention(h, 0.0)
    parameters = theirs.init(jax.random.key(0), *inputs)["params"]
    layer = ours.AdditiveAttention(h, query_size=h, key_size=h, rngs=nnx.Rngs(0))
    graph, drawn, rest = nnx.split(layer, nnx.Param, ...)
    assert jax.tree.structure(nnx.to_pure_dict(drawn)) == jax.tree.structure(parameters)

    def own(parameters, *inputs):
        return nnx.merge(graph, parameters, rest)(*inputs)

    return Case(
        f"additive {(b, n, inputs[1].shape[1])}, h={h}",
        {"d2l": lambda p, *inputs: theirs.apply({"params": p}, *inputs)[0], "ours": own},
        (parameters, *inputs),
        gradients=(0, 1, 2, 3),
    )


def heads_case(x: jax.Array, heads: int, kv_heads: int, places: int = 0) -> Case:
    """Return the case of causal heads; with places, one step behind a cache of so many."""
    (b, n, D), of = x.shape, {"num_kv_heads": kv_heads, "rngs": nnx.Rngs(0)}
    theirs = nnx.MultiHeadAttention(heads, D, use_bias=False, decode=bool(places), **of)
    cache = ours.KeyValueCache(b, kv_heads, places, D // heads) if places else None
    if places:
        theirs.init_cache((b, places, D))
    kinds = {"flax": theirs, "ours": [ours.MultiHeadAttention(D, heads, **of), cache]}
    graphs = {name: nnx.split(kind)[0] for name, kind in kinds.items()}

    def flax(states, x):
        mask = None if places else jax.numpy.tri(n, dtype=bool)
        return nnx.merge(graphs["flax"], states["flax"])(x, mask=mask)

    def own(states, x):
        layer, cache = nnx.merge(graphs["ours"], states["ours"])
        return layer(x, x, x, causal=True, cache=cache)

    what = f"a step behind a cache {(b, places)}" if places else f"causal heads {(b, n, n)}"
    return Case(
        f"{what}, D={D}, {heads} heads, {kv_heads} of keys",
        {"flax.nnx.MultiHeadAttention": flax, "ours": own},
        ({name: nnx.state(kind) for name, kind in kinds.items()}, x),
    )
