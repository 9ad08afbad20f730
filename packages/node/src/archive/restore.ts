/** A data folder from a snapshot. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../store/engine/database.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import { type CheckDeps, checkChain } from "./check.ts";
import { copyChain } from "./copy.ts";
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
  const lock = lockDataFolder(data);
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
      await takeChain(folder, manifest, part, deps);
      flush(part);
      renameSync(part, path);
    } finally {
      removeDatabase(part);
    }
    return manifest;
  } finally {
    lock.release();
  }
}

/**
 * Makes a database of the chain of a snapshot and checks it. Nothing else that the snapshot's database may hold comes
 * along: it may be a stranger's, who could have left webhooks, a token that he knows, or triggers.
 *
 * @throws {ArchiveError} of any code but ARCHIVE_EXISTS
 */
export async function takeChain(
  folder: string,
  manifest: Manifest,
  to: string,
  deps: RestoreDeps,
): Promise<void> {
  const unpacked = `${to}.unpacked`;
  try {
    // What a restore that was killed has left.
    removeDatabase(to);
    await unpackDatabase(folder, manifest, unpacked, (done) => deps.onProgress("unpacking", done));
    copyChain(unpacked, to);
    removeDatabase(unpacked);
    await checkAgainst(manifest, to, deps);
  } catch (error) {
    throw isOfMachine(error) ? error : damagedBy(error);
  } finally {
    removeDatabase(unpacked);
  }
}

/** Whether this machine failed, rather than what it read: a full disk, missing rights. */
const isOfMachine = (error: unknown): boolean =>
  /^(E(?!RR_)[A-Z0-9]+$|SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|BUSY))/.test(
    String((error as NodeJS.ErrnoException).code),
  );

/** Bytes whose hash is right may still be no database, or hold what nobody can read. */
const damagedBy = (error: unknown): ArchiveError =>
  error instanceof ArchiveError
    ? error
    : new ArchiveError("ARCHIVE_DAMAGED", `the snapshot cannot be read: ${(error as Error).message}`, {
        cause: error,
      });

async function checkAgainst(manifest: Manifest, path: string, deps: RestoreDeps): Promise<void> {
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

const removeDatabase = (path: string) => {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
};

/** Waits until a file is on disk. */
function flush(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
