"""Explorers for tests: each kind of part, of slider and of mark."""

import torch

from d2l_attention.practice import (
    Arrow,
    Bars,
    Curve,
    Line,
    Live,
    Piece,
    Plot,
    Points,
    Regions,
    Score,
    Surface,
    Toggles,
    explore,
)

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


TEA = ["two", "sugars", "please"]


def stages(words, fill):
    keep = torch.tensor(words)
    filled = torch.where(keep, torch.tensor([1.0, 3.0, 2.0]), fill)
    weights = filled.softmax(-1)
    return {"score": filled[None], "weights": weights[None], "sum": weights.sum()}


def one_row():
    return explore(
        stages,
        caption="A row of scores and its weights.",
        question="Which fill leaves padding its weight?",
        start={"words": "two, sugars"},
        columns=TEA,
        masked=True,
        words=Toggles(TEA),
        fill={"-inf": -torch.inf, "a million less": -1e6, "zero": 0.0},
    )


PLACES = torch.tensor([[1.0, 1.0], [2.0, 2.0], [-2.0, 1.0], [0.0, -2.0]]).double()
SIDE = torch.linspace(-3, 3, 31).double()
PLANE = torch.cartesian_prod(SIDE, SIDE).flip(-1)
W_Q = torch.tensor([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]]).double()


def scores_of(kind, queries):
    """Return the scores of queries (n, 2) with the four places: (n, 4)."""
    if kind == "distance":
        return -torch.cdist(queries, PLACES).square() / 2
    if kind == "cosine":
        unit = torch.nn.functional.normalize
        return 3 * unit(queries, dim=-1) @ unit(PLACES, dim=-1).T
    if kind == "additive":
        return torch.tanh((queries @ W_Q.T)[:, None] + PLACES @ W_Q.T + 1).sum(-1)
    return queries @ PLACES.T


def forms(kind):
    if kind == "distance":
        return [Score(PLACES - 0.5, b=-(PLACES + 0.5) / 2 + 0.5, origin=(0.5, 0.5))]
    if kind == "cosine":
        return [Score(3 * torch.nn.functional.normalize(PLACES, dim=-1), unit=True)]
    if kind == "additive":
        return [Score(torch.ones(1, 3), W_Q, PLACES @ W_Q.T + 1, tanh=True)]
    return [Score(PLACES)]


def dragged(kind, x_of_query, y_of_query):
    query = torch.tensor([[x_of_query, y_of_query]]).double()
    return {
        "weights": scores_of(kind, query).softmax(-1),
        "scores": scores_of(kind, PLANE).T,
        "first": scores_of(kind, PLANE)[:, 0],
    }


def planes():
    steps = [i / 2 for i in range(-6, 7)]
    drag = ("x_of_query", "y_of_query")
    return explore(
        dragged,
        caption="Four keys in a plane.",
        question="Who wins where?",
        draw=[
            Plot(
                Regions(SIDE, SIDE, "scores", names="abcd"),
                Points(*PLACES.T, size=Piece("weights", 0, 4), color="weight", unit=9),
                Points(*drag, color="query", label="query"),
                title="regions",
                drag=drag,
                per_row=3,
                height=164,
            ),
            Plot(
                Surface(SIDE, SIDE, "first", levels=range(-4, 5), label="score"),
                Points(*drag, color="query", label="query"),
                title="one score",
                drag=(None, "y_of_query"),
                per_row=2,
            ),
            Plot(Surface(SIDE, SIDE, SIDE[:, None] * SIDE, levels=[-4, 0, 4]), per_row=2),
        ],
        live=Live("weights", drag, forms),
        start={"y_of_query": 1.5},
        kind={kind: kind for kind in ("dot product", "distance", "cosine", "additive")},
        x_of_query=steps,
        y_of_query=steps,
    )


def seen(step, order):
    weights = torch.tensor([[0.0, 0.25, 0.75]]) if step < 2 else torch.tensor([[1.0, 0.0, 0.0]])
    return {"left": 3 - step, "map": weights.flatten(), "order": order, "weights": weights}


def film():
    return explore(
        seen,
        caption="Three letters.",
        question="When is the first one read?",
        steps="step",
        lit="weights",
        folded=["order"],
        columns=["<a>", "b", "c"],
        draw=[
            Plot(
                Bars(range(3), [1] * 3, color="plain"),
                Points(range(3), "step", size="map"),
                xticks=dict(enumerate("abc")),
                yticks={0: "none", 3: "all"},
            )
        ],
        step=[0, 1, 2, 3],
        order=["forwards", "backwards"],
    )
