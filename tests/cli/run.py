#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden tests of the command line: run.py --program PATH [--update] [--filter TEXT]

A case is a shell line (bash), what it must print on standard output and standard error, and its exit status. It runs
in an empty folder of its own that holds the files of the case; `headspec` is the program, $SOURCE the source tree.
{{...}} in an expected line is a regular expression; everything else is compared letter by letter.

Small cases stand together in TOPIC.cases:

    @ bad.yaml              a file that follows ...
    | task:                 ... line by line; before the first case: a file of every case below
    [name of the case]
    ~ heads: 3 => heads: -3     that text of the file is replaced (\\n: a new line)
    $ headspec check bad.yaml
    > expected line of standard output
    ! expected line of standard error
    = 2                     exit status; absent: 0

Big cases are folders: `cmd`, `stdout`, `stderr` (absent: nothing), `status` (absent: 0); all other files are copied.
--update writes what was printed into the cases and keeps lines whose {{...}} still match.
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SECONDS = 300  # no case may take longer


class Case:
    def __init__(self, name):
        self.name = name
        self.command = None
        self.files = {}  # name -> text, or a path to copy
        self.stdout, self.stderr = [], []
        self.status = 0


class Table:
    """One TOPIC.cases file. `lines` keeps comments, files and commands for --update."""

    def __init__(self, path):
        self.path = path
        self.cases = []
        self.blocks = []  # (case or None, lines that --update keeps)
        shared, case, current, kept = {}, None, None, []
        self.blocks.append((None, kept))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            mark, rest = line[:2], line[2:]
            files = case.files if case else shared
            if line.startswith("[") and line.endswith("]"):
                case = Case(f"{path.stem}/{line[1:-1]}")
                case.files.update(shared)
                current = None
                kept = [line]
                self.blocks.append((case, kept))
                self.cases.append(case)
                continue
            if mark in ("> ", ">") and case:
                case.stdout.append(rest)
                continue
            if mark in ("! ", "!") and case:
                case.stderr.append(rest)
                continue
            if mark == "= " and case:
                case.status = int(rest)
                continue
            if mark == "@ ":
                current = rest
                files[current] = ""
            elif mark in ("| ", "|") and current in files:
                files[current] += rest + "\n"
            elif mark == "~ " and case and files:
                old, arrow, new = rest.replace("\\n", "\n").partition(" => ")
                name = current or list(files)[-1]
                if not arrow or old not in files[name]:
                    sys.exit(f"{path}:{number}: found '{rest}'; allowed: OLD => NEW, where OLD stands in {name}")
                files[name] = files[name].replace(old, new, 1)
            elif mark == "$ " and case and case.command is None:
                case.command = rest
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: found '{line}'; allowed: [name], @ | ~ $ > ! = and #")
            kept.append(line)
        for case in self.cases:
            if case.command is None:
                sys.exit(f"{path}: [{case.name}] has no command")

    def save(self):
        out = []
        for case, kept in self.blocks:
            while kept and not kept[-1]:
                kept = kept[:-1]
            out += kept
            if case:
                out += [f"> {line}".rstrip() for line in case.stdout]
                out += [f"! {line}".rstrip() for line in case.stderr]
                out += [f"= {case.status}"] if case.status else []
            if kept:
                out.append("")
        self.path.write_text("\n".join(out).rstrip("\n") + "\n")


class Folder:
    """One case that is a folder."""

    def __init__(self, path):
        self.path = path
        case = Case(path.name)
        for file in path.iterdir():
            if file.name not in ("cmd", "stdout", "stderr", "status"):
                case.files[file.name] = file
        case.command = (path / "cmd").read_text().strip()
        case.stdout, case.stderr = self.lines("stdout"), self.lines("stderr")
        case.status = int("".join(self.lines("status")) or 0)
        self.cases = [case]

    def lines(self, name):
        path = self.path / name
        return path.read_text().splitlines() if path.exists() else []

    def save(self):
        case = self.cases[0]
        texts = {"stdout": case.stdout, "stderr": case.stderr, "status": [str(case.status)] if case.status else []}
        for name, lines in texts.items():
            if lines:
                (self.path / name).write_text("\n".join(lines) + "\n")
            else:
                (self.path / name).unlink(missing_ok=True)


