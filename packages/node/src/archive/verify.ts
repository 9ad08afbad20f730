/** Whether a snapshot is worth anything, without making it anybody's chain. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { stateDigest } from "./digest.ts";
import { ArchiveError } from "./error.ts";
import { exportBlocks } from "./export.ts";
import { importBlocks } from "./import.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { type RestoreDeps, takeChain } from "./restore.ts";

export type VerifyOptions = {
  /** Empty folder with room for the database, twice of it to execute. */
  readonly scratch: string;
  /** Executes every block from the genesis block on and compares the states: the proof that nothing was made up. */
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
  await takeChain(folder, manifest, path, deps);
  if (isExecuted) await execute(manifest, scratch, deps);
  return manifest;
}

/** What follows from the blocks alone, row by row: columns that lists are made of are beside the bytes of blocks. */
const ROWS = ["blocks", "transactions", "payees"];

async function execute({ head, state }: Manifest, scratch: string, deps: RestoreDeps): Promise<void> {
  const executed = join(scratch, "executed");
  if (head.height > 1) {
    const blocks = exportBlocks({ data: scratch, network: deps.network, from: 2, onProgress: () => {} });
    const onProgress = (accepted: number) =>
      deps.onProgress("executing blocks", accepted / (head.height - 1));
    await importBlocks(blocks, executed, { ...deps, onProgress });
  }
  const database = openDatabase(join(executed, "node.sqlite"), { readonly: true });
  try {
    if (stateDigest(database) !== state) {
      throw new ArchiveError("ARCHIVE_INVALID", "its state is not the one that its blocks lead to");
    }
    database.prepare("ATTACH ? AS given").run(join(scratch, "node.sqlite"));
    const invented = ROWS.find((table) => holdsOther(database, table));
    if (invented) {
      throw new ArchiveError("ARCHIVE_INVALID", `its table of ${invented} is not what its blocks say`);
    }
  } finally {
    database.close();
  }
}

/** Whether the attached database has a row that this one has not, or the other way round. */
const holdsOther = (database: Database, table: string): boolean =>
  [
    `given.${table} EXCEPT SELECT * FROM main.${table}`,
    `main.${table} EXCEPT SELECT * FROM given.${table}`,
  ].some((rows) => database.prepare(`SELECT 1 FROM (SELECT * FROM ${rows}) LIMIT 1`).get() !== undefined);
