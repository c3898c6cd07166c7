# SPDX-License-Identifier: MIT
"""Online SGD with full vectors in PyTorch, vectorized over the batch, gradient by autograd: softmax, location loss, the
task of two_phases."""

import math

import torch
from contender import Contender, best_of, main

H, L, NU, P, ETA = 3, 5, 4.0, 0.7, 1.0
MOST_NUMBERS = 32_000_000  # in a batch of tokens


def make_step(D, dtype, B):
    spike = torch.randn(D, dtype=dtype)
    spike *= math.sqrt(D) / spike.norm()
    k = torch.outer(torch.tensor([0.1, 0.0, -0.1], dtype=dtype), spike).requires_grad_()
    x = torch.empty(B, L, D, dtype=dtype)
    rows, root = torch.arange(B), math.sqrt(D)

    def step():
        torch.randn(B, L, D, dtype=dtype, out=x)
        target = torch.randint(L, (B,))
        theta = torch.where(torch.rand(B) < P, math.sqrt(NU), -math.sqrt(NU)).to(dtype)
        x[rows, target] += theta[:, None] * (spike / root)
        a = torch.softmax((x.view(B * L, D) @ k.T).view(B, L, H) / root, dim=1)
        loss = (a.mean(dim=2) - torch.nn.functional.one_hot(target, L)).square().sum() / B
        (gradient,) = torch.autograd.grad(loss, k)
        with torch.no_grad():
            k.sub_(gradient, alpha=ETA)
        return float(B * L * D)

    return step


def contender(name, dtype, D):
    batches = [B for B in (1, 2, 8, 32, 64, 256) if B * L * D <= MOST_NUMBERS]
    make = best_of(lambda B: make_step(D, dtype, B), "B", batches)
    return Contender(f"explicit-{name}-D{D}", "torch", "ns/number", make)


torch.set_num_threads(1)
torch.manual_seed(1)
main(
    [
        contender(name, dtype, D)
        for name, dtype in (("single", torch.float32), ("double", torch.float64))
        for D in (1000, 10000, 100000)
    ]
)
