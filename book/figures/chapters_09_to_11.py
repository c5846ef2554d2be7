"""The diagrams of the chapters 9 to 11."""

from math import cos, exp, log, pi, sin, sqrt

from kit import (
    DARK,
    EMPTY,
    INK,
    KEY,
    MASKED,
    OUTLINE,
    PLAIN,
    QUERY,
    SMALL,
    SOFT,
    STROKE,
    TINY,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    diagram,
    dot,
    number,
    path,
    shade,
    shares,
)


@diagram(612, 266)  # chapter 9
def bytes_to_scale(d: Drawing) -> None:
    """Inputs and matrices, drawn to scale.

    For texts of 1,024, 2,048 and 4,096 tokens: queries, keys and values of dimension 64 are three
    thin strips, scores and weights two squares. With every doubling of the length the strips
    take twice the memory, and the squares four times.
    """
    size, unit, base = 64, 120 / 4096, 148
    for x, n in zip((24, 158, 332), (1024, 2048, 4096), strict=True):
        side, strip = n * unit, size * unit
        for k, role in enumerate((QUERY, KEY, VALUE)):
            d.parts.append(
                f'<rect x="{x + (strip + 1) * k:g}" y="{base - side:g}" width="{strip:g}" '
                f'height="{side:g}" fill="{role.edge}"/>'
            )
        for k, (role, name) in enumerate(((PLAIN, "scores"), (WEIGHT, "weights"))):
            named = (name,) if side > 100 else ()
            d.box(x + 16 + (side + 8) * k, base - side, side, side, role, *named)
        d.text(x, base + 22, f"**{n:,} tokens**", SMALL, "start")
        inputs, matrices = (4 * entries / 2**20 for entries in (3 * n * size, 2 * n * n))
        d.text(x, base + 44, f"strips {inputs:g} MiB", SMALL, "start", SOFT)
        d.text(x, base + 66, f"squares {matrices:g} MiB", SMALL, "start", SOFT)
    n = 65536
    inputs, matrices = (round(4 * entries / 2**20) for entries in (3 * n * size, 2 * n * n))
    d.text(
        24, 248, f"**{n:,} tokens**: strips {inputs} MiB, squares {matrices:,} MiB", SMALL, "start"
    )


@diagram(600, 356)  # chapter 9
def traffic(d: Drawing) -> None:
    """What travels between memory and chip.

    Above, step by step: the product reads queries and keys and writes the scores, the softmax
    reads the scores and writes the weights, the weighted sum reads weights and values and writes
    the outputs. Below, all in one: queries, keys and values are read, outputs are written.
    """
    n, size, h = 1024, 64, 40
    ends = 4 * n * size
    moved = {"Step by step": ends + 4 * n * n, "All in one": ends}
    for (name, entries), top in zip(moved.items(), (16, 192), strict=True):
        d.text(24, top + 12, f"**{name}**", at="start")
        d.text(
            584, top + 12, f"{n:,} tokens: {4 * entries // 2**20} MiB travel", SMALL, "end", SOFT
        )
        d.text(24, top + 56, "memory", SMALL, "start", SOFT)
        d.text(24, top + 132, "chip", SMALL, "start", SOFT)
        y, low = top + 36, top + 112
        for x, role, letter in ((96, QUERY, "Q"), (156, KEY, "K"), (460, VALUE, "V")):
            d.box(x, y, 48, h, role, f"**{letter}**")
        d.box(524, y, 60, h, EMPTY, "out")
        reads, writes = [(120, 150), (180, 190), (484, 466)], [(500, 554)]
        if name == "Step by step":
            d.box(232, y, 80, h, PLAIN, "scores")
            d.box(336, y, 92, h, WEIGHT, "weights")
            d.box(132, low, 100, h, EMPTY, "product")
            d.box(276, low, 100, h, EMPTY, "softmax")
            d.box(412, low, 100, h, EMPTY, "sum")
            reads += [(288, 312), (396, 440)]
            writes += [(212, 256), (344, 372)]
        else:
            d.box(132, low, 380, h, EMPTY, "one block of scores after another")
        for start, end in reads:
            d.arrow((start, y + h), (end, low))
        for start, end in writes:
            d.arrow((start, low), (end, y + h))


