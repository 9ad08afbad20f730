/** Making of snapshots, beside a node that runs or not. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { createBlockStore } from "../store/blocks.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { createMetaStore } from "../store/meta.ts";
import { migrate } from "../store/migrations.ts";
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

/** Everything that follows from the blocks. What else a database has is this node's own, and may be secret. */
const CHAIN_TABLES = [
  "blocks",
  "transactions",
  "payees",
  "wallets",
  "tokens",
  "properties",
  "entries",
  "rounds",
  "undo",
];

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

/** Into a database of its own rather than a copy of which something is deleted: nothing secret can stay behind. */
function copyChain(source: string, to: string): void {
  const database = openDatabase(to);
  try {
    // One file without a journal beside it, which is thrown away if anything fails.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    migrate(database);
    database.prepare("ATTACH ? AS source").run(source);
    // One transaction: what a running node commits meanwhile is not seen. It takes no lock that the node waits for.
    database.execute("BEGIN DEFERRED");
    checkSchema(database, source);
    for (const table of CHAIN_TABLES) {
      database.execute(`INSERT INTO main.${table} SELECT * FROM source.${table}`);
    }
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT");
  } finally {
    database.close();
  }
}

function checkSchema(database: Database, source: string): void {
  const applied = (schema: string) =>
    JSON.stringify(database.prepare(`SELECT * FROM ${schema}.migrations ORDER BY name`).all());
  if (applied("main") === applied("source")) return;
  throw new ArchiveError(
    "ARCHIVE_FOREIGN",
    `${source} was written by another version; let this one run on it once, or use that version`,
  );
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
