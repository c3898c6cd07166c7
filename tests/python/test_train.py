#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headspec train from end to end: results, kills, signals, files that exist, full disks, the progress bar.
HEADSPEC_PROGRAM names the program."""
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ["HEADSPEC_PROGRAM"]

# The two phases, small: heads that start at 0.1, 0 and -0.1 first follow the mean signal together.
TWO_PHASES = """\
task: {tokens: 5, dimension: 100, signal: {kind: flipped, strength: 4, probability: 0.7}}
layer: {heads: 3}
training:
  time: 100
  seeds: 8
  records: 50
  init: {kind: aligned, alignment: [[0.1], [0.0], [-0.1]]}
theory: {nodes: 1024}
"""
# Hours: whoever comes back soon has not computed.
ENDLESS = TWO_PHASES.replace("time: 100", "time: 1e9").replace("records: 50", "records: 1")


def run(*arguments, status=0, **options):
    """Runs the program; returns standard output and standard error."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def population_loss(m, r, n=200000):
    """Softmax, two phases: the location loss of these alignments [H] and residuals [H, H], and its standard error."""
    draw = np.random.default_rng(1)
    H, L = len(m), 5
    c = draw.standard_normal((n, L))
    c[:, 0] += np.where(draw.random(n) < 0.7, 2, -2)  # the target is token 0
    values, vectors = np.linalg.eigh(r)
    root = vectors * np.sqrt(np.maximum(values, 0))
    chi = m[None, :, None] * c[:, None, :] + np.einsum("hj,njl->nhl", root, draw.standard_normal((n, H, L)))
    a = np.exp(chi - chi.max(axis=2, keepdims=True))
    v = (a / a.sum(axis=2, keepdims=True)).mean(axis=1)
    v[:, 0] -= 1
    loss = (v ** 2).sum(axis=1)
    return loss.mean(), loss.std() / np.sqrt(n)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Train(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="headspec-")
        self.yaml = self.write("two.yaml", TWO_PHASES)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, "train", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_no_temporary(self, folder=None):
        self.assertEqual([name for name in os.listdir(folder or self.folder) if name.endswith(".tmp")], [])


class Results(Train):
    def test_two_phases(self):
        """Both engines: all heads follow the mean, then one parts and turns negative; the loss falls in both phases."""
        for engine in ("reduced", "explicit"):
            with self.subTest(engine):
                path = self.path(engine + ".h5")
                out, err = run("train", self.yaml, "-o", path, "--json", "--set", f"training.engine={engine}", "--set",
                               "theory.nodes=16384")
                self.assertEqual(err, "")
                told = json.loads(out)
                with h5py.File(path, "r") as file:
                    m, loss, t = file["sgd/alignment"][..., 0], file["sgd/loss"][()], file["sgd/time"][()]
                    r = file["sgd/residual"][()]
                self.assertEqual((told["seeds"], told["rows"], told["steps"], told["time"]), (8, 51, 10000, 100))
                self.assertAlmostEqual(told["final_loss"], loss[:, -1].mean(), places=12)
                shown = json.loads(run("info", path, "--json")[0])["sgd"]
                self.assertEqual(shown["final_loss"], loss[:, -1].tolist())  # all digits
                self.assertEqual((t[0], t[-1]), (0, 100))
                np.testing.assert_allclose(m[:, 0], np.tile([0.1, 0, -0.1], (8, 1)), rtol=0, atol=1e-12)
                mean = m.mean(axis=0)
                early = np.searchsorted(t, 20)
                self.assertGreater(mean[early].min(), 0.2)   # together, along the mean
                self.assertGreater(mean[-1, 0], 1)           # then apart
                self.assertLess(mean[-1, 2], -0.5)
                self.assertLess(loss[:, early].mean(), loss[:, 0].mean() - 0.02)
                self.assertLess(loss[:, -1].mean(), loss[:, early].mean() - 0.02)
                np.testing.assert_array_equal(loss[:, 0], loss[0, 0])  # the same start on the same nodes
                for seed, row in ((0, 0), (3, early), (7, -1)):
                    expected, error = population_loss(m[seed, row], r[seed, row])
                    # 16384 nodes have the larger error: five of theirs
                    self.assertAlmostEqual(loss[seed, row], expected, delta=5 * error * np.sqrt(1 + 200000 / 16384))

    def test_summary(self):
        out, err = run("train", self.yaml, "--set", "training.time=2", cwd=self.folder)
        self.assertEqual(err, "")
        self.assertIn("200 for each of 8 seeds, 51 rows", out)
        self.assertIn("headspec plot two.h5 -o two.svg", out)
        self.assertTrue(os.path.exists(self.path("two.h5")))

    def test_threads(self):
        """The same numbers, bit for bit, from one thread, from two, and from more than there are seeds."""
        for options in (["training.engine=reduced", "training.seeds=20"], ["training.engine=explicit", "training.seeds=3"]):
            contents = []
            for threads in ("1", "2", "7"):
                path = self.path(f"{threads}.h5")
                run("train", self.yaml, "-o", path, "--force", "--quiet", "--threads", threads, "--set", options[0],
                    "--set", options[1], "--set", "training.time=5", "--set", "layer.activation=softmax1")
                with h5py.File(path, "r") as file:
                    contents.append({key: item[()].tobytes() for key, item in file["sgd"].items() if key != "state"} |
                                    {"values": file["sgd/state/values"][()].tobytes()})
            self.assertEqual(len(contents[0]), 8)
            self.assertEqual(contents[0], contents[1], options)
            self.assertEqual(contents[0], contents[2], options)

    def test_no_trace_of_the_order(self):
        """Seeds are independent of how many there are: seed k of 3 is seed k of 9."""
        for engine in ("reduced", "explicit"):
            m = []
            for seeds in (3, 9):
                run("train", self.yaml, "-o", self.path("a.h5"), "--force", "--quiet", "--set", f"training.seeds={seeds}",
                    "--set", f"training.engine={engine}", "--set", "training.time=2", "--set", "training.init={kind: random}")
                with h5py.File(self.path("a.h5"), "r") as file:
                    m.append(file["sgd/alignment"][()])
            np.testing.assert_array_equal(m[0], m[1][:3])


