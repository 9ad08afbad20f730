/** Verifies a snapshot without restoring it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { ArchiveError } from "./archive-error.ts";
import { stateDigest } from "./digest.ts";
import { exportBlocks } from "./export.ts";
import { buildFacts } from "./facts.ts";
import { importBlocks } from "./import.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { extractChain, type RestoreDeps } from "./restore.ts";

export type VerifyOptions = {
  /** Empty folder with space for the database; for twice its size with `isExecuted`. */
  readonly scratch: string;
  /** Also executes every block from the genesis block on and compares the states: a full proof of the state. */
  readonly isExecuted: boolean;
};

/**
 * Unpacks the snapshot and checks it as a restore does.
 *
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED, ARCHIVE_FOREIGN, ARCHIVE_INVALID
 */
export async function verifySnapshot(
  folder: string,
  { scratch, isExecuted }: VerifyOptions,
  deps: RestoreDeps,
): Promise<Manifest> {
  const manifest = readManifest(folder);
  const path = join(scratch, "node.sqlite");
  mkdirSync(scratch, { recursive: true });
  await extractChain(folder, manifest, path, deps);
  if (isExecuted) await execute(manifest, scratch, deps);
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
  const { head, state } = manifest;
  const executed = join(scratch, "executed");
  if (head.height > 1) {
    const blocks = exportBlocks({ data: scratch, network: deps.network, from: 2, onProgress: () => {} });
    const onProgress = (accepted: number) =>
      deps.onProgress("executing blocks", accepted / (head.height - 1));
    await importBlocks(blocks, executed, { ...deps, targetHeight: head.height, onProgress });
  }
  const path = join(executed, "node.sqlite");
  buildFacts(path, manifest, deps.network, (part) =>
    deps.onProgress("building the Merkle tree of facts", part),
  );
  const database = openDatabase(path, { readonly: true });
  try {
    if (stateDigest(database) !== state) {
      throw new ArchiveError("ARCHIVE_INVALID", "its state does not match its blocks");
    }
    database.prepare("ATTACH ? AS given").run(join(scratch, "node.sqlite"));
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
