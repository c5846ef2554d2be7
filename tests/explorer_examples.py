"""Explorers for tests: two kinds of part, three kinds of slider."""

import torch

from d2l_attention.practice import explore

SCORES = torch.tensor([[0.0, 2.0, 1.0, 1.0], [2.0, 1.0, 3.0, 3.0]])
X = torch.linspace(-3, 3, 31)


def weights(temperature, valid_len):
    keep = torch.arange(4) < valid_len
    return torch.where(keep, SCORES / temperature, -torch.inf).softmax(-1)


def kernels(width, shape):
    gaussian = torch.exp(-((X / width) ** 2) / 2)
    curve = gaussian if shape == "smooth" else (X.abs() <= width).float()
    return {"kernel": curve, "unit": 1 - X.abs(), "sum": curve.sum(), "kind": shape, "n": 1000}


def heat_map():
    return explore(
        weights,
        caption="Attention weights of two queries.",
        question="At which temperature does the second key take more than half?",
        start={"temperature": 1.0, "valid_len": 3},
        rows=["tea", "<pad>"],
        columns=["the", "kettle", "is", "singing"],
        temperature=[0.1, 0.5, 1.0, 2.0, 5.0],
        valid_len=[1, 2, 3, 4],
    )


def curves():
    return explore(
        kernels,
        caption="A kernel & its width.",
        question="Which kernel is wider?",
        x=X,
        points=(X[::6], X[::6].cos()),
        xlabel="distance",
        width=[0.5, 1.0, 2.0],
        shape={"smooth": "smooth", "boxed": "boxed"},
    )
