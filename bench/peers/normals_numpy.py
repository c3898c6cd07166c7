# SPDX-License-Identifier: MIT
"""Normal numbers of NumPy, into an array that is there already."""

import numpy as np
from contender import Contender, main

SIZE = 16384


def make(dtype):
    generator, x = np.random.default_rng(1), np.empty(SIZE, dtype)

    def step():
        generator.standard_normal(out=x, dtype=dtype)
        return float(SIZE)

    return step, ""


main(
    [
        Contender("normals-double", "numpy", "ns/number", lambda: make(np.float64)),
        Contender("normals-single", "numpy", "ns/number", lambda: make(np.float32)),
    ]
)
