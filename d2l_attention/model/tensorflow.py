# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in TensorFlow: Part I's model."""

import keras
import numpy as np
import tensorflow as tf

from d2l_attention.letters import SYMBOLS
from d2l_attention.tensorflow import Adam, draw, rotate, split_heads


# From book/01_queries_keys_values.md
class LanguageModel(keras.Model):  # letters -> logits of what follows each
    def __init__(self, kinds, D, parts, seed=0):
        super().__init__()
        self.embedding = keras.layers.Embedding(kinds, D)
        self.parts, self.out = parts, keras.layers.Dense(kinds)
        self(np.zeros((1, 1), int))  # the first call makes the parameters
        draw(self, seed)

    def call(self, letters):
        x = self.embedding(letters)  # (b, n) -> (b, n, D)
        for part in self.parts:
            x = part(x)
        return self.out(x)  # (b, n, D) -> (b, n, kinds)


def losses(model, texts):  # (b, n + 1) -> (b, n)
    per_letter = tf.nn.sparse_softmax_cross_entropy_with_logits
    return per_letter(texts[:, 1:], model(texts[:, :-1]))


def train(model, batches, rate=0.005):  # a step for each batch of texts
    adam = Adam(model.trainable_variables, rate)

    @tf.function
    def step(texts):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(losses(model, texts))
        adam.step(tape.gradient(loss, adam.parameters))
        return loss

    return [step(texts).numpy() for texts in batches]


def write(model, beginning, count=60, temperature=0.8, window=64):
    rng = np.random.default_rng(0)
    letters = [SYMBOLS.index(symbol) for symbol in beginning]
    read = tf.function(model, [tf.TensorSpec((1, None), tf.int64)])
    for _ in range(count):
        logits = read(np.array([letters[-window:]]))[0, -1]  # (kinds,)
        logits = tf.cast(logits, tf.float64) / temperature
        p = tf.nn.softmax(logits).numpy()
        letters.append(rng.choice(len(p), p=p))
    return "".join(SYMBOLS[letter] for letter in letters)


# From book/02_a_layer_that_learns.md
class Added(keras.layers.Layer):  # a residual connection around a layer
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def call(self, x):
        return x + self.layer(x)


# From book/03_masks.md
class Head(keras.layers.Layer):  # causal attention: (b, n, D) -> (b, n, D)
    def __init__(self, D):
        super().__init__()
        matrices = (keras.layers.Dense(D, use_bias=False) for _ in "qkv")
        self.W_q, self.W_k, self.W_v = matrices

    def project(self, x):  # -> queries, keys and values
        return self.W_q(x), self.W_k(x), self.W_v(x)

    def score(self, q, k):  # (b, n, D) twice -> (b, n, n)
        return tf.matmul(q, k, transpose_b=True) / q.shape[-1] ** 0.5

    def weigh(self, q, k):
        i = tf.range(tf.shape(q)[-2])
        scores = tf.where(i <= i[:, None], self.score(q, k), -np.inf)
        return tf.nn.softmax(scores)

    def call(self, x):
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
        self.H, self.W_o = H, keras.layers.Dense(D, use_bias=False)

    def project(self, x):  # (b, n, D) -> three of (b, H, n, D/H)
        return [split_heads(y, self.H) for y in super().project(x)]

    def call(self, x):
        out = tf.transpose(super().call(x), (0, 2, 1, 3))  # (b, n, H, D/H)
        return self.W_o(tf.reshape(out, tf.shape(x)))  # (b, n, D)


def norm():
    return keras.layers.LayerNormalization(epsilon=1e-5)


class Block(keras.layers.Layer):  # (5.4)
    def __init__(self, D, H):
        super().__init__()
        self.norm1, self.norm2 = norm(), norm()
        self.attention = Heads(D, H)
        wide = keras.layers.Dense(4 * D, activation="relu")
        self.feed_forward = keras.Sequential([wide, keras.layers.Dense(D)])

    def call(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))
