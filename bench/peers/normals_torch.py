# SPDX-License-Identifier: MIT
"""Normal numbers of PyTorch, into a tensor that is there already."""

import torch
from contender import Contender, main

SIZE = 16384


def make(dtype):
    x = torch.empty(SIZE, dtype=dtype)

    def step():
        torch.randn(SIZE, dtype=dtype, out=x)
        return float(SIZE)

    return step, ""


torch.set_num_threads(1)
main(
    [
        Contender("normals-double", "torch", "ns/number", lambda: make(torch.float64)),
        Contender("normals-single", "torch", "ns/number", lambda: make(torch.float32)),
    ]
)
