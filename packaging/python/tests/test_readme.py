# SPDX-License-Identifier: MIT
"""The programs of README.md run, and print what they should."""

import contextlib
import io
import re
import unittest
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def run(number):
    """Run a program of README.md twice, and return the lines that it printed both times."""
    page = README.read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[number]
    runs = []
    for _ in range(2):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), {})
        runs.append(printed.getvalue().splitlines())
    return runs if runs[0] != runs[1] else runs[0]


@unittest.skipUnless(README.exists(), "the tests lie apart from README.md")
class Readme(unittest.TestCase):
    def test_the_first_program_runs(self):
        lines = run(0)
        self.assertEqual(lines[0], "robot/arm/hand [20.  1.  2.]")
        self.assertEqual(lines[1], "(100000, 3) (100000, 4, 4)")
        self.assertRegex(lines[2], "^the same on every machine: [0-9a-f]{16}$")

    def test_the_program_of_motion_shows_each_frame_one_tick_late(self):
        # There is no tick in the first two frames. Each tick moves by 0.6, a frame by 0.2.
        where = ["0.0", "0.0", "0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        lines = run(1)
        for number, x in enumerate(where):
            self.assertTrue(lines[number].startswith(f"frame {number}: crane at {x}, "), lines[number])
        self.assertEqual([line.split(", ")[1] for line in lines[3:8]], ["2 changed"] * 5)
        self.assertEqual(lines[8:], ["in the world at 1.2, 2 new"])

    def test_the_program_of_a_save_reads_what_an_earlier_version_wrote(self):
        lines = run(2)
        self.assertRegex(lines[0], r"^level 3 <Archive of \d+ bytes>$")
        self.assertEqual(lines[1:], ["[0.75] [100.   5.   0.]", "True 1"])

    def test_the_program_of_a_camera_draws_what_is_inside(self):
        self.assertEqual(run(3), ["0 90 [40.  0. 45.]", "1 216 [ 40.   0. 165.]"])


if __name__ == "__main__":
    unittest.main()
