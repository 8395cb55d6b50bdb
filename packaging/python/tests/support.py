# SPDX-License-Identifier: MIT
"""For all tests: formulas in numpy, independent of the library, and the base of tests with a world."""

import subprocess
import sys
import unittest

import numpy as np

from espalier import World


def multiply(a, b):
    """Return the product of quaternions x, y, z, w, in double precision; (4,) or (n, 4)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by + ay * bw + az * bx - ax * bz,
            aw * bz + az * bw + ax * by - ay * bx,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def rotation_matrix(quat):
    """Return the 3 x 3 matrices of quaternions of unit length; (4,) or (n, 4)."""
    x, y, z, w = np.moveaxis(np.asarray(quat, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), [0, 1], [-2, -1])


def unit(rng, count):
    """Return random quaternions of unit length, (count, 4)."""
    quats = rng.normal(size=(count, 4))
    return (quats / np.linalg.norm(quats, axis=1, keepdims=True)).astype(np.float32)


def run_program(program, environment=None):
    """Run a Python program in a process of its own; its output is text."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


class WorldCase(unittest.TestCase):
    """A test with a world, whose invariants hold at the end of the test."""

    def setUp(self):
        self.world = World(tag=1)
        self.addCleanup(self.world.close)

    def use_cells(self):
        """Take a world with cells, in which every kind can be read and written, instead of the one at hand."""
        self.world.close()
        self.world = World(tag=1, cell_size=2048)
        self.addCleanup(self.world.close)

    def tearDown(self):
        if not self.world.closed:
            self.assertIsNone(self.world.validate())

    def assertRefused(self, kind, call, **fields):
        """The call raises an error of exactly this class with these fields; nothing has changed."""
        before = None if self.world.closed else self.world.hash(physical=True)
        with self.assertRaises(kind) as caught:
            call()
        self.assertIs(type(caught.exception), kind)
        for name, value in fields.items():
            self.assertEqual(getattr(caught.exception, name), value)
        if before is not None:
            self.assertEqual(self.world.hash(physical=True), before)

    def assertBits(self, a, b):
        """Both arrays have the same shape and the same bytes."""
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        self.assertEqual(a.tobytes(), b.tobytes())
