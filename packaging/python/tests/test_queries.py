# SPDX-License-Identifier: MIT
"""Components, queries, views, and the lifetime of arrays that are not copies."""

import gc
import unittest

import numpy as np

import espalier
from espalier import ENTITY, HAS_TRANSFORM, Include, Read, Status, World, Write
from support import WorldCase, run_program

VECTOR = np.dtype((np.float32, 3))


class Components(WorldCase):
    def test_values_of_many_types_come_back(self):
        for number, (dtype, value) in enumerate(
            [
                (np.float64, 1.5),
                (np.int8, -3),
                (VECTOR, [1, 2, 3]),
                (np.dtype(("i2", (2, 2))), [[1, 2], [3, 4]]),
                ([("a", "i4"), ("b", "f8")], (1, 2.5)),
                (np.dtype([("a", "u1"), ("b", "f8")], align=True), (1, 2.5)),
                (np.dtype("S5"), b"abc"),
                (np.dtype("datetime64[s]"), np.datetime64("2020-01-01")),
            ]
        ):
            component = self.world.register(f"c{number}", dtype)
            entity = self.world.create(components={component: value})
            wanted = np.array(value, dtype=component.dtype.base)
            self.assertEqual(np.asarray(self.world.get_component(entity, component)).tolist(), wanted.tolist())
            self.assertIs(self.world.component(f"c{number}"), component)

    def test_a_dict_names_fields_and_the_rest_is_zero(self):
        body = self.world.register("body", [("mass", "f4"), ("at", "f4", 3)])
        entity = self.world.create()
        self.world.add_component(entity, body, {"mass": 2})
        value = self.world.get_component(entity, body)
        self.assertEqual((value["mass"], value["at"].tolist()), (2, [0, 0, 0]))
        self.world.set_component(entity, body, (3, (1, 2, 3)))
        self.assertEqual(self.world.get_component(entity, body)["at"].tolist(), [1, 2, 3])
        with self.assertRaises(KeyError):
            self.world.set_component(entity, body, {"weight": 1})
        with self.assertRaises(ValueError):
            self.world.set_component(entity, body, (1, 2, 3, 4))

    def test_components_of_many_entities(self):
        speed = self.world.register("speed", np.float32)
        entities = self.world.create_many(500)
        self.world.add_component(entities, speed, 4)
        self.assertTrue((self.world.get_components(entities, speed) == 4).all())
        values = np.arange(500, dtype=np.float32)
        self.world.set_components(entities[::-1], speed, values)
        self.assertBits(self.world.get_components(entities, speed), values[::-1].copy())
        self.world.remove_component(entities[7], speed)
        self.assertFalse(self.world.has_component(entities[7], speed))
        before = self.world.hash()
        for call in (
            lambda: self.world.set_components(entities, speed, 9),
            lambda: self.world.get_components(entities, speed),
        ):
            with self.assertRaises(espalier.ComponentError) as caught:
                call()
            self.assertEqual(caught.exception.index, 7)
        self.assertEqual(self.world.hash(), before)

    def test_a_change_of_components_is_all_or_nothing(self):
        speed, tag = self.world.register("speed", np.float32), self.world.register("tag")
        entities = self.world.create_many(3)
        self.world.change_components(entities, {speed: 5}, [tag])
        self.world.change_components(entities[:2], {speed: 6, tag: None})
        self.assertEqual(self.world.get_components(entities, speed).tolist(), [6, 6, 5])
        self.assertEqual([self.world.has_component(e, tag) for e in entities], [True, True, False])
        self.world.destroy(entities[2])
        call = lambda: self.world.change_components(entities, {speed: 7}, [tag])
        self.assertRefused(espalier.EntityError, call, status=Status.ERR_DEAD, index=2)
        with self.assertRaises(ValueError):
            self.world.set_components(entities[:2], speed, [1, 2, 3])

    def test_components_are_equal_in_one_world_only(self):
        speed = self.world.register("speed", np.float32)
        self.assertEqual(self.world.component("speed"), speed)
        with World() as other:
            self.assertNotEqual(other.register("speed", np.float32), speed)
        self.assertNotEqual(speed, espalier.ROOT)
        self.assertEqual(len({speed, self.world.component("speed"), espalier.ROOT}), 2)
        self.assertEqual((speed.size, self.world.register("tag").size), (4, 0))

    def test_tags_have_no_values(self):
        tag = self.world.register("tag")
        entity = self.world.create(components=[tag])
        self.assertTrue(self.world.has_component(entity, tag))
        for call in (
            lambda: self.world.get_component(entity, tag),
            lambda: self.world.add_component(entity, tag, 1),
            lambda: self.world.add_component(entity, espalier.ROOT),
        ):
            with self.assertRaises(espalier.ArgumentError):
                call()

    def test_components_of_another_world_are_refused(self):
        with World() as other:
            foreign = other.register("speed", np.float32)
            self.world.register("speed", np.float32)
            entity = self.world.create()
            for call in (
                lambda: self.world.add_component(entity, foreign, 1),
                lambda: self.world.query([foreign]),
                lambda: self.world.create(components=[foreign]),
                lambda: self.world.has_component(entity, foreign),
            ):
                with self.assertRaises(espalier.ArgumentError):
                    call()

    def test_types_that_the_library_cannot_hold_are_refused(self):
        for dtype in (object, np.dtype("S0"), np.dtype(("u1", 5000))):
            with self.assertRaises(espalier.EspalierError):
                self.world.register("bad", dtype)
        for references in (["missing"], ["small"]):
            with self.assertRaises(espalier.ArgumentError):
                self.world.register("bad", [("small", "u4")], references=references)
        for name in ("", "a" * 256, "a\0b", "transform"):
            with self.assertRaises(espalier.ArgumentError):
                self.world.register(name)
        with self.assertRaises(KeyError):
            self.world.component("bad")

    def test_references_in_arrays_are_followed(self):
        squad = self.world.register("squad", [("n", "u8"), ("of", ENTITY, 2)], references=["of"])
        source = self.world.create()
        child = self.world.create(parent=source)
        outside = self.world.create()
        for of in ((child, outside), (outside, child), (child, child)):
            self.world.add_component(source, squad, (child, of))
            clone = self.world.instantiate(source)
            other = self.world.children(clone)[0]
            value = self.world.get_component(clone, squad)
            self.assertEqual(value["of"].tolist(), [other if e == child else e for e in of])
            self.assertEqual(value["n"], child)


