/** Creates snapshots; the node may keep running. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { openReader } from "../store/engine/migrations.ts";
import { fillNewFolder } from "../store/engine/new-folder.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { copyChain } from "./copy.ts";
import { databaseOf } from "./database.ts";
import { stateDigest } from "./digest.ts";
import { areOfChain, readFacts } from "./facts.ts";
import { DATABASE_FILE, MANIFEST_FILE, type Manifest, writeManifest } from "./manifest.ts";

/** The uncompressed copy, while the snapshot is created. */
const COPY_FILE = "chain.sqlite";

const SNAPSHOT_FOLDER = {
  what: "the folder of the snapshot",
  flag: "--output",
  isOwn: (path: string) =>
    [DATABASE_FILE, `${MANIFEST_FILE}.part`].includes(path) || /^chain\.sqlite(-journal)?$/.test(path),
  last: MANIFEST_FILE,
};

export type CreateOptions = {
  /** Data folder of the node. */
  readonly data: string;
  /** Folder of the snapshot: new, empty, or that of an interrupted creation. */
  readonly output: string;
  /** Version of the program, for the manifest. */
  readonly program: string;
  readonly nowMs: () => number;
  /** Called with the current step; for long steps with the completed fraction: 0 to 1. */
  readonly onProgress: (step: string, part?: number) => void;
};

/**
 * Writes a consistent copy of the chain and its state to a new folder. It contains nothing of the node itself: no
 * webhooks, no secrets, no pool, no record of forged slots. Temporarily it needs as much disk space as the database.
 *
 * @throws {ArchiveError} ARCHIVE_MISSING
 * @throws {ConfigError | CodedError} of `fillNewFolder`
 */
export async function createChainSnapshot(options: CreateOptions): Promise<Manifest> {
  const { data, output, program, nowMs, onProgress } = options;
  const source = databaseOf(data);
  // Refuses data of a newer version before anything is written.
  openReader(source).close();
  return await fillNewFolder(output, SNAPSHOT_FOLDER, async () => {
    const copy = join(output, COPY_FILE);
    // The tree lags the chain: the copy contains its blocks.
    const facts = readFacts(source);
    onProgress("copying the chain");
    copyChain(source, copy);
    const content = describe(copy, facts);
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
  });
}

function describe(
  path: string,
  facts: Manifest["facts"],
): Pick<Manifest, "nethash" | "head" | "transactions" | "state" | "facts"> {
  const database = openReader(path);
  try {
    const { height, id } = present(createBlockStore(database).head(), "the head of the chain");
    const count = database.prepare<{ total: number }>("SELECT count(*) AS total FROM transactions");
    const nethash = present(createMetaStore(database).read("nethash"), "the nethash");
    return {
      nethash,
      head: { height, id },
      transactions: count.get()?.total ?? 0,
      state: stateDigest(database),
      ...(facts && areOfChain(facts, database) && { facts }),
    };
  } finally {
    database.close();
  }
}

/** Returns the hash of the uncompressed file. */
async function compress(from: string, to: string, onPart: (part: number) => void): Promise<string> {
  const { size } = statSync(from);
  const hash = createHash("sha256");
  let read = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      read += chunk.length;
      onPart(read / size);
      done(null, chunk);
    },
  });
  await pipeline(
    createReadStream(from, { highWaterMark: 1 << 20 }),
    counter,
    createZstdCompress(),
    createWriteStream(to, { flush: true }),
  );
  return hash.digest("hex");
}
