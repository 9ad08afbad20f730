/** The data folder of a dev chain: how it is recognised, and how it is reset. */
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SESSION_FILE } from "../http/console/session-file.ts";
import { ConfigError } from "../platform/config-error.ts";
import { makeFolder } from "../platform/files/folder.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { readJsonObject } from "../platform/json/json-file.ts";
import { DATA_FOLDER, DataInUseError, lockDataFolder } from "../store/engine/folder-lock.ts";

/** Shape of the chain in a data folder: options that cannot change while it lives. */
export type Shape = { readonly mnemonic: string; readonly accounts: number; readonly blockTime: number };

/** File with the options of the dev chain; its presence also shows that the folder may be reset. */
const SHAPE_FILE = "dev-chain.json";
export const CLOCK_FILE = "dev-clock.json";
const DATABASE_FILE = "node.sqlite";
const DATA_FILES = [
  CLOCK_FILE,
  SESSION_FILE,
  "lock.sqlite",
  ...[DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`],
];

/** Advice for a damaged file of a dev chain. */
export const REMEDY = "start over with --reset, or choose another folder with --data";

export const isDevFolder = (folder: string): boolean => existsSync(join(folder, SHAPE_FILE));

/**
 * Deletes a dev chain. Nothing else is ever deleted: the folder must be one.
 *
 * @throws {ConfigError} when the folder is not a dev chain
 * @throws {DataInUseError} when a node runs on it
 */
export function resetFolder(folder: string): void {
  if (!existsSync(folder)) return;
  if (!isDevFolder(folder)) {
    throw new ConfigError(
      `--reset: ${folder} does not contain a dev chain and was not deleted; choose another folder with --data`,
    );
  }
  refuseInUse(folder);
  for (const file of [SHAPE_FILE, ...DATA_FILES]) rmSync(join(folder, file), { force: true });
}

function refuseInUse(folder: string): void {
  try {
    lockDataFolder(folder).release();
  } catch (error) {
    // A reset also repairs damage.
    if (error instanceof DataInUseError) throw error;
  }
}

/**
 * Returns true if the folder held a chain already, which must have the same shape.
 *
 * @throws {ConfigError} when it has another, the folder cannot be made, or its description is damaged
 */
export function claimFolder(folder: string, shape: Shape): boolean {
  if (!isDevFolder(folder)) {
    makeFolder(folder, DATA_FOLDER);
    writeWholeFile(join(folder, SHAPE_FILE), `${JSON.stringify(shape, null, 2)}\n`);
    return false;
  }
  const known = readShape(folder);
  const changed = (["mnemonic", "accounts", "blockTime"] as const).filter(
    (name) => known[name] !== shape[name],
  );
  if (changed.length > 0) {
    throw new ConfigError(
      `the dev chain in ${folder} was started with other values of ${changed.join(" and ")}; give these again, ` +
        REMEDY,
    );
  }
  // An interrupted start leaves an empty file.
  return (statSync(join(folder, DATABASE_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** @throws {ConfigError} when the file is empty or damaged */
export function readShape(folder: string): Shape {
  const path = join(folder, SHAPE_FILE);
  let content: Record<string, unknown>;
  try {
    content = readJsonObject(path, "the description of the dev chain");
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}; ${REMEDY}`);
  }
  const { mnemonic, accounts, blockTime } = content;
  if (typeof mnemonic === "string" && isCount(accounts) && isCount(blockTime)) {
    return { mnemonic, accounts, blockTime };
  }
  throw new ConfigError(`the description of the dev chain ${path} lacks required members; ${REMEDY}`);
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0;
