"""The cards of the home page: one detail of each part of the book, in the strokes of the strip."""

from collections.abc import Callable, Sequence

from kit import CARD, KEY, MASKED, PALE, QUERY, SOFT, WEIGHT, Drawing, Role, diagram, softmax
from strip import GRAY, mix

CARD_SIZE = 320, 176
LARGE = 18  # letters on a card


def card(part: int) -> Callable:
    """Register the card of a part; the docstring says what it shows."""
    return diagram(*CARD_SIZE, f"card_{part}")


def blue(weight: float) -> Role:
    """Return how a weight is drawn that no text lies on."""
    return Role(mix(WEIGHT.edge, min(0.1 + 0.9 * weight, 1)), WEIGHT.edge)


def heat_map(
    d: Drawing, x: float, y: float, size: float, rows: Sequence[Sequence[float | None]]
) -> None:
    """Draw weights as cells, the masked ones, None, hatched."""
    for i, row in enumerate(rows):
        for j, weight in enumerate(row):
            role = MASKED if weight is None else blue(weight)
            d.bar(x + j * size, y + i * size, size, size, role)


def causal(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    """Return the weights of scores of which each query sees its own key and those before."""
    m = len(rows)
    return [[*softmax(row[: i + 1]), *[None] * (m - 1 - i)] for i, row in enumerate(rows)]


@card(1)
def card_heads(d: Drawing) -> None:
    """Four heads.

    Four small heat maps side by side: one head looks at the token before, one at the token itself,
    one at the first token, one at all.
    """
    m = 5
    kinds = (
        lambda i, j: 4 * (j == i - 1),
        lambda i, j: 4 * (j == i),
        lambda i, j: 4 * (j == 0),
        lambda i, j: 0,
    )
    for k, kind in enumerate(kinds):
        x, y = 76 + 88 * (k % 2), 6 + 84 * (k // 2)
        rows = causal([[kind(i, j) for j in range(m)] for i in range(m)])
        heat_map(d, x, y + 2, 15, rows)


@card(2)
def card_scores(d: Drawing) -> None:
    """Distance or direction.

    Circles of equal distance lie around a query; a straight line of equal dot product runs past
    it. One key is near the query, another is far away and has the larger dot product.
    """
    query, origin = (132, 92), (44, 144)
    for r in (24, 48, 72):
        d.disc(query, r, "none", PALE)
    d.line((85, 13), (179, 171), edge=SOFT, dash="6 5")
    d.arrow(origin, query, edge=QUERY.edge)
    d.disc(query, 7, QUERY.edge, QUERY.edge)
    for key in ((118, 112), (262, 40), (190, 132)):
        d.disc(key, 7, KEY.edge, KEY.edge)


@card(3)
def card_cost(d: Drawing) -> None:
    """A matrix in blocks.

    A matrix of n times m scores, of which one block of keys at a time is held and the others are
    not.
    """
    for i in range(6):
        for j in range(10):
            here = j in (4, 5)
            d.bar(60 + 20 * j, 24 + 20 * i, 20, 20, GRAY if here else Role(CARD, PALE))
    d.text(36, 84, "n", LARGE)
    d.text(160, 160, "m", LARGE)
