# SPDX-License-Identifier: MIT
"""Numbers, shapes and types of arguments: what numpy would convert on the way is refused, by name."""

import inspect
import unittest

import numpy as np

import espalier
from espalier import TRANSFORM, Read, Transform, Write
from support import WorldCase


def bad_vectors(count):
    """What is not `count` numbers, and the error that each is."""
    good = [0.0] * count
    return [
        (good[1:], ValueError),
        (good + [0.0], ValueError),
        ([good], ValueError),
        (5.0, ValueError),
        (["1"] * count, TypeError),
        ("a" * count, TypeError),
        ([None] + good[1:], TypeError),
        ([1j] + good[1:], TypeError),
        ([True] * count, TypeError),
        ({}, TypeError),
        (None, TypeError),
    ]


BAD_NUMBERS = [("1", TypeError), (1j, TypeError), (None, TypeError), (True, TypeError), ([1.0], ValueError)]
BAD_WORDS = BAD_NUMBERS + [(-1, ValueError), (2**32, ValueError), (0.5, ValueError), (np.nan, ValueError)]
AXIS, QUAT = [1, 0, 0], [0, 0, 0, 1]

# For each function of rotations its arguments: a valid value, and the numbers that it needs, or None.
ROTATIONS = {
    "quat_between": {"start": (AXIS, 3), "end": ([0, 1, 0], 3)},
    "quat_from_axis_angle": {"axis": (AXIS, 3), "angle": (1, None)},
    "quat_from_euler": {"angles": (AXIS, 3), "order": (0, None)},
    "quat_multiply": {"a": (QUAT, 4), "b": (QUAT, 4)},
    "quat_rotate": {"quat": (QUAT, 4), "vector": (AXIS, 3)},
    "quat_slerp": {"a": (QUAT, 4), "b": (QUAT, 4), "t": (0.5, None)},
    "quat_to_axis_angle": {"quat": (QUAT, 4)},
    "quat_to_euler": {"quat": (QUAT, 4), "order": (0, None)},
}


