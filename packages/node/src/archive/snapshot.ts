/** Snapshots: their creation, while the node may keep running, and their verification without restoring them. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { troubleOf } from "../platform/files/disk.ts";
import { withoutSignalHandlers } from "../platform/lifecycle/process.ts";
import { present } from "../platform/present.ts";
import { BlockStore } from "../store/chain/blocks.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { openReader } from "../store/engine/migrations.ts";
import { fillNewFolder } from "../store/engine/new-folder.ts";
import { MetaStore } from "../store/node/meta.ts";
import { ArchiveError } from "./archive-error.ts";
import { copyChain, stateDigest } from "./copy.ts";
import { databaseOf } from "./database.ts";
import { areOfChain, buildFacts, readFacts } from "./facts.ts";
import { importBlocks } from "./import.ts";
import { DATABASE_FILE, MANIFEST_FILE, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { extractChain, type RestoreDeps, tooLarge } from "./restore.ts";
import { exportBlocks } from "./stream.ts";

/** The uncompressed copy, while the snapshot is created. */
const COPY_FILE = "chain.sqlite";

const SNAPSHOT_FOLDER = {
  what: "the folder of the snapshot",
  flag: "--output",
  isOwn: (path: string) =>
    [DATABASE_FILE, `${MANIFEST_FILE}.part`].includes(path) || /^chain\.sqlite(-journal)?$/.test(path),
  last: MANIFEST_FILE,
};

type CreateOptions = {
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
 * webhooks, no secrets, no pool, no record of forged slots. Temporarily it needs the space of the chain and of the compressed file.
 *
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_TOO_LARGE
 * @throws {ConfigError | CodedError} of `fillNewFolder`
 */
export async function createChainSnapshot(options: CreateOptions): Promise<Manifest> {
  const { data, output } = options;
  const source = databaseOf(data);
  // Refuses data of a newer version before anything is written.
  openReader(source).close();
  try {
    return await fillNewFolder(output, SNAPSHOT_FOLDER, () => fill(source, options));
  } catch (error) {
    throw ofFullDisk(output, error);
  }
}

async function fill(
  source: string,
  { output, program, nowMs, onProgress }: CreateOptions,
): Promise<Manifest> {
  const copy = join(output, COPY_FILE);
  // The tree lags the chain: the copy contains its blocks.
  const facts = readFacts(source);
  onProgress("copying the chain");
  copyChain(source, copy);
  const content = describe(copy, facts);
  const sha256 = await compress(copy, join(output, DATABASE_FILE), (part) => onProgress("compressing", part));
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
}

/** Names the folder whose disk is full; returns other errors unchanged. */
const ofFullDisk = (folder: string, error: unknown): unknown =>
  troubleOf(error) === "disk full" ? tooLarge(`the disk of ${folder} is full`, { cause: error }) : error;

function describe(
  path: string,
  facts: Manifest["facts"],
): Pick<Manifest, "nethash" | "head" | "transactions" | "state" | "facts"> {
  const database = openReader(path);
  try {
    const { height, id } = present(new BlockStore(database).head(), "the head of the chain");
    const count = database.prepare<{ total: number }>("SELECT count(*) AS total FROM transactions");
    const nethash = present(new MetaStore(database).read("nethash"), "the nethash");
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

type VerifyOptions = {
  /**
   * Empty folder with space for twice the size of the database; with `isExecuted`, for two databases with their trees of facts, and
   * for temporary tables.
   */
  readonly scratch: string;
  /** Also executes every block from the genesis block on and compares the states: a full proof of the state. */
  readonly isExecuted: boolean;
};

/**
 * Unpacks the snapshot and checks it as a restore does.
 *
 * @throws {ArchiveError} with any code but ARCHIVE_EXISTS
 */
export async function verifySnapshot(
  folder: string,
  { scratch, isExecuted }: VerifyOptions,
  deps: RestoreDeps,
): Promise<Manifest> {
  const manifest = readManifest(folder);
  const path = join(scratch, "node.sqlite");
  mkdirSync(scratch, { recursive: true });
  try {
    await extractChain(folder, manifest, path, deps);
    if (isExecuted) await execute(manifest, scratch, deps);
  } catch (error) {
    throw ofFullDisk(scratch, error);
  }
  return manifest;
}

/**
 * Tables that follow from the blocks alone, with SQL of their rows in a schema. They are compared row by row: lists use columns that
 * are not in the block bytes. Numbers of generators, senders and recipients depend on the order of their first use, their keys and addresses do not.
 */
const ROWS: Readonly<Record<string, (schema: string) => string>> = {
  blocks: (schema) =>
    `SELECT height, id, version, timestamp, number_of_transactions, transactions_up_to, total_amount, total_fee, reward,
      payload_length, public_key, header
     FROM ${schema}.blocks LEFT JOIN ${schema}.generators ON number = generator`,
  transactions: (
    schema,
  ) => `SELECT height, sequence, id, version, type_group, type, public_key, address, nonce, amount, fee, vendor_field, is_alive,
      signatures, asset, bytes
     FROM ${schema}.transactions LEFT JOIN ${schema}.senders ON senders.number = sender
       LEFT JOIN ${schema}.recipients ON recipients.number = recipient`,
  payees: (schema) =>
    `SELECT height, sequence, address FROM ${schema}.payees LEFT JOIN ${schema}.recipients ON number = payee`,
};

async function execute(manifest: Manifest, scratch: string, deps: RestoreDeps): Promise<void> {
  const { head } = manifest;
  const executed = join(scratch, "executed");
  if (head.height > 1) {
    const blocks = exportBlocks({ data: scratch, network: deps.network, from: 2, onProgress: () => {} });
    const onProgress = (accepted: number) =>
      deps.onProgress("executing blocks", accepted / (head.height - 1));
    await importBlocks(blocks, executed, { ...deps, targetHeight: head.height, onProgress });
  }
  const path = join(executed, "node.sqlite");
  await buildFacts(path, manifest, deps.network, (part) =>
    deps.onProgress("building the Merkle tree of facts", part),
  );
  await withoutSignalHandlers(() => compare(manifest, path, join(scratch, "node.sqlite")));
}

/** @throws {ArchiveError} ARCHIVE_INVALID unless the database of executed blocks has the state and the rows of the given one */
function compare({ state }: Manifest, path: string, given: string): void {
  const database = openDatabase(path, { readonly: true });
  try {
    if (stateDigest(database) !== state) {
      throw new ArchiveError("ARCHIVE_INVALID", "its state does not match its blocks");
    }
    database.prepare("ATTACH ? AS given").run(given);
    const different = Object.entries(ROWS).find(([, rows]) => hasOtherRows(database, rows));
    if (different) {
      throw new ArchiveError("ARCHIVE_INVALID", `its table ${different[0]} does not match its blocks`);
    }
  } finally {
    database.close();
  }
}

/** Returns true if the rows of the two databases differ. */
const hasOtherRows = (database: Database, rows: (schema: string) => string): boolean =>
  [
    [rows("given"), rows("main")],
    [rows("main"), rows("given")],
  ].some(
    ([some, others]) =>
      database.prepare(`SELECT 1 FROM (${some} EXCEPT ${others}) LIMIT 1`).get() !== undefined,
  );
