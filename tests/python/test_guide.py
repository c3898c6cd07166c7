# SPDX-License-Identifier: MIT
# The guide tells the truth: its experiment is valid and every one of its commands runs, in the order of the page.
import os
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HEADSPEC_PROGRAM"]
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "guide.md")


def blocks(kind):
    with open(PAGE, encoding="utf-8") as page:
        return re.findall(r"^```" + kind + r"\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    def test_commands(self):
        (experiment,) = blocks("yaml")
        commands = [line for block in blocks("sh") for line in block.splitlines()]
        self.assertGreaterEqual(len(commands), 10)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "flip.yaml"), "w", encoding="utf-8") as file:
                file.write(experiment)
            for command in commands:
                words = command.split()
                self.assertEqual(words[0], "headspec")
                run = subprocess.run([PROGRAM, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=300)
                self.assertEqual(run.returncode, 0, command + "\n" + run.stderr)
            for name in ["flip.h5", "flip.svg", "quiet.h5", "bayes.h5", "token.h5", "explicit.h5", "reduced.h5"]:
                self.assertTrue(os.path.getsize(os.path.join(folder, name)) > 0, name)


if __name__ == "__main__":
    unittest.main()
