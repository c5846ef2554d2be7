"""The diagrams of the chapters 12 to 15."""

from kit import (
    CARD,
    EMPTY,
    KEY,
    MASKED,
    PLAIN,
    QUERY,
    SMALL,
    SOFT,
    TINY,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    diagram,
    shade,
)


@diagram(640, 468)  # chapter 13
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


@diagram(640, 276)  # chapter 13
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


@diagram(700, 312)  # chapter 12
def many_heads(d: Drawing) -> None:
    """Project, split, attend, join.

    Tokens X of shape (n, D) are projected for two heads side by side. Each head has queries, keys
    and values with D/H features, n by n weights, and an output with D/H features. The outputs are
    joined to D features again, and a last matrix mixes them.
    """
    part, whole, n = 40, 80, 64  # D/H, D, n
    middle = 144
    d.box(16, middle - n / 2, whole, n, PLAIN, "**X**")
    d.text(16 + whole / 2, middle + n / 2 + 16, "(n, D)", SMALL, ink=SOFT)
    joined, mixed = 476, 604
    for c, y in ((1, 44), (2, 180)):
        d.box(136, y - 8, 300, n + 36, EMPTY)
        d.text(428, y - 22, f"head {c}", SMALL, "end")
        d.arrow((16 + whole, middle), (112, middle), (112, y + n / 2), (136, y + n / 2))
        d.box(148, y, part, n, QUERY, f"**Q**_{{{c}}}")
        d.box(196, y, part, n, KEY, f"**K**_{{{c}}}")
        d.arrow((238, y + n / 2), (256, y + n / 2))
        d.box(258, y, n, n, WEIGHT, f"**A**_{{{c}}}")
        d.box(330, y, part, n, VALUE, f"**V**_{{{c}}}")
        d.text(378, y + n / 2, "=")
        d.box(388, y, part, n, PLAIN, f"**O**_{{{c}}}")
        for x, size in ((192, "(n, D/H)"), (290, "(n, n)"), (374, "(n, D/H)")):
            d.text(x, y + n + 14, size, TINY, ink=SOFT)
        d.box(joined + part * (c - 1), middle - n / 2, part, n, PLAIN, f"**O**_{{{c}}}")
        end = joined + part * c - part / 2
        side = middle - n / 2 if c == 1 else middle + n / 2
        d.arrow((436, y + n / 2), (end, y + n / 2), (end, side))
    d.arrow((joined + whole, middle), (mixed, middle))
    d.text(580, middle - 20, "**W**_{o}")
    d.box(mixed, middle - n / 2, whole, n, PLAIN, "**O**")
    d.text(mixed + whole / 2, middle + n / 2 + 16, "(n, D)", SMALL, ink=SOFT)
    d.text(350, 298, "The heads meet only where they are joined and mixed.", SMALL, ink=SOFT)


@diagram(560, 252)  # chapter 12
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


@diagram(712, 250)  # chapter 12
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


@diagram(640, 292)  # chapter 12
def induction(d: Drawing) -> None:
    """Two look-ups in a chain.

    Under the letters t, u, l, i, t, u stand keys that layer 1 made from the letter before each. The
    query of the last u finds the key u under the letter l, and layer 2 fetches this l as what comes
    next.
    """
    song, x, step, w, h = "tulitu", 184, 74, 50, 38
    tops = {"letters": 44, "keys": 140, "query": 220}
    found = 2  # the position whose key is the last letter
    places = [x + step * j for j in range(len(song))]
    d.text(168, tops["letters"] + 12, "letters,", SMALL, "end")
    d.text(168, tops["letters"] + 32, "read as values", SMALL, "end", SOFT)
    d.text(168, tops["keys"] + 6, "keys in layer 2:", SMALL, "end")
    d.text(168, tops["keys"] + 28, "the letter before", SMALL, "end", SOFT)
    for j, letter in enumerate(song):
        d.box(places[j], tops["letters"], w, h, VALUE if j == found else PLAIN, letter)
        if j:
            start = places[j - 1] + w / 2 + 6, tops["letters"] + h
            d.arrow(start, (places[j] + w / 2 - 6, tops["keys"]))
            d.box(places[j], tops["keys"], w, h, KEY, song[j - 1])
        else:
            d.box(places[j], tops["keys"], w, h, EMPTY, "·")
    d.text(places[0] + 22, 112, "layer 1", TINY, "end", SOFT)
    last = places[-1]
    d.box(last, tops["query"], w, h, QUERY, song[-1])
    d.text(last + w / 2, tops["query"] + h + 16, "query", SMALL)
    y = tops["query"] + h / 2
    d.arrow((last, y), (places[found] + w / 2, y), (places[found] + w / 2, tops["keys"] + h))
    d.text((places[found] + last + w) / 2, y + 20, "layer 2: equal", SMALL, ink=SOFT)
    middle = places[found] + w / 2
    d.arrow((middle, tops["letters"]), (middle, 20), (last - 28, 20))
    d.text(last + 12, 20, f"next: **{song[found]}**")


