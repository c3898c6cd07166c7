# SPDX-License-Identifier: MIT
# headspec plot from end to end: what comes out is a figure, and the one that was asked for.
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

PROGRAM = os.environ["HEADSPEC_PROGRAM"]
GNUPLOT = shutil.which("gnuplot")
XLINK = "{http://www.w3.org/1999/xlink}href"
EXPERIMENT = """\
task: {tokens: 4, dimension: 60, signal: {kind: gaussian, mean: [1, 0], variance: [0, 4]}}
layer: {heads: 3, activation: softmax1}
training: {time: 4, seeds: 5, records: 20}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def png(data):
    """Width, height and the bytes of the decoded rows."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            pixels += body
        at += 12 + length
    return width, height, zlib.decompress(pixels)


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.folder.name, "small.yaml"), "w") as file:
            file.write(EXPERIMENT)
        for name, seed in (("small", 1), ("other", 2)):
            subprocess.run([PROGRAM, "train", "small.yaml", "-o", name + ".h5", "--quiet", "--set",
                            f"training.seed={seed}"], cwd=cls.folder.name, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def plot(self, *options, archive="small.h5", status=0, environment=None):
        done = subprocess.run([PROGRAM, "plot", archive, *options], cwd=self.folder.name, capture_output=True, text=True,
                              env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ids(self, name):
        root = ElementTree.parse(self.path(name)).getroot()
        found = [node.get("id") for node in root.iter() if node.get("id")]
        self.assertEqual(len(found), len(set(found)), name)
        used = [node.get(XLINK) for node in root.iter() if node.get(XLINK)]
        used += ["#" + use for use in re.findall(r"url\(#([^)]*)\)", read(self.path(name)).decode())]
        for use in used:
            self.assertIn(use[1:], found)
        return set(found)

    def test_svg(self):
        self.plot("-o", "a.svg")
        root = ElementTree.parse(self.path("a.svg")).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual(root.get("width"), "605")
        words = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for expected in ("alignment  mh1", "alignment  mh2", "population loss  E", "samples  N / D", "heads", "3",
                         "mean 0, variance 4", "mean ± s.d.", "single seeds"):
            self.assertIn(expected, words)
        self.assertTrue(any("softmax1, H\u00a0=\u00a03, L\u00a0=\u00a04, D\u00a0=\u00a060" in word for word in words), words)
        self.assertTrue(any("signs of the symmetric feature 2" in word for word in words), words)

    def test_ids_of_several_figures(self):
        os.makedirs(self.path("sub"), exist_ok=True)
        figures = [("small.h5", "one.svg"), ("other.h5", "sub/one.svg"), ("other.h5", "2 <figures>.svg")]
        found = []
        for archive, figure in figures:
            self.plot("-o", figure, archive=archive)
            found.append(self.ids(figure))
        self.plot("-o", "loss.svg", "--panels", "loss")
        found.append(self.ids("loss.svg"))
        self.assertEqual(len(set().union(*found)), sum(map(len, found)))

    def test_same_bytes(self):
        for name in ("same.svg", "same.png"):
            self.plot("-o", name)
            first = read(self.path(name))
            self.plot("-o", name)
            self.assertEqual(first, read(self.path(name)))

    def test_default_path(self):
        self.plot()
        self.assertTrue(read(self.path("small.svg")).startswith(b"<?xml"))

    def test_png(self):
        for size, width, height in (("16x10", 1890, 1181), ("8.6x12.5", 1016, 1476)):
            self.plot("-o", "b.png", "--size", size)
            found = png(read(self.path("b.png")))
            self.assertEqual(found[:2], (width, height))
            self.assertGreater(len(set(found[2])), 50)  # curves and letters, not one colour

    def test_pdf(self):
        self.plot("-o", "c.PDF")
        data = read(self.path("c.PDF"))
        self.assertTrue(data.startswith(b"%PDF-"))
        self.assertTrue(data.rstrip().endswith(b"%%EOF"))

    def test_all_panels(self):
        self.plot("-o", "d.svg", "--panels", "scale,bias,residual,loss,alignment", "--xscale", "log", "--font", "serif,8")
        text = read(self.path("d.svg")).decode()
        for label in ("scale", "bias", "residual", "population loss", "alignment"):
            self.assertIn(">" + label, text)
        self.assertIn('font-family="serif"', text)
        self.assertNotIn("sans-serif", text)
        self.plot("-o", "none.svg", "--no-title")
        self.assertNotIn("softmax1", read(self.path("none.svg")).decode())

    def test_title_is_text(self):
        title = "a_b^c {/:Bold d} @e &f ~g{h} \\n 'i' \"j\" `touch hacked` <k> id=\"l\" $(touch hacked) é"
        self.plot("-o", "e.svg", "--title", title, "--size", "40x20")
        root = ElementTree.parse(self.path("e.svg")).getroot()
        words = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn(title, words)
        self.assertFalse(os.path.exists(self.path("hacked")))

    def test_script(self):
        for form in ("svg", "png"):
            figure, script = f"it's `kept`.{form}", f"{form}.gp"
            self.plot("-o", figure, "--keep-script", script, "--quiet")
            drawn = read(self.path(figure))
            os.remove(self.path(figure))
            subprocess.run([GNUPLOT, "-d", script], cwd=self.folder.name, check=True)
            again = read(self.path(figure))
            if form == "svg":  # what is done to an SVG behind gnuplot
                name = re.search(rb"<title>([^<]*)</title>", drawn).group(1)
                drawn = re.sub(rb"([\"'#])" + name + rb"_(gp|gnuplot|textbox|greybox)", rb"\1\2", drawn)
                drawn = drawn.replace(b' xml:space="preserve"', b"")
                again = again.replace(b' xml:space="preserve"', b"")
            self.assertEqual(drawn, again)
            # A script may have been worked on.
            done = self.plot("-o", figure, "--keep-script", script, status=2)
            self.assertIn("--force", done.stderr)
            self.plot("-o", figure, "--keep-script", script, "--force")

    def test_without_gnuplot(self):
        empty = dict(os.environ, PATH=self.path("no such folder"))
        done = self.plot("-o", "f.svg", status=1, environment=empty)
        self.assertIn("gnuplot-nox", done.stderr)
        self.assertIn("--keep-script", done.stderr)
        done = self.plot("-o", "f.svg", "--keep-script", "f.gp", status=1, environment=empty)
        self.assertIn("the script is in f.gp", done.stderr)
        self.assertFalse(os.path.exists(self.path("f.svg")))
        subprocess.run([GNUPLOT, "-d", "f.gp"], cwd=self.folder.name, check=True)
        ElementTree.parse(self.path("f.svg"))

    def test_json(self):
        done = self.plot("-o", "g.svg", "--json")
        self.assertEqual(re.sub(r"\s", "", done.stdout), '{"figure":"g.svg","seeds":5,"theory":false,"panels":3}')

    def test_refusals(self):
        for options, words in (
            (["-o", "x.jpg"], ".svg, .pdf and .png"),
            (["-o", "small.h5"], ".svg, .pdf and .png"),
            (["--keep-script", "small.h5"], "is the archive that is read"),
            (["--size", "16x"], "--size: found '16x'"),
            (["--size", "axb"], "WIDTHxHEIGHT"),
            (["--size", "3x10"], "allowed are 4 to 200"),
            (["--size", "1e1x10"], "WIDTHxHEIGHT"),
            (["--size", "16x0"], "WIDTHxHEIGHT"),
            (["--size", "5x5", "--font", ",20"], "make the figure larger"),
            (["--font", "a,b"], "NAME,SIZE"),
            (["--font", 'a"b,9'], "letters, digits"),
            (["--panels", "alignment,los"], "found 'los'"),
            (["--title", "a", "--no-title"], "one of them"),
            (["--xscale", "cubic"], "xscale"),
            (["--match", "some"], "match"),
        ):
            with self.subTest(options=options):
                self.assertIn(words, self.plot(*options, status=2).stderr)
        self.plot("-o", "no/such/folder.svg", status=1)
        self.plot(archive="absent.h5", status=1)
        self.plot(archive="small.yaml", status=1)

    def test_old_figure_survives_failure(self):
        with open(self.path("h.svg"), "w") as file:
            file.write("old")
        self.plot("-o", "h.svg", status=1, environment=dict(os.environ, PATH=""))
        self.assertEqual(read(self.path("h.svg")), b"old")
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(".tmp")], [])


if __name__ == "__main__":
    unittest.main()
