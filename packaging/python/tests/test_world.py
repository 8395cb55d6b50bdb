# SPDX-License-Identifier: MIT
"""Worlds, errors, use after close, and threads."""

import gc
import os
import pickle
import sys
import threading
import unittest

import numpy as np

import espalier
from espalier import NULL, Status, World
from espalier._native import ffi, lib
from support import WorldCase, run_program


class Statuses(unittest.TestCase):
    def test_every_status_of_the_library_has_its_name(self):
        for number in range(-64, 8):
            name = ffi.string(lib.espl_status_name(number)).decode()
            if number in list(Status):
                self.assertEqual(name, "ESPL_" + Status(number).name)
            else:
                self.assertEqual(name, "unknown status")

    def test_the_sentence_is_that_of_the_library(self):
        text = ffi.string(lib.espl_status_text(Status.ERR_CYCLE)).decode()
        self.assertEqual(Status.ERR_CYCLE.sentence, text)
        self.assertIn("parent", text)

    def test_the_version_is_that_of_the_library(self):
        major, minor, patch = map(int, espalier.__version__.split("."))
        self.assertEqual(lib.espl_version(), major * 1000000 + minor * 1000 + patch)


class Life(WorldCase):
    def test_a_block_closes_the_world(self):
        with World() as world:
            self.assertFalse(world.closed)
        self.assertTrue(world.closed)
        world.close()

    def test_every_call_of_a_closed_world_raises(self):
        tag = self.world.register("tag")
        entity = self.world.create()
        buffer = self.world.commands()
        recorder = buffer.recorder()
        query, view = self.world.query(), self.world.view(entity)
        image, archive = self.world.save_image(), self.world.write_archive()
        self.world.close()
        calls = [
            lambda: self.world.create(),
            lambda: self.world.destroy(entity),
            lambda: self.world.attach(entity, entity),
            lambda: self.world.parent(entity),
            lambda: self.world.children(entity),
            lambda: self.world.save_image(),
            lambda: self.world.save_image_into(bytearray(image)),
            lambda: self.world.load_image(image),
            lambda: self.world.timeline,
            lambda: self.world.write_archive(),
            lambda: self.world.read_archive(archive),
            lambda: self.world.name(entity),
            lambda: self.world.path(entity),
            lambda: self.world.world_position(entity),
            lambda: self.world.world_positions([entity]),
            lambda: self.world.world_matrices([entity]),
            lambda: self.world.write([entity], positions=(1, 2, 3)),
            lambda: self.world.set_local(entity, position=(1, 2, 3)),
            lambda: self.world.register("other"),
            lambda: self.world.component("tag"),
            lambda: self.world.add_component(entity, tag),
            lambda: self.world.has_component(entity, tag),
            lambda: self.world.commands(),
            lambda: self.world.watch(),
            lambda: self.world.present(0),
            lambda: self.world.start_motion(),
            lambda: self.world.sync(),
            lambda: self.world.hash(),
            lambda: self.world.stats(),
            lambda: self.world.kernels,
            lambda: self.world.validate(),
            lambda: self.world.clear(),
            lambda: self.world.compact(),
            lambda: self.world.reserve(1),
            lambda: self.world.instantiate(entity),
            lambda: self.world.destroy_many([entity]),
            lambda: self.world.attach_many([entity], entity),
            lambda: self.world.are_alive([entity]),
            lambda: self.world.subtree(entity),
            lambda: self.world.dump(entity),
            lambda: self.world.version,
            lambda: self.world.__enter__(),
            lambda: entity in self.world,
            lambda: query.__enter__(),
            lambda: view.__enter__(),
            lambda: buffer.play(),
            lambda: buffer.recorder(),
            lambda: buffer.resolve(entity),
            lambda: buffer.result(0, 0),
            lambda: buffer.submit(),
            lambda: buffer.reset(),
            lambda: buffer.__enter__(),
            lambda: recorder.create(),
            lambda: recorder.destroy(entity),
            lambda: len(buffer),
        ]
        for number, call in enumerate(calls):
            with self.subTest(number), self.assertRaises(espalier.ClosedError) as caught:
                call()
            self.assertEqual(caught.exception.status, Status.ERR_ARGUMENT)
            self.assertIsInstance(caught.exception, ValueError)

    def test_worlds_and_buffers_may_be_dropped_in_any_order(self):
        for _ in range(20):
            world = World()
            buffer = world.commands(4)
            buffer.recorder(3).create()
            buffer.submit()
            world.itself, buffer.itself = world, buffer
            query = world.query()
            query.__enter__()
            del world, buffer, query
        gc.collect()

    def test_a_buffer_that_was_dropped_is_freed_by_a_later_call(self):
        buffer = self.world.commands()
        for _ in range(1000):
            buffer.recorder().create()
        full = self.world.stats().bytes_commands
        del buffer
        gc.collect()
        self.world.create()
        self.assertLess(self.world.stats().bytes_commands, full // 2)

    def test_a_query_that_was_dropped_holds_the_world_no_longer(self):
        query = self.world.query()
        query.__enter__()
        with self.assertRaises(espalier.BusyError):
            self.world.create()
        del query
        gc.collect()
        self.world.create()

    def test_clear_destroys_every_entity(self):
        kept = self.world.register("kept", np.float32)
        entities = self.world.create_many(10, components=[kept])
        self.world.clear()
        self.assertFalse(self.world.are_alive(entities).any())
        self.assertEqual(self.world.stats().entities, 0)
        self.world.create(components={kept: 1})

    def test_stats_count(self):
        root = self.world.create(name="root")
        self.world.create(parent=root)
        self.world.create(transform=False)
        stats = self.world.stats()
        counts = (stats.entities, stats.hierarchies, stats.members, stats.solos, stats.names)
        self.assertEqual(counts, (3, 1, 1, 1, 1))
        self.assertGreater(stats.bytes, 0)

    def test_compact_changes_nothing_that_can_be_read(self):
        entities = self.world.create_many(1000)
        self.world.attach_many(entities[1:], entities[(np.arange(999)) // 2])
        self.world.destroy_many(entities[::3], espalier.Extent.ENTITY)
        before = self.world.hash()
        self.world.compact()
        self.assertEqual(self.world.hash(), before)

    def test_the_same_calls_give_the_same_hashes(self):
        hashes = set()
        for kernels in (None, "scalar"):
            with World(tag=7, kernels=kernels) as world:
                root = world.create(rotation=(1, 2, 3, 4), scale=0.3)
                children = world.create_many(100, parent=root, position=(0.1, 0.2, 0.3))
                world.write(children, positions=np.arange(300).reshape(100, 3) / 7)
                hashes.add((world.hash(), world.hash(physical=True)))
                self.assertEqual(world.kernels == "scalar", kernels == "scalar")
        self.assertEqual(len(hashes), 1)
        self.assertNotIn((0, 0), hashes)

    def test_a_write_changes_the_hash(self):
        entity = self.world.create()
        before = self.world.hash()
        self.world.set_local(entity, position=(0, 0, 1e-30))
        self.assertNotEqual(self.world.hash(), before)

    def test_reserve_takes_memory_ahead(self):
        def taken():
            stats = self.world.stats()
            return stats.bytes_store + stats.bytes_tree

        before = taken()
        self.world.reserve(10000, components=[espalier.HAS_TRANSFORM], rows=10000)
        reserved = taken()
        self.assertGreater(reserved, before)
        self.world.create_many(10000)
        self.assertEqual(taken(), reserved)

    def test_huge_pages_change_no_bit(self):
        hashes = set()
        for huge_pages in (None, False, True):
            with World(tag=7, huge_pages=huge_pages) as world:
                world.create_many(50000, components=[world.register("mass", np.float64)])
                hashes.add(world.hash(physical=True))
        self.assertEqual(len(hashes), 1)

    def test_bad_options_are_refused(self):
        for options in ({"tag": 128}, {"kernels": "abacus"}, {"log": "loud"}):
            with self.subTest(options), self.assertRaises(espalier.ArgumentError):
                World(**options)


class Errors(WorldCase):
    def test_an_error_says_which_call_and_which_entities(self):
        ship = self.world.create(name="ship")
        mast = self.world.create(parent=ship, name="mast")
        before = self.world.hash()
        with self.assertRaises(espalier.StructureError) as caught:
            self.world.attach(ship, mast)
        error = caught.exception
        self.assertEqual(error.status, Status.ERR_CYCLE)
        self.assertIsNone(error.index)
        for part in ("espl_attach", "ESPL_ERR_CYCLE", '"ship"', '"mast"'):
            self.assertIn(part, str(error))
        self.assertEqual(self.world.hash(), before)

    def test_each_refusal_has_its_class(self):
        world, other = self.world, World(tag=2)
        self.addCleanup(other.close)
        entity, bare, dead = world.create(), world.create(transform=False), world.create()
        world.destroy(dead)
        foreign = other.create()
        data = world.register("data", np.float32)
        cases = [
            (lambda: world.destroy(dead), espalier.EntityError, LookupError, "ERR_DEAD"),
            (lambda: world.destroy(NULL), espalier.EntityError, LookupError, "ERR_NULL_ENTITY"),
            (lambda: world.destroy(foreign), espalier.EntityError, LookupError, "ERR_FOREIGN"),
            (lambda: world.attach(entity, entity), espalier.StructureError, ValueError, "ERR_CYCLE"),
            (lambda: world.move_before(entity), espalier.StructureError, ValueError, "ERR_NOT_CHILD"),
            (
                lambda: world.set_local(entity, position=(np.nan, 0, 0)),
                espalier.NumberError,
                ValueError,
                "ERR_NOT_FINITE",
            ),
            (
                lambda: world.set_local(entity, rotation=(0, 0, 0, 0)),
                espalier.NumberError,
                ValueError,
                "ERR_NOT_FINITE",
            ),
            (
                lambda: world.world_position(bare) is world.set_local(bare, scale=2),
                espalier.ComponentError,
                LookupError,
                "ERR_NO_TRANSFORM",
            ),
            (
                lambda: world.get_component(entity, data),
                espalier.ComponentError,
                LookupError,
                "ERR_NO_COMPONENT",
            ),
            (lambda: world.register("data"), espalier.ArgumentError, ValueError, "ERR_EXISTS"),
            (lambda: world.set_name(entity, "a/b"), espalier.ArgumentError, ValueError, "ERR_ARGUMENT"),
            (lambda: world.set_name(entity, "a" * 256), espalier.LimitError, OverflowError, "ERR_LIMIT"),
            (lambda: world.destroy(entity, 9), espalier.ArgumentError, ValueError, "ERR_ARGUMENT"),
        ]
        for number, (call, kind, base, status) in enumerate(cases):
            with self.subTest(number), self.assertRaises(kind) as caught:
                call()
            self.assertIsInstance(caught.exception, base)
            self.assertIsInstance(caught.exception, espalier.EspalierError)
            self.assertEqual(caught.exception.status.name, status)
            self.assertTrue(str(caught.exception))

    @unittest.skipIf("LD_PRELOAD" in os.environ, "a preloaded library may need more address space")
    @unittest.skipUnless(sys.platform.startswith("linux"), "limits the address space")
    def test_without_memory_the_call_raises_and_changes_nothing(self):
        program = (
            "import resource, espalier\n"
            "world = espalier.World()\n"
            "entities = world.create_many(1000)\n"
            "before = world.hash(physical=True)\n"
            "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
            "resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, used + 2**27))\n"
            "try:\n"
            "    world.reserve(20_000_000)\n"
            "except MemoryError as error:\n"
            "    assert isinstance(error, espalier.EspalierError), error\n"
            "    assert error.status == espalier.Status.ERR_NO_MEMORY\n"
            "    print('refused', world.hash(physical=True) == before)\n"
            "world.destroy_many(entities)\n"
        )
        done = run_program(program)
        self.assertEqual((done.stdout, done.stderr), ("refused True\n", ""))

    def test_errors_can_be_pickled(self):
        try:
            self.world.destroy_many([self.world.create(), 0])
        except espalier.EntityError as error:
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual(str(copy), str(error))
            self.assertEqual((type(copy), copy.status, copy.index), (type(error), error.status, 1))
        else:
            self.fail("not refused")

    def test_handles_of_a_wrong_type_are_refused(self):
        for bad in (1.5, "1", None, 2**63, -(2**63) - 1):
            with self.subTest(bad), self.assertRaises((TypeError, ValueError)):
                self.world.parent(bad)
        for bad in (np.zeros(3), [1.5], ["1"], [None], [2**64]):
            for call in (self.world.world_positions, self.world.destroy_many):
                with self.subTest(bad), self.assertRaises(TypeError):
                    call(bad)
        with self.assertRaises(ValueError):
            self.world.world_positions(np.zeros((3, 3), dtype=np.int64))

    def test_messages_are_printed_where_asked(self):
        program = "import espalier; w = espalier.World(%s)\ntry: w.destroy(0)\nexcept LookupError: pass"
        for options, environment, is_printed in (
            ("log='warning'", None, True),
            ("log='off'", "warning", False),
            ("", "warning", True),
            ("", None, False),
            ("log='error'", None, False),
        ):
            variables = {name: v for name, v in os.environ.items() if name != "ESPALIER_LOG"}
            if environment is not None:
                variables["ESPALIER_LOG"] = environment
            done = run_program(program % options, variables)
            self.assertEqual(done.returncode, 0)
            self.assertEqual("ESPL_ERR_NULL_ENTITY" in done.stderr, is_printed, options)


class Threads(WorldCase):
    def run_threads(self, *functions):
        failures = []

        def guarded(function):
            try:
                function()
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(each,)) for each in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_calls_of_one_world_exclude_each_other(self):
        root = self.world.create()

        def build():
            for _ in range(300):
                made = self.world.create(parent=root, position=(1, 2, 3))
                self.world.translate(made, (1, 0, 0))
                self.world.world_matrices(self.world.children(root))

        self.run_threads(build, build, build, build)
        self.assertEqual(len(self.world.children(root)), 1200)

    def test_close_waits_for_calls_and_later_ones_raise(self):
        entities = self.world.create_many(20000)

        def read():
            try:
                while True:
                    self.world.world_matrices(entities)
            except espalier.ClosedError:
                pass

        self.run_threads(read, read, lambda: self.world.close())

    def test_lanes_of_threads_give_the_same_world_in_every_run(self):
        hashes = set()
        for _ in range(4):
            with World(tag=3) as world:
                buffer = world.commands(4)

                def record(lane):
                    recorder = buffer.recorder(lane)
                    for i in range(200):
                        made = recorder.create(position=(lane, i, 0))
                        recorder.create(parent=made, key=i % 3)

                self.run_threads(*[lambda lane=lane: record(lane) for lane in range(4)])
                report = buffer.play()
                self.assertEqual((report.applied, report.created), (1600, 1600))
                hashes.add(world.hash(physical=True))
        self.assertEqual(len(hashes), 1)

    def test_recording_goes_on_during_a_playback(self):
        first, second = self.world.commands(), self.world.commands()
        for i in range(20000):
            first.recorder().create(position=(i, 0, 0))
        stop = threading.Event()

        def record():
            while not stop.is_set():
                second.recorder().create()

        def play():
            first.play()
            stop.set()

        self.run_threads(record, play)
        self.assertEqual(second.play().applied, self.world.stats().entities - 20000)


if __name__ == "__main__":
    unittest.main()
