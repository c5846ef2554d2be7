"""What is measured, the same in every framework: title, kind, and inputs, of which lengths last."""

from collections.abc import Iterator

import numpy as np

SIZES = [(8, 512, 512), (4, 1024, 2048)]


def cases() -> Iterator[tuple[str, str, list[np.ndarray]]]:
    rng = np.random.default_rng(0)

    def inputs(m: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
        arrays = [rng.normal(size=shape).astype("float32") for shape in shapes]
        return [*arrays, rng.integers(1, m + 1, shapes[0][0]).astype("int32")]

    for b, n, m in SIZES:
        yield f"masked softmax {(b, n, m)}, lengths (b,)", "softmax", inputs(m, (b, n, m))
    for b, n, m in SIZES:
        arrays = inputs(m, (b, n, 64), (b, m, 64), (b, m, 64))
        yield f"dot product {(b, n, m)}, d=64", "dot product", arrays
    b, n, m, h = 4, 256, 512, 128
    arrays = inputs(m, (b, n, h), (b, m, h), (b, m, h))
    yield f"additive {(b, n, m)}, h={h}", "additive", arrays
