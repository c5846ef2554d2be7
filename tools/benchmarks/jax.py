"""How the cases run in JAX."""

import math

import jax
from flax import linen, nnx

from d2l_attention import jax as ours
from tools.benchmarks import d2l_of

d2l = d2l_of("jax.py", jax=jax, jnp=jax.numpy, nn=linen, math=math)
COMPILED, MEMORY, memory = "jitted", "temporary MiB, jitted", ours.temporary_bytes
array, compiled, finish = jax.numpy.asarray, jax.jit, jax.block_until_ready


def functions(kind: str, inputs: tuple) -> dict:
    if kind == "masked softmax":
        of = {"d2l": d2l.masked_softmax, "ours": ours.masked_softmax}
        return of | {"no mask": lambda x, _: jax.nn.softmax(x)}
    if kind == "dot product":
        theirs, own = d2l.DotProductAttention(0.0), ours.DotProductAttention()
        of = {"d2l": lambda *x: theirs.apply({}, *x)[0], "ours": own}
        of["ours, with weights"] = lambda *x: own(*x, need_weights=True)[0]
        return of | {"jax.nn.dot_product_attention": built_in}
    theirs = d2l.AdditiveAttention(128, 0.0)
    variables = theirs.init(jax.random.key(0), *inputs)
    own = ours.AdditiveAttention(128, query_size=128, key_size=128, rngs=nnx.Rngs(0))
    return {"d2l": lambda *x: theirs.apply(variables, *x)[0], "ours": own}


def built_in(queries, keys, values, lens):
    heads = (x[:, :, None] for x in (queries, keys, values))  # (b, n, 1, d)
    return jax.nn.dot_product_attention(*heads, key_value_seq_lengths=lens)[:, :, 0]


def gradient(function, *inputs):
    return jax.grad(lambda *x: function(*x).sum(), tuple(range(len(inputs) - 1)))(*inputs)
