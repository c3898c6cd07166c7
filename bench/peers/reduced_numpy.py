# SPDX-License-Identifier: MIT
"""The reduced engine in NumPy, vectorized over seeds: softmax, location loss, B = 1, one feature, the task of two_phases."""

import numpy as np
from contender import Contender, best_of, main

D, H, L, NU, P, ETA = 1000, 3, 5, 4.0, 0.7, 1.0


def make_step(S):
    rng = np.random.default_rng(1)
    m = np.tile([[0.1], [0.0], [-0.1]], (S, 1, 1))
    R = np.zeros((S, H, H))
    rate = ETA / D
    degrees = D - 1 - H - np.arange(H)
    diagonal, lower = np.arange(H), np.tril_indices(H, -1)

    def lq(A):
        return np.linalg.qr(A.transpose(0, 2, 1), mode="r").transpose(0, 2, 1)

    def step():
        nonlocal m, R
        c = rng.standard_normal((S, 1, L))
        c[:, 0, 0] += np.where(rng.random(S) < P, np.sqrt(NU), -np.sqrt(NU))
        u = rng.standard_normal((S, H, L))
        chi = m @ c + R @ u
        a = np.exp(chi - chi.max(axis=2, keepdims=True))
        a /= a.sum(axis=2, keepdims=True)
        v = a.mean(axis=1)
        v[:, 0] -= 1
        mean = np.einsum("shl,sl->sh", a, v)
        d = 2 / H * a * (v[:, None, :] - mean[:, :, None])
        m = m - rate * d @ c.transpose(0, 2, 1)
        A = np.zeros((S, H, H))
        A[:, diagonal, diagonal] = np.sqrt(rng.chisquare(degrees, (S, H)))
        A[:, lower[0], lower[1]] = rng.standard_normal((S, len(lower[0])))
        R = lq(np.concatenate([R - rate * d @ u.transpose(0, 2, 1), rate * lq(d) @ A], axis=2))
        return float(S)

    return step


main([Contender("reduced-H3-L5-F1-B1", "numpy", "ns/seed-step", best_of(make_step, "S", (8, 64, 512, 4096)))])
