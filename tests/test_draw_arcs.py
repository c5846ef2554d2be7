"""The widget of a trained model: what it stores, what it shows, and what it cannot be made of."""

import numpy as np
import pytest

from d2l_attention.practice import draw_arcs
from d2l_attention.practice.arcs import held_by, unpacked

WORDS = ["the", "animal", "was", "tired"]
rng = np.random.default_rng(0)
MATRICES = [rng.normal(size=shape) for shape in ((4, 2), (4, 2), (4, 4))]
OPTIONS = {
    "text": "the animal was tired",
    "weights": [[0.001, 0.9, 0.03, 0.06]],
    "result": "animal",
    "reads": WORDS,
    "asks": -1,
    "question": "Where?",
    "caption": "Attention <weights>.",
}


def widget(snapshots=None, **options):
    snapshots = {0: MATRICES, 100: MATRICES} if snapshots is None else snapshots
    return draw_arcs("sentence", snapshots, **(OPTIONS | options))


def test_a_widget_stores_each_snapshot_as_float16_and_shows_its_weights():
    html = widget()._repr_mimebundle_()["text/html"]
    found = unpacked(html)
    assert [step for step, _ in found] == [0, 100]
    for _, arrays in found:
        for array, matrix in zip(arrays, MATRICES, strict=True):
            np.testing.assert_array_equal(array, matrix.astype(np.float16))
    assert held_by(html)["asks"] == 3
    table = html[html.index("<table") : html.index("</table>")]
    assert [word for word in WORDS if f">{word}</th>" in table] == WORDS
    assert '<th scope="row">tired</th>' in table
    assert [text in table for text in (">0.90<", ">0.03<", ">0.00<")] == [True, True, False]
    assert "Still picture of “the animal was tired” after 100 training steps." in html
    assert "Attention &lt;weights&gt;." in html
    assert str(widget()).splitlines() == [
        "Attention <weights>.",
        "Its output names: animal",
    ]
    assert widget().html == html  # always the same


@pytest.mark.parametrize(
    ("snapshots", "message"),
    [
        ({0: MATRICES[:2]}, "a sentence has 3 arrays .* at step 0 there are 2"),
        ({0: MATRICES, 9: [m[:2] for m in MATRICES]}, "at step 9"),
        ({0: [m[:2] for m in MATRICES]}, "the first array must have a row for each of 4 tokens"),
        ({0: [m * 1e6 for m in MATRICES]}, "not finite as float16"),
        ({i: [*MATRICES[:2], np.ones((300, 300))] for i in range(3)}, "may weigh 600000 bytes"),
    ],
)
def test_what_cannot_be_shown_is_said(snapshots, message):
    with pytest.raises(ValueError, match=message):
        widget(snapshots)
