// SPDX-License-Identifier: MIT
// Uses of the types of the package, for a strict compiler. A line below @ts-expect-error must be an error.
import {
    Batch, Camera, Chunk, CommandBuffer, Component, Entity, EspalierError, HierarchyView, Inherit, NULL_ENTITY,
    Changes, PREFAB, PlaybackReport, PresentReport, Query, Refusal, TRANSFORM, Transform, Watch, Watched, World,
    ArchiveInfo, History, Migration, Rewound, ReadEntities, WorldOptions, diffArchives, identity, imageLayout, inspectArchive,
    FollowReport, Group, Instances, Layers, Mirror, NO_KEY, Renderable, Renderables, RenderablesReport, Visible, patchArchive, quat, version,
} from "espalier";

const options: WorldOptions = { tag: 1, onMessage: (level, line) => console.error(level, line) };
const world = new World(options);
const root: Entity = world.create({ position: [0, 1, 0], components: [PREFAB] });
const health: Component<"f32"> = world.registerComponent("health");
const target = world.registerComponent("target", { type: "entity", length: 2 });
const child = world.create({ parent: root, components: [[health, [1]], [target, [root, NULL_ENTITY]]] });
const points: Float32Array = world.get(child, health);
const targets: BigUint64Array = world.get(child, target);
const where: Float32Array = world.read(child, "worldPosition");
const size: number = world.read(child, "worldScale");
const whole: Transform = world.read(child, "worldTransform", identity());
const local: Transform = world.get(child, TRANSFORM);
const spawned: Entity = world.spawn(root, world.create({ name: "top" }), { position: [0, 0, 1] });
const children: BigUint64Array = world.getChildren(world.find("top"));
const words: Uint32Array = world.readMany("userData", [root]);

world.write(child, "localPosition", where);
world.write(child, "rotateOwn", quat.fromAxisAngle([0, 1, 0], 1));
world.write(child, "transformWorld", { position: [1, 2, 3] });
world.setLocalTransform(child, whole);
world.set(child, TRANSFORM, local);
world.setWorldPose(spawned, { scale: children.length });
world.setEnabled(spawned, false, "subtree");
world.attach(child, root, { keep: { position: "snap" }, inherit: Inherit.ABSOLUTE_ROTATION });
world.setInherit(child, Inherit.ABSOLUTE_X | Inherit.ABSOLUTE_UP);

const query: Query = world.query({ all: [health], since: world.version });
for (const chunk of query) {
    const some: Chunk = chunk;
    const column: Float32Array | null = some.write(health);
    if (column !== null) {
        column[0] += points[0] + size;
    }
}
const view: HierarchyView = world.view(root);
const batch: Batch<"userData"> = world.batch("userData", 4);
const values: Uint32Array = batch.values;
const commands: CommandBuffer = world.commands();
const report: PlaybackReport = commands.play();
world.startMotion({ history: 2 });
const watch: Watch = world.watch({ all: [health], kinds: ["shown", "local"], before: true });
const written: number = world.tick((ticking) => ticking.writeMany("localScale", [root], [2], "teleport").applied);
world.write(root, "previousLocalPose", { position: [0, 0, 1] });
world.write(root, "translateWorld", [0, 0, 1], "carry");
commands.write(root, "localPose", { scale: 2 }, 0, "carry");
const presented: PresentReport = world.present(0.5);
const changes: Changes = watch.collect();
const again: Changes = watch.collect(changes.moment);
const matrices: Float32Array = world.readMatrices("shown", again.changed, changes.changedMatrices());
const locals: Float32Array | null = changes.changedLocals;
const before: Transform = world.read(child, "beforeWorldPose");
const shown: number = world.read(child, "shownScale") + view.shownPoses.length;
console.log((changes.kinds[0] ?? 0) & Watched.SHOWN, written, presented.blended, matrices.length, locals?.length,
    before.scale, shown, changes.isCoarse);
const ammo = world.registerComponent("ammo", { type: "u8", length: 12, version: 2, transient: false, unique: true,
    fields: { left: { type: "f32" }, carrier: { type: "entity", offset: 4 } } });
const image: Uint8Array = world.saveImage(new Uint8Array(world.imageSize()));
world.loadImage(image.buffer.slice(0), { trusted: false, retag: true });
const archive: Uint8Array = world.writeArchive({ tops: root, extent: "subtree", user: image });
world.writeArchiveTo((piece) => piece.length, { tops: [root] });
const history: History = world.history({ frames: 4, hash: true });
history.mark(1);
const rewound: Rewound = history.rewind(history.range?.oldest ?? 0, { fresh: true });
console.log(rewound.unborn.length, history.hash(1));
const halve: Migration<"i32", "f32"> = { to: health, type: "i32", convert: ([points = 0]) => [points / 2] };
const read: ReadEntities = world.readArchive(archive, { parent: root, nodeLimit: 9,
    migrations: { health: halve, ammo, target: null } });
