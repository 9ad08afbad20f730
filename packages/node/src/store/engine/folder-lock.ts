/** Locks a data folder for one process: two processes with the same data would forge the same slots. */

import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import Driver from "better-sqlite3";
import { CodedError } from "../../platform/coded-error.ts";
import { type FolderPurpose, makeFolder } from "../../platform/files/folder.ts";
import { dataErrorOf } from "./data-error.ts";
import { makePrivate } from "./database.ts";
import {
  type LockHolder,
  lockHolderText,
  readLockHolder,
  removeLockHolder,
  writeLockHolder,
} from "./lock-holder.ts";

/** Another process uses the data folder. A retry can succeed once that process has ended. */
export class DataInUseError extends CodedError<"DATA_IN_USE"> {
  constructor(folder: string, holder: LockHolder | undefined) {
    super(
      "DATA_IN_USE",
      `the data folder ${folder} is in use by another uniknode${lockHolderText(holder)}; stop that process, or choose ` +
        "another folder with --data",
      { isRetryable: true },
    );
  }
}

export type FolderLock = {
  /** Rejects with the code `LOCK_LOST`, at most `CHECK_MS` after the file of the lock was removed or replaced. */
  readonly lost: Promise<never>;
  /** Records the addresses of this process for the error messages of other processes. */
  describe(holder: Omit<LockHolder, "pid">): void;
  release(): void;
};

/** Properties of a data folder: only its owner has access. */
export const DATA_FOLDER: FolderPurpose = { what: "the data folder", flag: "--data", mode: 0o700 };
const CHECK_MS = 1_000;

/**
 * Locks the folder for this process, and creates it if missing. The operating system releases the lock when the process
 * ends, however it ends.
 *
 * @throws {DataInUseError | ConfigError | DataError}
 */
export function lockDataFolder(folder: string): FolderLock {
  makeFolder(folder, DATA_FOLDER);
  const path = lockPathOf(folder);
  const release = takeLock(path);
  if (!release) throw new DataInUseError(folder, readLockHolder(path));
  const { lost, close } = watchFile(path);
  return {
    lost,
    describe: (holder) => writeLockHolder(path, { pid: process.pid, ...holder }),
    release() {
      close();
      release();
    },
  };
}

/** Returns the process that uses the data folder; undefined if there is none, or it is unknown. */
export const folderHolder = (folder: string): LockHolder | undefined => readLockHolder(lockPathOf(folder));

const lockPathOf = (folder: string): string => join(folder, "lock.sqlite");

function takeLock(path: string): (() => void) | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    throw dataErrorOf(
      error,
      path,
      "it contains no data; remove it while no node uses the folder, then restart",
    );
  }
}

/**
 * Locks a file, created if missing, for this process. Its folder must exist.
 *
 * @returns a function that releases it; undefined if another process holds the lock
 */
export function lockFile(path: string): (() => void) | undefined {
  makePrivate(path);
  // A write transaction that is never committed: a crash cannot leave this lock held.
  const driver = new Driver(path, { timeout: 0 });
  try {
    driver.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    driver.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") return undefined;
    throw error;
  }
  writeLockHolder(path, { pid: process.pid });
  return () => {
    // Removed before the release, because the note then belongs to the next holder.
    removeLockHolder(path);
    driver.close();
  };
}

/** Returns true if every user of the machine has access to the folder. */
export const isOpenToAll = (folder: string): boolean => (statSync(folder).mode & 0o007) !== 0;

/** The file is never opened: closing it would release the lock. */
function watchFile(path: string): { lost: Promise<never>; close(): void } {
  const { ino, dev } = statSync(path);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  // Some processes end before the file can be replaced.
  lost.catch(() => {});
  const timer = setInterval(async () => {
    const isSame = await stat(path).then(
      (now) => now.ino === ino && now.dev === dev,
      // Other reasons why the folder is unreadable do not concern the lock.
      (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
    );
    if (isSame) return;
    clearInterval(timer);
    reject(lockLost(path));
  }, CHECK_MS);
  timer.unref();
  return { lost, close: () => clearInterval(timer) };
}

/** Another process can take the data folder while this one uses it. */
const lockLost = (path: string) =>
  new CodedError(
    "LOCK_LOST",
    `${path} was removed or replaced while the node ran, so that another node could use the data folder; ` +
      "the node stops: restart it when no other node uses the folder",
    { isRetryable: false },
  );
