#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of archives and deltas, written from espalier_archive_format(5) alone.

    archive_reader.py DIRECTORY     compare each N.archive with N.txt, of tests/value/archive_files.c, and what
                                    N.delta makes of it with N.next

World transforms are computed in double precision. Checksums are compared with those of xxhsum(1), where it is
installed.
"""
import math
import os
import re
import shutil
import struct
import subprocess
import sys

MAGIC = bytes.fromhex("89 45 53 50 4c 0d 0a 1a")
KNOWN = ["COMP", "TREE", "LOCA", "Side", "FREE", "SETS", "COLS", "REFS", "Hand", "Name", "User", "grid"]
X, Y, Z, FORWARD, UP, STRICT_UP, SCALE, COPY = (1 << bit for bit in range(8))
FIELDS = "BbBhHiIqQfdBQ"  # letters of struct by the type of a field
IDENTITY = ((0, 0, 0, 1), (0, 0, 0), 1)


def check(holds, sentence):
    if not holds:
        raise SystemExit("archive_reader: " + sentence)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        check(self.at + size <= len(self.data), "a section ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.take(self.number(1)).decode("utf-8")

    def floats(self, count):
        return struct.unpack("<%df" % count, self.take(4 * count))

    def pose(self):
        f = self.floats(8)
        return (f[0:4], f[4:7], f[7])

    def is_done(self):
        return self.at == len(self.data)


def checksum(data):
    out = subprocess.run(["xxhsum", "-H3", "-"], input=data, stdout=subprocess.PIPE, check=True)
    return int(re.search("[0-9a-f]{16}", out.stdout.decode()).group(), 16)


def read_sections(data, has_tool):
    check(data[:8] == MAGIC, "no magic")
    major, _minor, kind, size, count, _writer, flags = struct.unpack("<HHIQIII", data[8:36])
    check((major, kind, size, flags & ~1) == (1, 1, len(data), 0), "the head is another one")
    check(data[36:48] == bytes(12), "the head is not 0 where it must be")
    if has_tool:
        table, head = struct.unpack("<QQ", data[48:64])
        check(table == checksum(data[64:64 + 40 * count]), "the checksum of the table differs")
        check(head == checksum(data[:56]), "the checksum of the head differs")
    sections, end = {}, 64 + 40 * count
    for i in range(count):
        letters, version, encoding, offset, stored, raw, total = struct.unpack(
            "<4sHHQQQQ", data[64 + 40 * i:104 + 40 * i])
        check((version, encoding) == (1, 0) and stored == raw, "a section of another version")
        check(offset == (end + 7) // 8 * 8 and not any(data[end:offset]), "a gap between sections")
        end = offset + stored
        sections[letters.decode()] = data[offset:end]
        check(not has_tool or total == checksum(data[offset:end]), "the checksum of a section differs")
    check(end == len(data), "bytes behind the last section")
    order = [KNOWN.index(letters) for letters in sections]
    check(order == sorted(order), "sections in another order")
    return sections, flags & 1


def read_components(cursor):
    components = []
    for _ in range(cursor.number(4)):
        c = {"name": cursor.text(), "version": cursor.number(4), "size": cursor.number(4)}
        cursor.number(4)
        c["flags"] = cursor.number(4)
        check(c["flags"] & ~3 == 0 and not (c["flags"] & 1 and c["size"]), "a component has other flags")
        c["references"] = [cursor.number(4) for _ in range(cursor.number(4))]
        c["fields"] = [(cursor.text(), cursor.number(1), cursor.number(4), cursor.number(4))
                       for _ in range(cursor.number(4))]
        components.append(c)
    check(cursor.is_done(), "bytes behind the components")
    return components


def decode(component, value, order):
    """Return the fields of a value by their names; of references the zeros that they are."""
    out = {}
    for name, kind, offset, count in component["fields"]:
        letter = FIELDS[kind]
        out[name] = struct.unpack_from("%s%d%s" % (order, count, letter), value, offset)
    return out


def read_tree(cursor):
    count, roots = cursor.number(4), cursor.number(4)
    children = [cursor.varint() for _ in range(count)]
    parents, queue = [], []
    for node in range(count):
        while queue and children[queue[0]] == 0:
            queue.pop(0)
        if queue:
            children[queue[0]] -= 1
            parents.append(queue[0])
        else:
            parents.append(-1)
            roots -= 1
        queue.append(node)
    check(roots == 0 and not any(children) and cursor.is_done(), "the tree does not add up")
    return parents


def read_nodes(sections, is_big_endian):
    order = ">" if is_big_endian else "<"

    def cursor(letters):
        return Cursor(sections.get(letters, b""))

    components = read_components(cursor("COMP"))
    nodes = [{"parent": parent, "extra": ((1, 1, 1), 0), "inherit": 0, "kept": IDENTITY, "name": ""}
             for parent in read_tree(cursor("TREE"))]
    c = cursor("SETS")
    sets = [[c.varint() for _ in range(c.varint())] for _ in range(c.number(4))]
    for node in nodes:
        node["set"] = c.varint()
        node["components"] = {components[k]["name"]: None for k in sets[node["set"]]}
    check(c.is_done(), "bytes behind the sets")

    c = cursor("LOCA")
    for node in nodes:
        node["local"] = c.pose() if "transform" in node["components"] else None
    check(c.is_done(), "bytes behind the locals")

    c, at = cursor("Side"), 0
    while not c.is_done():
        at += c.varint()
        parts = c.number(1)
        stretch = c.floats(3) if parts & 1 else (1, 1, 1)
        nodes[at]["extra"] = (stretch, c.number(4) if parts & 2 else 0)
        if parts & 4:
            nodes[at]["inherit"], nodes[at]["kept"] = c.number(1), c.pose()
        at += 1

    bits = sections.get("FREE", bytes((len(nodes) + 7) // 8))
    for i, node in enumerate(nodes):
        node["free"] = bits[i // 8] >> i % 8 & 1

    c, at = cursor("Name"), 0
    while not c.is_done():
        at += c.varint()
        nodes[at]["name"] = c.text()
        at += 1

    c = cursor("COLS")
    for number, numbers in enumerate(sets):
        for k in numbers:
            for node in nodes:
                if node["set"] == number and components[k]["size"]:
                    value = c.take(components[k]["size"])
                    node["components"][components[k]["name"]] = decode(components[k], value, order)
    check(c.is_done(), "bytes behind the columns")

    c = cursor("REFS")
    for node in nodes:
        node["references"] = {components[k]["name"]: [c.varint() - 1 for _ in components[k]["references"]]
                              for k in sets[node["set"]]}
    check(c.is_done(), "bytes behind the references")
    return nodes


# --- Deltas ---

def take_runs(c, before, width):
    """Return the rows that runs make of others: bytes, or numbers of pairs; and the pairs."""
    rows, pairs, at = [], [], 0
    while True:
        paired, inserted, dropped = c.varint(), c.varint(), c.varint()
        if paired == inserted == dropped == 0:
            return rows, pairs
        check((at + paired + dropped) * width <= len(before), "a run has more rows than there are")
        for row in range(at, at + paired):
            rows.append(len(pairs))
            pairs.append(before[row * width:(row + 1) * width])
        rows += [c.take(width) for _ in range(inserted)]
        at += paired + dropped


def order_of(bits):
    return bits ^ (0xffffffff if bits >> 31 else 0x80000000)


def bits_of(order):
    return order ^ (0x80000000 if order >> 31 else 0xffffffff)


def unfold(folded):
    return -(folded + 1) // 2 if folded & 1 else folded // 2


def predict(before, after, largest):
    others = [i for i in range(4) if i != largest]
    if all(before[i] == after[i] for i in others):
        return before[largest]
    rest = 1.0
    for i in others:
        value = struct.unpack("<f", struct.pack("<I", after[i]))[0]
        rest -= value * value
    root = math.sqrt(rest) if rest > 0 else 0.0
    return struct.unpack("<I", struct.pack("<f", root))[0] | before[largest] & 0x80000000


def spacing(grid, i):
    """Return the distance of two places of the grid for float i of a pose; 0: it is on none."""
    step, bits = grid
    if i < 4:
        return 2.0 ** (1 - bits) if bits else 0
    return struct.unpack("<f", struct.pack("<I", step))[0] if i < 7 else 0


def change_pose(pose, differences, grid):
    before = struct.unpack("<8I", pose)
    largest = max(range(4), key=lambda i: (before[i] & 0x7fffffff, -i))
    after = [0] * 8
    for i in [i for i in range(8) if i != largest] + [largest]:
        if i in differences and i != largest and spacing(grid, i):
            number = struct.unpack("<f", struct.pack("<I", before[i]))[0]
            place = math.floor(number / spacing(grid, i) + 0.5) + unfold(differences[i])
            after[i] = struct.unpack("<I", struct.pack("<f", place * spacing(grid, i)))[0]
            continue
        from_bits = predict(before, after, largest) if i == largest else before[i]
        after[i] = bits_of((order_of(from_bits) + unfold(differences.get(i, 0))) % 2 ** 32)
    return struct.pack("<8I", *after)


def take_poses(c, before, grid):
    rows, pairs = take_runs(c, before, 32)
    last = -1
    while True:
        count = c.varint()
        if count == 0:
            return b"".join(row if isinstance(row, bytes) else pairs[row] for row in rows)
        numbers = []
        for _ in range(count):
            last += 1 + c.varint()
            numbers.append(last)
        masks = [c.number(1) for _ in range(count)]
        differences, exact, at = [{} for _ in range(count)], set(), 0
        for _ in range(c.varint() if grid != (0, 0) else 0):
            at += c.varint()
            exact.add(at)
            at += 1
        for word in range(8):
            for mask, of_pose in zip(masks, differences):
                if mask >> word & 1:
                    of_pose[word] = c.varint()
        for i, (number, of_pose) in enumerate(zip(numbers, differences)):
            pairs[number] = change_pose(pairs[number], of_pose, (0, 0) if i in exact else grid)


def entries_of(data):
    """Return of each section what its entry says first, its bytes without the encoding, and its bytes."""
    out = []
    for i in range(int.from_bytes(data[24:28], "little")):
        kind, offset, stored, raw = struct.unpack("<8sQQQ", data[64 + 40 * i:96 + 40 * i])
        out.append((kind, raw, data[offset:offset + stored]))
    return out


def patch(before, delta, has_tool):
    """Return the sections that a delta makes, and bytes 56 to 63 of the archive."""
    check(delta[:8] == MAGIC and struct.unpack("<HHIQ", delta[8:24])[2:] == (2, len(delta)), "no delta")
    check(struct.unpack("<Q", delta[64:72])[0] == len(before) and delta[72:80] == before[56:64],
          "the delta is for another archive")
    if has_tool:
        check(struct.unpack("<QQ", delta[48:64]) == (checksum(delta[64:]), checksum(delta[:56])),
              "a checksum of the delta differs")
    c, sections, out = Cursor(delta), entries_of(before), []
    c.at = 88
    for _ in range(int.from_bytes(delta[24:28], "little")):
        source = c.varint()
        kind, raw, old = sections[source - 1] if source else (c.take(8), c.number(8), b"")
        method = c.number(1)
        if method == 0:
            new = old
        elif method == 1:
            rows, pairs = take_runs(c, old, 1)
            new = b"".join(row if isinstance(row, bytes) else pairs[row] for row in rows)
        else:
            check(method in (2, 3), "a section is made in another way")
            new = take_poses(c, old, (c.number(4), c.number(4)) if method == 3 else (0, 0))
        out.append((kind, len(new) if source else raw, new))
    check(c.is_done(), "bytes behind the last item")
    return out, delta[80:88]


def compare_deltas(directory, name, has_tool):
    data = []
    for ending in "archive", "next", "delta":
        with open(os.path.join(directory, name[:-7] + ending), "rb") as file:
            data.append(file.read())
    before, after, delta = data
    sections, name_of_after = patch(before, delta, has_tool)
    check(sections == entries_of(after) and name_of_after == after[56:64], name + ": another archive is made")
    check((delta[10:12], delta[24:36]) == (after[10:12], after[24:36]), name + ": another head is made")


# --- World transforms ---

def multiply(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by + ay * bw + az * bx - ax * bz,
            aw * bz + az * bw + ax * by - ay * bx, aw * bw - ax * bx - ay * by - az * bz)


def rotate(q, v):
    x, y, z, _ = multiply(multiply(q, (*v, 0)), (-q[0], -q[1], -q[2], q[3]))
    return (x, y, z)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def from_axes(r, u, f):
    m = [[r[i], u[i], f[i]] for i in range(3)]
    w = math.sqrt(max(0, 1 + m[0][0] + m[1][1] + m[2][2])) / 2
    x = math.copysign(math.sqrt(max(0, 1 + m[0][0] - m[1][1] - m[2][2])) / 2, m[2][1] - m[1][2])
    y = math.copysign(math.sqrt(max(0, 1 - m[0][0] + m[1][1] - m[2][2])) / 2, m[0][2] - m[2][0])
    z = math.copysign(math.sqrt(max(0, 1 - m[0][0] - m[1][1] + m[2][2])) / 2, m[1][0] - m[0][1])
    return (x, y, z, w)


def kept_rotation(kept, composed, flags):
    if not flags & (FORWARD | UP):
        return composed
    if flags & FORWARD and flags & UP:
        return kept
    f = rotate(kept if flags & FORWARD else composed, (0, 0, 1))
    u = rotate(kept if flags & UP else composed, (0, 1, 0))
    r = cross(u, f)
    length = math.sqrt(sum(x * x for x in r))
    if length < 1e-4:
        return None
    r = tuple(x / length for x in r)
    # The one direction that is kept is exact, unless STRICT_UP says otherwise.
    exact_up = bool(flags & UP) != bool(flags & STRICT_UP) if not flags & FORWARD else bool(flags & STRICT_UP)
    return from_axes(r, u, cross(r, u)) if exact_up else from_axes(r, cross(f, r), f)


def compute_worlds(nodes):
    for node in nodes:
        parent = nodes[node["parent"]] if node["parent"] >= 0 else None
        up = parent["world"] if parent else IDENTITY
        stretch, user = parent["shown"] if parent else ((1, 1, 1), 0)
        node["shown"] = node["extra"]
        node["loose"] = bool(parent and parent["loose"])
        if node["local"] is None or node["inherit"] & COPY:
            node["world"] = up
            node["shown"] = (stretch, user) if parent else ((1, 1, 1), 0)
            continue
        rotation, position, scale = node["local"]
        if parent is None:
            node["world"] = node["local"]
            continue
        offset = rotate(up[0], [p * s * up[2] for p, s in zip(position, stretch)])
        composed = (multiply(up[0], rotation), tuple(a + b for a, b in zip(up[1], offset)), up[2] * scale)
        flags, kept = node["inherit"], node["kept"]
        turned = kept_rotation(kept[0], composed[0], flags)
        node["loose"] = node["loose"] or turned is None
        node["world"] = (turned or composed[0],
                         tuple(kept[1][i] if flags & 1 << i else composed[1][i] for i in range(3)),
                         kept[2] if flags & SCALE else composed[2])


def is_near(a, b):
    return all(abs(x - y) <= 1e-4 * (1 + abs(x) + abs(y)) for x, y in zip(a, b))


def compare(node, line, where):
    parent, name, free, inherit, has_transform, has_tag, ref, world = line.split("|")
    check(node["parent"] == int(parent) and node["name"] == name, where + "place or name")
    check(node["free"] == int(free) and node["inherit"] == int(inherit), where + "link or flags")
    check((node["local"] is not None) == bool(int(has_transform)), where + "a transform")
    check(("tag" in node["components"]) == bool(int(has_tag)), where + "a tag")
    check(("ref" in node["components"]) == bool(ref), where + "a component")
    check(node["components"].get("cache") is None, where + "a transient value")
    if ref:
        # Without fields nothing is said of a value but what its references name.
        to, *numbers = (int(x) for x in ref.split())
        found = node["components"]["ref"]
        known = {"to": (0,), "number": (numbers[0],), "other": (numbers[1],)} if numbers else {}
        check(found == known, where + "a value")
        check(node["references"]["ref"] == [to], where + "a reference")
    numbers = [float(x) for x in world.split()]
    rotation, position, scale = node["world"]
    sign = 1 if sum(a * b for a, b in zip(rotation, numbers)) >= 0 else -1
    if not node["loose"]:
        check(is_near([sign * x for x in rotation], numbers[0:4]), where + "a rotation")
        check(is_near((*position, scale), numbers[4:8]), where + "a position or a scale")
    check(is_near(node["shown"][0], numbers[8:11]) and node["shown"][1] == numbers[11], where + "a stretch")


def main(directory):
    has_tool = shutil.which("xxhsum") is not None
    names = sorted(name for name in os.listdir(directory) if name.endswith(".archive"))
    total = 0
    for name in names:
        with open(os.path.join(directory, name), "rb") as file:
            sections, is_big_endian = read_sections(file.read(), has_tool)
        with open(os.path.join(directory, name[:-8] + ".txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        nodes = read_nodes(sections, is_big_endian)
        compute_worlds(nodes)
        check(len(nodes) == len(lines), "%s has %d nodes, not %d" % (name, len(nodes), len(lines)))
        for number, (node, line) in enumerate(zip(nodes, lines)):
            compare(node, line, "%s, node %d: not the same: " % (name, number))
        total += len(nodes)
        compare_deltas(directory, name, has_tool)
    check(total > 0, "there are no archives")
    print("%d archives, %d nodes, as many deltas, checksums %s" % (
        len(names), total, "by xxhsum" if has_tool else "not compared"))


main(sys.argv[1])
