/** Creates folders that an operator named. */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../coded-error.ts";

export type FolderPurpose = {
  /** Purpose of the folder, in error messages: "the data folder". */
  readonly what: string;
  /** Option that names another folder. */
  readonly flag: string;
  /** Permissions of each created folder. */
  readonly mode?: number;
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  ENOENT: "the file system does not support folders",
  ENAMETOOLONG: "the name is too long",
};

/**
 * Creates a folder and its missing parents, one by one: the recursive call of the runtime never returns on
 * file systems that do not allow folders, such as /proc.
 *
 * @throws {ConfigError} when a file is in the way, or the folder cannot be created
 */
export function makeFolder(path: string, { what, flag, mode }: FolderPurpose): void {
  const absolute = resolve(path);
  const missing: string[] = [];
  const fail = (reason: string): never => {
    throw new ConfigError(`${what} ${path} cannot be used: ${reason}; choose another with ${flag}`);
  };
  try {
    let folder = absolute;
    for (; !exists(folder, fail); folder = dirname(folder)) missing.unshift(folder);
    for (folder of missing) makeOne(folder, mode);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (error instanceof ConfigError) throw error;
    fail(REASONS[code] ?? (error as Error).message);
  }
}

function exists(path: string, fail: (reason: string) => never): boolean {
  try {
    return statSync(path).isDirectory() || fail(`${path} is not a folder`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: a parent is a file, which is found next.
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