@diagram(560, 276)  # chapter 9
def tiles(d: Drawing) -> None:
    """A tile of queries walks past all keys.

    The matrix of scores, cut into four rows of tiles. The first tile of queries has walked past
    all keys and values and has its outputs; the second is on its way, with one block of scores
    on the chip. So keys and values are read four times.
    """
    x, y, w, rows, blocks = 152, 76, 40, 4, 6
    for top, role, name in ((24, KEY, "keys"), (48, VALUE, "values")):
        d.box(x, top, w * blocks, 18, role)
        d.text(x - 12, top + 9, name, SMALL, "end")
    for i in range(rows):
        top = y + w * i
        d.box(x - 44, top, 32, w, QUERY)
        d.box(x + w * blocks + 12, top, 32, w, PLAIN if i == 0 else EMPTY)
        for j in range(blocks):
            now = (i, j) == (1, 2)
            d.box(x + w * j, top, w, w, shade(0.6) if now else EMPTY)
    middle = y + 1.5 * w
    d.arrow((x + 8, middle), (x + 2 * w - 2, middle))
    d.arrow((x + 3 * w + 4, middle), (x + blocks * w - 6, middle))
    d.arrow((x + 8, middle - w), (x + blocks * w - 6, middle - w))
    d.text(x - 56, middle, "*T* queries", SMALL, "end")
    d.text(x + w * blocks + 56, y + w / 2, "outputs", SMALL, "start")
    d.text(x + w * blocks + 56, middle, "on its way", SMALL, "start", SOFT)
    d.text(24, 256, "Four tiles: keys and values are read *n*/*T* = 4 times.", SMALL, "start", SOFT)


@diagram(600, 284)  # chapter 9
def running_sum(d: Drawing) -> None:
    """The running sum under a running maximum.

    Six stacks of bars, one after each busker. Each stack holds the terms of the scores so far,
    relative to the largest of them. Where a new score is the largest, at drum and cello, all
    older terms shrink by one factor, and the new term is 1.
    """
    scores = {"harp": 1, "drum": 3, "flute": 0, "cello": 5, "bagpipe": 2, "kazoo": 4}
    base, unit, w, pitch = 204, 104, 44, 94
    seen: list[int] = []
    top = base
    for t, (name, score) in enumerate(scores.items()):
        x, before = 40 + pitch * t, top
        shrink = exp(max(seen, default=score) - max([*seen, score]))
        if t:  # where the old stack goes
            kept = base - shrink * (base - before)
            d.line((x - pitch + w, before), (x, kept), dash="3 4")
            if shrink < 1:
                d.text(x - (pitch - w) / 2, before - 16, f"× {number(shrink)}", TINY, ink=SOFT)
        seen.append(score)
        top, c = base, max(seen)
        for j, a in enumerate(seen):
            height = unit * exp(a - c)
            top -= height
            fill = WEIGHT.edge if j == t else WEIGHT.fill
            d.parts.append(
                f'<rect x="{x}" y="{top:.4g}" width="{w}" height="{height:.4g}" fill="{fill}" '
                f'stroke="{WEIGHT.edge}"/>'
            )
        d.text(x + w / 2, top - 16, number(sum(exp(a - c) for a in seen)), SMALL)
        d.text(x + w / 2, base + 18, name, SMALL)
        d.text(x + w / 2, base + 40, f"score {score}", SMALL)
        d.text(x + w / 2, base + 62, f"*c* = {c}", SMALL, ink=SOFT)
    d.line((24, base), (584, base))


