"""The diagrams of the chapters 5 to 8."""

from math import sqrt, tanh

from kit import (
    EMPTY,
    HALO,
    KEY,
    MASKED,
    OUTLINE,
    PLAIN,
    QUERY,
    SMALL,
    SOFT,
    STROKE,
    TEXT,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    diagram,
    dot,
    number,
    path,
    shade,
    softmax,
)


@diagram(560, 486)  # chapter 5
def batched_product(d: Drawing) -> None:
    """A batched matrix product.

    Two evenings, each with a product of its own: three queries of dimension 2 times four
    transposed keys of dimension 2 give 3 times 4 scores. Nothing of Friday meets Saturday.
    """
    Q = [[[2, 0], [1, 1], [0, 1]], [[0, 2], [1, 0], [2, 1]]]
    K = [[[3, 0], [2, 1], [0, 2], [1, 1]], [[0, 3], [1, 0], [2, 2], [0, 1]]]
    for x, name in ((140, "queries **Q**"), (280, "keys **K**^{⊤}"), (464, "scores **S**")):
        d.text(x, 28, name)
    for e, day in enumerate(("Friday", "Saturday")):
        top = 86 + 158 * e
        d.text(24, top - 26, f"**{day}**", at="start")
        for i, friend in enumerate(("Ida", "Jon", "Kim")):
            d.text(92, top + 18 + 36 * i, friend, SMALL, "end")
        queries = [[str(x) for x in q] for q in Q[e]]
        keys = [[str(k[i]) for k in K[e]] for i in range(2)]
        scores = [[str(dot(q, k)) for k in K[e]] for q in Q[e]]
        d.cells(104, top, queries, 36, 36, QUERY)
        d.text(192, top + 54, "×")
        d.cells(208, top + 18, keys, 36, 36, KEY)
        d.text(372, top + 54, "=")
        d.cells(392, top, scores, 36, 36, PLAIN)
        if e == 0:
            for x, y, w, h in ((104, 0, 72, 36), (208, 18, 36, 72), (392, 0, 36, 36)):
                d.box(x, top + y, w, h, OUTLINE)
    b, n, size, m = len(Q), len(Q[0]), len(Q[0][0]), len(K[0])
    shapes = ("(b, n, d)", (b, n, size)), ("(b, d, m)", (b, size, m)), ("(b, n, m)", (b, n, m))
    for x, (letters, sizes) in zip((140, 280, 464), shapes, strict=True):
        d.text(x, 384, letters)
        d.text(x, 410, str(sizes), SMALL, ink=SOFT)
    for x, sign in ((192, "×"), (372, "→")):
        d.text(x, 384, sign)
    terms = " + ".join(f"{x}·{y}" for x, y in zip(Q[0][0], K[0][0], strict=True))
    first = f"Outlined: Ida on Friday, {terms} = {dot(Q[0][0], K[0][0])}"
    d.text(280, 454, first, SMALL, ink=SOFT)


