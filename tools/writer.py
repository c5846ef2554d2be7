"""Train the model of chapter 7 for long, and store its weights beside its text.

`python -m tools.writer [STEPS]` writes `writer.npz`, the parameters in their order as float16, and
`writer.txt`, how they came about. It takes some ten minutes on two cores.
"""

import platform
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from d2l_attention.torch import GPT, drawn

DATA = Path(__file__).resolve().parent.parent / "d2l_attention" / "data"
COUNT, WINDOW, RATE, DECAY = 32, 128, 0.003, 1.0

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
text = (DATA / "book.txt").read_text("utf-8")
symbols = sorted(set(text))
blocks = np.array_split([symbols.index(symbol) for symbol in text], 100)
unseen = np.concatenate(blocks[9::10])
seen = np.concatenate([block for i, block in enumerate(blocks) if i % 10 < 9])
tests = torch.from_numpy(unseen[: len(unseen) // WINDOW * WINDOW].reshape(-1, WINDOW))
rng = np.random.default_rng(0)
model = drawn(GPT(len(symbols)), rng)
adam = torch.optim.AdamW(model.parameters(), RATE, weight_decay=DECAY)
corners = [0, 100, steps], [0.04, 1, 0]
schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: np.interp(step, *corners))
log = f"""The weights of chapter 7's GPT after {steps} steps of AdamW, seed 0:
{COUNT} windows of {WINDOW} characters a step, learning rate {RATE} and falling,
weight decay {DECAY:g}.
Made by `python -m tools.writer {steps}` with PyTorch {torch.__version__} on
{platform.machine()}; another processor gives other last digits.
Steps, and the loss on the part of the text that is kept apart:
"""
for step in range(1, steps + 1):
    first = rng.integers(0, len(seen) - WINDOW, COUNT)[:, None]
    batch = torch.from_numpy(seen[first + np.arange(WINDOW + 1)])
    loss = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
    adam.zero_grad()
    loss.backward()
    adam.step()
    schedule.step()
    if step in (1, 100, steps) or step % 250 == 0:
        with torch.no_grad():
            logits = model(tests[:, :-1]).transpose(1, 2)  # (b, kinds, n)
            log += f"{step:6} {F.cross_entropy(logits, tests[:, 1:]):.3f}\n"
        print(log.splitlines()[-1], flush=True)
parameters = [p.detach().numpy().astype("float16") for p in model.parameters()]
np.savez(DATA / "writer.npz", *parameters)
(DATA / "writer.txt").write_text(log, "utf-8")
