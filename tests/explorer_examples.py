"""Explorers for tests: two kinds of part, three kinds of slider."""

import torch

from d2l_attention.practice import Arrow, Bars, Curve, Line, Plot, Points, explore

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
        masked=True,
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


KEYS = torch.tensor([-2.0, 0.5, 1.0, 3.0])
VALUES = torch.tensor([1.0, 3.0, 2.0, 4.0])
GRID = torch.linspace(-3, 3, 13)


def pooled(query, sharpness):
    weights = (-sharpness * (torch.tensor(query) - KEYS) ** 2).softmax(-1)
    on_grid = (-sharpness * (GRID[:, None] - KEYS) ** 2).softmax(-1) @ VALUES
    gaps = torch.where(GRID > 2.4, torch.nan, on_grid)
    return {"weights": weights[None], "output": weights @ VALUES, "all outputs": gaps}


def plots():
    return explore(
        pooled,
        caption="Weights of <four> keys & their weighted sum.",
        question="Where do two keys tie?",
        start={"query": 1.0, "sharpness": 1.0},
        columns=["a", "b", "c", "d"],
        draw=[
            Plot(
                Bars(KEYS, "weights", names="abcd", label="weights"),
                Line("query", label="query"),
                drag="query",
                xlim=(-3, 3.2),
                ylim=(0, 1),
            ),
            Plot(
                Curve(GRID, "all outputs"),
                Points(KEYS, VALUES, size="weights", color="weight", unit=12),
                Points("query", "output", color="query"),
                Line(y="output", color="value"),
                Arrow("query", "output"),
                xlabel="query",
                ylabel="output",
                drag=("query", "sharpness"),
            ),
        ],
        query=[-3.0, -1.5, 0.0, 1.0, 1.5, 3.0],
        sharpness=[0.1, 1.0, 5.0],
    )
