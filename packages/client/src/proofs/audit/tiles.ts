/** Requests and reads tiles of a tree of facts (facts.md 6). Their content is trusted only after it has led to a signed root. */
import type { ClientOptions } from "../../api/client.ts";
import { createSend } from "../../api/send.ts";
import { sleep } from "../../api/sleep.ts";

export const WIDTH = 256;
const HASH_BYTES = 32;

/** A part of a tree: 256 leaves or hashes, fewer at its right edge. */
export type Tiles = {
  /** Returns the texts of the leaves of a tile. */
  leaves(number: number): Promise<readonly string[]>;
  /** Returns the hashes of a tile: of leaves at level 0, of whole tiles of the level below at the others. */
  hashes(level: number, number: number): Promise<readonly Uint8Array[]>;
};

/** The response of a node is not a tile. */
class TileError extends Error {
  readonly code = "TILE_INVALID";
  readonly isRetryable = false;

  constructor(path: string) {
    super(`the tile ${path} of the node has another form than a tile`);
    this.name = "TileError";
  }
}

/** @param size number of leaves of the tree */
export function createTiles(size: number, read: (path: string) => Promise<Fetched>): Tiles {
  const known = new Map<string, Promise<readonly Uint8Array[]>>();
  return {
    async leaves(number) {
      const width = widthOf(size, number);
      const path = pathOf("entries", number, width);
      return readEntries(path, await read(path), width);
    },
    hashes(level, number) {
      const width = widthOf(Math.floor(size / WIDTH ** level), number);
      const path = pathOf(level, number, width);
      const tile = known.get(path) ?? read(path).then((bytes) => readHashes(path, bytes, width));
      known.set(path, tile);
      return tile;
    },
  };
}

const widthOf = (count: number, number: number): number =>
  Math.min(Math.max(count - number * WIDTH, 0), WIDTH);

/** Returns a path such as `0/x001/x234/067`, or `0/000.p/12` for a tile that is not whole. */
function pathOf(level: number | "entries", number: number, width: number): string {
  const digits = String(number).padStart(Math.ceil(String(number).length / 3) * 3, "0");
  const groups = digits.match(/\d{3}/g) ?? [];
  const path = groups.map((group, index) => (index < groups.length - 1 ? `x${group}` : group)).join("/");
  return `${level}/${path}${width < WIDTH ? `.p/${width}` : ""}`;
}

function readHashes(path: string, bytes: Fetched, width: number): Uint8Array[] {
  if (bytes.length !== width * HASH_BYTES) throw new TileError(path);
  return Array.from({ length: width }, (_, index) =>
    bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
}

/** Reads leaves, each after its length in two bytes. */
function readEntries(path: string, bytes: Fetched, width: number): string[] {
  const texts: string[] = [];
  let offset = 0;
  while (offset + 2 <= bytes.length) {
    const end = offset + 2 + (bytes[offset] ?? 0) * 256 + (bytes[offset + 1] ?? 0);
    texts.push(String.fromCharCode(...bytes.subarray(offset + 2, end)));
    offset = end;
  }
  if (offset !== bytes.length || texts.length !== width) throw new TileError(path);
  return texts;
}

type Fetched = Uint8Array;

/** A leaf has at most 120 characters. */
const MAX_BYTES = 65_536;
const TIMEOUT_MS = 30_000;

/**
 * Creates a reader of paths below `/facts/tile/`, which waits as long as a rate-limiting node requests. It throws `ApiError`, and
 * `TileError` for a response that is too long.
 */
export function createTileReader({ fetch = globalThis.fetch, ...options }: ClientOptions) {
  const dependencies = {
    fetch: ((...request) => fetch(...request)) as typeof globalThis.fetch,
    sleep,
    nowMs: Date.now,
  };
  const send = createSend({ timeoutMs: TIMEOUT_MS, ...options }, dependencies, readBounded);
  return async (path: string): Promise<Fetched> => {
    const request = { path: `/v2/facts/tile/${path}`, headers: { accept: "*/*" } };
    const bytes = await send<Fetched | undefined>(request);
    if (!bytes) throw new TileError(path);
    return bytes;
  };
}

/** Returns undefined for a longer body, of which no more is read. */
async function readBounded({ body }: Response): Promise<Fetched | undefined> {
  const bytes = new Uint8Array(MAX_BYTES);
  let length = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (length + value.length > MAX_BYTES) {
      await reader.cancel();
      return undefined;
    }
    bytes.set(value, length);
    length += value.length;
  }
  return bytes.subarray(0, length);
}