@diagram(560, 636)  # chapter 5
def heads(d: Drawing) -> None:
    """Splitting into heads, and back.

    Three queries with four features each. A reshape cuts every query into two pieces of two
    features. A transpose collects the first pieces in head 0 and the second pieces in head 1.
    The way back takes the two steps in reverse order.
    """
    n, size, H = 3, 4, 2
    part = size // H
    x = [[str(10 * (i + 1) + j) for j in range(size)] for i in range(n)]
    other = Role("#F3B78D", QUERY.edge)  # head 1, in a darker tint than head 0
    d.text(24, 28, "Entry 23: query 2, feature 3.", SMALL, "start", SOFT)
    w, h, tops = 48, 36, (56, 238, 470)
    for i in range(n):
        for k, role in enumerate((QUERY, other)):
            piece = [x[i][k * part : (k + 1) * part]]
            d.cells(184 + 2 * w * k, tops[0] + h * i, piece, w, h, role)
            if k == 0:
                d.box(168, tops[1] + 56 * i - 8, 224, 48, EMPTY)
            d.cells(176 + 112 * k, tops[1] + 56 * i - 2, piece, w, h, role)
            if i == 0:
                d.box(148 + 144 * k, tops[2] - 8, 120, 124, EMPTY)
                d.text(208 + 144 * k, tops[2] + 136, f"head {k}", SMALL)
            d.cells(160 + 144 * k, tops[2] + h * i, piece, w, h, role)
        d.text(152, tops[0] + 18 + h * i, f"query {i + 1}", SMALL, "end")
        d.text(152, tops[1] + 16 + 56 * i, f"query {i + 1}", SMALL, "end")
    for y0, y1, step in ((164, 230, "reshape"), (390, 462, "transpose")):
        d.arrow((232, y0), (232, y1))
        d.text(220, (y0 + y1) / 2, step, SMALL, "end")
        d.arrow((328, y1), (328, y0))
        d.text(340, (y0 + y1) / 2, step + " back", SMALL, "start")
    shapes = {"(b, n, d)": (1, n, size), "(b, n, H, d/H)": (1, n, H, part)}
    shapes["(b, H, n, d/H)"] = (1, H, n, part)
    for y, (letters, sizes) in zip((110, 310, 524), shapes.items(), strict=True):
        d.text(484, y - 12, letters, SMALL)
        d.text(484, y + 12, str(sizes), SMALL, ink=SOFT)


@diagram(560, 224)  # chapter 5
def reshaped_keys(d: Drawing) -> None:
    """Transposed and reshaped keys.

    Friday's keys are four rows, one film each, with laughter and tears. Transposed, they are four
    columns, still one film each. Reshaped to two rows, they keep the order of the eight numbers,
    so that every column mixes two films.
    """
    K = [[3, 0], [2, 1], [0, 2], [1, 1]]
    pale = "#FFFFFF", "#EBC6DB", KEY.fill, "#DC9DC0"  # one tint for each film
    tints = [Role(tint, KEY.edge) for tint in pale]
    w = 36
    for x, name in ((80, "**K**"), (260, "transposed"), (452, "reshaped")):
        d.text(x, 24, name)
    for film, (key, tint) in enumerate(zip(K, tints, strict=True)):
        d.text(36, 66 + w * film, "ABCD"[film], SMALL, ink=SOFT)
        d.text(206 + w * film, 58, "ABCD"[film], SMALL, ink=SOFT)
        for feature, x in enumerate(key):
            d.box(52 + w * feature, 48 + w * film, w, w, tint, str(x))
            d.box(188 + w * film, 76 + w * feature, w, w, tint, str(x))
            row, column = divmod(2 * film + feature, 4)
            d.box(380 + w * column, 76 + w * row, w, w, tint, str(x))
    d.text(260, 176, "a film is a column", SMALL, ink=SOFT)
    d.text(452, 176, "a column is half a film", SMALL, ink=SOFT)
    d.text(452, 198, "on top of half another", SMALL, ink=SOFT)


@diagram(560, 250)  # chapter 5
def missing_axis(d: Drawing) -> None:
    """Queries without their axis.

    Ida's two moods, stored as two rows, meet Friday's films and Saturday's films: two matrices of
    two rows each. Only Friday's mood with Friday's films and Saturday's mood with Saturday's films
    were wanted.
    """
    alone = {"Fri": (2, 0), "Sat": (0, 2)}
    films = {
        "Fri": ((3, 0), (2, 1), (0, 2), (1, 1)),
        "Sat": ((0, 3), (1, 0), (2, 2), (0, 1)),
    }
    d.text(24, 24, "Ida's mood", SMALL, "start", SOFT)
    for e, (day, keys) in enumerate(films.items()):
        x = 150 + 206 * e
        d.text(x + 88, 24, f"films of {day}", SMALL)
        for i, (mood, query) in enumerate(alone.items()):
            y = 48 + 76 * i
            scores = [[str(dot(query, key)) for key in keys]]
            d.cells(x, y, scores, 44, 44, PLAIN if mood == day else MASKED)
            if mood == day:
                d.box(x, y, 176, 44, OUTLINE)
            if e == 0:
                d.text(24, y + 22, mood, at="start")
                d.cells(64, y, [[str(v) for v in query]], 32, 44, QUERY)
    d.text(24, 206, "Outlined: wanted, one row for each evening.", SMALL, "start", SOFT)
    d.text(24, 230, "Hatched: a mood meets films of the other evening.", SMALL, "start", SOFT)


