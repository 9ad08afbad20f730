/** All facts of a range of blocks, proven to be those of a signed tree of facts: none is left out (facts.md 13). */
import { bytesToHex, canonicalJson, sha256 } from "@uniknode/protocol";
import type { StreamedEvent } from "../../api/resources/events.ts";
import { Refusal } from "../refusal.ts";
import type { Note } from "../resolution/note.ts";
import { isRecord } from "../values.ts";
import { type Tiles, WIDTH } from "./tiles.ts";

/** Steps of an audit at which the responses of a node can be false, or not sufficient. */
export type AuditStep =
  /** The checkpoint is malformed, or too few of the keys have signed it. */
  | "CHECKPOINT"
  /** The checkpoint does not contain the last block yet. */
  | "HEIGHT"
  /** The leaves do not lead to the root of the checkpoint. */
  | "LEAVES"
  /** The content of a fact is not the one of its leaf, or is missing. */
  | "CONTENT";

export type FactLeaf = {
  readonly height: number;
  readonly index: number;
  readonly event: string;
  /** SHA-256 of the canonical content. */
  readonly content: string;
};

/** Events that are leaves of the tree of facts. */
export const LEAF_EVENTS: ReadonlySet<string> = new Set([
  ...["forger.missing", "round.missed", "round.created", "round.applied"],
  ...["transaction.applied", "delegate.registered", "delegate.resigned"],
  ...["wallet.vote", "wallet.unvote"],
  ...["unik.minted", "unik.transferred", "unik.updated", "unik.disclosed", "block.applied"],
]);

/** Returns the SHA-256 of the canonical content of a fact. */
export const contentHash = ({ event, id, data }: Pick<StreamedEvent, "event" | "id" | "data">): string =>
  bytesToHex(sha256(new TextEncoder().encode(canonicalJson({ data: leafData(event, data), id }))));

/**
 * Returns the part of the content that follows from the chain alone: deliveries contain the wallets of delegates at that time, and a
 * stream of past blocks does not.
 */
export function leafData(event: string, data: unknown): unknown {
  if (event === "forger.missing" || event === "round.missed") {
    const delegate = isRecord(data) ? data.delegate : undefined;
    return { delegate: { publicKey: isRecord(delegate) ? delegate.publicKey : undefined } };
  }
  if (event !== "round.created" || !Array.isArray(data)) return data;
  return data.map((row: unknown) =>
    isRecord(row) ? { publicKey: row.publicKey, round: row.round, votes: row.votes } : row,
  );
}

/** Returns true if a fact is that of a leaf. A content that the stream does not have is not compared. */
export const isOfLeaf = (fact: StreamedEvent, leaf: FactLeaf | undefined): boolean =>
  leaf !== undefined &&
  leaf.event === fact.event &&
  leaf.height === fact.height &&
  // The content of the leaf has the id, which names the block.
  `${fact.id}:`.startsWith(`${fact.event}:${fact.blockId}:`) &&
  (fact.truncated === true || leaf.content === contentHash(fact));

/** Adjacent leaves of the tree, from the beginning of a tile on. */
type Range = { readonly first: number; readonly texts: readonly string[] };

/** Leaves of one audit: about 20 MB of tiles. */
const MAX_LEAVES = 200_000;
const LEAF = /^([1-9]\d{0,15})\|(0|[1-9]\d{0,9})\|([a-z.]{1,64})\|([0-9a-f]{64})$/;

/**
 * @param note whose tree has the last of the blocks
 * @throws {Refusal} if the leaves do not lead to the root of the note
 * @throws {RangeError} for too many facts
 */
export async function provenLeaves(
  tiles: Tiles,
  note: Note,
  { from, to }: { from: number; to: number },
): Promise<FactLeaf[]> {
  const range = await readRange(tiles, note.size, { from, to });
  const root = await rootAround(range, note.size, tiles);
  if (toHex(root) !== note.root)
    throw new Refusal<AuditStep>("LEAVES", "the facts are not those of the checkpoint");
  return range.texts.map(readLeaf).filter(({ height }) => height >= from && height <= to);
}

