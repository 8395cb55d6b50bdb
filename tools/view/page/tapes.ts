// SPDX-License-Identifier: MIT
// The module and the tapes that are in the page, as base64 of gzip.

export interface Tape {
    name: string;
    bytes: Uint8Array;
    isZUp: boolean;
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

/** Find the tapes. Each is decoded when it is taken. */
export function findTapes(): { name: string; isZUp: boolean; take: () => Uint8Array }[] {
    return [...document.querySelectorAll<HTMLScriptElement>("script.tape")].map((element) => ({
        name: element.dataset["name"] ?? "",
        isZUp: element.dataset["up"] === "z",
        take: () => decode((element.textContent ?? "").trim()),
    }));
}