class Arguments(WorldCase):
    def refuses(self, call, bad, kind, name):
        """A call with a bad value raises an error of this kind that names the argument; nothing has changed."""
        before = self.world.hash(physical=True)
        with self.assertRaises(kind, msg=f"{name} {bad!r}") as caught:
            call(bad)
        self.assertIn(name, str(caught.exception), f"{name} {bad!r}")
        self.assertEqual(self.world.hash(physical=True), before)

    def test_every_function_of_rotations_checks_its_arguments(self):
        self.assertEqual(set(ROTATIONS), {name for name in espalier.__all__ if name.startswith("quat_")})
        for function, row in ROTATIONS.items():
            call = getattr(espalier, function)
            self.assertEqual(list(inspect.signature(call).parameters), list(row))
            valid = {name: value for name, (value, _) in row.items()}
            call(**valid)
            for name, (_, count) in row.items():
                for bad, kind in bad_vectors(count) if count else []:
                    self.refuses(lambda value: call(**{**valid, name: value}), bad, kind, name)

    def test_every_part_of_a_transform_is_checked(self):
        parts = {
            "position": bad_vectors(3),
            "rotation": bad_vectors(4),
            "stretch": bad_vectors(3),
            "scale": BAD_NUMBERS,
            "user_data": BAD_WORDS,
        }
        self.assertEqual(set(parts), set(inspect.signature(Transform).parameters))
        entity = self.world.create()
        calls = {
            "Transform": Transform,
            "create": self.world.create,
            "instantiate": lambda **given: self.world.instantiate(entity, **given),
            "set_local": lambda **given: self.world.set_local(entity, **given),
            "set_world": lambda **given: self.world.set_world(entity, **given),
        }
        for part, bads in parts.items():
            for bad, kind in bads:
                for method, call in calls.items():
                    if bad is None and method != "Transform":
                        continue  # it stands for a part that is not given
                    self.refuses(lambda value: call(**{part: value}), bad, kind, part)
        for bad in (np.zeros(12, np.float32), 5, [1.0], np.zeros((), espalier.POSE), "text"):
            self.refuses(Transform.from_array, bad, TypeError, "array")
        for bad, kind in (([1.0] * 16, ValueError), (np.eye(3), ValueError), ([["1"] * 4] * 4, TypeError)):
            self.refuses(Transform.from_matrix, bad, kind, "matrix")

    def test_every_kind_of_write_checks_its_value(self):
        entity = self.world.create()
        recorder = self.world.commands().recorder()
        for kind in Write:
            shape = {Write.LOCAL_SCALE: (), Write.WORLD_SCALE: (), Write.MULTIPLY_SCALE: (), Write.USER_DATA: ()}
            if "TRANSFORM" in kind.name or "POSE" in kind.name:
                continue
            if kind in shape:
                bads = BAD_WORDS if kind == Write.USER_DATA else BAD_NUMBERS
            else:
                bads = bad_vectors(4 if "ROT" in kind.name else 3)
            for bad, error in bads:
                self.refuses(lambda value: self.world.write_one(entity, kind, value), bad, error, "value")
                self.refuses(lambda value: recorder.write_one(entity, kind, value), bad, error, "value")

    def test_whole_numbers_are_those_of_their_type(self):
        entity = self.world.create()
        recorder = self.world.commands().recorder()
        bad = [(2**64, ValueError, "18446744073709551616"), ("x", TypeError, "str"), (None, TypeError, "None")]
        for call in (
            self.world.parent,
            self.world.destroy,
            self.world.children,
            self.world.subtree,
            self.world.name,
            self.world.world_position,
            recorder.destroy,
            lambda value: self.world.attach(value, entity),
            lambda value: self.world.view(value).__enter__(),
            lambda value: self.world.destroy(entity, value),
            lambda value: self.world.set_inherit(entity, value),
            lambda value: recorder.detach(entity, key=value),
        ):
            for value, kind, words in bad:
                self.refuses(call, value, kind, words)
        for name in ("parent", "before", "link", "inherit"):
            for value, kind, _ in bad:
                self.refuses(lambda value: self.world.create(**{name: value}), value, kind, name)
        for value in (-1, 2**32):
            self.refuses(lambda value: recorder.detach(entity, key=value), value, ValueError, str(value))
            self.refuses(self.world.commands, value, ValueError, str(value))
            self.refuses(lambda value: espalier.World(tag=value), value, ValueError, "tag")
        self.refuses(lambda value: self.world.query(since=value), -1, ValueError, "since")

    def test_names_and_components_have_their_types(self):
        entity = self.world.create()
        for bad in (5, b"x", ["x"]):
            self.refuses(self.world.register, bad, TypeError, "name must be a str")
            self.refuses(lambda value: self.world.set_name(entity, value), bad, TypeError, "name")
            self.refuses(lambda value: self.world.find(value, entity), bad, TypeError, "path")
            if bad is not None:
                self.refuses(lambda value: self.world.create(name=value), bad, TypeError, "name")
            self.refuses(
                lambda value: self.world.set_enabled(entity, value), bad, TypeError, "enabled"
            )
        for bad in (5, "x", None):
            self.refuses(lambda value: self.world.query([value]), bad, TypeError, "component")
            self.refuses(lambda value: self.world.add_component(entity, value), bad, TypeError, "component")
            self.refuses(lambda value: self.world.get_component(entity, value), bad, TypeError, "component")

    def test_batches_check_handles_and_values(self):
        entities = self.world.create_many(2)
        for bad in ([1.5, 2.5], ["1", "2"], [True, False], [None, 1], [1j]):
            for call in (
                lambda value: self.world.destroy_many(value),
                lambda value: self.world.read_many(value, Read.LOCAL_SCALE),
                lambda value: self.world.write_many(value, Write.LOCAL_SCALE, 1),
                lambda value: self.world.write(value, scales=1),
                lambda value: self.world.attach_many(value, entities[0]),
            ):
                self.refuses(call, bad, TypeError, "handles")
        for bad, kind in ((["1", "2"], TypeError), ([1.0] * 3, ValueError), (None, TypeError)):
            self.refuses(
                lambda value: self.world.write_many(entities, Write.LOCAL_SCALE, value), bad, kind, "value"
            )
        positions = np.zeros((2, 3))
        for given in ({}, {"rotations": [0, 0, 0, 1], "scales": 1}):
            for bad, kind in ((np.zeros((3, 3)), ValueError), ([["1"] * 3] * 2, TypeError), (1j, TypeError)):
                self.refuses(
                    lambda value: self.world.write(entities, positions=value, **given), bad, kind, "position"
                )
            self.world.write(entities, positions=positions, **given)
        for bad in (-1, 2**32, 0.5, [1, -1]):
            self.refuses(
                lambda value: self.world.write(entities, user_data=value), bad, ValueError, "user_data"
            )
        for bad in ([0.0, 0.0], 5, "text"):
            self.refuses(
                lambda value: self.world.read_many(entities, Read.LOCAL_SCALE, out=value),
                bad, TypeError, "out",
            )
        for bad in (np.zeros(3, np.float32), np.zeros(2), np.zeros((2, 1), np.float32), np.zeros(4, np.float32)[::2]):
            self.refuses(
                lambda value: self.world.read_many(entities, Read.LOCAL_SCALE, out=value),
                bad, ValueError, "out",
            )

    def test_values_of_components_are_numbers_that_their_types_have(self):
        entity = self.world.create()
        for name in ("i1", "u1", "i2", "u2", "i4", "u4"):
            limits = np.iinfo(name)
            component = self.world.register(name, name)
            for bad in (limits.min - 1, limits.max + 1, 0.5, np.nan, np.inf):
                self.refuses(
                    lambda value: self.world.add_component(entity, component, value), bad, ValueError, name
                )
            self.refuses(
                lambda value: self.world.add_component(entity, component, value), "1", TypeError, name
            )
            self.world.add_component(entity, component, limits.max)
            self.assertEqual(self.world.get_component(entity, component), limits.max)
            self.world.set_component(entity, component, float(limits.min))
            self.assertEqual(self.world.get_component(entity, component), limits.min)
            self.refuses(
                lambda value: self.world.set_components([entity], component, value),
                [limits.max + 1], ValueError, "value",
            )
            with self.world.query(all=[component]) as query:
                for bad, kind in ((0.5, ValueError), ("1", TypeError), ([1, 2], ValueError)):
                    self.refuses(lambda value: query.write(component, value), bad, kind, "value")
        fields = self.world.register("fields", [("hits", "u1"), ("place", "f4", 3)])
        for bad, kind in (({"hits": 256}, ValueError), ({"hits": "1"}, TypeError), ({"place": ["1"] * 3}, TypeError)):
            self.refuses(lambda value: self.world.add_component(entity, fields, value), bad, kind, "field")

    def test_numbers_of_other_types_that_fit_are_taken(self):
        entity = self.world.create(position=np.arange(3), scale=np.int64(2), user_data=np.float64(7))
        self.assertEqual(self.world.local_transform(entity).position.tolist(), [0, 1, 2])
        self.assertEqual(self.world.local_transform(entity).scale, 2)
        self.assertEqual(self.world.local_transform(entity).user_data, 7)
        self.assertEqual(TRANSFORM, np.asarray(self.world.local_transform(entity)).dtype)


if __name__ == "__main__":
    unittest.main()