@diagram(560, 240)  # chapter 5
def brackets(d: Drawing) -> None:
    """Two ways to bracket three matrices, drawn to scale.

    For queries, keys and values of 512 by 64, the left bracket makes a square of 512 by 512
    numbers, which then meets the values. The right bracket makes a square of 64 by 64, which the
    queries then meet.
    """
    long, short, y = 128, 16, 130  # 512 and 64
    for x, head in ((24, "(**Q K**^{⊤}) **V**"), (316, "**Q** (**K**^{⊤}**V**)")):
        d.text(x, 24, head, at="start")
    d.box(24, y - long / 2, long, long, PLAIN, "**Q K**^{⊤}", "512 × 512")
    d.text(172, y, "×")
    d.box(192, y - long / 2, short, long, VALUE)
    d.text(224, y, "**V**", at="start")
    d.text(316, y, "**Q**", at="start")
    d.box(344, y - long / 2, short, long, QUERY)
    d.text(380, y, "×")
    d.box(400, y - short / 2, short, short, PLAIN)
    d.text(428, y - 11, "**K**^{⊤}**V**", at="start")
    d.text(428, y + 13, "64 × 64", SMALL, "start")
    d.text(24, 218, "Gray: what is computed first.", SMALL, "start", SOFT)


@diagram(620, 632)  # chapter 6
def attention_layer(d: Drawing) -> None:
    """Scaled dot-product attention as a flow.

    Queries and keys make scaled scores. A mask hides the padding, a softmax turns scores into
    weights, dropout acts in training only, and the weights with the values make the weighted
    sum. On the left, one query and four foods, the last of them padding.
    """
    foods = ["bread", "apple", "lemon", "honey"]
    K = [[0, 0, 1, 1], [1, 1, 2, 0], [0, 2, 0, 0], [2, 0, 0, 1]]
    V = [[2, 1], [1, 1], [0, 2], [3, 4]]
    q, length = [2, 0, 4, 0], 3
    scores = [dot(q, k) / sqrt(len(q)) for k in K]
    weights = [*softmax(scores[:length]), 0.0]
    energy, price = (dot(weights, column) for column in zip(*V, strict=True))
    x, w, step = 308, 184, 88
    tops = [128 + step * i for i in range(5)]
    for left, name, shape, role in zip(
        (308, 404, 516), "QKV", ("n, d", "m, d", "m, v"), (QUERY, KEY, VALUE), strict=True
    ):
        d.box(left, 32, 88, 56, role, f"**{name}**", f"(b, {shape})")
    d.arrow((352, 88), (352, tops[0]))
    d.arrow((448, 88), (448, tops[0]))
    d.arrow((560, 88), (560, tops[4] + 28), (x + w, tops[4] + 28))
    boxes = {
        "**Q** **K**^{⊤} / √*d*": "scores (b, n, m)",
        "mask": "by valid lengths",
        "softmax": "weights (b, n, m)",
        "dropout": "in training only",
        "weighted sum": "(b, n, v)",
    }
    for top, (name, note) in zip(tops, boxes.items(), strict=True):
        d.box(x, top, w, 56, WEIGHT if name == "softmax" else PLAIN, name, note)
        d.arrow((400, top + 56), (400, top + step))
    d.box(x, tops[4] + step, w, 40, EMPTY, "**output**")
    d.text(24, 48, "one query, four foods;", SMALL, "start", SOFT)
    d.text(24, 72, "honey is padding", SMALL, "start", SOFT)
    for j, food in enumerate(foods):
        left, real = 24 + 64 * j, j < length
        d.text(left + 32, 108, food, SMALL)
        d.box(left, tops[0] + 8, 64, 40, PLAIN, number(scores[j], 1))
        text = number(scores[j], 1) if real else "–"
        d.box(left, tops[1] + 8, 64, 40, PLAIN if real else MASKED, text)
        role = shade(weights[j]) if real else MASKED
        d.box(left, tops[2] + 8, 64, 40, role, number(weights[j], 2 if real else 0))
        for i, value in enumerate(V[j]):
            y = tops[3] + 32 + 36 * i
            d.box(left, y, 64, 36, VALUE if real else MASKED, str(value))
    d.arrow((152, tops[0] + 48), (152, tops[1] + 8))
    d.arrow((152, tops[1] + 48), (152, tops[2] + 8))
    d.text(24, tops[3] + 14, "× values: energy, price", SMALL, "start", SOFT)
    d.arrow((152, tops[3] + 104), (152, tops[4] + step))
    answer = f"energy {number(energy)}, price {number(price)}"
    d.box(24, tops[4] + step, 256, 40, EMPTY, answer)