class Files(Train):
    def test_existing(self):
        """Refused without --force before anything is computed, and left as it was."""
        yaml = self.write("endless.yaml", ENDLESS)
        old = self.write("endless.h5", "mine")
        err = run("train", yaml, status=2, cwd=self.folder)[1]
        self.assertIn("'endless.h5' exists; give --force", err)
        self.assertEqual(read(old), b"mine")

    def test_folder_that_cannot_be_written(self):
        yaml = self.write("endless.yaml", ENDLESS)
        err = run("train", yaml, "-o", self.path("none/a.h5"), status=1)[1]
        self.assertIn("No such file or directory", err)
        if os.geteuid() != 0:
            os.chmod(self.folder, 0o500)
            err = run("train", yaml, "-o", self.path("a.h5"), status=1)[1]
            os.chmod(self.folder, 0o700)
            self.assertIn("Permission denied", err)

    def test_force(self):
        path = self.write("a.h5", "mine")
        os.chmod(path, 0o640)
        os.symlink("a.h5", self.path("link.h5"))
        run("train", self.yaml, "-o", self.path("link.h5"), "--force", "--quiet", "--set", "training.time=1")
        self.assertTrue(os.path.islink(self.path("link.h5")))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
        with h5py.File(path, "r") as file:
            self.assertEqual(file["sgd"].attrs["complete"], 1)
        self.assert_no_temporary()

    def test_wrong_experiment_leaves_the_archive(self):
        path = self.write("two.h5", "mine")
        run("train", self.yaml, "--force", "--set", "layer.heads=0", status=2, cwd=self.folder)
        self.assertEqual(read(path), b"mine")


