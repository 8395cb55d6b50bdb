# SPDX-License-Identifier: MIT
"""Images, archives, migrations, and what is said of components."""

import copy
import io
import mmap
import pickle
import struct
import tempfile
import threading
import unittest

import numpy as np

import espalier
from espalier import (
    NULL,
    Archive,
    Extent,
    Migration,
    Status,
    World,
    diff_archives,
    image_layout,
    inspect_archive,
    patch_archive,
)
from espalier._fields import fields_of
from espalier._native import lib
from support import WorldCase, run_program

CREW = np.dtype(
    [
        ("rank", np.int8),
        ("awake", np.bool_),
        ("at", np.float32, 3),
        ("pay", np.float64),
        ("sign", "S8"),
        ("friends", np.int64, 2),
    ],
    align=True,
)
LINK = np.dtype([("to", np.int64), ("n", np.int32)])


def sections(archive):
    """Return the sections of an archive by their letters."""
    count = struct.unpack_from("<I", archive, 24)[0]
    entries = [struct.unpack_from("<4sHHQQ", archive, 64 + 40 * i) for i in range(count)]
    return {
        letters.decode(): archive[offset : offset + size] for letters, _, _, offset, size in entries
    }


class Fields(unittest.TestCase):
    def fields(self, dtype, references=()):
        return [tuple(field) for field in fields_of(np.dtype(dtype), references)]

    def test_a_structured_type_has_its_fields(self):
        at = {name: CREW.fields[name][1] for name in CREW.names}
        references = [at["friends"], at["friends"] + 8]
        self.assertEqual(
            self.fields(CREW, references),
            [
                ("rank", lib.ESPL_FIELD_I8, 0, 1),
                ("awake", lib.ESPL_FIELD_BOOL, 1, 1),
                ("at", lib.ESPL_FIELD_F32, 4, 3),
                ("pay", lib.ESPL_FIELD_F64, at["pay"], 1),
                ("sign", lib.ESPL_FIELD_BYTES, at["sign"], 8),
                ("friends", lib.ESPL_FIELD_ENTITY, at["friends"], 2),
            ],
        )

    def test_other_types_have_one_and_inner_ones_have_paths(self):
        inner = np.dtype([("x", np.uint16), ("y", ">u4")])
        self.assertEqual(self.fields(np.float32), [("value", lib.ESPL_FIELD_F32, 0, 1)])
        self.assertEqual(self.fields((np.int16, (2, 3))), [("value", lib.ESPL_FIELD_I16, 0, 6)])
        self.assertEqual(self.fields("U3"), [("value", lib.ESPL_FIELD_U32, 0, 3)])
        self.assertEqual(self.fields(np.complex128), [("value", lib.ESPL_FIELD_F64, 0, 2)])
        self.assertEqual(
            self.fields([("a", inner), ("b", inner, 2)]),
            [
                ("a.x", lib.ESPL_FIELD_U16, 0, 1),
                ("a.y", lib.ESPL_FIELD_BYTES, 2, 4),
                ("b[0].x", lib.ESPL_FIELD_U16, 6, 1),
                ("b[0].y", lib.ESPL_FIELD_BYTES, 8, 4),
                ("b[1].x", lib.ESPL_FIELD_U16, 12, 1),
                ("b[1].y", lib.ESPL_FIELD_BYTES, 14, 4),
            ],
        )

    def test_a_type_whose_fields_the_library_cannot_have_is_registered_without(self):
        union = {"names": ["a", "b"], "formats": [np.int32, np.float32], "offsets": [0, 0]}
        cases = [
            union,
            [(f"f{i}", np.int8) for i in range(65)],
            np.dtype((np.dtype([("x", np.int8)]), 65)),
            [("a/b", np.int8)],
            [("a\n", np.int8)],
            [("a.x", np.int8), ("a", [("x", np.int8)])],
        ]
        with World() as world:
            for i, dtype in enumerate(cases):
                with self.subTest(i):
                    self.assertEqual(self.fields(dtype), [])
                    self.assertEqual(world.register(f"c{i}", dtype).size, np.dtype(dtype).itemsize)

    def test_the_library_takes_each_kind_of_field(self):
        with World() as world:
            for i, code in enumerate("?bBhHiIlLqQefdgFDSUVMm"):
                sized = {"M": "M8[s]", "m": "m8[s]", "S": "S3", "U": "U2", "V": "V5"}
                world.register(f"c{i}", sized.get(code, code))
            world.register("crew", CREW, references=["friends"])