@diagram(560, 272)  # chapter 9
def block_walk(d: Drawing) -> None:
    """Blocks of keys under a causal mask.

    Six queries and ten keys, in blocks of three keys. Only one block of scores is alive, the
    second. Behind the matrix, each query carries its maximum, its sum and its weighted sum.
    Hatched cells are masked; the last two blocks are hatched in all rows.
    """
    x, y, w, n, m, block = 112, 64, 26, 6, 10, 3
    now = 1
    d.text(x, 24, "keys and values, three at a time", SMALL, "start")
    d.arrow((x, 46), (x + w * m, 46))
    d.text(x - 16, y + 1.5 * w, "six", SMALL, "end")
    d.text(x - 16, y + 1.5 * w + 20, "queries", SMALL, "end")
    for i in range(n):
        for j in range(m):
            alive = PLAIN if j // block == now else EMPTY
            d.box(x + w * j, y + w * i, w, w, MASKED if j > i else alive)
    for b in range(0, m, block):
        d.line((x + w * b, y - 6), (x + w * b, y + w * n + 6), edge=INK)
    d.box(x + w * block * now, y - 6, w * block, w * n + 12, OUTLINE)
    columns = {"maximum": (396, 28), "sum": (436, 28), "weighted": (476, 60)}
    for left, width in columns.values():
        for i in range(n):
            d.box(left, y + w * i, width, w, EMPTY)
    for (left, width), letter in zip(columns.values(), ("*c*", "*s*", "**o**"), strict=True):
        d.text(left + width / 2, 46, letter)
    d.text(466, 24, "carried along", SMALL)
    d.text(x, 246, "Outlined: alive now. Hatched: masked.", SMALL, "start", SOFT)


@diagram(560, 240)  # chapter 9
def recompute(d: Drawing) -> None:
    """The backward pass computes the weights again.

    The forward pass keeps queries, keys, values, outputs and one log-sum-exp for each query. For
    one block of keys after another, the backward pass makes scores from queries and keys,
    weights from scores and log-sum-exp, and gradients from weights, values and outputs.
    """
    top, low = 44, 148
    d.text(24, 24, "**kept** from the forward pass", SMALL, "start")
    kept = {"**Q**": (24, QUERY), "**K**": (84, KEY), "*ℓ*": (248, PLAIN)}
    kept |= {"**V**": (416, VALUE), "**O**": (476, EMPTY)}
    for name, (x, role) in kept.items():
        d.box(x, top, 48 if name != "*ℓ*" else 40, 44, role, name)
    steps = {"scores *a*": (24, 108, PLAIN), "weights e^{a−ℓ}": (188, 160, WEIGHT)}
    steps["gradient"] = (404, 132, EMPTY)
    for name, (x, w, role) in steps.items():
        d.box(x, low, w, 48, role, name)
    for start, end in ((132, 188), (348, 404)):
        d.arrow((start, low + 24), (end, low + 24))
    for x in (32, 124, 268, 440, 500):
        d.arrow((x, top + 44), (x, low))
    d.text(470, low + 66, "(9.11)", SMALL, ink=SOFT)
    d.text(24, low + 66, "**again**, one block of keys after another", SMALL, "start")


@diagram(632, 316)  # chapter 9
def ring(d: Drawing) -> None:
    """Keys and values travel around a ring.

    Four machines, each with its own queries, and four steps. At the first step a machine has its
    own keys; then each passes them on to the next machine, the last one to the first. Hatched:
    the keys come after the queries of this machine, so a causal mask hides all of them.
    """
    P, w, h = 4, 84, 36
    for t in range(P):
        d.text(188 + 112 * t + w / 2, 20, f"step {t + 1}", SMALL, ink=SOFT)
    for rank in range(P):
        y = 48 + 60 * rank
        d.text(24, y + h / 2, f"machine {rank}", SMALL, "start")
        d.box(112, y, 56, h, QUERY, f"**Q**_{{{rank}}}")
        for t in range(P):
            x, part = 188 + 112 * t, (rank - t) % P
            d.box(x, y, w, h, KEY if part <= rank else MASKED, f"**K**_{{{part}}} **V**_{{{part}}}")
            if t < P - 1 and rank < P - 1:
                d.arrow((x + w, y + h), (x + 112, y + 60))
            elif t < P - 1:
                d.arrow((x + w, y + h), (x + 98, y + h + 18))
                d.arrow((x + 98, 32), (x + 112, 48))
    d.text(24, 302, "From machine 3 to machine 0: out below, in above.", SMALL, "start", SOFT)