class FullDisk(Train):
    """No room for the new archive: status 1, and the earlier one is as it was."""

    def check(self, folder, **options):
        path = os.path.join(folder, "a.h5")
        old = read(path)
        for checkpoint in ("0", "1000"):
            err = run("train", self.yaml, "-o", path, "--force", "--checkpoint", checkpoint, status=1, **options)[1]
            lines = err.splitlines()
            warned = [line for line in lines if "the archive so far could not be written, the run goes on" in line]
            self.assertEqual(len(warned), 1, err)  # by the first of the checkpoints
            self.assertIn("could be written", lines[-1])
            self.assertEqual(len(lines), len(warned) + 1, err)
            self.assertEqual(read(path), old)
            self.assert_no_temporary(folder)
        return err

    def test_full(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small file system")
        disk = self.path("disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "headspec-test", disk], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            self.skipTest("a small file system cannot be mounted here")
        try:
            run("train", self.yaml, "-o", os.path.join(disk, "a.h5"), "--quiet", "--set", "training.records=5")
            with open(os.path.join(disk, "filler"), "wb", buffering=0) as file, self.assertRaises(OSError):
                for _ in range(1000):
                    file.write(bytes(4096))
            os.truncate(os.path.join(disk, "filler"), os.path.getsize(os.path.join(disk, "filler")) - 4096)
            self.assertIn("No space left on device", self.check(disk))
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_limit(self):
        """The same with a limit on the size of files, which needs no rights."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        run("train", self.yaml, "-o", self.path("a.h5"), "--quiet", "--set", "training.records=5")
        self.assertIn("File too large", self.check(self.folder, preexec_fn=limit))


class Kills(Train):
    def test_kill_over_an_earlier_archive(self):
        """kill -9 at random times: the earlier archive or rows of the new run, and always whole."""
        path = self.path("a.h5")
        run("train", self.yaml, "-o", path, "--quiet", "--set", "training.seed=7", "--set", "training.time=3")
        earlier = read(path)
        start = time.monotonic()
        run("train", self.yaml, "-o", self.path("whole.h5"), "--quiet", "--checkpoint", "0")
        seconds = min(time.monotonic() - start, 3)  # whatever else the machine did in between
        with h5py.File(self.path("whole.h5"), "r") as file:
            whole = file["sgd/alignment"][()]
        chance = random.Random(2)
        new = 0
        for _ in range(10):
            with open(path, "wb") as file:
                file.write(earlier)
            process = self.start(self.yaml, "-o", path, "--force", "--quiet", "--checkpoint", "0")
            time.sleep(chance.uniform(0, 1.1) * seconds)
            process.kill()
            process.wait()
            if read(path) == earlier:
                continue
            new += 1
            with h5py.File(path, "r") as file:
                m = file["sgd/alignment"][()]
                loss = file["sgd/loss"][()]
                self.assertEqual(file["sgd"].attrs["complete"], m.shape[1] == 51 and bool(np.isfinite(loss).all()))
                np.testing.assert_array_equal(m, whole[:, :m.shape[1]])
                self.assertEqual(loss.shape, m.shape[:2])
                self.assertTrue(m.shape[1] == 51 or np.isfinite(loss).all())
        self.assertGreater(new, 0)

    def test_kill_before_the_first_checkpoint(self):
        """The default is 30 s: until then there is nothing, and no half file."""
        process = self.start(self.write("endless.yaml", ENDLESS), "-o", self.path("a.h5"), "--quiet")
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        self.assertEqual(sorted(os.listdir(self.folder)), ["endless.yaml", "two.yaml"])

    def test_checkpoint_interval(self):
        """An interval makes the archive appear while the run goes on; it is marked incomplete."""
        yaml = self.write("long.yaml", TWO_PHASES.replace("time: 100", "time: 1e6").replace("records: 50", "records: 100000"))
        path = self.path("a.h5")
        process = self.start(yaml, "-o", path, "--quiet", "--checkpoint", "0.1")
        end = time.monotonic() + 60
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.02)
        rows = []
        while len(rows) < 3 and time.monotonic() < end:  # and it grows
            with h5py.File(path, "r") as file:
                if not rows or len(file["sgd/time"]) > rows[-1]:
                    rows.append(len(file["sgd/time"]))
                self.assertEqual(file["sgd"].attrs["complete"], 0)
            time.sleep(0.02)
        self.assertEqual(len(rows), 3)
        self.assertIsNone(process.poll())
        process.terminate()
        err = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 143)
        with h5py.File(path, "r") as file:
            self.assertGreaterEqual(len(file["sgd/time"]), rows[-1])
            self.assertIn(f"holds the {len(file['sgd/time'])} of 100001 rows", err)


class Loss(Train):
    """The loss of the last rows takes long here, their steps do not."""
    SLOW = ("--set", "theory.nodes=1e8", "--set", "training.records=20")

    def start_slow(self, *options):
        process = self.start(self.yaml, "-o", self.path("a.h5"), "--threads", "1", *self.SLOW, *options)
        end = time.monotonic() + 60
        while not os.path.exists(self.path("a.h5")) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertIsNone(process.poll())
        return process

    def check(self):
        run("train", self.yaml, "-o", self.path("whole.h5"), "--quiet", "--set", "training.records=20")
        with h5py.File(self.path("a.h5"), "r") as file, h5py.File(self.path("whole.h5"), "r") as whole:
            self.assertEqual(file["sgd"].attrs["complete"], 0)
            self.assertTrue(np.isnan(file["sgd/loss"][()]).all())
            for name in ("sgd/alignment", "sgd/residual", "sgd/time", "sgd/state/values"):
                np.testing.assert_array_equal(file[name][()], whole[name][()])

    def test_kill(self):
        """Every row and the state are there before the loss is; what cannot be shown is told."""
        process = self.start_slow()
        process.kill()
        process.wait()
        self.check()
        told = json.loads(run("info", self.path("a.h5"), "--json")[0])
        self.assertEqual(told["sgd"]["final_loss"], [None] * 8)
        run("plot", self.path("a.h5"), "-o", self.path("a.svg"), "--panels", "alignment", "--quiet")
        err = run("plot", self.path("a.h5"), "-o", self.path("b.svg"), status=1)[1]
        self.assertIn("killed before the loss of row 0 was computed", err)


class Signals(Train):
    STOPPING = b"headspec: stopping at the next record; press Ctrl-C again to stop at once\n"

    def wait_for(self, process, text):
        """What the process has said when it has said `text`."""
        said = b""
        while text not in said:
            byte = process.stderr.read(1)
            self.assertNotEqual(byte, b"", said)
            said += byte
        return said

    def test_second_signal(self):
        """The first is answered at once and waits for the next record; only a later SIGINT does not wait."""
        process = self.start(self.write("endless.yaml", ENDLESS), "-o", self.path("a.h5"))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.wait_for(process, b"\n"), self.STOPPING)
        process.send_signal(signal.SIGINT)  # as the first one, sent twice
        time.sleep(0.7)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.wait(30)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(process.stderr.read(), b"")

    def test_repeated_term(self):
        """SIGTERM again and again: the run still ends at its record, and keeps it."""
        yaml = self.write("long.yaml", TWO_PHASES.replace("time: 100", "time: 1e7").replace("records: 50", "records: 500"))
        process = self.start(yaml, "-o", self.path("a.h5"), "--threads", "1")
        time.sleep(0.3)
        said = b""
        while process.poll() is None:
            process.terminate()
            time.sleep(0.05)
        said = process.stderr.read()
        self.assertEqual(process.returncode, 143, said)
        self.assertEqual(said.count(self.STOPPING), 1)
        self.assertIn(b"stopped by SIGTERM at time ", said)
        self.assertTrue(os.path.exists(self.path("a.h5")))

    def test_quiet(self):
        process = self.start(self.write("endless.yaml", ENDLESS), "-o", self.path("a.h5"), "--quiet")
        time.sleep(0.5)
        process.terminate()
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.kill()
        self.assertEqual(process.communicate()[1], b"")

    def test_signal_while_the_loss_is_computed(self):
        yaml = self.write("many.yaml", TWO_PHASES.replace("records: 50", "records: 2000").replace("seeds: 8", "seeds: 300"))
        process = self.start(yaml, "-o", self.path("a.h5"), "--threads", "1", "--set", "theory.nodes=65536")
        end = time.monotonic() + 60
        while not os.path.exists(self.path("a.h5")) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 130, said)
        known = int(re.search(r"while the loss was computed; .*a\.h5 holds all 2001 rows, the loss of (\d+) of them", said)[1])
        with h5py.File(self.path("a.h5"), "r") as file:
            loss = file["sgd/loss"][()]
            self.assertEqual(file["sgd"].attrs["complete"], 0)
        self.assertTrue(np.isfinite(loss[:, :known]).all())
        self.assertTrue(np.isnan(loss[:, known:]).all())

    def test_ignored_signal_stays_ignored(self):
        """As for a job in the background of a script."""
        process = self.start(self.yaml, "-o", self.path("a.h5"), "--json",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out = process.communicate()[0]
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(out)["rows"], 51)

    def test_stopped_run_prints_no_json(self):
        yaml = self.write("long.yaml", TWO_PHASES.replace("time: 100", "time: 1e6").replace("records: 50", "records: 100000"))
        process = self.start(yaml, "-o", self.path("a.h5"), "--json", "--checkpoint", "0")
        end = time.monotonic() + 60
        while not os.path.exists(self.path("a.h5")) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertIn(b"stopped by SIGINT at time ", err)


class Progress(Train):
    def on_terminal(self, *arguments, terminal="xterm"):
        """What is drawn on a terminal of 80 columns."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, "train", self.yaml, "-o", self.path("a.h5"), "--force", *arguments],
                                   stdout=subprocess.DEVNULL, stderr=follower, env=dict(os.environ, TERM=terminal))
        os.close(follower)
        drawn = b""
        try:
            while chunk := os.read(leader, 4096):
                drawn += chunk
        except OSError:  # the end, on Linux
            pass
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return drawn.decode()

    def test_bar(self):
        drawn = self.on_terminal("--set", "training.engine=explicit", "--set", "training.time=300")
        lines = [line for line in drawn.split("\r") if line.startswith("train [")]
        self.assertGreater(len(lines), 1, drawn)
        self.assertRegex(lines[-1], r"^train \[#*\.*\] +\d+ %  [0-9.]+ [kMG]? ?seed-steps/s  .* left\x1b\[K$")
        self.assertTrue(all(len(line) < 80 + len("\x1b[K") for line in lines))
        self.assertTrue(drawn.endswith("\r\x1b[K"), drawn[-40:])

    def test_no_bar(self):
        options = ("--set", "training.engine=explicit")
        self.assertEqual(self.on_terminal("--quiet", *options), "")
        self.assertEqual(self.on_terminal(*options, terminal="dumb"), "")
        self.assertEqual(run("train", self.yaml, "-o", self.path("a.h5"), "--force", *options)[1], "")

    def test_quiet(self):
        self.assertEqual(run("train", self.yaml, "-o", self.path("a.h5"), "--quiet"), ("", ""))


if __name__ == "__main__":
    unittest.main()