@diagram(600, 336)  # chapter 6
def fused_steps(d: Drawing) -> None:
    """Separate steps, and one pass over blocks of keys.

    In separate steps, the scores and the weights of all queries and all keys are stored, two large
    squares. The fused function takes a few keys and values at a time, adds to a running sum, and
    stores only the scores of one block.
    """
    size, thin, step = 96, 28, 24
    for top, head in ((24, "**separate steps**"), (190, "**fused**")):
        d.text(24, top, head, at="start")
    y = 48
    d.box(24, y, thin, size, QUERY, "**Q**")
    d.box(64, y + 34, size, thin, KEY, "**K**^{⊤}")
    d.arrow((164, y + 48), (196, y + 48))
    d.box(200, y, size, size, PLAIN, "scores")
    d.arrow((300, y + 48), (332, y + 48))
    d.box(336, y, size, size, WEIGHT, "weights")
    d.text(446, y + 48, "×")
    d.box(460, y, thin, size, VALUE, "**V**")
    d.arrow((492, y + 48), (524, y + 48))
    d.box(528, y, thin, size, EMPTY)
    d.text(542, y + size + 14, "output", SMALL)
    d.text(316, y + size + 14, "both stored: 2 *n m* numbers", SMALL, ink=SOFT)
    y = 214
    d.box(24, y, thin, size, QUERY, "**Q**")
    for i in range(4):
        now = i == 1
        d.box(64 + step * i, y + 34, step, thin, KEY if now else EMPTY)
        d.box(460, y + step * i, thin, step, VALUE if now else EMPTY)
    d.arrow((164, y + 48), (196, y + 48))
    d.box(200 + step, y, step, size, PLAIN)
    d.arrow((300, y + 48), (332, y + 48))
    d.box(336 + step, y, step, size, WEIGHT)
    d.text(446, y + 48, "×")
    d.arrow((492, y + 48), (524, y + 48))
    d.box(528, y, thin, size, EMPTY)
    d.text(542, y + size + 14, "output", SMALL)
    note = "a block of keys at a time, added to the output"
    d.text(24, y + size + 14, note, SMALL, "start", SOFT)


@diagram(600, 320)  # chapter 6
def one_base_class(d: Drawing) -> None:
    """One base class, and what a subclass adds.

    The base class checks sizes, asks its subclass for scores, applies mask and softmax, drops
    weights in training, and sums the values. Some subclasses give features of queries and keys,
    whose dot products are the scores; others give the scores themselves.
    """
    d.box(16, 40, 568, 92, EMPTY)
    d.text(24, 22, "**Attention**, the base class", at="start")
    stages = {"check": ("sizes", PLAIN), "**score**": ("empty slot", OUTLINE)}
    stages |= {"softmax": ("with mask", WEIGHT), "dropout": ("in training", PLAIN)}
    stages["sum"] = "of values", VALUE
    for i, (name, (note, role)) in enumerate(stages.items()):
        x = 28 + 112 * i
        d.box(x, 56, 96, 60, role, name, note)
        if i:
            d.arrow((x - 16, 86), (x, 86))
    d.box(16, 192, 330, 112, EMPTY)
    d.text(181, 212, "**features**, then their product", SMALL)
    d.box(372, 192, 212, 112, EMPTY)
    d.text(478, 212, "**score** itself", SMALL)
    d.text(181, 240, "scaled dot product", SMALL)
    d.text(181, 264, "distance, cosine, bilinear", SMALL, ink=SOFT)
    d.text(181, 286, "(chapter 8)", SMALL, ink=SOFT)
    d.text(478, 240, "Gaussian, below", SMALL)
    d.text(478, 264, "additive", SMALL, ink=SOFT)
    d.text(478, 286, "(chapter 7)", SMALL, ink=SOFT)
    d.arrow((176, 192), (176, 116))
    d.arrow((478, 192), (478, 160), (200, 160), (200, 116))


