/**
 * Folders that a command creates and fills: a repeated command recognises the folder of a killed one, and fills it anew, or removes it
 * if it is temporary.
 */
import { existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import { type FolderPurpose, makeFolder } from "../../platform/files/folder.ts";
import { lockFile } from "./folder-lock.ts";
import { lockHolderText, readLockHolder, removeLockHolder } from "./lock-holder.ts";

/** Created first and removed last; locked by the process that fills the folder. */
const MARK = "unfinished.lock";
/** Tries to remove a folder in which threads still create files; the thread pool has at most 4 at a time. */
const MAX_TRIES = 100;

export type NewFolder = FolderPurpose & {
  /** Returns true for every path, relative to the folder, that the command may write. */
  readonly isOwn: (path: string) => boolean;
  /** File that the command writes last, in one step: the folder is complete if it exists. */
  readonly last: string;
};

/** Returns true if the command that created the folder was interrupted, or still runs. */
export const isUnfinished = (folder: string): boolean => existsSync(join(folder, MARK));

/**
 * Creates and fills a folder, which may exist if it is empty or unfinished. Removes what it created if `fill` fails. Files of others are
 * never deleted.
 *
 * @throws {ConfigError} when the folder has other content, is complete or cannot be created
 * @throws {CodedError} FOLDER_IN_USE when another process fills it
 * @throws the error of `fill`
 */
export async function fillNewFolder<T>(
  folder: string,
  options: NewFolder,
  fill: () => T | Promise<T>,
): Promise<T> {
  const isNew = !existsSync(folder);
  const release = claim(folder, options);
  let result: T;
  try {
    empty(folder, options);
    result = await fill();
  } catch (error) {
    try {
      empty(folder, options);
    } finally {
      release();
    }
    if (isNew && readdirSync(folder).length === 0) rmdirSync(folder);
    throw error;
  }
  release();
  return result;
}

/** @returns a function that removes the mark */
function claim(folder: string, { isOwn, last, ...purpose }: NewFolder): () => void {
  const { what, flag } = purpose;
  const refusal = (reason: string) =>
    new ConfigError(`${what} ${folder} ${reason}; choose another with ${flag}`);
  makeFolder(folder, purpose);
  if (!isUnfinished(folder) && readdirSync(folder).length > 0) throw refusal("is not empty");
  const mark = join(folder, MARK);
  const unlock = lockFile(mark);
  if (!unlock) throw inUse(folder, purpose, mark);
  const release = () => {
    removeLockHolder(mark);
    try {
      rmSync(mark);
    } finally {
      unlock();
    }
  };
  // Another process may have completed it before the lock was taken.
  if (existsSync(join(folder, last))) {
    release();
    throw refusal("is complete");
  }
  const foreign = pathsIn(folder).find((path) => !path.startsWith(MARK) && !isOwn(path));
  if (foreign !== undefined) {
    unlock();
    throw refusal(`is unfinished, and contains ${foreign}, which does not belong to it: remove this file`);
  }
  return release;
}

const pathsIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" });

function empty(folder: string, { isOwn }: NewFolder): void {
  for (const path of pathsIn(folder).filter(isOwn))
    rmSync(join(folder, path), { recursive: true, force: true });
}

const inUse = (folder: string, { what, flag }: FolderPurpose, mark: string) =>
  new CodedError(
    "FOLDER_IN_USE",
    `${what} ${folder} is being created by another uniknode${lockHolderText(readLockHolder(mark))}; wait for its end, ` +
      `or choose another with ${flag}`,
    { isRetryable: true },
  );

/** A folder for temporary files of this process. The next one with the same prefix removes those of killed processes. */
export class TemporaryFolder {
  readonly path: string;
  readonly #unlock: (() => void) | undefined;

  constructor(prefix: string) {
    try {
      removeAbandoned(prefix);
    } catch {
      // It only frees space.
    }
    this.path = mkdtempSync(join(tmpdir(), prefix));
    const lock = join(this.path, "new.lock");
    this.#unlock = lockFile(lock);
    // Other processes never see it unlocked.
    renameSync(lock, join(this.path, MARK));
  }

  remove(): void {
    for (let tries = 1; ; tries++) {
      try {
        rmSync(this.path, { recursive: true, force: true });
        break;
      } catch (error) {
        // Another thread has created a file meanwhile. `maxRetries` would not list the folder again in each version of the runtime.
        if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || tries === MAX_TRIES) throw error;
      }
    }
    this.#unlock?.();
  }
}

function removeAbandoned(prefix: string): void {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const mark = join(folder, MARK);
    // Another user could replace the lock by a link.
    const isOwn = lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();
    const unlock = isOwn && existsSync(mark) ? lockFile(mark) : undefined;
    if (!unlock) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } finally {
      unlock();
    }
  }
}