class Registration(WorldCase):
    def test_a_component_says_what_it_was_registered_with(self):
        crew = self.world.register("crew", CREW, references=["friends"], version=3, unique=True)
        cache = self.world.register("cache", np.int32, transient=True)
        self.assertEqual((crew.version, crew.unique, crew.transient), (3, True, False))
        self.assertEqual((cache.version, cache.unique, cache.transient), (0, False, True))
        entity = self.world.create(components={crew: {"rank": 1, "friends": (0, 0)}, cache: 2})
        words = sections(self.world.write_archive(entity))["COMP"]
        # Its name, its version, size, alignment and flags.
        layout = struct.pack("<4I", 3, CREW.itemsize, 8, lib.ESPL_COMPONENT_UNIQUE)
        self.assertIn(b"\x04crew" + layout, words)
        for name in CREW.names:
            self.assertIn(bytes([len(name)]) + name.encode(), words)
        self.assertEqual(self.world.get_component(self.world.instantiate(entity), crew)["rank"], 0)

    def test_bad_numbers_and_flags_are_refused(self):
        for options, kind in (
            ({"version": -1}, ValueError),
            ({"version": 2**32}, ValueError),
            ({"version": "1"}, TypeError),
            ({"transient": 1}, TypeError),
            ({"unique": None}, TypeError),
        ):
            with self.subTest(options), self.assertRaises(kind):
                self.world.register("c", np.int32, **options)
        self.assertEqual(self.world.register("c", np.int32).number, 7)


class Layout(unittest.TestCase):
    def test_the_layout_is_a_number(self):
        self.assertIsInstance(image_layout(), int)
        self.assertEqual(image_layout(), lib.espl_image_layout())


