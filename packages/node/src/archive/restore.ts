/** A data folder from a snapshot. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../store/database.ts";
import { lockDataFolder } from "../store/lock.ts";
import { type CheckDeps, checkChain } from "./check.ts";
import { stateDigest } from "./digest.ts";
import { ArchiveError } from "./error.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { unpackDatabase } from "./unpack.ts";

export type RestoreDeps = Omit<CheckDeps, "onPart"> & {
  /** Hears what is being done, and the part of it that is done: 0 to 1. */
  readonly onProgress: (step: string, part: number) => void;
};

/**
 * Makes the snapshot the chain of a data folder that has none, once it has been checked block by block. A node then
 * starts at its last block.
 *
 * @throws {DataInUseError}
 * @throws {ArchiveError} of any code; the data folder stays without a chain
 */
export async function restoreSnapshot(folder: string, data: string, deps: RestoreDeps): Promise<Manifest> {
  const manifest = readManifest(folder);
  const unlock = lockDataFolder(data);
  try {
    const path = join(data, "node.sqlite");
    if (existsSync(path)) {
      throw new ArchiveError(
        "ARCHIVE_EXISTS",
        `${data} holds a chain already; choose an empty folder with --data`,
      );
    }
    const part = join(data, "restored.sqlite");
    try {
      await unpackDatabase(folder, manifest, part, (done) => deps.onProgress("unpacking", done));
      await checkAgainst(manifest, part, deps);
      renameSync(part, path);
    } finally {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(part + suffix, { force: true });
    }
    return manifest;
  } finally {
    unlock();
  }
}

/**
 * Checks an unpacked snapshot.
 *
 * @throws {ArchiveError} ARCHIVE_FOREIGN, ARCHIVE_INVALID, ARCHIVE_DAMAGED
 */
export async function checkAgainst(manifest: Manifest, path: string, deps: RestoreDeps): Promise<void> {
  const database = openDatabase(path, { readonly: true });
  try {
    const onPart = (done: number) => deps.onProgress("checking blocks", done);
    const { head, transactions } = await checkChain(database, { ...deps, onPart });
    const isDescribed =
      head.height === manifest.head.height &&
      head.id === manifest.head.id &&
      transactions === manifest.transactions &&
      stateDigest(database) === manifest.state;
    if (!isDescribed) {
      throw new ArchiveError(
        "ARCHIVE_DAMAGED",
        "the manifest describes another database than the one beside it",
      );
    }
  } finally {
    database.close();
  }
}