@diagram(600, 236)  # chapter 6
def two_masks(d: Drawing) -> None:
    """Two masks become one.

    Of four keys, the last is padding. A hidden pair is one in which the key comes after the query.
    The wanted mask is true where the key is no padding and the pair is not hidden.
    """
    n, w = 4, 36
    for x, name in ((24, "padding"), (212, "hidden"), (424, "wanted")):
        d.text(x, 24, f"**{name}**", at="start")
    for j in range(n):
        d.box(24 + w * j, 102, w, w, MASKED if j == 3 else EMPTY, "T" if j == 3 else "F")
        for i in range(n):
            late = j > i
            d.box(212 + w * j, 48 + w * i, w, w, MASKED if late else EMPTY, "T" if late else "F")
            keep = not late and j < 3
            d.box(424 + w * j, 48 + w * i, w, w, EMPTY if keep else MASKED, "T" if keep else "F")
    d.text(388, 120, "→")
    d.text(24, 212, "(b, m), T: padding", SMALL, "start", SOFT)
    d.text(212, 212, "(n, m), T: hidden", SMALL, "start", SOFT)
    d.text(424, 212, "T: may attend", SMALL, "start", SOFT)


@diagram(560, 520)  # chapter 7
def additive_network(d: Drawing) -> None:
    """The additive score as a network.

    Three features of a query and two of a key enter a hidden layer of two units. Each unit adds
    its weighted inputs and takes the tanh. A weighted sum of the units is the score.
    """
    q = {"tired": 2, "thirsty": 0, "cold": 1}
    k = {"sweet": 2, "juicy": 0}
    W = [[0, -2, 0, 1, 0], [-2, 0, 0, 0, 1]]  # [W_q | W_k], as in (7.2)
    w_v = [3, 3]
    inside = [dot(row, [*q.values(), *k.values()]) for row in W]
    score = dot(w_v, [tanh(x) for x in inside])
    d.text(170, 28, "query **q**: runner")
    d.text(440, 28, "key **k**: honey")
    lefts, hidden = (24, 124, 224, 344, 444), (164, 396)
    thin, bold = [], []
    for i, row in enumerate(W):
        for j, weight in enumerate(row):
            (bold if weight else thin).append((lefts[j] + 46, hidden[i] + 28 * (j - 2), weight))
    for x0, x1, _ in thin:
        d.line((x0, 104), (x1, 250), edge="#D5D5D5")
    for x0, x1, _ in bold:
        d.arrow((x0, 104), (x1, 250))
    for x0, x1, weight in bold:  # over all arrows
        d.text(x0 + 0.18 * (x1 - x0), 104 + 0.18 * 146, number(weight, 0), halo=HALO)
    for left, (name, x) in zip(lefts, [*q.items(), *k.items()], strict=True):
        d.box(left, 48, 92, 56, KEY if name in k else QUERY, name, str(x))
    for x, value, weight in zip(hidden, inside, w_v, strict=True):
        d.box(x - 92, 250, 184, 44, PLAIN, f"tanh({number(value, 0)}) = {number(tanh(value))}")
        end = 280 + (x - 280) * 0.5
        d.arrow((x, 294), (end, 408))
        d.text((x + end) / 2, 351, number(weight, 0), halo=HALO)
    d.box(188, 408, 184, 44, EMPTY, f"**score {number(score)}**")
    d.text(24, 186, "**W**_{q}", at="start")
    d.text(536, 186, "**W**_{k}", at="end")
    d.text(24, 351, "**w**_{v}", at="start")
    d.text(280, 488, "*a* = **w**_{v}^{⊤} tanh(**W**_{q} **q** + **W**_{k} **k**)", TEXT)
    d.text(536, 351, "pale: weight 0", SMALL, "end", SOFT)


