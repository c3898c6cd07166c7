# SPDX-License-Identifier: MIT
"""What bench/contender.c is for C: a contender does a piece of work again and again for bench/pairs.py (bench/README.md)."""

import sys
import time
from collections import namedtuple

# make() -> (step, note): step() does one piece of work and returns its units, note says how it was chosen to do it.
Contender = namedtuple("Contender", "group who unit make")


def measure(step, pieces):
    """CPU time, wall time, units of work."""
    cpu, wall, units = time.process_time(), time.perf_counter(), 0.0
    for _ in range(pieces):
        units += step()
    return time.process_time() - cpu, time.perf_counter() - wall, units


def start(step, seconds):
    """Warms up, and finds how many pieces take the given time."""
    pieces = 1
    for _ in range(40):
        cpu = measure(step, pieces)[0]
        if cpu >= seconds:
            break
        pieces = int((1.05 * seconds / cpu if cpu > 0.3 * seconds else 4) * pieces) + 1
    return pieces


def best_of(make_step, name, choices, seconds=0.02):
    """make() of a contender that takes the cheapest of several sizes: make_step(size) -> step."""

    def make():
        costs = []
        for size in choices:
            step = make_step(size)
            step()
            pieces = start(step, seconds)
            cpu, _, units = measure(step, pieces)
            costs.append((cpu / units, size))
        size = min(costs)[1]
        return make_step(size), f"{name}={size}"

    return make


def main(contenders):
    if len(sys.argv) == 1:
        for c in contenders:
            print(c.group, c.who, c.unit, "-")
    elif sys.argv[1:] == ["serve"]:
        running = {}
        for line in sys.stdin:
            request = line.split()
            if request[0] == "end":
                running.clear()
                continue
            i = int(request[1])
            if i not in running:
                step, note = contenders[i].make()
                running[i] = step, start(step, float(request[2])), note
            step, pieces, note = running[i]
            cpu, wall, units = measure(step, pieces)
            print(f"{cpu:.9f} {wall:.9f} {units!r} {note}", flush=True)
    else:
        sys.exit(f"usage: {sys.argv[0]} [serve]")