@diagram(480, 268)  # chapter 9
def fair_shares(d: Drawing) -> None:
    """Eight blocks under a causal mask.

    A square of eight blocks of queries by eight blocks of keys. Below the diagonal all scores are
    used, above it all are masked, and on it half of them. The blocks 0 to 3 belong to the
    machines 0 to 3; whose the blocks 4 to 7 are is the question.
    """
    x, y, w, P = 128, 44, 24, 4
    d.text(x + w * P, 22, "blocks of keys", SMALL, ink=SOFT)
    for i in range(2 * P):
        top = y + w * i
        d.text(x - 12, top + w / 2, f"queries {i}", SMALL, "end")
        for j in range(2 * P):
            d.box(x + w * j, top, w, w, PLAIN if j < i else MASKED)
            if j == i:
                corners = path([(x + w * j, top), (x + w * j, top + w), (x + w * (j + 1), top + w)])
                d.parts.append(
                    f'<path d="{corners}Z" fill="{PLAIN.fill}" stroke="{PLAIN.edge}" '
                    f'stroke-width="{STROKE}"/>'
                )
        owner = f"machine {i}" if i < P else "whose?"
        d.text(x + 2 * P * w + 12, top + w / 2, owner, SMALL, "start", INK if i < P else SOFT)
    d.text(x + w * P, 254, "hatched: masked", SMALL, ink=SOFT)


@diagram(608, 600)  # chapter 10
def encoder_decoder(d: Drawing) -> None:
    """Encoder and decoder with attention.

    An encoder turns the eight characters of may 1999 into eight states, which are keys and
    values. The decoder's state, which has written 1999 and a hyphen, is the query. Weights and
    states make the context; state and context make the next state and the next token, 0.
    """
    source, target, step = "may 1999", "1999-05", 5
    m, x, w = len(source), 120, 58
    right, middle = x + w * m, x + w * m / 2
    tops = 24, 96, 168, 240
    for top, name in zip(tops, ("input", "encoder", "states", "weights"), strict=True):
        d.text(24, top + 20, name, at="start")
    d.box(x, tops[1], right - x - 8, 40, PLAIN, "GRU, from left and from right")
    d.box(x - 8, tops[3] - 8, right - x + 8, 56, EMPTY)
    for i, character in enumerate(source):
        left, center = x + w * i, x + w * i + 25
        d.box(left, tops[0], 50, 40, PLAIN, character.replace(" ", "␣"))
        d.box(left, tops[2], 50, 40, KEY)
        d.parts.append(
            f'<rect x="{left + 25}" y="{tops[2] + 1}" width="24" height="38" fill="{VALUE.fill}"/>'
        )
        d.text(left + 13, tops[2] + 20, "**k**", SMALL)
        d.text(left + 37, tops[2] + 20, "**v**", SMALL)
        d.box(left, tops[3], 50, 40, WEIGHT, f"*α*_{{{i + 1}}}")
        for top, down in zip(tops[:3], (72, 72, 64), strict=True):
            d.arrow((center, top + 40), (center, top + down))
    d.box(x, 328, 216, 60, QUERY, "query: decoder state", f"**s**_{{t−1}}, wrote {target[:step]}")
    d.arrow((x + 108, 328), (x + 108, 288))
    d.text(x + 96, 308, "scores", SMALL, "end", SOFT)
    d.box(right - 224, 328, 216, 60, PLAIN, "context **c**_{t}", "weighted sum of states")
    d.arrow((right - 116, 288), (right - 116, 328))
    d.box(middle - 112, 444, 216, 44, PLAIN, "next state **s**_{t}")
    d.arrow((x + 108, 388), (x + 108, 416), (middle - 40, 416), (middle - 40, 444))
    d.arrow((right - 116, 388), (right - 116, 416), (middle + 32, 416), (middle + 32, 444))
    d.arrow((middle - 4, 488), (middle - 4, 528))
    d.box(middle - 112, 528, 216, 44, EMPTY, f"**next token: {target[step]}**")
    d.text(24, 358, "decoder", at="start")


