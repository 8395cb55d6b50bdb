# SPDX-License-Identifier: MIT
"""The program of README.md runs, and prints what it should."""

import contextlib
import io
import re
import unittest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


class Readme(unittest.TestCase):
    @unittest.skipUnless(README.exists(), "the tests lie apart from README.md")
    def test_the_program_runs(self):
        programs = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)
        self.assertEqual(len(programs), 1)
        runs = []
        for _ in range(2):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(programs[0], "README.md", "exec"), {})
            runs.append(printed.getvalue().splitlines())
        lines = runs[0]
        self.assertEqual(lines, runs[1])
        self.assertEqual(lines[0], "robot/arm/hand [20.  1.  2.]")
        self.assertEqual(lines[1], "(100000, 3) (100000, 4, 4)")
        self.assertRegex(lines[2], "^the same on every machine: [0-9a-f]{16}$")


if __name__ == "__main__":
    unittest.main()
