"""Explorers for tests: each kind of part, of slider and of mark; `start` has values of sliders."""

import numpy as np

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
    Toggles,
    explore,
)

WORDS = {"caption": "Weights of <keys> & a sum.", "question": "Where do two keys tie?"}
KEYS, VALUES, GRID = np.array([-2.0, 0.5, 1, 3]), np.array([1.0, 3, 2, 4]), np.linspace(-3, 3, 13)
PLACES = np.array([[1.0, 1], [2, 2], [-2, 1], [0, -2]])
SIDE = np.linspace(-3, 3, 31)
PLANE = np.stack(np.meshgrid(SIDE, SIDE), -1).reshape(-1, 2)
W_Q = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])


def softmax(scores):
    with np.errstate(invalid="ignore"):  # of a row that is masked: NaN
        exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def weights(temperature, valid_len):
    scores = np.array([[0.0, 2.0, 1.0, 1.0], [2.0, 1.0, 3.0, 3.0]])
    return softmax(np.where(np.arange(4) < valid_len, scores / temperature, -np.inf))


def heat_map(**start):
    start = {"temperature": 1.0, "valid_len": 3} | start
    sliders = {"temperature": [0.1, 0.5, 1.0, 2.0, 5.0], "valid_len": [1, 2, 3, 4]}
    look = {"rows": ["tea", "<pad>"], "columns": "abcd", "masked": True}
    return explore(weights, start=start, **WORDS, **look, **sliders)


def pooled(query, sharpness):
    weights = softmax(-sharpness * (query - KEYS) ** 2)
    on_grid = softmax(-sharpness * (GRID[:, None] - KEYS) ** 2) @ VALUES
    gaps = np.where(abs(GRID - query) < 0.4, np.nan, on_grid)
    return {"weights": weights[None], "output": weights @ VALUES, "all outputs": gaps}


def plots(**start):
    start = {"query": 1.0, "sharpness": 1.0} | start
    sliders = {"query": [-3.0, -1.5, 0.0, 1.0, 1.5, 3.0], "sharpness": [0.1, 1.0, 5.0]}
    bars = Bars(KEYS, "weights", names="abcd", label="weights"), Line("query", label="query")
    dots = Points(KEYS, VALUES, size="weights", color="weight", unit=12)
    marks = Curve(GRID, "all outputs"), dots, Points("query", "output", color="query")
    marks += Line(y="output", color="value"), Arrow("query", "output")
    axes = {"xlabel": "query", "ylabel": "output", "drag": ("query", "sharpness")}
    draw = [Plot(*bars, drag="query", xlim=(-3, 3.2), ylim=(0, 1)), Plot(*marks, **axes)]
    return explore(pooled, start=start, columns="abcd", draw=draw, **WORDS, **sliders)


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-99)


def by_network(q):
    return np.tanh((q @ W_Q.T)[:, None] + PLACES @ W_Q.T + 1).sum(-1)


SCORES = {  # of queries (n, 2) with the four places, (n, 4), and as the page has them
    "distance": (
        lambda q: -((q[:, None] - PLACES) ** 2).sum(-1) / 2,
        Score(PLACES - 0.5, b=-(PLACES + 0.5) / 2 + 0.5, origin=(0.5, 0.5)),
    ),
    "cosine": (lambda q: 3 * unit(q) @ unit(PLACES).T, Score(3 * unit(PLACES), unit=True)),
    "additive": (by_network, Score(np.ones((1, 3)), W_Q, PLACES @ W_Q.T + 1, tanh=True)),
}


def dragged(kind, x, y):
    scores, _ = SCORES[kind]
    return {"weights": softmax(scores(np.array([[x, y]]))), "scores": scores(PLANE).T}


def planes(**start):
    start = {"kind": "distance", "x": -3.0, "y": 1.5} | start
    sliders = {"kind": [*SCORES], "x": [i / 2 for i in range(-6, 7)]}
    query = Points("x", "y", color="query", label="query")
    dots = Points(*PLACES.T, size=Piece("weights", 0, 4), color="weight", unit=9)
    marks = Regions(SIDE, SIDE, "scores", names="abcd"), dots, query
    axes = {"xlim": (-3, 3), "ylim": (-3, 3), "title": "one score", "drag": (None, "y")}
    draw = [Plot(*marks, title="regions", drag=("x", "y"), height=300), Plot(query, **axes)]
    live = Live("weights", ("x", "y"), lambda kind: [SCORES[kind][1]])
    look = {"draw": draw, "large": "picture", "live": live}
    return explore(dragged, start=start, **look, **WORDS, **sliders, y=sliders["x"])


def seen(step, words):
    weights = np.array([[0.0, 0.25, 0.75], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    weights = np.where(words, weights, -np.inf)
    return {"now": weights[step][None], "all": weights, "read": f"{words}", "left": 3 - step}


def film(**start):
    start = {"step": 0, "words": "tea, milk"} | start
    sliders = {"step": [0, 1, 2, 3], "words": Toggles(["tea", "milk", "sugar"])}
    look = {"steps": "step", "row": "step", "rows": "abcd", "columns": ["<a>", "b", "c"]}
    return explore(seen, start=start, **look, **WORDS, **sliders)