@diagram(560, 248)  # chapter 12
def cached_passes(d: Drawing) -> None:
    """What goes through the model, without a cache and with one.

    Rows are passes, columns letters of the song. Without a cache each pass takes all letters up to
    the newest, four and then one more each time, 22 together. With a cache, the first pass takes
    four letters and each later one a single letter, 7 together; the rest is kept.
    """
    song, w, h = "tulitul", 34, 34
    passes = range(4, len(song) + 1)
    for left, cached in ((16, False), (306, True)):
        d.text(left + w * len(song) / 2, 22, "with a cache" if cached else "without a cache")
        total = []
        for row, end in enumerate(passes):
            y = 44 + (h + 4) * row
            first = end - 1 if cached and row else 0
            total.append(end - first)
            for j in range(end):
                role = PLAIN if j >= first else EMPTY
                d.box(left + w * j, y, w, h, role, song[j] if j >= first else "")
        words = " + ".join(map(str, total)) + f" = {sum(total)}"
        d.text(left + w * len(song) / 2, 216, words, SMALL, ink=SOFT)


@diagram(600, 348)  # chapter 12
def cross_attention(d: Drawing) -> None:
    """Encoder and decoder of a Transformer.

    On the left, the text that was read runs through self-attention and a feed-forward network. Its
    states give keys and values to the cross-attention on the right, which stands between the
    causal self-attention and the feed-forward network of the text that is written and takes its
    queries from there.
    """
    left, right, w, h = 16, 376, 208, 44
    written = "causal self-attention", "", "cross-attention", "feed-forward"
    for x, head, names in (
        (left, "text that was read", ("self-attention", "feed-forward")),
        (right, "text that is written", written),
    ):
        d.text(x + w / 2, 20, head, SMALL)
        d.arrow((x + w / 2, 34), (x + w / 2, 48))
        for row, name in enumerate(names):
            y = 48 + 68 * row
            if name:
                d.box(x, y, w, h, PLAIN, name)
                d.arrow((x + w / 2, y + h), (x + w / 2, y + 68))
    d.box(left, 184, w, h, EMPTY, "states")
    middle = right + w / 2
    d.box(middle - 68, 116, 136, 32, QUERY, "queries")
    d.arrow((middle, 148), (middle, 184))
    for y, role, name in ((172, KEY, "keys"), (212, VALUE, "values")):
        d.box(248, y, 92, 32, role, name)
        d.arrow((left + w, 206), (236, 206), (236, y + 16), (248, y + 16))
        d.arrow((340, y + 16), (354, y + 16), (354, 206), (right, 206))
    d.text(middle, 334, "next token", SMALL)


@diagram(600, 226)  # chapter 12
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


@diagram(440, 296)  # chapter 12
def followed(d: Drawing) -> None:
    """Which positions followed an earlier copy, for the text ananas.

    Rows are queries, columns keys, later keys are hatched. The second a looks at the n after the
    first a, the second n at the a after the first n, the third a at both letters n, and the s at
    nothing.
    """
    text, x, y, size = "ananas", 168, 56, 36
    d.text(x + size * len(text) / 2, 16, "keys", SMALL, ink=SOFT)
    d.text(118, y + size * len(text) / 2, "queries", SMALL, "end", SOFT)
    for i, letter in enumerate(text):
        d.text(x + size * (i + 0.5), y - 16, f"**{letter}**")
        d.text(x - 18, y + size * (i + 0.5), f"**{letter}**")
        for j in range(len(text)):
            hit = 0 < j <= i and text[j - 1] == letter
            role = MASKED if j > i else shade(1) if hit else EMPTY
            d.box(x + size * j, y + size * i, size, size, role)