class Queries(WorldCase):
    def setUp(self):
        super().setUp()
        self.use_cells()
        self.speed = self.world.register("speed", VECTOR)
        self.tag = self.world.register("tag")
        self.movers = self.world.create_many(300, components=[self.speed])
        self.tagged = self.world.create_many(200, components=[self.speed, self.tag])
        self.world.create_many(50)
        self.world.create_many(20, transform=False, components=[self.tag])
        rng = np.random.default_rng(1)
        self.all = np.concatenate([self.movers, self.tagged])
        self.world.set_components(self.all, self.speed, rng.normal(size=(500, 3)))
        self.world.write(self.all, positions=rng.normal(size=(500, 3)))
        self.world.write_many(self.all, Write.CELL, rng.integers(-9, 10, size=(500, 3)))

    def found(self, *args, **kwargs):
        with self.world.query(*args, **kwargs) as query:
            return set(query.entities().tolist())

    def test_terms_select(self):
        movers, tagged = set(self.movers.tolist()), set(self.tagged.tolist())
        self.assertEqual(self.found([self.speed]), movers | tagged)
        self.assertEqual(self.found([self.speed], none=[self.tag]), movers)
        self.assertEqual(self.found([self.speed, self.tag]), tagged)
        self.assertEqual(len(self.found(any=[self.speed, self.tag])), 520)
        self.assertEqual(len(self.found()), 570)
        self.assertEqual(len(self.found([HAS_TRANSFORM])), 550)
        self.world.set_enabled(self.movers[0], False)
        self.assertFalse(self.world.is_enabled(self.movers[0]))
        self.assertEqual(len(self.found([self.speed])), 499)
        self.assertEqual(len(self.found([self.speed], include=Include.DISABLED)), 500)
        self.world.add_component(self.movers[1], espalier.PREFAB)
        self.assertEqual(len(self.found([self.speed])), 498)
        self.assertEqual(len(self.found([self.speed], include=Include.PREFABS)), 499)
        both = Include.PREFABS | Include.DISABLED
        self.assertEqual(len(self.found([self.speed], include=both)), 500)
        self.world.remove_component(self.movers[1], espalier.PREFAB)
        self.world.set_enabled(self.movers[0], True)
        self.assertEqual(len(self.found([self.speed])), 500)

    def test_rows_of_all_reads_belong_together(self):
        with self.world.query([self.speed]) as query:
            entities = query.entities()
            self.assertEqual(len(query), 500)
            self.assertBits(query.read(self.speed), self.world.get_components(entities, self.speed))
            for kind in Read:
                self.assertBits(query.transforms(kind), self.world.read_many(entities, kind))
            begin = 0
            for chunk in query:
                end = begin + len(chunk)
                self.assertLessEqual(len(chunk), 128)
                self.assertBits(chunk.entities, entities[begin:end])
                self.assertBits(chunk[self.speed], self.world.get_components(entities[begin:end], self.speed))
                where = chunk.transforms(Read.WORLD_POSITION)
                self.assertBits(where, self.world.world_positions(entities[begin:end]))
                self.assertIn(self.speed, chunk)
                begin = end
            self.assertEqual(begin, 500)

    def test_writes_of_columns(self):
        values = np.random.default_rng(2).normal(size=(500, 3)).astype(np.float32)
        with self.world.query([self.speed]) as query:
            query.write(self.speed, values)
            self.assertBits(self.world.get_components(query.entities(), self.speed), values)
            for chunk in query:
                chunk.write(self.speed, -chunk[self.speed])
            self.assertBits(query.read(self.speed), -values)
            query.write(self.speed, (1, 2, 3))
            self.assertTrue((query.read(self.speed) == (1, 2, 3)).all())
            for bad in (np.zeros((499, 3)), np.zeros(4)):
                with self.assertRaises(ValueError):
                    query.write(self.speed, bad)

    def test_what_some_entity_lacks_is_refused(self):
        with self.world.query(any=[self.speed, self.tag]) as query:
            for call in (
                lambda: query.read(self.speed),
                lambda: query.write(self.speed, 0),
                lambda: query.transforms(),
            ):
                with self.assertRaises(espalier.ComponentError):
                    call()
            for call in (lambda: query.read(self.tag), lambda: query.transforms(77)):
                with self.assertRaises(espalier.ArgumentError):
                    call()
            lacking = [chunk for chunk in query if self.speed not in chunk]
            self.assertEqual(sum(map(len, lacking)), 20)
            self.assertTrue(all(self.tag in chunk for chunk in lacking))
            self.assertFalse(any(HAS_TRANSFORM in chunk for chunk in lacking))
            self.assertEqual(sum(len(chunk) for chunk in query if self.tag in chunk), 220)
            with self.assertRaises(espalier.ComponentError):
                lacking[0][self.speed]
        self.assertEqual(int((self.world.get_components(self.all, self.speed) == 0).all()), 0)

    def test_changed_finds_chunks_that_were_written(self):
        since = self.world.version
        self.assertEqual(len(self.found(changed=[self.speed], since=since)), 0)
        self.world.set_component(self.tagged[150], self.speed, (1, 2, 3))
        found = self.found(changed=[self.speed], since=since)
        self.assertIn(int(self.tagged[150]), found)
        self.assertLessEqual(len(found), 128)
        with self.world.query(changed=[self.speed], since=since) as query:
            rows = len(query)
            self.world.set_component(self.movers[0], self.speed, (0, 0, 0))
            self.assertEqual((len(query), len(query.entities())), (rows, rows))

    def test_structure_stays_in_a_block(self):
        with self.world.query() as outer:
            with self.world.query([self.speed]):
                for call in (
                    lambda: self.world.create(),
                    lambda: self.world.destroy(self.movers[0]),
                    lambda: self.world.attach(self.movers[0], self.movers[1]),
                    lambda: self.world.add_component(self.movers[0], self.tag),
                    lambda: self.world.register("late"),
                    lambda: self.world.compact(),
                    lambda: self.world.clear(),
                    lambda: self.world.commands().play(),
                ):
                    with self.assertRaises(espalier.BusyError):
                        call()
            with self.assertRaises(espalier.BusyError):
                self.world.create()
            with self.assertRaises(espalier.ArgumentError):
                outer.__enter__()
        self.world.create()

    def test_names_values_and_transforms_may_be_written_in_a_block(self):
        entity = self.movers[0]
        with self.world.query([self.speed]):
            self.world.set_name(entity, "first")
            self.world.set_component(entity, self.speed, (7, 8, 9))
            self.world.set_local(entity, position=(1, 2, 3))
        self.assertEqual(self.world.name(entity), "first")
        self.assertEqual(self.world.get_component(entity, self.speed).tolist(), [7, 8, 9])
        self.assertEqual(self.world.world_position(entity).tolist(), [1, 2, 3])

    def test_a_query_of_too_many_components_is_refused(self):
        many = [self.world.register(f"c{number}") for number in range(65)]
        with self.assertRaises(espalier.LimitError):
            self.found(many)
        self.world.create()

    def test_after_the_block_calls_raise(self):
        with self.world.query([self.speed]) as query:
            chunk = next(iter(query))
        rest = iter(query)
        for call in (
            lambda: len(query),
            lambda: query.entities(),
            lambda: query.read(self.speed),
            lambda: chunk.entities,
            lambda: chunk[self.speed],
            lambda: chunk.write(self.speed, 0),
            lambda: chunk.transforms(),
            lambda: next(rest),
        ):
            with self.assertRaises(espalier.ClosedError):
                call()
        with query:
            self.assertEqual(len(query), 500)

    def test_an_exception_ends_the_block(self):
        with self.assertRaises(ZeroDivisionError):
            with self.world.query():
                1 / 0
        self.world.create()


