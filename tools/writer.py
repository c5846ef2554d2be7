"""Train chapter 7's model, some ten minutes, and store it: `python -m tools.writer [STEPS]`."""

import platform
import sys
from pathlib import Path

import numpy as np
import torch

from d2l_attention.letters import APART, SEEN
from d2l_attention.model.torch import Block, LanguageModel, losses

DATA = Path(__file__).resolve().parent.parent / "d2l_attention" / "data"
COUNT, WINDOW, RATE, DECAY = 32, 128, 0.003, 1.0

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
tests = APART[: len(APART) // WINDOW * WINDOW].reshape(-1, WINDOW)
rng = np.random.default_rng(0)
parts = [*(Block(128, 4) for _ in range(4)), torch.nn.LayerNorm(128)]
model = LanguageModel(77, 128, parts, rng).float()
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
    first = rng.integers(0, len(SEEN) - WINDOW, COUNT)[:, None]
    loss = losses(model, SEEN[first + np.arange(WINDOW + 1)]).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    schedule.step()
    if step in (1, 100, steps) or step % 250 == 0:
        with torch.no_grad():
            log += f"{step:6} {losses(model, tests).mean():.3f}\n"
        print(log.splitlines()[-1], flush=True)
np.savez(DATA / "writer.npz", *(p.detach().numpy().astype("float16") for p in model.parameters()))
(DATA / "writer.txt").write_text(log, "utf-8")
