/** One process for one data folder: two forging on the same data would forge slots twice. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Driver from "better-sqlite3";

/** Another process uses the data folder. Worth a retry once that one has ended. */
export class DataInUseError extends Error {
  readonly code = "DATA_IN_USE";

  constructor(folder: string) {
    super(
      `the data folder ${folder} is in use by another uniknode; stop that one, or choose another with --data`,
    );
    this.name = "DataInUseError";
  }
}

/**
 * Takes the folder for this process, making it when missing. The operating system gives it back when the process
 * ends, however it ends.
 *
 * @returns how to give it back
 * @throws {DataInUseError}
 */
export function lockDataFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const release = lockFile(join(folder, "lock.sqlite"));
  if (!release) throw new DataInUseError(folder);
  return release;
}

/**
 * Takes a file, created if missing, for this process. Its folder must exist.
 *
 * @returns how to release it; nothing if another process has it
 */
export function lockFile(path: string): (() => void) | undefined {
  // A write transaction that is never committed: a lock that cannot be left behind by a crash.
  const driver = new Driver(path, { timeout: 0 });
  try {
    driver.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    driver.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") return undefined;
    throw error;
  }
  return () => void driver.close();
}
