/** Making of snapshots, beside a node that runs or not. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { createBlockStore } from "../store/chain/blocks.ts";
import { openDatabase } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { copyChain } from "./copy.ts";
import { databaseOf } from "./database.ts";
import { stateDigest } from "./digest.ts";
import { ArchiveError } from "./error.ts";
import { DATABASE_FILE, type Manifest, writeManifest } from "./manifest.ts";

export type CreateOptions = {
  /** Data folder of the node. */
  readonly data: string;
  /** Folder to be made for the snapshot. */
  readonly output: string;
  readonly program: string;
  readonly nowMs: () => number;
  /** Hears what is being done, and of long work the part that is done: 0 to 1. */
  readonly onProgress: (step: string, part?: number) => void;
};

/**
 * Writes the chain and its state, as they are at one moment, into a folder of their own. Nothing that belongs to this
 * node alone goes along: no webhooks, no secrets, no pool, no record of forged slots. While it is made, it takes as
 * much room as the database.
 *
 * @throws {ArchiveError} ARCHIVE_EXISTS, ARCHIVE_MISSING; nothing of the snapshot stays after an error
 */
export async function createChainSnapshot(options: CreateOptions): Promise<Manifest> {
  const { data, output, program, nowMs, onProgress } = options;
  const source = databaseOf(data);
  if (existsSync(output)) {
    throw new ArchiveError("ARCHIVE_EXISTS", `${output} exists already; choose another folder`);
  }
  mkdirSync(output, { recursive: true });
  try {
    const copy = join(output, "chain.sqlite");
    onProgress("copying the chain");
    copyChain(source, copy);
    const content = describe(copy);
    const sha256 = await compress(copy, join(output, DATABASE_FILE), (part) =>
      onProgress("compressing", part),
    );
    const { size: bytes } = statSync(copy);
    rmSync(copy);
    const manifest: Manifest = {
      format: 1,
      program,
      createdAt: new Date(nowMs()).toISOString(),
      ...content,
      database: { file: DATABASE_FILE, bytes, sha256 },
    };
    writeManifest(output, manifest);
    return manifest;
  } catch (error) {
    rmSync(output, { recursive: true, force: true });
    throw error;
  }
}

function describe(path: string): Pick<Manifest, "nethash" | "head" | "transactions" | "state"> {
  const database = openDatabase(path, { readonly: true });
  try {
    const { height, id } = createBlockStore(database).head()!;
    const { transactions } = database
      .prepare<{ transactions: number }>("SELECT count(*) AS transactions FROM transactions")
      .get()!;
    const nethash = createMetaStore(database).read("nethash")!;
    return { nethash, head: { height, id }, transactions, state: stateDigest(database) };
  } finally {
    database.close();
  }
}

/** Answers the hash of what is compressed. */
async function compress(from: string, to: string, onPart: (part: number) => void): Promise<string> {
  const { size } = statSync(from);
  const hash = createHash("sha256");
  let read = 0;
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      read += chunk.length;
      onPart(read / size);
      done(null, chunk);
    },
  });
  await pipeline(
    createReadStream(from, { highWaterMark: 1 << 20 }),
    watch,
    createZstdCompress(),
    createWriteStream(to, { flush: true }),
  );
  return hash.digest("hex");
}
