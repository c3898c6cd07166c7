#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets contenders take turns and compares what their work costs: pairs.py [--quick] [--only TEXT] PROGRAM...

A program is an executable or a Python script; bench/README.md describes the dialogue with it and the output.
"""

import argparse
import os
import statistics
import subprocess
import sys

ROUNDS = 7


class Program:
    """A running program of contenders."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        self.command = [sys.executable, path] if path.endswith(".py") else [path]
        self.process = None

    def listing(self):
        """Its contenders as [group, who, unit, goal, missing]; raises RuntimeError with the reason if it cannot run."""
        done = subprocess.run(self.command, capture_output=True, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"exit status {done.returncode}")
        return [(line.split(maxsplit=4) + [""])[:5] for line in done.stdout.splitlines()]

    def ask(self, request):
        if not self.process:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command + ["serve"], stdin=pipe, stdout=pipe, text=True)
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()

    def measure(self, number, seconds):
        """(CPU ns a unit, wall ns a unit, note)"""
        self.ask(f"measure {number} {seconds}")
        answer = self.process.stdout.readline().split(maxsplit=3)
        if len(answer) < 3:
            sys.exit(f"{self.name} ended in the middle of a measurement")
        cpu, wall, units = (float(x) for x in answer[:3])
        return 1e9 * cpu / units, 1e9 * wall / units, answer[3].strip() if len(answer) > 3 else ""

    def end(self):
        if self.process:
            self.ask("end")

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


class Contender:
    def __init__(self, program, number, who, unit, goal):
        self.program, self.number, self.who, self.unit, self.goal = program, number, who, unit, goal
        self.cpu, self.wall, self.note = [], [], ""

    def take_turn(self, seconds):
        cpu, wall, self.note = self.program.measure(self.number, seconds)
        self.cpu.append(cpu)
        self.wall.append(wall)


def median_ratio(costs, first):
    """The median over the rounds of what was measured side by side."""
    return statistics.median(a / b for a, b in zip(costs, first))


def verdict(goal, cost, ratio):
    if goal == "-":
        return ""
    limit, value = (float(goal[1:]), ratio) if goal.startswith("x") else (float(goal), cost)
    return f"goal {goal}: {'met' if value <= limit else 'NOT MET'}"


def per_second(ns):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if 1e9 / ns >= size:
            return f"{1e9 / ns / size:.4g}{letter}/s"
    return f"{1e9 / ns:.4g}/s"


def run_group(group, contenders, seconds):
    """Turns of all contenders, then one line of the table and one for machines each."""
    for _ in range(ROUNDS):
        for c in contenders:
            c.take_turn(seconds)
    for program in {c.program for c in contenders}:
        program.end()
    first = contenders[0]
    lines = []
    print(f"\n{group}")
    for c in contenders:
        cpu, wall = statistics.median(c.cpu), statistics.median(c.wall)
        cpu_ratio, wall_ratio = median_ratio(c.cpu, first.cpu), median_ratio(c.wall, first.wall)
        shown = f"{cpu:.4g} {c.unit}"
        end = "  ".join(x for x in (c.note, verdict(c.goal, cpu, cpu_ratio)) if x)
        line = (
            f"    {c.who:<22} {shown:<22} {min(c.cpu):9.4g} {per_second(cpu):>11} {cpu_ratio:9.2f} x"
            f" {wall / cpu:9.2f}  {end}"
        )
        print(line.rstrip(), flush=True)
        lines.append(
            f"RESULT {group} {c.who} {c.unit} {cpu:.6g} {min(c.cpu):.6g} {wall:.6g} {cpu_ratio:.4g} {wall_ratio:.4g}"
        )
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="shorter turns: less exact")
    parser.add_argument("--only", default="", help="only groups whose name contains this")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    seconds = 0.02 if options.quick else 0.1

    groups, missing, programs = {}, [], [Program(path) for path in options.program]
    for program in programs:
        try:
            listing = program.listing()
        except (RuntimeError, OSError) as error:
            missing.append(f"{program.name}: {error}")
            continue
        for number, (group, who, unit, goal, reason) in enumerate(listing):
            if options.only not in group:
                continue
            if reason:
                missing.append(f"{group} {who}: {reason}")
            else:
                groups.setdefault(group, []).append(Contender(program, number, who, unit, goal))
    if not groups:
        sys.exit(f"no group is named like '{options.only}'")

    print(f"    {'':<22} {'cost (CPU time)':<22} {'least':>9} {'':>11} {'ratio':>11} {'wall/CPU':>9}")
    lines = []
    for group, contenders in groups.items():
        lines += run_group(group, contenders, seconds)
    for program in programs:
        program.close()
    if missing:
        print("\nnot run")
        for text in missing:
            print(f"    {text}")
    print("\n" + "\n".join(lines))


main()
