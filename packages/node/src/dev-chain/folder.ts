/**
 * The data folder of a dev chain: how it is recognised, and how it is reset; and its clock, which is the clock of the
 * machine plus an offset that only grows and survives restarts.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "@uniknode/protocol";
import { storedNethash } from "../chain/stores.ts";
import { SESSION_FILE } from "../http/console/sessions.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { readJsonFile } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { DataError } from "../store/engine/data-error.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";

const count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Shape = Type.Object({ mnemonic: Type.String(), accounts: count, blockTime: count });
const Claim = Type.Object({ ...Shape.properties, nethash: Type.String() });

/** Shape of the chain in a data folder: options that cannot change while it lives. */
type Shape = Readonly<Static<typeof Shape>>;

/** File with the options and the nethash of the dev chain; its presence also shows that the folder may be reset. */
const SHAPE_FILE = "dev-chain.json";
export const CLOCK_FILE = "dev-clock.json";
const DATABASE_FILE = "node.sqlite";
/** The shape is last: a killed reset leaves a dev chain, which can be reset. */
const RESET_FILES = [
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  SESSION_FILE,
  CLOCK_FILE,
  SHAPE_FILE,
];

/** Advice for a damaged file of a dev chain. */
export const REMEDY = "start over with --reset, or choose another folder with --data";

const CLAIM = { purpose: "the description of the dev chain", form: formOf(Claim), remedy: REMEDY };

export const isDevFolder = (folder: string): boolean => existsSync(join(folder, SHAPE_FILE));

/**
 * Deletes a dev chain. Nothing else is ever deleted: the folder must be one, and have no other chain.
 *
 * @throws {ConfigError} when the folder is not a dev chain, or has the chain of another network
 * @throws {DataInUseError} when a node runs on it
 * @throws {DataError} when its lock cannot be opened
 */
export function resetFolder(folder: string): void {
  if (!existsSync(folder)) return;
  if (!isDevFolder(folder)) throw notReset(`${folder} does not contain a dev chain`);
  const release = lockForReset(folder);
  try {
    if (hasOtherChain(folder)) throw notReset(`${folder} contains the chain of another network`);
    for (const file of RESET_FILES) rmSync(join(folder, file), { force: true });
  } finally {
    release();
  }
}

/**
 * Removes a damaged lock: a reset also repairs damage. A lock that cannot be opened may be held by another user.
 *
 * @throws {DataInUseError | DataError}
 */
function lockForReset(folder: string): () => void {
  try {
    return lockDataFolder(folder).release;
  } catch (error) {
    if (!(error instanceof DataError && error.code === "DATA_DAMAGED")) throw error;
    rmSync(join(folder, "lock.sqlite"), { force: true });
    return () => {};
  }
}

/** Returns true if the database has a chain that a network other than the dev chain's has stored there. */
function hasOtherChain(folder: string): boolean {
  try {
    const { nethash } = readJsonFile(join(folder, SHAPE_FILE), CLAIM);
    const stored = storedNethash(join(folder, DATABASE_FILE));
    return stored !== undefined && stored !== nethash;
  } catch {
    // A reset also repairs damage.
    return false;
  }
}

const notReset = (reason: string) =>
  new ConfigError(`--reset: ${reason} and was not deleted; choose another folder with --data`);

/**
 * Checks that a dev chain in the folder, if any, has this shape. Changes nothing.
 *
 * @throws {ConfigError} when it has another shape, or its description is damaged
 */
export function checkShape(folder: string, shape: Shape): void {
  if (!isDevFolder(folder)) return;
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
}

/**
 * Makes the folder a dev chain, which can be reset: the caller must hold its lock, and have checked that it has no chain
 * of another network.
 */
export function claimFolder(folder: string, { mnemonic, accounts, blockTime }: Shape, nethash: string): void {
  const claim = { mnemonic, accounts, blockTime, nethash };
  writeWholeFile(join(folder, SHAPE_FILE), `${JSON.stringify(claim, null, 2)}\n`);
}

/** @throws {ConfigError} when the file is empty or damaged */
export const readShape = (folder: string): Shape => readJsonFile(join(folder, SHAPE_FILE), CLAIM);

/**
 * Makes the data folder of a restore or an import a dev chain, so that `uniknode dev` continues the copy: stores the shape of the
 * dev chain in the folder, and moves its clock forward to the clock of that chain. The caller must hold the
 * lock of the folder, and have checked that it has no chain of another network.
 *
 * @throws {ConfigError} when a file of either folder is damaged, or the folder has another shape
 */
export function adoptFolder(folder: string, devChain: string, network: Network): void {
  const shape = readShape(devChain);
  checkShape(folder, shape);
  claimFolder(folder, shape, network.description.nethash);
  const clock = new DevClock(join(devChain, CLOCK_FILE));
  new DevClock(join(folder, CLOCK_FILE)).moveTo(clock.nowMs());
}

const CLOCK = {
  purpose: "the clock of the dev chain",
  form: formOf(
    Type.Object({ aheadMs: Type.Number({ minimum: 0, description: "a number of milliseconds" }) }),
  ),
  remedy: "start over with --reset, or remove the file to use the machine's time again",
};

/** The clock of a dev chain. A file has its offset, and is created when the clock is first moved. */
export class DevClock {
  readonly #path: string;
  #aheadMs: number;

  /** @throws {ConfigError} when the file is empty or damaged */
  constructor(path: string) {
    this.#path = path;
    this.#aheadMs = existsSync(path) ? readJsonFile(path, CLOCK).aheadMs : 0;
  }

  /** Returns the milliseconds since 1970. */
  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Moves the clock forward to a time; without effect when the time is past. On disk when it returns. */
  moveTo(unixMs: number): void {
    const missingMs = unixMs - this.nowMs();
    if (missingMs <= 0) return;
    const aheadMs = this.#aheadMs + missingMs;
    writeWholeFile(this.#path, `${JSON.stringify({ aheadMs })}\n`);
    this.#aheadMs = aheadMs;
  }
}