@diagram(600, 196)  # chapter 10
def dates(d: Drawing) -> None:
    """Two dates and their ISO form.

    Lines join the day, the month and the year of 27 mar 2024 and of 4/7/1986 with the same parts
    of the ISO forms 2024-03-27 and 1986-04-07. The lines cross, in each date in another way.
    """
    size, top, low = 24, 44, 132
    examples = [
        (24, "27 mar 2024", "2024-03-27", [(0, 2, 8, 10), (3, 6, 5, 7), (7, 11, 0, 4)]),
        (336, "4/7/1986", "1986-04-07", [(0, 1, 5, 7), (2, 3, 8, 10), (4, 8, 0, 4)]),
    ]
    for x, text, iso, parts in examples:
        d.text(x, 22, "read", SMALL, "start", SOFT)
        d.text(x, 178, "written", SMALL, "start", SOFT)
        for y, characters in ((top, text), (low, iso)):
            for j, character in enumerate(characters):
                d.box(x + size * j, y, size, 28, PLAIN, character.replace(" ", "␣"))
        for start, end, first, last in parts:
            above, below = x + size * (start + end) / 2, x + size * (first + last) / 2
            for a, b, y in ((start, end, top + 34), (first, last, low - 6)):
                ends = (x + size * a + 3, y), (x + size * b - 3, y)
                d.line(*ends, edge=WEIGHT.edge)
            d.line((above, top + 34), (below, low - 6), edge=WEIGHT.edge)


@diagram(600, 248)  # chapter 10
def two_readers(d: Drawing) -> None:
    """Reading from both sides.

    Above the eight characters of may 1999, a row of states from left to right; below them a row
    from right to left. The state of the fifth character, outlined, has both: one has read may 1,
    the other 1999 from the end.
    """
    text, x, pitch, w, h = "may 1999", 160, 54, 40, 36
    rows = {"from the left": 28, "characters": 92, "from the right": 156}
    for name, y in rows.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    d.box(x + pitch * 4 - 7, 20, w + 14, 180, Role(KEY.fill, KEY.edge))
    for j, character in enumerate(text):
        left, middle = x + pitch * j, x + pitch * j + w / 2
        d.box(left, 28, w, h, EMPTY, f"→_{{{j + 1}}}")
        d.box(left, 92, w, h, PLAIN, character.replace(" ", "␣"))
        d.box(left, 156, w, h, EMPTY, f"←_{{{j + 1}}}")
        d.arrow((middle, 92), (middle, 28 + h))
        d.arrow((middle, 92 + h), (middle, 156))
        if j < len(text) - 1:
            d.arrow((left + w, 46), (left + pitch, 46))
            d.arrow((left + pitch, 174), (left + w, 174))
    d.text(x + pitch * 4 + w / 2, 224, "**h**_{5}: key and value", SMALL)


@diagram(600, 262)  # chapter 10
def forced(d: Drawing) -> None:
    """Teacher forcing.

    The decoder's eight steps for 1999-05. Each step reads a token and writes one. The fourth
    writes 0, which is wrong; the fifth reads 9 all the same, because the inputs are the right
    tokens, each moved one step to the right.
    """
    x, pitch, w, h = 112, 60, 44, 36
    right = [*"1999-05", "end"]
    written = [*"1990-05", "end"]
    rows = {"written": 20, "state": 80, "input": 140, "target": 208}
    for name, y in rows.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    for t, target in enumerate(right):
        left, middle = x + pitch * t, x + pitch * t + w / 2
        wrong = written[t] != target
        d.box(left, 20, w, h, DARK if wrong else EMPTY)
        d.text(middle, 38, f"**{written[t]}**" if wrong else written[t], SMALL)
        d.box(left, 80, w, h, QUERY, f"**s**_{{{t + 1}}}")
        d.box(left, 140, w, h, PLAIN)
        d.text(middle, 158, right[t - 1] if t else "start", SMALL)
        d.box(left, 208, w, h, PLAIN)
        d.text(middle, 226, target, SMALL)
        d.arrow((middle, 140), (middle, 116))
        d.arrow((middle, 80), (middle, 56))
        if t < len(right) - 1:
            d.arrow((left + w - 6, 208), (left + pitch + 6, 176))


@diagram(600, 196)  # chapter 10
def greedy(d: Drawing) -> None:
    """Greedy decoding.

    The same eight steps without right answers: each step reads the token that the step before
    has written. The fourth step writes 0 in place of 9, and the fifth reads this 0.
    """
    x, pitch, w, h = 112, 60, 44, 36
    written = [*"1990-05", "end"]
    for name, y in {"written": 20, "state": 80, "input": 140}.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    for t, token in enumerate(written):
        left, middle = x + pitch * t, x + pitch * t + w / 2
        before = written[t - 1] if t else "start"
        d.box(left, 20, w, h, DARK if t == 3 else EMPTY)
        d.text(middle, 38, f"**{token}**" if t == 3 else token, SMALL)
        d.box(left, 80, w, h, QUERY, f"**s**_{{{t + 1}}}")
        d.box(left, 140, w, h, DARK if t == 4 else EMPTY)
        d.text(middle, 158, f"**{before}**" if t == 4 else before, SMALL)
        d.arrow((middle, 140), (middle, 116))
        d.arrow((middle, 80), (middle, 56))
        if t < len(written) - 1:
            d.arrow((left + w - 2, 56), (left + pitch + 2, 140))


