/** Whether a snapshot is worth anything, without making it anybody's chain. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../store/database.ts";
import { stateDigest } from "./digest.ts";
import { ArchiveError } from "./error.ts";
import { exportBlocks } from "./export.ts";
import { importBlocks } from "./import.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { checkAgainst, type RestoreDeps } from "./restore.ts";
import { unpackDatabase } from "./unpack.ts";

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
  await unpackDatabase(folder, manifest, path, (done) => deps.onProgress("unpacking", done));
  await checkAgainst(manifest, path, deps);
  if (isExecuted) await execute(manifest, scratch, deps);
  return manifest;
}

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
    if (stateDigest(database) === state) return;
    throw new ArchiveError("ARCHIVE_INVALID", "its state is not the one that its blocks lead to");
  } finally {
    database.close();
  }
}