@diagram(628, 218)  # chapter 12
def two_part_keys(d: Drawing) -> None:
    """The two parts of query and key.

    The content of the query, d numbers, meets the content of the key, which U would make of the
    cached latent z of d_c numbers; this key is never made. The rotated part of the query, d_r
    numbers, meets the rotated key, which is cached and which all heads share.
    """
    d.text(144, 52, "query of a head", SMALL, "end")
    d.box(160, 32, 216, 40, QUERY, "content, d")
    d.box(408, 32, 120, 40, QUERY, "rotated, *d*_{r}")
    d.line((268, 72), (268, 104), dash="4 4")
    d.text(144, 124, "key of a head", SMALL, "end")
    d.box(160, 104, 216, 40, Role(CARD, KEY.edge), "**Uz**_{j}, never made")
    d.line((468, 72), (468, 164))
    d.line((268, 144), (268, 164), dash="4 4")
    d.text(144, 184, "in the cache", SMALL, "end")
    d.box(192, 164, 152, 40, PLAIN, "**z**_{j}, *d*_{c}")
    d.box(408, 164, 208, 40, KEY, "rotated, *d*_{r}, for all")


@diagram(600, 172)  # chapter 12
def next_letters(d: Drawing) -> None:
    """Each position of a song has a target, the next letter.

    Under the letters t, u, l, i, t, u, l, i, t that were heard stand their targets, each one letter
    further. While the first phrase of four letters runs, nobody can know the target; from the
    second t on, it stands in the song already.
    """
    song, phrase, x, w, h = "tulitulitu", 4, 112, 50, 38
    d.text(x - 16, 40, "heard", SMALL, "end")
    d.text(x - 16, 92, "target", SMALL, "end")
    for j in range(len(song) - 1):
        known = j >= phrase
        d.box(x + w * j, 20, w, h, EMPTY, song[j])
        d.box(x + w * j, 72, w, h, PLAIN if known else EMPTY, song[j + 1])
        d.line((x + w * (j + 0.5), 58), (x + w * (j + 0.5), 72))
    for start, end, words in (
        (0, phrase, "nobody can know"),
        (phrase, len(song) - 1, "stands in the song already"),
    ):
        left, right = x + w * start + 4, x + w * end - 4
        d.line((left, 118), (left, 128), (right, 128), (right, 118))
        d.text((left + right) / 2, 148, words, SMALL, ink=SOFT)


@diagram(700, 270)  # chapter 12
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


@diagram(560, 580)  # chapter 12
def transformer_block(d: Drawing) -> None:
    """A Transformer block.

    The tokens go straight down from the input to the output, through two sums. Before the first
    sum, a normalized copy goes to queries, keys and values, through two heads and a last
    projection, and is added to the tokens. Before the second sum, another normalized copy goes
    through the feed-forward network, which treats each token by itself, and is added, too.
    """
    stream, left, w = 80, 176, 360
    d.box(24, 16, 112, 44, EMPTY, "tokens **X**")
    d.box(24, 516, 112, 44, EMPTY, "next block")
    sums = 336, 464
    d.arrow((stream, 60), (stream, sums[0] - 16))
    d.arrow((stream, sums[0] + 16), (stream, sums[1] - 16))
    d.arrow((stream, sums[1] + 16), (stream, 516))
    for y in sums:
        d.box(stream - 16, y - 16, 32, 32, EMPTY, "+")
        d.arrow((left, y), (stream + 16, y))
    for y in (84, 392):
        d.arrow((stream, y), (left, y))
        d.box(left, y - 20, w, 40, PLAIN, "norm")
    roles = {"queries": (QUERY, "q"), "keys": (KEY, "k"), "values": (VALUE, "v")}
    for i, (name, (role, letter)) in enumerate(roles.items()):
        x = left + 124 * i
        d.arrow((x + 56, 104), (x + 56, 136))
        d.box(x, 136, 112, 56, role, f"**W**_{{{letter}}}", name)
        d.arrow((x + 56, 192), (x + 56, 216))
    d.box(left, 216, w, 72, EMPTY)
    for i in range(2):
        d.box(left + 8 + 176 * i, 224, 168, 56, WEIGHT, f"head {i + 1}", "softmax, sum")
    d.arrow((left + w / 2, 288), (left + w / 2, 316))
    d.box(left, 316, w, 40, PLAIN, "join the heads, **W**_{o}")
    d.arrow((left + w / 2, 412), (left + w / 2, 436))
    d.box(left, 436, w, 56, PLAIN, "feed-forward network", "each token by itself")
    d.text(left + w / 2, 512, "Only the heads look at other tokens.", SMALL, ink=SOFT)
