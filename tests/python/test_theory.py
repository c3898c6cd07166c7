#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headspec theory from end to end, as h5py sees it. HEADSPEC_PROGRAM names the program."""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

import h5py
import numpy as np

PROGRAM = os.environ["HEADSPEC_PROGRAM"]

ALIGNED = """\
task: {tokens: 5, dimension: 1000000, signal: {kind: flipped, strength: 4, probability: 0.7}}
layer: {heads: 3, activation: softmax1}
training: {time: 0.2, seeds: 8, records: 20, learning_rate: 50, init: {kind: aligned, alignment: [[0.5], [0.2], [-0.5]], residual: 0.1}}
theory: {nodes: 16384}
"""
RANDOM = """\
task: {tokens: 4, dimension: 50, signal: {kind: gaussian, mean: [1, 0], variance: [0, 4]}}
layer: {heads: 3, activation: bayes}
training: {time: 4, seeds: 4, records: 12, record_spacing: log, engine: explicit}
theory: {nodes: 1024, start: {seed: 3}}
"""
ROWS = {"time": ["time"], "alignment": ["time", "head", "feature"], "residual": ["time", "head", "other_head"],
        "loss": ["time"], "loss_error": ["time"], "bias": ["time", "head"], "scale": ["time"]}


def run(*arguments, status=0, **options):
    """Runs the program; returns standard output and standard error."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def contents(path, leave_out=()):
    """All datasets and attributes of a file, as bytes, but those below the groups that are left out."""
    found = {}

    def look(name, item):
        if any(("/" + name + "/").startswith(group + "/") for group in leave_out):
            return
        for key, value in item.attrs.items():
            found[f"/{name}@{key}"] = str(value)
        if isinstance(item, h5py.Dataset):
            found["/" + name] = (item.dtype.str, item.shape, item[()].tobytes())

    with h5py.File(path, "r") as file:
        for key, value in file.attrs.items():
            found["@" + key] = value
        file.visititems(look)
    return found


class Theory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.aligned, self.random = self.write("aligned.yaml", ALIGNED), self.write("random.yaml", RANDOM)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def assert_no_temporary(self):
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(".tmp")], [])

    def test_layout(self):
        """Shapes, types, names; the grid of the run and the start of its seed."""
        archive = self.path("a.h5")
        run("train", self.random, "-o", archive)
        before = contents(archive)
        out = json.loads(run("theory", self.random, "-o", archive, "--json")[0])
        self.assertEqual((out["archive"], out["name"], out["beside_sgd"], out["rows"]), (archive, "random", True, 13))
        with h5py.File(archive, "r") as file:
            sgd, theory = file["sgd"], file["theory"]
            self.assertEqual(set(theory), set(ROWS))
            for name, dimensions in ROWS.items():
                lengths = {"time": 13, "head": 3, "other_head": 3, "feature": 2}
                self.assertEqual(theory[name].shape, tuple(lengths[d] for d in dimensions))
                self.assertEqual(theory[name].dtype, np.float64)
                self.assertEqual(theory[name].attrs["dimensions"], ",".join(dimensions))
                self.assertEqual([d.label for d in theory[name].dims], dimensions)
                self.assertTrue(theory[name].attrs["unit"] and theory[name].attrs["description"])
            np.testing.assert_array_equal(theory["time"], sgd["time"])
            for name in ("alignment", "residual", "bias"):
                np.testing.assert_array_equal(theory[name][0], sgd[name][2, 0])
            self.assertEqual(theory["loss"][0], sgd["loss"][2, 0])  # the same nodes
            self.assertTrue((theory["loss_error"][:] > 0).all())
            np.testing.assert_allclose(theory["bias"][:].sum(axis=1), 0, atol=1e-12)
            self.assertEqual(theory.attrs["config"], RANDOM)
            self.assertTrue(theory.attrs["command"].startswith("headspec theory "))
            self.assertEqual(theory.attrs["bayes_risk"].dtype, np.float64)
            self.assertEqual(theory.attrs["bayes_risk"], out["bayes_risk"])
            self.assertEqual(theory["loss"][-1], out["final_loss"])
            self.assertNotIn("optimum_loss", theory.attrs)
        self.assertEqual(contents(archive, ["/theory"]), before)

    def test_replaced(self):
        """The second theory is the one that a new archive would hold; the run and what others added stay."""
        archive, fresh = self.path("a.h5"), self.path("b.h5")
        run("train", self.random, "-o", archive)
        run("theory", self.random, "-o", archive, "--set", "theory.limit=flow", "--set", "theory.start.seed=1")
        with h5py.File(archive, "a") as file:
            file["theory"].attrs["optimum_loss"] = 0.25
            file["theory"].attrs["mine"] = "kept"
            file["extra/numbers"] = np.arange(3.0)
        before = contents(archive, ["/theory", "/extra"])
        run("theory", self.random, "-o", archive)
        self.assertEqual(contents(archive, ["/theory", "/extra"]), before)
        run("theory", self.random, "-o", fresh)
        with h5py.File(archive, "r") as file, h5py.File(fresh, "r") as other:
            for name in ROWS:
                np.testing.assert_array_equal(file["theory"][name], other["theory"][name])
            self.assertEqual(file["theory"].attrs["mine"], "kept")
            self.assertEqual(list(file["extra/numbers"]), [0, 1, 2])
            self.assertNotIn("optimum_loss", file["theory"].attrs)
            self.assertEqual(file["theory"].attrs["bayes_risk"], other["theory"].attrs["bayes_risk"])

    def test_run_goes_on(self):
        """A stopped run keeps its state; its theory has all rows."""
        archive = self.path("a.h5")
        yaml = self.write("long.yaml", ALIGNED.replace("time: 0.2", "time: 10"))
        process = subprocess.Popen([PROGRAM, "train", yaml, "-o", archive, "--checkpoint", "0", "--quiet"],
                                   stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not os.path.exists(archive) and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        before = contents(archive)
        run("theory", yaml, "-o", archive, "--quiet", "--set", "theory.nodes=1024")
        self.assertEqual(contents(archive, ["/theory"]), before)
        with h5py.File(archive, "r") as file:
            done = len(file["sgd/time"])
            self.assertLess(done, 21)
            self.assertIn("state", file["sgd"])
            self.assertEqual(len(file["theory/time"]), 21)
            np.testing.assert_array_equal(file["theory/time"][:done], file["sgd/time"])
        run("plot", archive, "-o", self.path("a.svg"), "--quiet")

    def test_agrees_with_sgd(self):
        """D = 10^6, eta / B = 50: the mean over 8 seeds is within 6 standard errors + 0.01 (no statistical level: the
        law tests have one)."""
        archive = self.path("a.h5")
        run("train", self.aligned, "-o", archive)
        run("theory", self.aligned, "-o", archive)
        with h5py.File(archive, "r") as file:
            for name in ("alignment", "residual", "bias", "scale", "loss"):
                seeds, theory = file["sgd"][name][:], file["theory"][name][:]
                error = seeds.std(axis=0, ddof=1) / np.sqrt(len(seeds))
                worst = (np.abs(theory - seeds.mean(axis=0)) - 6 * error).max()
                self.assertLess(worst, 0.01, name)
            moved = np.abs(file["theory/alignment"][-1] - file["theory/alignment"][0]).max()
            self.assertGreater(moved, 0.3)

    def test_equal_bytes(self):
        """Equal commands, equal files, but for the time of writing."""
        found = []
        for _ in range(2):
            run("theory", self.random, "-o", self.path("a.h5"), "--force")
            found.append({key: value for key, value in contents(self.path("a.h5")).items() if not key.endswith("created")})
        self.assertEqual(found[0], found[1])

    def start(self, *options):
        return subprocess.Popen([PROGRAM, "theory", self.aligned, "-o", self.path("a.h5"), *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_signals(self):
        """A theory that is stopped leaves nothing behind."""
        for number, status, word in ((signal.SIGINT, 130, "SIGINT"), (signal.SIGTERM, 143, "SIGTERM")):
            process = self.start("--json", "--set", "training.time=50", "--set", "training.records=100000",
                                 "--set", "theory.nodes=100000")
            time.sleep(1)
            process.send_signal(number)
            out, err = process.communicate(timeout=250)
            self.assertEqual((process.returncode, out), (status, ""), err)
            self.assertRegex(err, rf"headspec: stopped by {word} at time \S+ of 50; nothing was written\n$")
            self.assertFalse(os.path.exists(self.path("a.h5")))
        self.assert_no_temporary()

    def test_file_that_changes_meanwhile(self):
        """What another command wrote is not lost."""
        few = ("--set", "training.records=1")
        run("train", self.aligned, "-o", self.path("a.h5"), *few)
        process = self.start(*few, "--set", "theory.nodes=1000000", "--set", "theory.tolerance=1e-2")
        time.sleep(1)
        process.send_signal(signal.SIGSTOP)
        run("train", self.aligned, "-o", self.path("a.h5"), "--force", *few)
        before = contents(self.path("a.h5"))
        process.send_signal(signal.SIGCONT)
        err = process.communicate(timeout=250)[1]
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("a.h5: the file was changed while the theory was integrated; nothing was written", err)
        self.assertEqual(contents(self.path("a.h5")), before)
        self.assert_no_temporary()

    def test_full_disk(self):
        """The archive that was there stays."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        run("train", self.aligned, "-o", self.path("a.h5"))
        before = contents(self.path("a.h5"))
        err = run("theory", self.aligned, "-o", self.path("a.h5"), status=1, preexec_fn=limit)[1]
        self.assertIn("File too large", err)
        self.assertEqual(contents(self.path("a.h5")), before)
        self.assert_no_temporary()

    def words(self, figure):
        root = ElementTree.parse(self.path(figure)).getroot()
        return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_figures(self):
        """Who is a line and who is a point is said, and which seed."""
        archive = self.path("a.h5")
        run("theory", self.aligned, "-o", archive)
        run("plot", archive, "-o", self.path("a.svg"))
        words = self.words("a.svg")
        self.assertIn("Bayes risk", words)
        self.assertNotIn("theory", words)  # nothing beside it
        self.assertTrue(any(word.endswith("; theory") for word in words), words)

        run("train", self.aligned, "-o", archive, "--force")
        run("theory", self.aligned, "-o", archive)
        with h5py.File(archive, "a") as file:
            file["theory"].attrs["optimum_loss"] = 0.5
        run("plot", archive, "-o", self.path("b.svg"))
        words = self.words("b.svg")
        for expected in ("theory", "SGD, mean ± s.d.", "Bayes risk", "optimum"):
            self.assertIn(expected, words)

        run("train", self.random, "-o", archive, "--force")
        run("theory", self.random, "-o", archive)
        run("plot", archive, "-o", self.path("c.svg"))
        words = self.words("c.svg")
        for expected in ("theory", "SGD, seed 3", "Bayes risk"):
            self.assertIn(expected, words)
        note = re.sub(r"\s+", " ", " ".join(words))
        self.assertIn("The theory starts where seed 3 does.", note)
        self.assertIn("compare theory and simulation up to a shift in time.", note)


if __name__ == "__main__":
    unittest.main()
