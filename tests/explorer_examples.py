"""Explorers for tests: each kind of part, of slider and of mark."""

import numpy as np

from d2l_attention import practice as p

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


def heat_map(temperature=1.0, valid_len=3):
    scores = np.array([[0.0, 2.0, 1.0, 1.0], [2.0, 1.0, 3.0, 3.0]])
    return p.explore(
        lambda temperature, valid_len: softmax(
            np.where(np.arange(4) < valid_len, scores / temperature, -np.inf)
        ),
        **WORDS,
        start={"temperature": temperature, "valid_len": valid_len},
        rows=["tea", "<pad>"],
        columns=["the", "kettle", "is", "singing"],
        masked=True,
        temperature=[0.1, 0.5, 1.0, 2.0, 5.0],
        valid_len=[1, 2, 3, 4],
    )


def pooled(query, sharpness):
    weights = softmax(-sharpness * (query - KEYS) ** 2)
    on_grid = softmax(-sharpness * (GRID[:, None] - KEYS) ** 2) @ VALUES
    gaps = np.where(abs(GRID - query) < 0.4, np.nan, on_grid)
    return {"weights": weights[None], "output": weights @ VALUES, "all outputs": gaps}


def plots(query=1.0, sharpness=1.0):
    weights = p.Plot(
        p.Bars(KEYS, "weights", names="abcd", label="weights"),
        p.Line("query", label="query"),
        drag="query",
        xlim=(-3, 3.2),
        ylim=(0, 1),
    )
    outputs = p.Plot(
        p.Curve(GRID, "all outputs"),
        p.Points(KEYS, VALUES, size="weights", color="weight", unit=12),
        p.Points("query", "output", color="query"),
        p.Line(y="output", color="value"),
        p.Arrow("query", "output"),
        xlabel="query",
        ylabel="output",
        drag=("query", "sharpness"),
    )
    return p.explore(
        pooled,
        **WORDS,
        start={"query": query, "sharpness": sharpness},
        columns=["a", "b", "c", "d"],
        draw=[weights, outputs],
        query=[-3.0, -1.5, 0.0, 1.0, 1.5, 3.0],
        sharpness=[0.1, 1.0, 5.0],
    )


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-99)


KINDS = {  # the scores of queries (n, 2) with the four places, (n, 4), and as the page has them
    "distance": (
        lambda q: -((q[:, None] - PLACES) ** 2).sum(-1) / 2,
        p.Score(PLACES - 0.5, b=-(PLACES + 0.5) / 2 + 0.5, origin=(0.5, 0.5)),
    ),
    "cosine": (lambda q: 3 * unit(q) @ unit(PLACES).T, p.Score(3 * unit(PLACES), unit=True)),
    "additive": (
        lambda q: np.tanh((q @ W_Q.T)[:, None] + PLACES @ W_Q.T + 1).sum(-1),
        p.Score(np.ones((1, 3)), W_Q, PLACES @ W_Q.T + 1, tanh=True),
    ),
}


def dragged(kind, x_of_query, y_of_query):
    scores, _ = KINDS[kind]
    query = np.array([[x_of_query, y_of_query]])
    return {"weights": softmax(scores(query)), "scores": scores(PLANE).T}


def planes(kind="distance", x=-3.0, y=1.5):
    drag, steps = ("x_of_query", "y_of_query"), [i / 2 for i in range(-6, 7)]
    size, query = p.Piece("weights", 0, 4), p.Points(*drag, color="query", label="query")
    regions = p.Regions(SIDE, SIDE, "scores", names="abcd")
    places = p.Points(*PLACES.T, size=size, color="weight", unit=9)
    ranges = {"xlim": (-3, 3), "ylim": (-3, 3)}
    return p.explore(
        dragged,
        **WORDS,
        draw=[
            p.Plot(regions, places, query, title="regions", drag=drag, height=300),
            p.Plot(query, title="one score", drag=(None, "y_of_query"), **ranges),
        ],
        large="picture",
        live=p.Live("weights", drag, lambda kind: [KINDS[kind][1]]),
        start={"kind": kind, "x_of_query": x, "y_of_query": y},
        kind={kind: kind for kind in KINDS},
        x_of_query=steps,
        y_of_query=steps,
    )


def seen(step, words):
    weights = np.array([[0.0, 0.25, 0.75], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    weights = np.where(words, weights, -np.inf)
    return {
        "now": weights[step][None],
        "all": weights,
        "read": f"{sum(words)} words",
        "left": 3 - step,
    }


def film(step=0, words="tea, milk"):
    return p.explore(
        seen,
        **WORDS,
        steps="step",
        row="step",
        start={"step": step, "words": words},
        rows="abcd",
        columns=["<a>", "b", "c"],
        step=[0, 1, 2, 3],
        words=p.Toggles(["tea", "milk", "sugar"]),
    )