function readLeaf(text: string): FactLeaf {
  const [, height, index, event, content] = LEAF.exec(text) ?? [];
  if (event === undefined || content === undefined)
    throw new Refusal<AuditStep>("LEAVES", "a leaf of the node has another form");
  return { height: Number(height), index: Number(index), event, content };
}

/** Reads the tiles from the one in which a height begins to the one in which another ends. Heights of leaves ascend. */
async function readRange(
  tiles: Tiles,
  size: number,
  { from, to }: { from: number; to: number },
): Promise<Range> {
  const count = Math.ceil(size / WIDTH);
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await lastHeight(tiles, middle)) >= from) high = middle;
    else low = middle + 1;
  }
  // A block can begin in a tile and continue in the next. A node that lies must not make the client read the whole tree.
  const lowest = Math.max(0, low - MAX_LEAVES / WIDTH);
  while (low > lowest && isWithin(await firstLeaf(tiles, low), from)) low -= 1;
  const texts: string[] = [];
  for (let number = low; number < count; number++) {
    texts.push(...(await tiles.leaves(number)));
    if (texts.length > MAX_LEAVES)
      throw Object.assign(
        new RangeError(`the blocks have more than ${MAX_LEAVES} facts: audit fewer at once`),
        { code: "AUDIT_TOO_LARGE", isRetryable: false },
      );
    if (heightOf(texts.at(-1)) > to) break;
  }
  // The tiles below were not proven: that nothing of the blocks is in them follows from this leaf, which is.
  if (low > 0 && isWithin(readLeaf(texts[0] ?? ""), from))
    throw new Refusal<AuditStep>("LEAVES", "facts of the first block are missing");
  return { first: low * WIDTH, texts };
}

/** Returns true if facts of a height, or of higher blocks, can precede the leaf. */
const isWithin = ({ height, index }: FactLeaf, from: number): boolean =>
  height > from || (height === from && index > 0);

const firstLeaf = async (tiles: Tiles, number: number): Promise<FactLeaf> =>
  readLeaf((await tiles.leaves(number))[0] ?? "");

const lastHeight = async (tiles: Tiles, number: number): Promise<number> =>
  heightOf((await tiles.leaves(number)).at(-1));

function heightOf(text: string | undefined): number {
  return readLeaf(text ?? "").height;
}

/** Returns the root of the tree: from the texts of the range, and hashes of subtrees around it. */
function rootAround({ first, texts }: Range, size: number, tiles: Tiles): Promise<Uint8Array> {
  const end = first + texts.length;
  const hashes = texts.map((text) => sha256(Uint8Array.of(0, ...new TextEncoder().encode(text))));

  async function rootOf(start: number, count: number): Promise<Uint8Array> {
    const isOutside = start + count <= first || start >= end;
    if (count === 1 && !isOutside) return hashes[start - first] ?? new Uint8Array();
    const level = Math.log2(count);
    if (isOutside && Number.isInteger(level)) return subtree(tiles, level, start / count);
    const left = 2 ** (Math.ceil(level) - 1);
    return nodeHash(await rootOf(start, left), await rootOf(start + left, count - left));
  }
  return rootOf(0, size);
}

/** Returns the hash of the complete subtree over `2 ** level` leaves. */
async function subtree(tiles: Tiles, level: number, index: number): Promise<Uint8Array> {
  const width = 2 ** (level % 8);
  const first = index * width;
  const tile = await tiles.hashes(Math.floor(level / 8), Math.floor(first / WIDTH));
  let row = tile.slice(first % WIDTH, (first % WIDTH) + width);
  while (row.length > 1) {
    row = Array.from({ length: row.length / 2 }, (_, at) =>
      nodeHash(row[2 * at] ?? new Uint8Array(), row[2 * at + 1] ?? new Uint8Array()),
    );
  }
  return row[0] ?? new Uint8Array();
}

const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256(Uint8Array.of(1, ...left, ...right));

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