@diagram(620, 250)  # chapter 7
def hidden_units(d: Drawing) -> None:
    """The hidden units of all pairs, and a block of them.

    A cube of n queries, m keys and h units. Its right side is as large as the projected queries,
    its top as the projected keys, its front as the scores. A block takes a few queries at a time,
    a slice of the cube from its top.
    """
    w, high, part, deep = 132, 120, 32, (84, -44)

    def face(role: Role, *points: tuple[float, float]) -> None:
        d.parts.append(
            f'<path d="{path(points)}Z" fill="{role.fill}" stroke="{role.edge}" '
            f'stroke-width="{STROKE}" stroke-linejoin="round"/>'
        )

    def solid(x: float, y: float, tall: float) -> None:
        (u, v), right, low = deep, x + w, y + tall
        d.box(x, y, w, tall, PLAIN)
        face(KEY, (x, y), (x + u, y + v), (right + u, y + v), (right, y))
        face(QUERY, (right, y), (right + u, y + v), (right + u, low + v), (right, low))

    heads = (60, high, "**all pairs at once**"), (392, part, "**a block of queries**")
    for x, tall, head in heads:
        solid(x, 88, tall)
        d.text(x - 36, 20, head, at="start")
        d.text(x + w / 2 + 42, 66, "keys (m, h)", SMALL)
    d.text(60 + w / 2, 148, "scores (n, m)", SMALL)
    d.text(232, 202, "queries (n, h)", SMALL, "start")
    d.line((392, 120), (392, 208), (524, 208), (524, 120), dash="5 5")
    d.line((524, 208), (608, 164), (608, 76), dash="5 5")
    d.text(392 + w / 2, 104, "scores", SMALL)
    d.text(60, 232, "held: *n m h* numbers", SMALL, "start", SOFT)
    d.text(392, 232, "held: this slice", SMALL, "start", SOFT)


SIX_SCORES = """
dot product        | **q** · **k**           | **q**        | · | **k**                | nothing
scaled dot product | **q** · **k** / √*d*    | **q** / √*d* | · | **k**                | nothing
distance | −‖**q** − **k**‖² / (2√*d*) | [**q**; 1] / √*d*  | · | [**k**; −½‖**k**‖²] | nothing
cosine   | cos(**q**, **k**) / *τ*     | **q** / (*τ* ‖**q**‖) | · | **k** / ‖**k**‖  | *τ*
bilinear | **q**^{⊤}**M** **k** / √*d*_{k} | **M**^{⊤}**q** / √*d*_{k} | · | **k**    | **M**
additive | **w**_{v}^{⊤} tanh(**W**_{q} **q** + **W**_{k} **k**) \
    | **W**_{q} **q** | + | **W**_{k} **k** | **W**_{q}, **W**_{k}, **w**_{v}
"""


@diagram(560, 604)  # chapter 8
def five_scores(d: Drawing) -> None:
    """Where each score sits.

    Six scores in six rows. All but the last map query and key by themselves and take a dot
    product; the additive score adds them and takes a tanh. Dot products and distance learn
    nothing, cosine a temperature, bilinear a matrix, additive two matrices and a vector.
    """
    rows = [[cell.strip() for cell in row.split("|")] for row in SIX_SCORES.strip().splitlines()]
    for x, head in ((106, "query side"), (294, "key side"), (466, "learned")):
        d.text(x, 26, head, SMALL, ink=SOFT)
    for i, (name, formula, left, sign, right, learned) in enumerate(rows):
        y = 48 + 88 * i
        d.text(24, y + 14, f"**{name}**", at="start")
        d.text(244, y + 14, formula, at="start")
        d.box(24, y + 30, 164, 40, QUERY, left)
        d.text(206, y + 50, f"**{sign}**")
        d.box(224, y + 30, 140, 40, KEY, right)
        d.box(396, y + 30, 140, 40, EMPTY if learned == "nothing" else PLAIN, learned)
    d.text(24, 584, "distance: up to a term that the softmax cancels", SMALL, "start", SOFT)
