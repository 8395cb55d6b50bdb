// SPDX-License-Identifier: MIT
// The module and the tapes that are in the page, as base64 of gzip.

/** Where a tape is opened: a frame, from 0 on, and a record of it, from 1 on, or 0 for all of them. */
export interface Place {
    frame: number;
    record: number;
    /** The handle of the entity that is selected; empty: none. */
    entity: string;
    /** What is said there. */
    note: string;
}

export interface Tape {
    name: string;
    bytes: Uint8Array;
    isZUp: boolean;
    place: Place | undefined;
    /** The physical hash of each frame where the page was written, 16 digits each; empty: not known. */
    hashes: string;
}

/** A tape of the page, which is decoded when it is taken. */
export interface PackedTape extends Omit<Tape, "bytes"> {
    take: () => Uint8Array;
}

function findPlace({ dataset }: HTMLElement): Place | undefined {
    return dataset["frame"] === undefined ? undefined : {
        frame: Number(dataset["frame"]),
        record: Number(dataset["record"]),
        entity: dataset["entity"] ?? "",
        note: dataset["note"] ?? "",
    };
}

function decode(text: string): Uint8Array {
    const array = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };

    if (array.fromBase64 !== undefined) {
        return array.fromBase64(text);
    }
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);

    for (let i = 0; i < binary.length; ++i) {
        bytes[i] = binary.charCodeAt(i);
    }
    return bytes;
}

/** Uncompress bytes of gzip; others are returned as they are. */
export async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
        return bytes;
    }
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));

    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function loadModule(): Promise<WebAssembly.Module> {
    const text = document.getElementById("module")?.textContent ?? "";

    return WebAssembly.compile(await unpack(decode(text.trim())) as BufferSource);
}

export function findTapes(): PackedTape[] {
    return [...document.querySelectorAll<HTMLScriptElement>("script.tape")].map((element) => ({
        name: element.dataset["name"] ?? "",
        isZUp: element.dataset["up"] === "z",
        place: findPlace(element),
        hashes: element.dataset["hashes"] ?? "",
        take: () => decode((element.textContent ?? "").trim()),
    }));
}

/** Take files that are dropped on the page. */
export function listenToDrops(take: (file: File) => void): void {
    document.addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", (event) => {
        if (event.relatedTarget === null) {
            document.body.classList.remove("dropping");
        }
    });
    document.addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("dropping");
        const file = event.dataTransfer?.files[0];

        if (file !== undefined) {
            take(file);
        }
    });
}