world.applyArchive(archive, { known: { bytes: archive, entities: read.entities }, skipUnknown: true });
const info: ArchiveInfo = inspectArchive(patchArchive(archive, diffArchives(archive, world.writeArchive())));
const handles: BigUint64Array = read.tops;
const followed: number = world.copyWorldTransforms([root], world, handles).applied;
console.log(followed, handles.length, info.user.length, info.writer, world.timeline, imageLayout, ammo.version, ammo.unique);
const sea = new World({ cellSize: 2048, tag: 3 });
const buoy: Entity = sea.placeCounterparts(world, root, { components: [health], position: [0, 0, 1] });
const cell: Int32Array = sea.read(buoy, "cell");
const places: Float64Array = sea.readMany("absolutePosition", [buoy]);
sea.write(buoy, "absolutePosition", [1e9, 0, 0]);
sea.setCell(buoy, cell);
sea.rebase([1, 0, 0]);
const seen: Float32Array = sea.readRelative(sea.getOrigin(buoy), "worldPosition", [buoy]);
const followReport: FollowReport = sea.follow(changes, { kind: "world", keep: true });
sea.follow({ removed: [], added: [], changed: [root], addedLocals: [], changedLocals: new Float32Array(12) });
const models: Float32Array = sea.copySubtree(buoy, "subtree", ["models"]).models;
console.log(places.length, seen.length, models.length, followReport.unknown, sea.recenter(), sea.findCounterpart(root));
const drawn: Renderables = world.renderables({ cellSize: 8, userSize: 4 });
world.change(child, [[drawn.bounds, [0, 0, 0, 1, 1, 1]], [drawn.renderable, [NO_KEY, 0, Renderable.UNION]],
    [drawn.layers, [1, Layers.ABSOLUTE]]]);
const updated: RenderablesReport = drawn.update(new Uint8Array(4));
const mirror: Mirror | null = drawn.mirror;
const visible: Visible = world.visible();
const instances: Instances = world.instances({ form: "4x3", entities: true });
const projection: Float32Array = world.getMatrix(child);
const camera: Camera = { matrix: projection, clip: "zeroToOne", pixels: 500 };
if (mirror !== null) {
    visible.cull(mirror, [camera, { planes: [[1, 0, 0, 1]] }], { alpha: 0.5 });
    for (const group of visible.groups(1)) {
        const { key, first, count }: Group = group;
        console.log(key, instances.matrices.subarray(12 * first, 12 * (first + count)).length);
    }
    console.log(updated.firstBad, visible.write(instances), mirror.write(0, instances, 128), mirror.changed().length,
        mirror.user.length, instances.entities?.[0], drawn.addLods([{ key: 1, size: 100 }]));
}
try {
    commands.play();
} catch (error) {
    if (error instanceof EspalierError) {
        const status: Refusal | "CLOSED" = error.status;
        console.log(status, error.code, error.text, error.offset, error.sentence);
    }
}
console.log(version, targets.length, words.length, view.poses.length, values.length, report.refusals.length,
    world.getMatrix(child, [] as number[]).length);
world[Symbol.dispose]();

// @ts-expect-error No models were asked for.
sea.copySubtree(buoy).models;
// @ts-expect-error A local transform is relative to the parent.
sea.readRelative({}, "localPosition", [buoy]);
// @ts-expect-error A handle is not a number.
world.getWorldPosition(1);
// @ts-expect-error There is no such kind.
world.read(child, "positions");
// @ts-expect-error What is shown cannot be written.
world.write(child, "shownPosition", [0, 0, 0]);
// @ts-expect-error There is no such flag.
world.write(child, "localScale", 1, "jump");
// @ts-expect-error There is no such kind of changes.
world.watch({ kinds: ["all"] });
// @ts-expect-error A moment is a bigint.
watch.collect(5);
// @ts-expect-error A change cannot be read.
world.read(child, "rotateOwn");
// @ts-expect-error A scale is a number.
world.write(child, "localScale", [1]);
// @ts-expect-error There is no such extent.
world.destroy(child, "all");
// @ts-expect-error An entity component takes handles.
world.set(child, target, [1, 2]);
// @ts-expect-error The value of TRANSFORM is a transform.
world.set(child, TRANSFORM, "up");
// @ts-expect-error A sink takes bytes.
world.writeArchiveTo((piece: string) => piece);
// @ts-expect-error A tag is no type of a field.
world.registerComponent("tagged", { fields: { x: { type: "tag" } } });
// @ts-expect-error Before the first update there is no mirror.
visible.cull(drawn.mirror, camera);
// @ts-expect-error There is no such form.
world.instances({ form: "2x2" });
// @ts-expect-error Commands give no name.
world.commands().create({ name: "top" });
// @ts-expect-error Only registerComponent() makes components.
new Component();
// @ts-expect-error Statistics are read-only.
world.stats().entities = "none";
