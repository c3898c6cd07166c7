#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives as h5py and the tools of HDF5 see them. HEADSPEC_PROGRAM names the program."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ["HEADSPEC_PROGRAM"]

REDUCED = """\
task:
  tokens: 4
  dimension: 200
  signal: {kind: gaussian, mean: [1.5, 0], variance: [0.25, 9]}
layer: {heads: 3, activation: softmax1}
training: {time: 4, seeds: 11, records: 8, batch: 2, seed: 5}
theory: {nodes: 256}
"""
EXPLICIT = """\
task:
  tokens: 3
  dimension: 40
  signal: {kind: flipped, strength: 4, probability: 0.7}   # \u03bd = 4
layer: {heads: 2, activation: bayes}
training: {engine: explicit, loss: token, time: 3, seeds: 5, records: 6, record_spacing: log}
theory: {nodes: 256}
"""
SOFTMAX = """\
task:
  tokens: 5
  dimension: 100
  signal: {kind: discrete, points: [[3, 0], [0, 3]], weights: [0.25, 0.75]}
layer: {heads: 4, bias: {init: 1}}
training: {time: 2, seeds: 1, records: 4}
theory: {nodes: 256}
"""
# (text, S, T, H, F, L, D, activation)
EXPERIMENTS = {
    "reduced": (REDUCED, 11, 9, 3, 2, 200),
    "explicit": (EXPLICIT, 5, 7, 2, 1, 40),
    "softmax": (SOFTMAX, 1, 5, 4, 2, 100),
}
# long enough to be killed: about 1e6 seed-steps
LONG = """\
task: {tokens: 5, dimension: 1000, signal: {kind: flipped, strength: 4, probability: 0.7}}
layer: {heads: 3}
training: {time: 100, seeds: 8, records: 100}
theory: {nodes: 64}
"""