def pattern(line):
    """The regular expression of an expected line."""
    parts = re.split(r"\{\{(.*?)\}\}", line)
    return re.compile("".join(f"(?:{part})" if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def same(expected, found):
    return len(expected) == len(found) and all(pattern(e).fullmatch(f) for e, f in zip(expected, found))


def merge(expected, found):
    """The found lines, but the expected one wherever it is a pattern that still matches."""
    patterns = [line for line in expected if "{{" in line]
    merged = []
    for line in found:
        match = next((i for i, p in enumerate(patterns) if pattern(p).fullmatch(line)), None)
        merged.append(line if match is None else patterns[match])
        if match is not None:
            del patterns[: match + 1]
    return merged


def run(case, program):
    """Runs the case; returns what it printed as lines, and its status."""
    with tempfile.TemporaryDirectory(prefix="headspec-cli-") as root:
        root = pathlib.Path(root)
        (root / "bin").mkdir()
        (root / "bin" / "headspec").symlink_to(program)
        folder = root / "work"
        folder.mkdir()
        for name, content in case.files.items():
            if isinstance(content, str):
                (folder / name).write_text(content)
            else:
                shutil.copy(content, folder / name)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("HEADSPEC_", "OMP_", "LC_"))}
        environment.update(LC_ALL="C.UTF-8", TERM="dumb", HOME=str(root), SOURCE=str(SOURCE), TMPDIR=str(root),
                           PATH=f"{root / 'bin'}:{environment.get('PATH', '/usr/bin:/bin')}")
        try:
            done = subprocess.run(["bash", "-c", case.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return [], [f"(still running after {SECONDS} s)"], -1
        texts = [text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr)]
        return [line.rstrip() for line in texts[0].splitlines()], [line.rstrip() for line in texts[1].splitlines()], \
            done.returncode


def report(case, found):
    print(f"FAILED {case.name}\n    $ {case.command}")
    for what, expected, lines in (("stdout", case.stdout, found[0]), ("stderr", case.stderr, found[1])):
        if not same(expected, lines):
            shown = merge(expected, lines)
            for line in difflib.unified_diff(expected, shown, f"{what} expected", f"{what} found", lineterm=""):
                print(f"    {line}")
    if case.status != found[2]:
        print(f"    exit status: expected {case.status}, found {found[2]}")


def main():
    parser = argparse.ArgumentParser(description="Golden tests of the command line.")
    parser.add_argument("--program", required=True, help="the headspec program")
    parser.add_argument("--update", action="store_true", help="write what was printed into the cases")
    parser.add_argument("--filter", default="", help="run only cases whose name contains this")
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"{program} is not a program")

    groups = [Table(path) for path in sorted(HERE.glob("*.cases"))]
    groups += [Folder(path.parent) for path in sorted(HERE.glob("*/cmd"))]
    passed = failed = updated = 0
    for group in groups:
        changed = False
        for case in group.cases:
            if options.filter not in case.name:
                continue
            found = run(case, program)
            if same(case.stdout, found[0]) and same(case.stderr, found[1]) and case.status == found[2]:
                passed += 1
            elif options.update:
                case.stdout, case.stderr = merge(case.stdout, found[0]), merge(case.stderr, found[1])
                case.status = found[2]
                changed = True
                updated += 1
                print(f"updated {case.name}")
            else:
                report(case, found)
                failed += 1
        if changed:
            group.save()
    if passed + failed + updated == 0:
        print(f"no case has '{options.filter}' in its name")
        failed = 1
    print(f"{passed + updated} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
