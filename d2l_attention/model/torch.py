# Made from the #@save cells of book/ by `make notebooks`: change these, not this file.
"""Attention Scoring Functions in PyTorch: Part I's model."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from d2l_attention.letters import SYMBOLS
from d2l_attention.torch import rotate, split_heads


# From book/01_queries_keys_values.md
class LanguageModel(nn.Module):  # letters -> logits of what follows each
    def __init__(self, kinds, D, parts, seed=0):
        super().__init__()
        self.embedding = nn.Embedding(kinds, D)
        self.parts = nn.ModuleList(parts)
        self.out = nn.Linear(D, kinds)
        draw(self, seed)

    def forward(self, letters):
        x = self.embedding(letters)  # (b, n) -> (b, n, D)
        for part in self.parts:
            x = part(x)
        return self.out(x)  # (b, n, D) -> (b, n, kinds)


def draw(model, seed):  # all numbers anew
    rng = np.random.default_rng(seed)
    for name, p in model.named_parameters():
        if p.dim() == 2:
            std = 1 if "embedding" in name else (3 * p.shape[1]) ** -0.5
            p.data = torch.tensor(rng.normal(0, std, p.shape))
        else:  # a bias, or the scales of a norm
            p.data.fill_(not name.endswith("bias"))


def losses(model, texts):  # (b, n + 1) -> (b, n)
    texts = torch.as_tensor(texts)
    logits = model(texts[:, :-1]).transpose(1, 2)  # (b, kinds, n)
    return F.cross_entropy(logits, texts[:, 1:], reduction="none")


def train(model, batches, rate=0.005):  # a step for each batch of texts
    adam, history = torch.optim.Adam(model.parameters(), lr=rate), []
    for texts in batches:
        loss = losses(model, texts).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        history.append(loss.item())
    return history


@torch.no_grad()
def write(model, beginning, count=60, temperature=0.8, window=64):
    rng = np.random.default_rng(0)
    letters = [SYMBOLS.index(symbol) for symbol in beginning]
    for _ in range(count):
        logits = model(torch.tensor([letters[-window:]]))[0, -1]  # (kinds,)
        p = F.softmax(logits.double() / temperature, dim=-1).numpy()
        letters.append(rng.choice(len(p), p=p))
    return "".join(SYMBOLS[letter] for letter in letters)


# From book/02_a_layer_that_learns.md
class Added(nn.Module):  # a residual connection around a layer
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return x + self.layer(x)


# From book/03_masks.md
class Head(nn.Module):  # causal attention: (b, n, D) -> (b, n, D)
    def __init__(self, D):
        super().__init__()
        matrices = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.W_q, self.W_k, self.W_v = matrices

    def project(self, x):  # -> queries, keys and values
        return self.W_q(x), self.W_k(x), self.W_v(x)

    def score(self, q, k):  # (b, n, D) twice -> (b, n, n)
        return q @ k.mT / q.shape[-1] ** 0.5

    def weigh(self, q, k):
        scores = self.score(q, k)
        past = torch.ones(scores.shape[-2:]).tril().bool()
        return scores.masked_fill(~past, -torch.inf).softmax(-1)

    def forward(self, x):
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
        self.H, self.W_o = H, nn.Linear(D, D, bias=False)

    def project(self, x):  # (b, n, D) -> three of (b, H, n, D/H)
        return [split_heads(y, self.H) for y in super().project(x)]

    def forward(self, x):
        out = super().forward(x)  # (b, H, n, D/H)
        return self.W_o(out.transpose(1, 2).flatten(2))  # (b, n, D)


class Block(nn.Module):  # (5.4)
    def __init__(self, D, H):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attention = Heads(D, H)
        wide, narrow = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.feed_forward = nn.Sequential(wide, nn.ReLU(), narrow)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))