@diagram(580, 176)  # chapter 10
def interventions(d: Drawing) -> None:
    """Three ways to change a row of weights.

    A row of six weights, the third the largest, as four bar charts: as it is; only the top, where
    the third is 1; all but the top, where the others share its weight; moved by one to the right.
    """
    weights = [0.05, 0.1, 0.6, 0.2, 0.05, 0.0]
    top = max(weights)
    rest = shares([w if w < top else 0.0 for w in weights])
    changed = {"as it is": weights, "only the top": [float(w == top) for w in weights]}
    changed |= {"all but the top": rest, "moved by one": weights[-1:] + weights[:-1]}
    base, unit = 136, 100
    for k, (name, row) in enumerate(changed.items()):
        x = 24 + 136 * k
        d.text(x + 60, base + 22, name, TINY)
        d.line((x, base), (x + 120, base))
        for j, weight in enumerate(row):
            if weight:
                height = unit * weight
                d.parts.append(
                    f'<rect x="{x + 3 + 20 * j}" y="{base - height:.4g}" width="14" '
                    f'height="{height:.4g}" fill="{WEIGHT.edge}"/>'
                )
    d.line((152, 24), (152, 166), edge="#D0D0D0")


@diagram(608, 480)  # chapter 11
def positions(d: Drawing) -> None:
    """Where positions enter self-attention.

    Inputs become queries and keys, these become scores, a mask and a softmax make weights. Sines
    or a learned table are added to the inputs, rotary turns queries and keys, a relative bias or
    ALiBi is added to the scores, and a causal mask leaves query i with i + 1 keys.
    """
    x, w, side, step, height = 24, 216, 304, 96, 56
    tops = [24 + step * i for i in range(5)]
    d.box(x, tops[0], w, height, PLAIN, "inputs", "(n, d)")
    d.box(x, tops[1], w / 2 - 8, height, QUERY, "queries", "(n, d)")
    d.box(x + w / 2 + 8, tops[1], w / 2 - 8, height, KEY, "keys", "(m, d)")
    d.box(x, tops[2], w, height, PLAIN, "scores", "(n, m)")
    d.box(x, tops[3], w, height, PLAIN, "mask")
    d.box(x, tops[4], w, height, WEIGHT, "weights", "softmax, (n, m)")
    for top in tops[:2]:
        for middle in (x + w / 4 - 4, x + 3 * w / 4 + 4):
            d.arrow((middle, top + height), (middle, top + step))
    for top in tops[2:4]:
        d.arrow((x + w / 2, top + height), (x + w / 2, top + step))
    kinds = {
        "sinusoidal, learned": "add a vector of position *i*",
        "rotary": "turns both, by *i* and by *j*",
        "relative bias, ALiBi": "add a number for *i* − *j*",
        "causal mask": "leaves query *i* with *i* + 1 keys",
    }
    for top, (name, change) in zip(tops, kinds.items(), strict=False):
        d.box(side, top, 280, height, EMPTY, f"**{name}**", change)
        d.arrow((side, top + height / 2), (x + w, top + height / 2))


@diagram(600, 268)  # chapter 11
def clock_hands(d: Drawing) -> None:
    """Position vectors as clock hands.

    Three rows of dials, for the pairs t = 0, 1 and 2 of a position vector with eight features,
    and six columns, for the positions 0, 1, 2, 3, 10 and 30. The hand of the first pair turns by
    one radian a step, that of the second by a tenth, that of the third by a hundredth.
    """
    size, r = 8, 26
    places = 0, 1, 2, 3, 10, 30
    for k, i in enumerate(places):
        d.text(212 + 68 * k, 22, f"*i* = {i}", SMALL)
    for t in range(3):
        y, theta = 70 + 70 * t, 10000 ** (-2 * t / size)
        d.text(24, y - 11, f"pair *t* = {t}", SMALL, "start")
        d.text(24, y + 11, f"{theta:g} rad a step", TINY, "start", SOFT)
        for k, i in enumerate(places):
            x, a = 212 + 68 * k, i * theta
            d.parts.append(
                f'<circle cx="{x}" cy="{y}" r="{r}" fill="{PLAIN.fill}" stroke="{PLAIN.edge}"/>'
            )
            d.arrow((x, y), (x + r * sin(a), y - r * cos(a)))


