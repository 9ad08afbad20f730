/**
 * Blocks as a byte stream, for files and pipes, and the export of a data folder, whose node may keep running:
 *
 *     uniknode-blocks 1 NETHASH HEIGHT \n    the height of the first block
 *     u32 length, block                      repeated; little endian; the block as peers send it (blocks.md 5)
 *     u32 0                                  the end: a stream without it is truncated
 */
import { joinBlock, type Network } from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import { BlockStore } from "../store/chain/blocks.ts";
import { openReader } from "../store/engine/migrations.ts";
import { MetaStore } from "../store/node/meta.ts";
import { ArchiveError } from "./archive-error.ts";
import { databaseOf } from "./database.ts";

type StreamHead = {
  readonly nethash: string;
  /** Height of the first block. */
  readonly height: number;
};

const LINE = /^uniknode-blocks 1 ([0-9a-f]{64}) ([1-9]\d{0,9})$/;
const MAX_LINE_BYTES = 128;
const LENGTH_BYTES = 4;
/** Any Unikname network allows less. */
const MAX_BLOCK_BYTES = 64 * 1024 * 1024;

export async function* writeStream(
  { nethash, height }: StreamHead,
  blocks: Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`uniknode-blocks 1 ${nethash} ${height}\n`);
  for (const block of blocks) {
    yield encodeLength(block.length);
    yield block;
  }
  yield encodeLength(0);
}

function encodeLength(length: number): Uint8Array {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32LE(length);
  return bytes;
}

/**
 * Reads the first line; blocks are read when they are requested. Chunks can end anywhere.
 *
 * @throws {ArchiveError} ARCHIVE_DAMAGED if the bytes are not such a stream; iterating throws it if the
 * stream is truncated
 */
export async function readStream(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: StreamHead; blocks: AsyncGenerator<Uint8Array> }> {
  const source = new Source(chunks);
  const line = await source.line(MAX_LINE_BYTES);
  const [, nethash, height] = LINE.exec(line ?? "") ?? [];
  if (nethash === undefined) {
    throw new ArchiveError("ARCHIVE_DAMAGED", "the input is not a stream written by `uniknode export`");
  }
  return { head: { nethash, height: Number(height) }, blocks: blocksFrom(source) };
}

async function* blocksFrom(source: Source): AsyncGenerator<Uint8Array> {
  for (let count = 0; ; count++) {
    const prefix = await source.take(LENGTH_BYTES);
    const length = prefix?.readUInt32LE();
    if (length === 0) return requireEnd(source);
    const block = length !== undefined && length <= MAX_BLOCK_BYTES && (await source.take(length));
    if (!block) throw new ArchiveError("ARCHIVE_DAMAGED", `the stream is truncated after ${count} blocks`);
    yield block;
  }
}

/** @throws {ArchiveError} ARCHIVE_DAMAGED if bytes follow: the blocks of a second stream would be missing */
async function requireEnd(source: Source): Promise<void> {
  if (!(await source.take(1))) return;
  throw new ArchiveError("ARCHIVE_DAMAGED", "the stream goes on after its end: import each stream by itself");
}

/**
 * Yields the blocks after the first `maxCount` ones.
 *
 * @param onSkip called after each skipped block with their number
 * @param check called with the last skipped block, before the first other block
 */
export async function* skipBlocks(
  blocks: AsyncIterable<Uint8Array>,
  maxCount: number,
  onSkip: (count: number) => void,
  check: (last: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  let last: Uint8Array | undefined;
  const end = () => {
    if (last) check(last);
    last = undefined;
  };
  for await (const block of blocks) {
    if (count < maxCount) {
      last = block;
      onSkip(++count);
      continue;
    }
    end();
    yield block;
  }
  end();
}

class Source {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** Resolves to exactly `length` bytes; undefined if the stream ends before. */
  async take(length: number): Promise<Buffer | undefined> {
    return (await this.#fill(length)) ? this.#cut(length) : undefined;
  }

  /** Reads a line without its line feed; undefined if there is no line feed within `maxBytes`. */
  async line(maxBytes: number): Promise<string | undefined> {
    const bytes: Buffer[] = [];
    while (bytes.length < maxBytes) {
      if (!(await this.#fill(1))) return undefined;
      const byte = this.#cut(1);
      if (byte[0] === 0x0a) return Buffer.concat(bytes).toString("latin1");
      bytes.push(byte);
    }
    return undefined;
  }

  /** Buffers at least `length` bytes; resolves to false if the stream ends before. */
  async #fill(length: number): Promise<boolean> {
    const parts = [this.#rest];
    let available = this.#rest.length;
    let isEnd = false;
    while (available < length && !isEnd) {
      const { done, value } = await this.#iterator.next();
      isEnd = done === true;
      if (isEnd) continue;
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.length));
      available += value.length;
    }
    if (parts.length > 1) this.#rest = Buffer.concat(parts);
    return available >= length;
  }

  #cut(length: number): Buffer {
    const piece = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return piece;
  }
}

type ExportOptions = {
  /** Data folder of the node. */
  readonly data: string;
  readonly network: Network;
  /** First height, 2 or more: the genesis block belongs to the network. */
  readonly from: number;
  /** Last height; absent: the head. */
  readonly to?: number | undefined;
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Yields the bytes of an archive. All its blocks belong to one chain, even if the node switches to another branch meanwhile.
 *
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_FOREIGN
 */
export async function* exportBlocks(options: ExportOptions): AsyncGenerator<Uint8Array> {
  const { data, network, from, onProgress } = options;
  const database = openReader(databaseOf(data));
  try {
    // There is one read transaction until the connection is closed.
    database.execute("BEGIN");
    const nethash = new MetaStore(database).read("nethash");
    if (nethash !== network.description.nethash) {
      throw new ArchiveError(
        "ARCHIVE_FOREIGN",
        `${data} has the chain of another network (nethash ${nethash})`,
      );
    }
    const blocks = new BlockStore(database);
    const top = present(blocks.head(), "the head of the chain").height;
    const to = Math.min(options.to ?? top, top);
    if (from > to)
      throw new ArchiveError("ARCHIVE_MISSING", `block ${from} does not exist: the head is block ${top}`);
    const total = to - from + 1;
    yield* writeStream({ nethash, height: from }, encoded());

    function* encoded() {
      for (let height = from; height <= to; height++) {
        const block = present(blocks.bytes(height, height)[0], `block ${height}`);
        yield joinBlock(block.header, block.transactions);
        onProgress(height - from + 1, total);
      }
    }
  } finally {
    database.close();
  }
}
