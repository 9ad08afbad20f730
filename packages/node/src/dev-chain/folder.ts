/** The data folder of a dev chain: how it is recognised, and how it is reset. */
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SESSION_FILE } from "../http/console/session-file.ts";
import { ConfigError } from "../platform/config-error.ts";
import { makeFolder } from "../platform/files/folder.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { formOf } from "../platform/json/form.ts";
import { readJsonFile } from "../platform/json/json-file.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { DATA_FOLDER, DataInUseError, lockDataFolder } from "../store/engine/folder-lock.ts";

const count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Shape = Type.Object({ mnemonic: Type.String(), accounts: count, blockTime: count });

/** Shape of the chain in a data folder: options that cannot change while it lives. */
export type Shape = Readonly<Static<typeof Shape>>;

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

const SHAPE = { purpose: "the description of the dev chain", form: formOf(Shape), remedy: REMEDY };

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
export const readShape = (folder: string): Shape => readJsonFile(join(folder, SHAPE_FILE), SHAPE);