@diagram(600, 272)  # chapter 11
def distances(d: Drawing) -> None:
    """Which learned number each score gets.

    Six queries by six keys, clipped at distance 3. On a diagonal, all scores get the same number:
    one for each distance from -3 to 3. Beyond 3 they all share the number of 3. The last
    row, outlined, is what a model that generates text computes.
    """
    x, y, w, h, n, c = 100, 52, 48, 32, 6, 3
    d.text(x + w * n / 2, 24, "keys *j* = 0 … 5", SMALL)
    d.text(24, y + 2.5 * h, "queries", SMALL, "start")
    d.text(24, y + 2.5 * h + 20, "*i* = 0 … 5", SMALL, "start")
    for i in range(n):
        for j in range(n):
            r = min(max(i - j, -c), c)
            role = DARK if r == 1 else PLAIN if r == c else EMPTY
            d.box(x + w * j, y + h * i, w, h, role, f"*β*_{{{number(r, 0)}}}")
    d.box(x, y + h * (n - 1), w * n, h, Role("none", QUERY.edge))
    side = x + w * n + 20
    for row, role, text in ((1, DARK, "the key before"), (2, PLAIN, "3 or more back")):
        d.box(side, y + h * row + 6, 20, 20, role)
        d.text(side + 30, y + h * row + 16, text, SMALL, "start")
    d.text(side, y + h * (n - 0.5), "the last query alone", SMALL, "start")


@diagram(600, 256)  # chapter 11
def slopes(d: Drawing) -> None:
    """What distance costs under three slopes.

    The factor of a weight over the distance from 0 to 20 steps. With the slope 1/2 it falls to
    half within two steps, with 1/16 in eleven, and with 1/256 it stays near 1.
    """
    x, base, unit, height = 64, 204, 19, 168
    for value in (0, 0.5, 1):
        y = base - height * value
        dash = "" if value == 0 else "4 4"
        d.line((x, y), (x + 20 * unit, y), edge="#BBBBBB" if value else SOFT, dash=dash)
        d.text(x - 10, y, number(value, 1), SMALL, "end")
    for r in range(0, 21, 5):
        d.text(x + unit * r, base + 18, str(r), SMALL)
    d.text(x + 20 * unit, base + 36, "steps back", SMALL, "end", SOFT)
    d.text(x, 16, "factor of the weight", SMALL, "start", SOFT)
    for slope, y in ((2, 174), (16, 122), (256, 38)):
        curve = [(x + unit * r / 4, base - height * exp(-r / 4 / slope)) for r in range(81)]
        d.line(*curve, edge=WEIGHT.edge)
        d.text(x + 20 * unit + 12, y, f"slope 1/{slope}:", SMALL, "start")
        half = number(slope * log(2), 1)
        d.text(x + 20 * unit + 12, y + 18, f"half after {half}", TINY, "start", SOFT)
        if (steps := slope * log(2)) < 20:
            d.parts.append(
                f'<circle cx="{x + unit * steps:.4g}" cy="{base - height / 2}" r="5" '
                f'fill="{WEIGHT.edge}"/>'
            )