class Images(WorldCase):
    def setUp(self):
        super().setUp()
        self.health = self.world.register("health", np.float32)
        self.cache = self.world.register("cache", np.int32, transient=True)
        self.ship = self.world.create(name="ship", position=(1, 2, 3), components={self.health: 4})
        self.mast = self.world.create(name="mast", parent=self.ship, components={self.cache: 5})

    def test_a_loaded_world_goes_on_as_the_one_that_was_saved(self):
        saved, twin = self.world.save_image(), World(tag=1)
        self.addCleanup(twin.close)
        twin.register("health", np.float32)
        twin.register("cache", np.int32, transient=True)
        twin.load_image(saved)
        self.assertIsInstance(saved, bytes)
        for world in (self.world, twin):
            world.destroy(self.mast)
            made = world.create_many(3)
            world.attach(int(made[0]), self.ship)
        self.assertEqual(twin.hash(physical=True), self.world.hash(physical=True))
        self.assertEqual(twin.save_image(), self.world.save_image())

    def test_a_load_brings_handles_and_values_back(self):
        saved, timeline = self.world.save_image(), self.world.timeline
        later = self.world.create()
        self.world.destroy(self.ship)
        self.world.load_image(saved, trusted=True)
        self.assertEqual(self.world.timeline, timeline + 1)
        self.assertFalse(self.world.is_alive(later))
        self.assertEqual(self.world.path(self.mast), "ship/mast")
        self.assertEqual(self.world.get_component(self.ship, self.health), 4)
        self.assertEqual(self.world.get_component(self.mast, self.cache), 0)

    def test_any_buffer_is_taken(self):
        saved = self.world.save_image()
        out = bytearray(len(saved) + 3)
        self.assertEqual(self.world.save_image_into(out), len(saved))
        self.assertEqual(bytes(out[: len(saved)]), saved)
        words = np.zeros(len(saved) // 8 + 1, dtype=np.int64)
        self.world.save_image_into(words)
        with tempfile.TemporaryFile() as file:
            file.write(saved)
            file.flush()
            with mmap.mmap(file.fileno(), len(saved), access=mmap.ACCESS_READ) as mapped:
                self.world.load_image(mapped)
        for data in (memoryview(saved), bytearray(saved), np.frombuffer(saved, dtype=np.uint8)):
            self.world.load_image(data)
        with self.assertRaises(ValueError):
            self.world.save_image_into(bytearray(len(saved) - 1))
        for bad in (saved, memoryview(saved), np.zeros(len(saved), np.uint8)[::2], "text"):
            with self.subTest(type(bad)), self.assertRaises((TypeError, ValueError, BufferError)):
                self.world.save_image_into(bad)
        for bad in ("text", 5, None, words[::2]):
            with self.subTest(type(bad)), self.assertRaises((TypeError, ValueError, BufferError)):
                self.world.load_image(bad)

    def test_an_image_of_another_tag_is_retagged(self):
        other = World(tag=9)
        self.addCleanup(other.close)
        other.register("health", np.float32)
        saved = self.world.save_image()
        with self.assertRaises(espalier.VersionError) as caught:
            other.load_image(saved, retag=True)
        self.assertIn(caught.exception.sentence, str(caught.exception))
        other.register("cache", np.int32, transient=True)
        with self.assertRaises(espalier.EntityError) as caught:
            other.load_image(saved)
        self.assertEqual(caught.exception.status, Status.ERR_FOREIGN)
        self.assertIn("another tag", str(caught.exception))
        other.load_image(saved, retag=True)
        self.assertFalse(other.is_alive(self.ship))
        self.assertEqual(other.path(other.find("mast")), "ship/mast")

    def test_a_damaged_image_is_refused_with_its_place(self):
        saved = bytearray(self.world.save_image())
        saved[len(saved) // 2] ^= 1
        self.assertRefused(espalier.FormatError, lambda: self.world.load_image(saved))
        for data in (b"", saved[:10], saved + b"\0"):
            self.assertRefused(espalier.FormatError, lambda data=data: self.world.load_image(data))
        try:
            self.world.load_image(b"no image" * 100)
        except ValueError as error:
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((again.offset, again.sentence), (error.offset, error.sentence))
            self.assertTrue(error.sentence)
            self.assertIn(f"byte {error.offset}", str(error))
            self.assertEqual(str(error).count(error.sentence), 1)

    def test_a_load_is_refused_while_a_query_is_open(self):
        saved = self.world.save_image()
        with self.world.query() as query:
            self.assertRefused(espalier.BusyError, lambda: self.world.load_image(saved))
            self.assertEqual(len(query.entities()), 2)
        self.world.load_image(saved)

    def test_arrays_of_the_memory_before_a_load_stay_readable(self):
        saved = self.world.save_image()
        with self.world.query([self.health]) as query, self.world.view(self.mast) as view:
            shown = [chunk[self.health] for chunk in query] + [view.poses]
        self.world.load_image(saved)
        self.assertGreater(self.world.stats().bytes_kept_for_views, 0)
        self.assertEqual([array.copy().shape for array in shown], [(1,), (2,)])
        del shown
        self.assertEqual(self.world.stats().bytes_kept_for_views, 0)

    def test_watches_and_buffers_live_on_over_a_load(self):
        buffer, watch = self.world.commands(), self.world.watch()
        watch.collect()
        saved = self.world.save_image()
        self.world.set_local(self.ship, position=(9, 9, 9))
        later = self.world.create()
        buffer.recorder().destroy(later)
        watch.collect()
        self.world.load_image(saved)
        changes = watch.collect()
        self.assertEqual(changes.removed.tolist(), [later])
        self.assertIn(self.ship, changes.changed.tolist())
        self.assertEqual(buffer.play().refused, 1)


class Archives(WorldCase):
    def setUp(self):
        super().setUp()
        self.links = self.world.register("links", LINK, references=["to"])
        self.ship = self.world.create(name="ship", position=(1, 0, 0))
        self.mast = self.world.create(parent=self.ship, position=(0, 5, 0), name="mast")
        self.world.add_component(self.mast, self.links, (self.ship, 7))

    def test_hierarchies_come_back_in_another_world(self):
        archive = self.world.write_archive(self.ship, user=b"level 3")
        other = World(tag=2)
        self.addCleanup(other.close)
        links = other.register("links", LINK, references=["to"])
        harbour = other.create(position=(100, 0, 0))
        read = other.read_archive(archive, parent=harbour)
        self.assertEqual((read.status, len(read.entities), len(read.tops)), (Status.OK, 2, 1))
        ship, mast = read.entities.tolist()
        self.assertEqual(other.parent(ship), harbour)
        self.assertEqual(other.world_position(mast).tolist(), [101, 5, 0])
        self.assertEqual(other.get_component(mast, links).item(), (ship, 7))
        info = archive.inspect()
        self.assertEqual((info.nodes, info.tops, info.user), (2, 1, b"level 3"))
        self.assertEqual(".".join(map(str, info.writer)), espalier.__version__)

    def test_an_archive_is_bytes(self):
        archive = self.world.write_archive()
        self.assertIsInstance(archive, bytes)
        self.assertEqual(archive, self.world.write_archive())
        self.assertEqual(Archive(bytes(archive)), archive)
        self.assertEqual(np.frombuffer(archive, np.uint8).tobytes(), archive)
        self.assertEqual(repr(archive), f"<Archive of {len(archive)} bytes>")
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(archive, protocol))
            self.assertEqual((type(again), again), (Archive, archive))
        self.assertEqual(len(self.world.read_archive(again).entities), 2)

    def test_what_is_written_is_chosen(self):
        solo = self.world.create()
        counts = {
            "all": self.world.write_archive(),
            "one": self.world.write_archive(self.ship, extent=Extent.ENTITY),
            "two": self.world.write_archive([self.ship, solo], extent=Extent.ENTITY),
            "none": self.world.write_archive([]),
        }
        counts = {name: inspect_archive(archive).nodes for name, archive in counts.items()}
        self.assertEqual(counts, {"all": 3, "one": 1, "two": 2, "none": 0})
        self.assertIn("Hand", sections(self.world.write_archive(handles=True)))
        self.world.set_local(solo, position=(1.2, 3.4, 0), rotation=(0.2, 0.4, 0.1, 1))
        rounded = self.world.write_archive(solo, position_step=0.5, rotation_bits=2)
        copy = self.world.local_transform(int(self.world.read_archive(rounded).tops[0]))
        self.assertEqual(copy.position.tolist(), [1, 3.5, 0])
        # The largest part follows from the others.
        self.assertEqual(np.count_nonzero(copy.rotation % 0.5), 1)
        for call, kind in (
            (lambda: self.world.write_archive([solo, solo]), espalier.ArgumentError),
            (lambda: self.world.write_archive(NULL), espalier.EntityError),
            (lambda: self.world.write_archive(solo, extent=9), espalier.ArgumentError),
            (lambda: self.world.write_archive(solo, position_step=-1), espalier.ArgumentError),
            (lambda: self.world.write_archive(solo, rotation_bits=25), espalier.ArgumentError),
        ):
            self.assertRefused(kind, call)
        for bad in ({"handles": 1}, {"user": "text"}, {"position_step": "1"}, {"rotation_bits": 1.5}):
            with self.subTest(bad), self.assertRaises(TypeError):
                self.world.write_archive(**bad)

    def test_a_world_is_not_pickled_or_copied(self):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.subTest(call), self.assertRaisesRegex(TypeError, "write_archive"):
                call(self.world)

    def test_an_archive_is_written_to_a_file(self):
        archive = self.world.write_archive()
        file = io.BytesIO()
        self.world.write_archive_to(file)
        self.assertEqual(file.getvalue(), archive)

        class Raw:
            """A file that takes seven bytes at a time."""

            taken = b""

            def write(self, data):
                self.taken += data[:7]
                return len(data[:7])

        class Full(io.RawIOBase):
            """A file that is not waited for, and is full."""

            def writable(self):
                return True

            def write(self, data):
                return None

        raw = Raw()
        self.world.write_archive_to(raw, None)
        self.assertEqual(raw.taken, archive)
        with self.assertRaises(BlockingIOError):
            self.world.write_archive_to(Full())

    def test_what_a_file_raises_is_raised_and_the_world_is_not_used_in_it(self):
        watch, buffer, archive = self.world.watch(), self.world.commands(), self.world.write_archive()
        calls = [
            self.world.create,
            self.world.stats,
            self.world.close,
            self.world.save_image,
            self.world.write_archive,
            lambda: self.world.read_archive(archive),
            watch.collect,
            watch.close,
            buffer.play,
            buffer.close,
            buffer.reset,
        ]

        class File:
            def write(self, data):
                for call in calls:
                    try:
                        call()
                    except espalier.BusyError:
                        continue
                    raise AssertionError("was not refused")
                raise KeyboardInterrupt("full")

        before = self.world.hash(physical=True)
        with self.assertRaisesRegex(KeyboardInterrupt, "full"):
            self.world.write_archive_to(File())
        self.assertEqual(self.world.hash(physical=True), before)
        self.assertFalse(self.world.closed)
        self.world.write_archive()
        buffer.close()
        watch.close()

    def test_other_threads_wait_for_a_write(self):
        inside, done = threading.Event(), threading.Event()
        made = []

        class File:
            def write(self, data):
                inside.set()
                self.had_waited = not done.wait(0.05)

        def create():
            inside.wait()
            made.append(self.world.create())
            done.set()

        file, thread = File(), threading.Thread(target=create)
        thread.start()
        self.world.write_archive_to(file)
        thread.join()
        self.assertTrue(file.had_waited)
        self.assertTrue(self.world.is_alive(made[0]))

    def test_a_damaged_archive_is_refused_at_every_bit_and_length(self):
        archive = bytes(self.world.write_archive(user=b"12345678"))
        before = self.world.hash(physical=True)
        for at in range(len(archive)):
            damaged = bytearray(archive)
            damaged[at] ^= 1 << at % 8
            for data in (damaged, archive[:at]):
                with self.assertRaises(espalier.FormatError) as caught:
                    self.world.read_archive(data)
                self.assertTrue(caught.exception.sentence)
        self.assertEqual(self.world.hash(physical=True), before)
        with self.assertRaises(TypeError):
            inspect_archive("text")

    def test_a_limit_and_a_parent_are_checked(self):
        archive, dead = self.world.write_archive(self.ship), self.world.create()
        self.world.destroy(dead)
        for options, kind in (
            ({"node_limit": 1}, espalier.LimitError),
            ({"parent": dead}, espalier.EntityError),
            ({"node_limit": -1}, ValueError),
            ({"parent": 1.5}, TypeError),
            ({"skip_unknown": 0}, TypeError),
        ):
            call = lambda options=options: self.world.read_archive(archive, **options)
            self.assertRefused(kind, call)
        self.assertEqual(len(self.world.read_archive(archive, node_limit=2).tops), 1)


class Applied(WorldCase):
    def setUp(self):
        super().setUp()
        self.ship = self.world.create(name="ship", position=(1, 0, 0))
        self.mast = self.world.create(name="mast", parent=self.ship, position=(0, 5, 0))
        self.before = self.world.write_archive(handles=True)

    def test_an_editor_goes_back_and_keeps_its_handles(self):
        other = self.world.create()
        self.world.set_local(self.ship, position=(9, 9, 9))
        self.world.attach(other, self.mast)
        self.world.destroy(self.mast)
        back = self.world.apply_archive(self.before)
        self.assertEqual((back.status, back.tops.tolist()), (Status.OK, [self.ship]))
        self.assertEqual(self.world.world_position(self.ship).tolist(), [1, 0, 0])
        self.assertEqual(self.world.find("ship/mast"), back.entities[1])
        self.assertFalse(self.world.is_alive(self.mast))

    def test_a_world_follows_another_one(self):
        follower = World(tag=2)
        self.addCleanup(follower.close)
        follower.create_many(5)
        read, last = follower.read_archive(self.before), self.before
        ship = int(read.tops[0])
        for i in range(4):
            self.world.set_local(self.ship, position=(i, 0, 0))
            self.world.create(parent=self.ship)
            if i == 2:
                self.world.destroy(self.mast)
            archive = self.world.write_archive(handles=True)
            read, last = follower.apply_archive(archive, known=(last, read.entities)), archive
            self.assertEqual(read.tops.tolist(), [ship])
            self.assertEqual(follower.write_archive(ship), self.world.write_archive())

    def test_what_cannot_be_applied_is_refused(self):
        known = (self.before, [self.ship])
        cases = [
            ({"data": self.world.write_archive()}, espalier.FormatError),
            ({"data": self.before[:-1]}, espalier.FormatError),
            ({"parent": self.mast}, espalier.StructureError),
            ({"known": known}, espalier.ArgumentError),
            ({"known": (b"", [self.ship])}, espalier.FormatError),
            ({"node_limit": 1}, espalier.LimitError),
        ]
        for options, kind in cases:
            call = lambda options=options: self.world.apply_archive(**{"data": self.before, **options})
            self.assertRefused(kind, call)
        for bad in (5, ("text", []), (self.before, [1.5])):
            with self.subTest(bad), self.assertRaises(TypeError):
                self.world.apply_archive(self.before, known=bad)


class Deltas(WorldCase):
    def test_a_delta_leads_from_one_archive_to_the_next(self):
        parents = self.world.create_many(200, position=(1, 2, 3))
        before = self.world.write_archive(handles=True)
        self.world.set_local(int(parents[3]), position=(9, 9, 9))
        self.world.destroy(int(parents[7]))
        after = self.world.write_archive(handles=True)
        delta = diff_archives(before, after)
        self.assertLess(len(delta), len(after) / 4)
        patched = patch_archive(bytearray(before), memoryview(delta))
        self.assertEqual((type(patched), patched), (Archive, after))
        with self.assertRaises(espalier.GapError) as caught:
            patch_archive(after, delta)
        self.assertEqual(caught.exception.status, Status.ERR_GAP)
        for call in (
            lambda: patch_archive(before, delta[1:]),
            lambda: diff_archives(before, b""),
        ):
            with self.assertRaises(espalier.FormatError) as caught:
                call()
            self.assertTrue(caught.exception.sentence)
        with self.assertRaises(TypeError):
            diff_archives("text", after)


class Migrations(WorldCase):
    OLD = np.dtype([("count", np.int32), ("to", np.int64)])

    def setUp(self):
        super().setUp()
        with World() as old:
            ammo = old.register("ammo", self.OLD, references=["to"], version=1)
            debug = old.register("debug", np.float64)
            top = old.create(components={ammo: (6, NULL), debug: 1})
            old.create(parent=top, components={ammo: (8, top)})
            self.archive = old.write_archive()
        new = np.dtype([("to", np.int64), ("left", np.float32)])
        self.ammo = self.world.register("ammo", new, references=["to"], version=2)
        self.debug = self.world.register("debugging", np.float64)

    def read(self, **migrations):
        return self.world.read_archive(self.archive, migrations=migrations)

    def test_without_one_a_component_of_another_version_is_refused(self):
        self.assertRefused(espalier.VersionError, lambda: self.read(debug=None))
        self.assertRefused(espalier.VersionError, lambda: self.read(ammo=None))
        with self.assertRaisesRegex(espalier.VersionError, r"component \"ammo\", byte \d+: .*another version"):
            self.read(debug=None)

    def test_a_function_makes_the_values(self):
        seen = []

        def convert(old):
            seen.append((old["count"].item(), old["to"].item()))
            return {"left": old["count"] / 2, "to": 99}

        read = self.read(ammo=Migration(self.ammo, convert, self.OLD), debug=self.debug)
        self.assertEqual(seen, [(6, 0), (8, 0)])
        values = self.world.get_components(read.entities, self.ammo)
        self.assertEqual(values["left"].tolist(), [3, 4])
        self.assertEqual(values["to"].tolist(), [NULL, read.tops[0]])
        self.assertEqual(self.world.get_component(read.tops[0], self.debug), 1)

    def test_a_function_gets_bytes_where_no_type_is_named(self):
        read = self.read(ammo=Migration(self.ammo, lambda old: (0, old[0])), debug=None)
        self.assertEqual(self.world.get_components(read.entities, self.ammo)["left"].tolist(), [6, 8])
        self.assertFalse(self.world.has_component(read.tops[0], self.debug))
        zeros = self.read(ammo=Migration(self.ammo, lambda old: None), debug=Migration(None))
        self.assertEqual(self.world.get_components(zeros.entities, self.ammo)["left"].tolist(), [0, 0])

    def test_what_a_function_raises_is_raised_and_nothing_is_read(self):
        def fail(old):
            raise KeyError(old["count"].item())

        def misuse(old):
            return (0, self.world.stats().entities)

        cases = [
            (Migration(self.ammo, fail, self.OLD), KeyError),
            (Migration(self.ammo, misuse, self.OLD), espalier.BusyError),
            (Migration(self.ammo, lambda old: "text", self.OLD), ValueError),
            (Migration(self.ammo, lambda old: {"right": 1}, self.OLD), KeyError),
            (Migration(self.ammo, lambda old: 0, np.int64), ValueError),
            (self.debug, espalier.VersionError),
            ("ammo", TypeError),
        ]
        for migration, kind in cases:
            call = lambda migration=migration: self.read(ammo=migration, debug=None)
            self.assertRefused(kind, call)
        with World(tag=5) as other:
            foreign = other.register("ammo", np.int32)
            self.assertRefused(espalier.ArgumentError, lambda: self.read(ammo=foreign))

    def test_unknown_components_are_left_out_where_asked(self):
        read = self.world.read_archive(self.archive, skip_unknown=True, migrations={"ammo": None})
        self.assertEqual((read.status, len(read.entities)), (Status.OK, 2))
        self.assertFalse(self.world.has_component(read.tops[0], self.ammo))


class Processes(unittest.TestCase):
    def test_an_archive_and_an_image_are_read_by_another_process(self):
        program = (
            "import pickle, sys, espalier\n"
            "archive, image = pickle.load(open(sys.argv[1], 'rb'))\n"
            "with espalier.World(tag=3) as world:\n"
            "    world.load_image(image)\n"
            "    world.read_archive(archive)\n"
            "    print(world.hash(), len(world.children(world.find('/ship'))))\n"
        )
        with World(tag=3) as world, tempfile.NamedTemporaryFile(suffix=".pickle") as file:
            ship = world.create(name="ship")
            world.create(parent=ship)
            pickle.dump((world.write_archive(), world.save_image()), file)
            file.flush()
            done = run_program(f"import sys; sys.argv.append({file.name!r})\n" + program)
            world.read_archive(world.write_archive())
            self.assertEqual((done.stdout, done.stderr), (f"{world.hash()} 1\n", ""))


if __name__ == "__main__":
    unittest.main()