def run(*arguments, status=0, **options):
    """Runs the program and returns its standard output."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def datasets(file):
    """All datasets by path."""
    found = {}
    file.visititems(lambda name, item: found.update({"/" + name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def attributes(file):
    """All attributes by (path, name)."""
    found = {("/", name): value for name, value in file.attrs.items()}

    def visit(name, item):
        for key, value in item.attrs.items():
            found["/" + name, key] = value.tolist() if isinstance(value, np.ndarray) else value

    file.visititems(visit)
    return found


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="headspec-")
        for name, experiment in EXPERIMENTS.items():
            with open(cls.path(name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(experiment[0])
            run("train", cls.path(name + ".yaml"), "-o", cls.path(name + ".h5"), "--threads", "1", "--quiet")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def each(self):
        for name, experiment in EXPERIMENTS.items():
            with self.subTest(name), h5py.File(self.path(name + ".h5"), "r") as file:
                yield name, file, experiment

    def test_shapes(self):
        for _, file, (_, S, T, H, F, _) in self.each():
            shapes = {
                "time": (T,), "step": (T,), "alignment": (S, T, H, F), "residual": (S, T, H, H), "loss": (S, T),
                "bias": (S, T, H), "scale": (S, T),
            }
            self.assertEqual(set(file), {"sgd"})
            self.assertEqual(set(file["sgd"]), set(shapes) | {"state"})
            for key, shape in shapes.items():
                data = file["sgd"][key]
                self.assertEqual(data.shape, shape, key)
                self.assertEqual(data.dtype.str, "<u8" if key == "step" else "<f8", key)
                self.assertIsNone(data.chunks, key)
                self.assertTrue(np.all(np.isfinite(data[()])), key)
            self.assertEqual(file["sgd/state/values"].shape[0], S)

    def test_described(self):
        names = {
            "time": "time", "step": "time", "alignment": "seed,time,head,feature",
            "residual": "seed,time,head,other_head", "loss": "seed,time", "bias": "seed,time,head", "scale": "seed,time",
        }
        for _, file, _ in self.each():
            for key, dimensions in names.items():
                data = file["sgd"][key]
                self.assertEqual(data.attrs["dimensions"], dimensions)
                self.assertEqual([d.label for d in data.dims], dimensions.split(","))
                self.assertIsInstance(data.attrs["unit"], str)
                self.assertGreater(len(data.attrs["description"]), 10)

    def test_origin(self):
        version = run("--version").split()[1]
        for name, file, (text, *_) in self.each():
            root = file.attrs
            self.assertEqual(root["headspec_version"], version)
            self.assertEqual(root["format"], 1)
            self.assertRegex(root["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertEqual(root["config"], text)
            self.assertTrue(root["command"].startswith("headspec train "), root["command"])
            self.assertIn(name + ".yaml", root["command"])
            self.assertIn(root["dispatch"], ("baseline", "avx2", "avx512"))
            self.assertTrue(root["build"])
            self.assertEqual(file["sgd"].attrs["complete"], 1)
            self.assertEqual(file["sgd"].attrs["planned_rows"], len(file["sgd/time"]))

    def test_numbers_make_sense(self):
        for name, file, (_, S, T, H, F, D) in self.each():
            sgd = {key: file["sgd"][key][()] for key in file["sgd"] if key != "state"}
            np.testing.assert_array_equal(sgd["time"], sgd["step"] / D)
            self.assertEqual(sgd["step"][0], 0)
            self.assertTrue(np.all(np.diff(sgd["step"].astype(np.int64)) > 0))
            self.assertEqual(file["sgd/state"].attrs["step"], sgd["step"][-1])
            r = sgd["residual"]
            np.testing.assert_allclose(r, np.swapaxes(r, 2, 3), atol=1e-12)
            self.assertGreater(np.linalg.eigvalsh(r).min(), -1e-12)
            self.assertTrue(np.all(sgd["loss"] > 0) and np.all(sgd["loss"] < 2))
            # seeds differ, and so do times
            m = sgd["alignment"]
            self.assertEqual(len(np.unique(m[:, :, 0, 0])), S * T)
            if name == "explicit":  # bayes: the biases have mean 0
                np.testing.assert_allclose(sgd["bias"].mean(axis=2), 0, atol=1e-12)
                self.assertGreater(np.abs(sgd["bias"][:, -1]).max(), 0)
            elif name == "softmax":
                self.assertTrue(np.all(m[:, 0] ** 2 < 0.1))

    def test_linear_grid(self):
        with h5py.File(self.path("reduced.h5"), "r") as file:
            np.testing.assert_array_equal(file["sgd/step"], np.arange(9) * 100)

    def test_threads(self):
        for name in EXPERIMENTS:
            with self.subTest(name):
                for threads in ("2", "3"):
                    other = self.path(name + threads + ".h5")
                    run("train", self.path(name + ".yaml"), "-o", other, "--threads", threads, "--quiet")
                    self.assert_same(self.path(name + ".h5"), other)

    def assert_same(self, one, two):
        """Equal but for the attributes that say where and when."""
        with h5py.File(one, "r") as a, h5py.File(two, "r") as b:
            x, y = datasets(a), datasets(b)
            self.assertEqual(set(x), set(y))
            for path in x:
                self.assertEqual(x[path].tobytes(), y[path].tobytes(), path)
            x, y = attributes(a), attributes(b)
            differing = {key for key in set(x) | set(y) if x.get(key) != y.get(key)}
            self.assertLessEqual(differing, {("/", "created"), ("/", "command")})

    def test_checkpoints_change_nothing(self):
        other = self.path("often.h5")
        run("train", self.path("reduced.yaml"), "-o", other, "--checkpoint", "0", "--quiet")
        self.assert_same(self.path("reduced.h5"), other)

    @unittest.skipUnless(shutil.which("h5dump") and shutil.which("h5repack"), "the tools of HDF5 are not installed")
    def test_tools(self):
        for name in EXPERIMENTS:
            with self.subTest(name):
                done = subprocess.run(["h5dump", self.path(name + ".h5")], capture_output=True, text=True, check=True)
                self.assertEqual(done.stderr, "")
                self.assertIn('DATASET "alignment"', done.stdout)
                packed = self.path(name + "-packed.h5")
                subprocess.run(["h5repack", "-f", "GZIP=9", self.path(name + ".h5"), packed], check=True)
                line = "\n".join(run("info", self.path(name + ".h5")).splitlines()[1:])
                self.assertEqual("\n".join(run("info", packed).splitlines()[1:]), line)

    def test_csv(self):
        for name, file, _ in self.each():
            for path, data in datasets(file).items():
                lines = run("info", self.path(name + ".h5"), "--csv", path).splitlines()
                header = lines[0].split(",")
                table = [line.split(",") for line in lines[1:]]
                self.assertTrue(all(len(row) == len(header) for row in table), path)
                indices = 2 if path.startswith("/sgd/") and data.ndim >= 2 and "state" not in path else 1
                values = np.array([[float(x) for x in row[indices:]] for row in table])
                np.testing.assert_array_equal(values.ravel(), data.astype(float).ravel(), path)
                if indices == 2:
                    S, T = data.shape[:2]
                    self.assertEqual(header[:2], ["seed", "time"])
                    np.testing.assert_array_equal([int(row[0]) for row in table], np.repeat(np.arange(S) + 1, T))
                    np.testing.assert_array_equal([float(row[1]) for row in table], np.tile(file["sgd/time"][()], S))
            self.assertIn("alignment_head1_feature0", run("info", file.filename, "--csv", "sgd/alignment").splitlines()[0])

    def test_json(self):
        for name, file, (text, S, T, H, F, _) in self.each():
            found = json.loads(run("info", file.filename, "--json"))
            self.assertEqual(found["config"], text)
            self.assertEqual({d["path"]: tuple(d["shape"]) for d in found["datasets"]},
                             {path: data.shape for path, data in datasets(file).items()})
            self.assertEqual(found["sgd"]["complete"], True)
            self.assertEqual(found["unused"], ["layer.bias"] if name == "softmax" else [])
            np.testing.assert_allclose(found["sgd"]["final_alignment"], file["sgd/alignment"][:, -1], rtol=1e-15)
            np.testing.assert_allclose(found["sgd"]["final_loss"], file["sgd/loss"][:, -1], rtol=1e-15)

    def test_page(self):
        """The Python of docs/archive.md runs as it stands."""
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "archive.md")
        with open(page, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 1)
        shutil.copy(self.path("reduced.h5"), self.path("a.h5"))
        printed = subprocess.run([sys.executable, "-c", blocks[0]], cwd=self.folder, capture_output=True, text=True,
                                 check=True)
        self.assertIn(REDUCED, printed.stdout)
        self.assertIn("seed,time,head,feature", printed.stdout)

    def test_additions(self):
        """What a user adds does not disturb, unless it pretends to be ours."""
        path = self.path("added.h5")
        shutil.copy(self.path("reduced.h5"), path)
        with h5py.File(path, "a") as file:
            file["mine/numbers"] = np.arange(3.0)
            file["mine/words"] = ["a", "b"]
            file.attrs["note"] = "look at seed 3"
        text = run("info", path)
        self.assertIn("/mine/numbers", text)
        self.assertIn("foreign  /mine/words", text)
        self.assertEqual(run("info", path, "--csv", "/mine/numbers"), "dimension0,numbers\n0,0\n1,1\n2,2\n")
        with h5py.File(path, "a") as file:
            del file["sgd/loss"]
        run("info", path, status=1)

    def test_misuse(self):
        run("info", self.path("none.h5"), status=1)
        run("info", self.path("reduced.yaml"), status=1)
        run("info", status=2)
        run("info", self.path("reduced.h5"), "--csv", "/sgd/nothing", status=2)
        run("info", self.path("reduced.h5"), "--csv", "/sgd/loss", "--json", status=2)


class Interrupted(unittest.TestCase):
    """A kill at any moment leaves the last complete archive, whose rows are those of the whole run."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="headspec-")
        cls.yaml = os.path.join(cls.folder, "long.yaml")
        with open(cls.yaml, "w", encoding="utf-8") as file:
            file.write(LONG)
        cls.whole = os.path.join(cls.folder, "whole.h5")
        start = time.monotonic()
        run("train", cls.yaml, "-o", cls.whole, "--threads", "1", "--quiet")
        cls.seconds = time.monotonic() - start

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def assert_prefix(self, path, complete):
        with h5py.File(path, "r") as part, h5py.File(self.whole, "r") as whole:
            rows = len(part["sgd/time"])
            self.assertEqual(part["sgd"].attrs["complete"], complete)
            self.assertEqual(part["sgd"].attrs["planned_rows"], 101)
            self.assertEqual(part["sgd/state"].attrs["step"], part["sgd/step"][-1])
            for key in ("time", "step"):
                np.testing.assert_array_equal(part["sgd"][key], whole["sgd"][key][:rows])
            for key in ("alignment", "residual", "loss", "bias", "scale"):
                np.testing.assert_array_equal(part["sgd"][key], whole["sgd"][key][:, :rows], key)
            return rows

    def start(self, path):
        return subprocess.Popen([PROGRAM, "train", self.yaml, "-o", path, "--threads", "1", "--quiet", "--checkpoint", "0"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def test_kill(self):
        chance = random.Random(1)
        written = 0
        for i in range(12):
            path = os.path.join(self.folder, f"kill{i}.h5")
            process = self.start(path)
            time.sleep(chance.uniform(0, 1) * max(self.seconds, 0.1))
            process.kill()
            process.communicate()
            if os.path.exists(path):
                written += 1
                with h5py.File(path, "r") as file:
                    complete = int(file["sgd"].attrs["complete"])
                self.assert_prefix(path, complete)
        self.assertGreater(written, 0)

    def test_stop(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            path = os.path.join(self.folder, f"stop{status}.h5")
            process = self.start(path)
            while not os.path.exists(path) and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(number)
            message = process.communicate()[1].decode()
            self.assertEqual(process.returncode, status, message)
            rows = self.assert_prefix(path, 0)
            self.assertLess(rows, 101)
            self.assertIn(f"{rows} of 101 rows", message)
            self.assertIn("stopped before its end", run("info", path))
            left = [name for name in os.listdir(self.folder) if name.startswith(".headspec-") and f"-{process.pid}-" in name]
            self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