@diagram(600, 262)  # chapter 11
def rotary(d: Drawing) -> None:
    """Rotary positions in one plane.

    A query and a key, turned by 30 degrees for each position. At the positions 3 and 1, and at 4
    and 2, the angle between them is the same, and so is their score. At 4 and 1 the angle is
    larger, and the score another.
    """
    step, unit = pi / 6, 47
    vectors = {QUERY: (1.6, 0.8), KEY: (1.2, -1.0)}

    def hand(x: float, y: float, vector: tuple[float, float], role: Role, dash: str = "") -> None:
        end = x + unit * vector[0], y - unit * vector[1]
        d.line((x, y), end, edge=role.edge, dash=dash)
        if not dash:
            length = sqrt(dot(vector, vector))
            u, w = vector[0] / length * 10, -vector[1] / length * 10
            sides = [(end[0] - u - k * w / 2, end[1] - w + k * u / 2) for k in (1, -1)]
            d.line(sides[0], end, sides[1], edge=role.edge)

    for k, (i, j) in enumerate(((3, 1), (4, 2), (4, 1))):
        x, y, turned = 108 + 192 * k, 122, []
        d.text(x, 22, f"query at {i}, key at {j}", SMALL)
        d.parts.append(f'<circle cx="{x}" cy="{y}" r="84" fill="none" stroke="#BBBBBB"/>')
        for (role, (a, b)), place in zip(vectors.items(), (i, j), strict=True):
            c, s = cos(place * step), sin(place * step)
            turned.append((c * a - s * b, s * a + c * b))
            hand(x, y, (a, b), role, dash="2 5")
            hand(x, y, turned[-1], role)
        d.text(x, 226, f"distance {i - j}", SMALL, ink=SOFT)
        d.text(x, 248, f"**score {number(dot(*turned))}**", SMALL)


@diagram(560, 300)  # chapter 11
def two_tasks(d: Drawing) -> None:
    """The two tasks.

    Two rows of nine inputs with the targets below, and an arrow from the place that holds the
    answer to each target. The last color: the arrows have different lengths, from 0 to 2 steps.
    Three back: all arrows have the same length, three steps.
    """
    x, w, h = 92, 48, 34
    tasks = {
        "The last color": ([2, None, None, 0, None, 1, None, None, 3], None),
        "Three back": ([1, 3, 0, 2, 2, 1, 0, 3, 1], 3),
    }
    for (name, (inputs, back)), top in zip(tasks.items(), (20, 166), strict=True):
        d.text(24, top, f"**{name}**", SMALL, "start")
        d.text(24, top + 34, "input", SMALL, "start")
        d.text(24, top + 100, "target", SMALL, "start")
        last = 0
        for i, color in enumerate(inputs):
            left, middle = x + w * i, x + w * (i + 0.5)
            d.box(left, top + 17, w, h, EMPTY)
            d.text(middle, top + 34, "wait" if color is None else str(color), SMALL)
            last = i if color is not None else last
            source = last if back is None else i - back
            if source >= 0:
                d.box(left, top + 83, w, h, PLAIN, str(inputs[source]))
                d.arrow((x + w * (source + 0.5), top + 51), (middle, top + 83))
            else:
                d.box(left, top + 83, w, h, EMPTY, "–")


@diagram(560, 224)  # chapter 11
def layouts(d: Drawing) -> None:
    """Two layouts of rotary positions.

    Two rows of eight features. Above, arcs join neighbors: 0 and 1, 2 and 3, 4 and 5, 6 and 7.
    Below, arcs join each feature of the first half with the one that lies half the row later.
    """
    x, w, h, n = 152, 48, 34, 8
    kinds = {"neighbors": [(2 * t, 2 * t + 1) for t in range(n // 2)]}
    kinds["halves"] = [(t, t + n // 2) for t in range(n // 2)]
    for (name, pairs), y in zip(kinds.items(), (48, 168), strict=True):
        d.text(24, y + h / 2, name, at="start")
        for j in range(n):
            d.box(x + w * j, y, w, h, PLAIN, str(j))
        for t, (i, j) in enumerate(pairs):
            a, b = x + w * (i + 0.5), x + w * (j + 0.5)
            rise = 16 if j == i + 1 else 20 + 12 * t
            d.line((a, y), (a, y - rise), (b, y - rise), (b, y))


@diagram(560, 132)  # chapter 11
def clipped(d: Drawing) -> None:
    """Which distances share a number.

    With the clipping distance 8, the distances 0 to 7 have a number each, and all from 8 on share
    one. With the clipping distance 2, only 0 and 1 have a number each.
    """
    x, w, h = 92, 36, 34
    for c, y in ((8, 24), (2, 76)):
        d.text(24, y + h / 2, f"*c* = {c}", at="start")
        for r in range(c):
            d.box(x + w * r, y, w, h, EMPTY, str(r))
        d.box(x + w * c, y, 536 - x - w * c, h, PLAIN, f"{c} and more")