class Lifetimes(WorldCase):
    def setUp(self):
        super().setUp()
        self.mass = self.world.register("mass", np.float64)
        self.entities = self.world.create_many(1000, components={self.mass: 5})

    def test_an_array_shows_writes_and_cannot_be_written(self):
        with self.world.query([self.mass]) as query:
            chunk = next(iter(query))
            shown = chunk[self.mass]
            self.assertTrue((shown == 5).all())
            self.world.set_component(chunk.entities[3], self.mass, 7)
            self.assertEqual(shown[3], 7)
            with self.assertRaises(ValueError):
                shown[0] = 1
            for array in (shown, shown[2:], chunk.entities):
                with self.assertRaises(ValueError):
                    array.flags.writeable = True

    def test_an_array_that_outlives_everything_is_still_memory(self):
        kept = []
        with self.world.query([self.mass]) as query:
            for chunk in query:
                kept.append(chunk[self.mass][1:3])
                kept.append(chunk.entities)
        self.assertEqual(self.world.stats().bytes_kept_for_views, 0)
        self.world.destroy_many(self.entities)
        self.world.compact()
        held = self.world.stats().bytes_kept_for_views
        self.assertGreaterEqual(held, 1000 * 16)
        for _ in range(50):
            self.world.destroy_many(self.world.create_many(1000, components={self.mass: 1}))
            self.world.compact()
        self.assertEqual(self.world.stats().bytes_kept_for_views, held)
        half = len(kept) // 2
        del kept[:half]
        gc.collect()
        self.assertLess(self.world.stats().bytes_kept_for_views, held)
        self.world.close()
        sizes = [len(array.tobytes()) for array in kept]
        self.assertEqual(sizes, [array.nbytes for array in kept])
        kept.clear()
        gc.collect()

    def test_memory_is_freed_with_the_last_array(self):
        with self.world.query([self.mass]) as query:
            kept = [chunk[self.mass] for chunk in query]
        self.world.destroy_many(self.entities)
        self.world.compact()
        self.assertGreater(self.world.stats().bytes_kept_for_views, 0)
        part = kept[0][::2]
        kept.clear()
        gc.collect()
        one = self.world.stats().bytes_kept_for_views
        self.assertGreater(one, 0)
        del part
        gc.collect()
        self.assertEqual(self.world.stats().bytes_kept_for_views, 0)

    def test_a_world_may_be_closed_in_a_block(self):
        with self.world.query([self.mass]) as query:
            shown = next(iter(query))[self.mass]
            self.world.close()
            with self.assertRaises(espalier.ClosedError):
                query.entities()
        self.assertEqual(len(shown.tobytes()), 128 * 8)

    def test_a_large_block_stays_mapped_in_a_process_of_its_own(self):
        # The block is far larger than what malloc() keeps, so that reading it after a free() would
        # end the process.
        program = (
            "import espalier\n"
            "world = espalier.World()\n"
            "root = world.create()\n"
            "world.create_many(200_000, parent=root)\n"
            "with world.view(root) as view:\n"
            "    shown = view.poses\n"
            "world.close()\n"
            "del world, view\n"
            "print(len(shown.tobytes()))\n"
        )
        done = run_program(program)
        self.assertEqual((done.returncode, done.stdout), (0, f"{200_001 * 32}\n"), done.stderr)

    def test_a_view_shows_a_hierarchy_in_order(self):
        rng = np.random.default_rng(3)
        order = rng.permutation(self.entities)
        self.world.attach_many(order[1:], order[[rng.integers(i) for i in range(1, 1000)]])
        self.world.write(order, positions=rng.normal(size=(1000, 3)))
        with self.world.view(order[500]) as view:
            self.assertEqual(len(view), 1000)
            entities, parents, depths = view.entities(), view.parents(), view.depths()
            self.assertEqual(entities[0], order[0])
            self.assertBits(view.positions.copy(), self.world.world_positions(entities))
            self.assertBits(view.rotations.copy(), self.world.world_rotations(entities))
            self.assertBits(view.scales.copy(), self.world.world_transforms(entities)["scale"].copy())
            self.assertEqual((parents[0], depths[0]), (-1, 0))
            self.assertTrue((parents[1:] < np.arange(1, 1000)).all())
            for row in range(1, 1000, 97):
                self.assertEqual(self.world.parent(entities[row]), entities[parents[row]])
                self.assertEqual(self.world.depth(entities[row]), depths[row])
            self.assertTrue((np.diff(depths.astype(int)) >= 0).all())
            shown = view.positions
            self.world.translate(order[0], (100, 0, 0))
            self.assertBits(shown.copy(), self.world.world_positions(entities))
            with self.assertRaises(espalier.BusyError):
                self.world.detach(order[5])
        for call in (lambda: len(view), lambda: view.positions, lambda: view.entities()):
            with self.assertRaises(espalier.ClosedError):
                call()
        self.world.detach(order[5])
        with self.world.query():
            with self.assertRaises(espalier.BusyError):
                with self.world.view(order[0]):
                    pass
        with self.world.view(order[0]) as view:
            copies = view.entities(), view.parents(), view.depths()
        self.assertTrue(all(copy.flags.owndata for copy in copies))
        self.world.close()
        self.assertEqual(len(shown.tobytes()), 1000 * 12)

    def test_a_view_of_one_entity_has_one_row(self):
        with self.world.view(self.entities[0]) as view:
            self.assertEqual((len(view), view.entities().tolist()), (1, [self.entities[0]]))
            self.assertEqual((view.parents().tolist(), view.depths().tolist()), ([-1], [0]))
            self.assertEqual(view.positions.tolist(), [[0, 0, 0]])

    def test_a_view_of_no_entity_is_refused(self):
        with self.assertRaises(espalier.EntityError) as caught:
            with self.world.view(0):
                pass
        self.assertEqual(caught.exception.status, Status.ERR_NULL_ENTITY)
        self.world.create()


if __name__ == "__main__":
    unittest.main()
