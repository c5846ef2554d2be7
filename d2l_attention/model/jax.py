# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in JAX: Part I's model."""

import jax
import numpy as np
import optax
from flax import nnx
from jax import numpy as jnp

from d2l_attention.jax import draw, rotate, split_heads
from d2l_attention.letters import SYMBOLS


# From book/01_queries_keys_values.md
def linear(inputs, outputs, bias=True):
    return nnx.Linear(inputs, outputs, use_bias=bias, rngs=nnx.Rngs(0))


class LanguageModel(nnx.Module):  # letters -> logits of what follows each
    def __init__(self, kinds, D, parts, seed=0):
        self.embedding = nnx.Embed(kinds, D, param_dtype=float, rngs=nnx.Rngs(0))
        self.parts = nnx.List(parts)
        self.out = linear(D, kinds)
        draw(self, seed)

    def __call__(self, letters):
        x = self.embedding(letters)  # (b, n) -> (b, n, D)
        for part in self.parts:
            x = part(x)
        return self.out(x)  # (b, n, D) -> (b, n, kinds)


@nnx.jit
def read(model, letters):  # compiled once for each shape
    return model(letters)


def losses(model, texts):  # (b, n + 1) -> (b, n)
    per_letter = optax.softmax_cross_entropy_with_integer_labels
    return per_letter(read(model, texts[:, :-1]), texts[:, 1:])


@nnx.jit
def train_step(model, adam, texts):
    loss, slopes = nnx.value_and_grad(lambda m: losses(m, texts).mean())(model)
    adam.update(model, slopes)
    return loss


def train(model, batches, rate=0.005):  # a step for each batch of texts
    adam = nnx.Optimizer(model, optax.adam(rate), wrt=nnx.Param)
    return [train_step(model, adam, texts).item() for texts in batches]


def write(model, beginning, count=60, temperature=0.8, window=64):
    rng = np.random.default_rng(0)
    letters = [SYMBOLS.index(symbol) for symbol in beginning]
    for _ in range(count):
        last = letters[-window:]  # in a row of one length: compiled once
        row = np.pad(last, (0, window - len(last)))[None]
        logits = read(model, row)[0, len(last) - 1].astype(float)  # (kinds,)
        p = np.asarray(jax.nn.softmax(logits / temperature))
        letters.append(rng.choice(len(p), p=p))
    return "".join(SYMBOLS[letter] for letter in letters)


# From book/02_a_layer_that_learns.md
class Added(nnx.Module):  # a residual connection around a layer
    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return x + self.layer(x)


# From book/03_masks.md
class Head(nnx.Module):  # causal attention: (b, n, D) -> (b, n, D)
    def __init__(self, D):
        self.W_q, self.W_k, self.W_v = (linear(D, D, False) for _ in "qkv")

    def project(self, x):  # -> queries, keys and values
        return self.W_q(x), self.W_k(x), self.W_v(x)

    def score(self, q, k):  # (b, n, D) twice -> (b, n, n)
        return q @ k.mT / q.shape[-1] ** 0.5

    def weigh(self, q, k):
        scores = self.score(q, k)
        past = jnp.tri(*scores.shape[-2:], dtype=bool)
        return jax.nn.softmax(jnp.where(past, scores, -jnp.inf))

    def __call__(self, x):
        q, k, v = self.project(x)
        return self.weigh(q, k) @ v


# From book/04_order.md
class RotaryHead(Head):  # its queries and keys are turned
    def score(self, q, k):
        return super().score(rotate(q), rotate(k))


# From book/05_many_heads_and_a_block.md
class Heads(RotaryHead):  # side by side, with a last matrix (5.1)
    def __init__(self, D, H):
        super().__init__(D)
        self.H, self.W_o = H, linear(D, D, False)

    def project(self, x):  # (b, n, D) -> three of (b, H, n, D/H)
        return [split_heads(y, self.H) for y in super().project(x)]

    def __call__(self, x):
        out = super().__call__(x)  # (b, H, n, D/H)
        return self.W_o(out.swapaxes(1, 2).reshape(x.shape))  # (b, n, D)


def norm(D):
    return nnx.LayerNorm(D, epsilon=1e-5, rngs=nnx.Rngs(0))


class Block(nnx.Module):  # (5.4)
    def __init__(self, D, H):
        self.norm1, self.norm2 = norm(D), norm(D)
        self.attention = Heads(D, H)
        wide, narrow = linear(D, 4 * D), linear(4 * D, D)
        self.feed_forward = nnx.Sequential(wide, jax.nn.relu, narrow)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))
