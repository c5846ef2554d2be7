"""Train Part I's rungs from ten starts, and store how they did: `python -m tools.ladder`."""

import numpy as np
import torch

from d2l_attention.letters import UNSEEN, windows
from d2l_attention.model import torch as ours
from d2l_attention.practice.ladder import BEGIN, LOG

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
Added, Block, Head, Heads, Rotary = ours.Added, ours.Block, ours.Head, ours.Heads, ours.RotaryHead
AHEAD = {"weigh": lambda self, q, k: self.score(q, k).softmax(-1)}
BARE = {"forward": lambda b, x: b.feed_forward(b.norm2(b.attention(b.norm1(x))))}


def blocks(depth, D=48, kind=Block):
    return [*(kind(D, 4) for _ in range(depth)), torch.nn.LayerNorm(D)]


@torch.no_grad()
def row(name, models, lengths=(65,), first=0, window=64):
    each = [[ours.losses(m, UNSEEN[:, :k])[:, first:].mean() for k in lengths] for m in models]
    text = ours.write(models[0], BEGIN, window=window)[len(BEGIN) :].replace("\n", " ")
    return "\t".join([name, *(f"{np.mean(of_one):.4f}" for of_one in each), text]) + "\n"


log = f"""Part I's model as it grows, after 200 steps of Adam from each of the seeds 0 to 9.
Made by `python -m tools.ladder` with PyTorch {torch.__version__}. A line has its
chapter (- for a control), what is new, losses on text kept apart, and letters of seed 0.
"""
for name, parts in {
    "1\ta letter alone": lambda: [],
    "2\t+ attention": lambda: [Added(type("Ahead", (Head,), AHEAD)(48))],
    "3\t+ causal mask": lambda: [Added(Head(48))],
    "4\t+ positions": lambda: [Added(Rotary(48))],
    "-\tpositions without the mask": lambda: [Added(type("Ahead", (Rotary,), AHEAD)(48))],
    "5\t+ four heads": lambda: [Added(Heads(48, 4))],
    "5\t+ feed-forward network": lambda: [Added(Heads(48, 4)), Added(Block(48, 4).feed_forward)],
    "5\t+ normalization": lambda: blocks(1),
    "5\tfour blocks": lambda: blocks(4),
    "-\tfour blocks without the residual": lambda: blocks(4, kind=type("Bare", (Block,), BARE)),
}.items():
    models = [ours.LanguageModel(77, 48, parts(), seed) for seed in range(10)]
    for model in models:
        ours.train(model, windows())
    if "Ahead" in str(models):  # what it does when it is told only what came before
        log += row(name, models, range(5, 66, 4), -1)
        name = f"-{name[1:]}, reading ahead"
    log += row(name, models)
big = ours.LanguageModel(77, 128, blocks(4, 128))
for p, array in zip(big.parameters(), np.load(LOG.with_name("writer.npz")).values(), strict=True):
    p.data = torch.from_numpy(array.astype(float))
log += row("7\tstored: larger, trained longer", [big], window=128)
LOG.write_text(log, "utf-8")
