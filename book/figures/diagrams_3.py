"""The diagrams of part 3, Long, large, healthy, and of the appendices."""

from math import exp, log

from kit import (
    CARD,
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
    number,
    path,
    shade,
)


@diagram(612, 266)  # chapter 16
def bytes_to_scale(d: Drawing) -> None:
    """Inputs and matrices, drawn to scale.

    For texts of 1024, 2048 and 4096 tokens: queries, keys and values of dimension 64 are three
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
        d.text(x, base + 22, f"**{n} tokens**", SMALL, "start")
        inputs, matrices = (4 * entries / 2**20 for entries in (3 * n * size, 2 * n * n))
        d.text(x, base + 44, f"strips {inputs:g} MiB", SMALL, "start", SOFT)
        d.text(x, base + 66, f"squares {matrices:g} MiB", SMALL, "start", SOFT)
    n = 65536
    inputs, matrices = (round(4 * entries / 2**20) for entries in (3 * n * size, 2 * n * n))
    d.text(24, 248, f"**{n} tokens**: strips {inputs} MiB, squares {matrices} MiB", SMALL, "start")


@diagram(600, 356)  # chapter 16
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
        d.text(584, top + 12, f"{n} tokens: {4 * entries // 2**20} MiB travel", SMALL, "end", SOFT)
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


@diagram(560, 276)  # chapter 16
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


@diagram(600, 284)  # chapter 17
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


@diagram(560, 272)  # chapter 17
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


@diagram(560, 240)  # chapter 17
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
    d.text(470, low + 66, "(17.7)", SMALL, ink=SOFT)
    d.text(24, low + 66, "**again**, one block of keys after another", SMALL, "start")


@diagram(632, 316)  # chapter 17
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


@diagram(480, 268)  # chapter 17
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


@diagram(560, 252)  # chapter 18
def cached_keys(d: Drawing) -> None:
    """A layer with a cache reads two new tokens.

    Three keys and three values come from the cache, two of each are new. There are two queries, at
    positions 3 and 4, and the causal mask hides key 4 from query 3.
    """
    x, w, h = 176, 64, 36
    for y, role, letter, name in ((44, KEY, "k", "keys"), (188, VALUE, "v", "values")):
        d.text(x - 14, y + h / 2, name, at="end")
        for j in range(5):
            d.box(x + w * j, y, w, h, role, f"**{letter}**_{{{j}}}")
    d.text(x + 1.5 * w, 20, "from the cache", SMALL, ink=SOFT)
    d.text(x + 4 * w, 20, "new", SMALL, ink=SOFT)
    for i in (3, 4):
        y = 96 + 40 * (i - 3)
        d.box(96, y, 64, h, QUERY, f"**q**_{{{i}}}")
        for j in range(5):
            d.box(x + w * j, y, w, h, WEIGHT if j <= i else MASKED)
    d.text(80, 114, "new", SMALL, "end", SOFT)
    d.text(80, 154, "new", SMALL, "end", SOFT)
    d.line((x + 3 * w, 12), (x + 3 * w, 240), dash="6 5")


@diagram(712, 250)  # chapter 18
def shared_keys(d: Drawing) -> None:
    """What is kept of one token, four ways.

    Four query heads each. Multi-head: four keys and four values are kept. Grouped queries: two and
    two. Multi-query: one and one. Latent: one short vector, from which keys and values could be
    made, but are not.
    """
    heads, step, size = 4, 40, 32
    names = {"multi-head": 4, "grouped": 2, "multi-query": 1, "latent": 0}
    for at, (name, groups) in enumerate(names.items()):
        left = 16 + 176 * at
        middle = left + (heads * step - 8) / 2
        d.text(middle, 20, f"**{name}**", SMALL)
        many = groups or heads
        places = [left + step * ((g + 0.5) * heads / many - 0.5) for g in range(many)]
        for c in range(heads):
            x = left + step * c
            d.box(x, 44, size, 30, QUERY, "q")
            target = places[c * many // heads] + size / 2
            d.line((x + size / 2, 74), (target, 114), dash="" if groups else "4 4")
        for place in places:
            if groups:
                d.box(place, 114, size, 30, KEY, "k")
                d.box(place, 144, size, 30, VALUE, "v")
            else:
                d.line((place + size / 2, 114), (middle, 144), dash="4 4")
        if not groups:
            d.box(middle - 52, 144, 104, 30, PLAIN, "**z**")
        kept = f"{2 * groups} vectors" if groups else "1 short vector"
        d.text(middle, 200, "kept:", SMALL, ink=SOFT)
        d.text(middle, 224, kept, SMALL)


@diagram(600, 226)  # chapter 18
def rotated_pairs(d: Drawing) -> None:
    """Two ways to pair the features of a head.

    Above, in Llama, the eight features 0 to 7 stand in order, and 0 is turned with 4, 1 with 5, 2
    with 6, 3 with 7. Below, reordered to 0, 4, 1, 5, 2, 6, 3, 7, the same pairs are neighbors.
    """
    size, x, w, h = 8, 176, 48, 32
    order = [t // 2 + size // 2 * (t % 2) for t in range(size)]
    high, low = 62, 154
    center = [x + w * t + w / 2 for t in range(size)]
    d.text(160, high + 8, "Llama:", at="end")
    d.text(160, high + 30, "halves in pairs", SMALL, "end", SOFT)
    d.text(160, low + 8, "reordered:", at="end")
    d.text(160, low + 30, "neighbors in pairs", TINY, "end", SOFT)
    for t in range(size):
        d.box(x + w * t, high, w, h, PLAIN, str(t))
        d.box(x + w * t, low, w, h, PLAIN, str(order[t]))
        d.line((center[order[t]], high + h), (center[t], low))
    for t in range(size // 2):
        y = 48 - 10 * t
        d.line((center[t], high), (center[t], y), (center[t + 4], y), (center[t + 4], high))
        one, two = center[2 * t], center[2 * t + 1]
        d.line((one, low + h), (one, low + h + 14), (two, low + h + 14), (two, low + h))


@diagram(628, 218)  # chapter 18
def two_part_keys(d: Drawing) -> None:
    """The two parts of query and key.

    The content of the query, d numbers, meets the content of the key, which U would make of the
    cached latent z of d_c numbers; this key is never made. The rotated part of the query, d_r
    numbers, meets the rotated key, which is cached and which all heads share.
    """
    d.text(144, 52, "query of a head", SMALL, "end")
    d.box(160, 32, 216, 40, QUERY, "content, d")
    d.box(396, 32, 144, 40, QUERY, "rotated, *d*_{r}")
    d.line((268, 72), (268, 104), dash="4 4")
    d.text(144, 124, "key of a head", SMALL, "end")
    d.box(160, 104, 216, 40, Role(CARD, KEY.edge), "**Uz**_{j}, never made")
    d.line((468, 72), (468, 164))
    d.line((268, 144), (268, 164), dash="4 4")
    d.text(144, 184, "in the cache", SMALL, "end")
    d.box(192, 164, 152, 40, PLAIN, "**z**_{j}, *d*_{c}")
    d.box(396, 164, 224, 40, KEY, "rotated, *d*_{r}, for all")


@diagram(700, 270)  # chapter 18
def kinds_of_heads(d: Drawing) -> None:
    """Three kinds of heads on a text of four tokens that is said twice.

    With an attention sink, all queries put their weight on the first key, the leftmost column. A
    head that looks at the token before has its weight just below the diagonal. An induction head,
    from the fifth query on, has it three positions below the diagonal.
    """
    n, size, phrase = 8, 24, 4
    kinds = {
        "attention sink": lambda i: 0,
        "the token before": lambda i: max(i - 1, 0),
        "induction head": lambda i: i - phrase + 1 if i >= phrase else 0,
    }
    for at, (name, key) in enumerate(kinds.items()):
        x, y = 40 + 226 * at, 40
        d.text(x + n * size / 2, 20, name, SMALL)
        d.box(x, y, n * size, n * size, EMPTY)
        for i in range(n):
            d.box(x + size * key(i), y + size * i, size, size, shade(1))
        d.line((x, y), (x + n * size, y + n * size), dash="3 5")
        d.text(x + n * size / 2, y + n * size + 20, "keys", TINY, ink=SOFT)


@diagram(600, 256)  # chapter 19
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


@diagram(560, 300)  # chapter 19
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


@diagram(560, 132)  # chapter 19
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


@diagram(640, 468)  # chapter 20
def two_orders(d: Drawing) -> None:
    """One product in two orders.

    Features of the queries (n, D), of the keys (D, m) after a transpose, and values (m, v). Queries
    times keys first gives a matrix of n by m in the middle, which grows with the square of the
    length. Keys times values first gives a matrix of D by v, whatever the length is.
    """
    long, wide, narrow = 132, 44, 60  # n and m, D, v

    def matrix(x: float, y: float, w: float, h: float, role: Role, name: str, size: str) -> None:
        d.box(x, y, w, h, role)
        d.text(x + w / 2, y + h / 2, name)
        d.text(x + w / 2, y + h + 16, size, SMALL, ink=SOFT)

    for row, (top, head) in enumerate(((16, "queries × keys first"), (248, "keys × values first"))):
        d.text(24, top + 12, f"**{head}**", at="start")
        y = top + 40
        middle = y + long / 2
        matrix(36, y, wide, long, QUERY, "**Q′**", "(n, D)")
        matrix(104, middle - wide / 2, long, wide, KEY, "**K′**^{T}", "(D, m)")
        matrix(260, y, narrow, long, VALUE, "**V**", "(m, v)")
        left, right = (28, 244) if row == 0 else (96, 328)
        for x, away in ((left, -6), (right, 6)):  # brackets
            low = y + long + 28
            d.line((x, y - 8), (x + away, y - 8), (x + away, low), (x, low))
        d.text(360, middle, "=")
        if row == 0:
            matrix(388, y, long, long, WEIGHT, "**Q′K′**^{T}", "(n, m)")
            matrix(548, y, narrow, long, VALUE, "**V**", "(m, v)")
        else:
            matrix(416, y, wide, long, QUERY, "**Q′**", "(n, D)")
            matrix(496, middle - wide / 2, narrow + 32, wide, PLAIN, "**K′**^{T}**V**", "(D, v)")


@diagram(640, 276)  # chapter 20
def fixed_state(d: Drawing) -> None:
    """What a query reads after one, two and three keys.

    With a softmax, it reads all keys and values so far, and they grow in number. With linear
    attention, it reads a state of D by v numbers, to which each key adds one product of its
    features and its value; the state does not grow.
    """
    d.text(160, 20, "softmax: a cache that grows", SMALL)
    d.text(474, 20, "linear: a state that stays small", SMALL)
    for row in range(3):
        y = 44 + 76 * row
        for j in range(row + 1):
            x = 24 + 88 * j
            d.box(x, y, 72, 28, KEY, f"**k**_{{{j + 1}}}")
            d.box(x, y + 28, 72, 28, VALUE, f"**v**_{{{j + 1}}}")
        d.box(352, y, 84, 56, PLAIN, "state")
        if row == 0:
            d.text(452, y + 28, "=")
        else:
            d.arrow((394, y - 20), (394, y))
            d.text(452, y + 28, "+")
        d.text(472, y + 28, f"*φ*(**k**_{{{row + 1}}}) **v**_{{{row + 1}}}^{{T}}", at="start")
    d.text(474, 266, "(D, v) at every length", TINY, ink=SOFT)
