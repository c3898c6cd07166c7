# SPDX-License-Identifier: MIT
"""Online SGD with full vectors in NumPy, vectorized over the batch: softmax, location loss, the task of two_phases."""

import numpy as np
from contender import Contender, best_of, main

H, L, NU, P, ETA = 3, 5, 4.0, 0.7, 1.0
MOST_NUMBERS = 32_000_000  # in a batch of tokens


def make_step(D, dtype, B):
    rng = np.random.default_rng(1)
    spike = rng.standard_normal(D)
    spike = (spike * np.sqrt(D) / np.linalg.norm(spike)).astype(dtype)
    k = np.outer([0.1, 0.0, -0.1], spike).astype(dtype)
    x = np.empty((B, L, D), dtype)
    rows, root = np.arange(B), dtype(np.sqrt(D))

    def step():
        rng.standard_normal(out=x, dtype=dtype)
        target = rng.integers(L, size=B)
        theta = np.where(rng.random(B) < P, np.sqrt(NU), -np.sqrt(NU)).astype(dtype)
        x[rows, target] += theta[:, None] * (spike / root)
        chi = (x.reshape(B * L, D) @ k.T).reshape(B, L, H) / root
        a = np.exp(chi - chi.max(axis=1, keepdims=True))
        a /= a.sum(axis=1, keepdims=True)
        v = a.mean(axis=2)
        v[rows, target] -= 1
        mean = np.einsum("blh,bl->bh", a, v)
        d = dtype(2 / H) * a * (v[:, :, None] - mean[:, None, :])
        k[:] -= dtype(ETA / B) / root * (d.reshape(B * L, H).T @ x.reshape(B * L, D))
        return float(B * L * D)

    return step


def contender(name, dtype, D):
    batches = [B for B in (1, 2, 8, 32, 64, 256) if B * L * D <= MOST_NUMBERS]
    make = best_of(lambda B: make_step(D, dtype, B), "B", batches)
    return Contender(f"explicit-{name}-D{D}", "numpy", "ns/number", make)


main(
    [
        contender(name, dtype, D)
        for name, dtype in (("single", np.float32), ("double", np.float64))
        for D in (1000, 10000, 100000)
    ]
)
