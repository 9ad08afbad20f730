/** Verifies a converted database: its blocks, its state and its facts are those of the earlier version. */
import { setImmediate as turn } from "node:timers/promises";
import type { Network } from "@uniknode/protocol";
import { earlierLogRoot } from "../../facts/earlier-logs.ts";
import { createGrowth } from "../../facts/growth.ts";
import { createFactTree } from "../../facts/tree/store.ts";
import { createBlockStore } from "../../store/chain/blocks.ts";
import { DataError } from "../../store/engine/data-error.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { stateDigest } from "../digest.ts";
import { rootAt } from "../facts.ts";
import { createBlockInspection } from "../integrity/blocks.ts";

export type ConversionDeps = {
  readonly network: Network;
  /** Ends the conversion between two steps; it continues with the next call. */
  readonly signal: AbortSignal;
  /** Called with the current step and its completed fraction: 0 to 1. */
  readonly onProgress: (step: string, part: number) => void;
};

const BATCH_BLOCKS = 500;
/** Time of one step that builds the tree of facts. */
const STEP_MS = 100;

/**
 * Compares every block with its id, and the state with that of the earlier version. Builds the tree of facts, and compares its root
 * with that of the earlier version, unless that is 0.1.0, which had none.
 *
 * @param path of the database of the earlier version
 * @throws {DataError} DATA_DAMAGED
 * @throws {Error} `AbortError` when the signal is aborted
 */
export async function verifyConversion(
  database: Database,
  path: string,
  deps: ConversionDeps,
): Promise<void> {
  const damage =
    (await blockDamage(database, deps)) ??
    (await factDamage(database, path, deps)) ??
    stateDamage(database, path);
  if (damage === undefined) return;
  throw new DataError(
    "DATA_DAMAGED",
    `${path} cannot be converted (${damage}): start the earlier version on it, which can read it; or move the folder away, and restart to fetch the chain from peers`,
  );
}

async function blockDamage(
  database: Database,
  { network, signal, onProgress }: ConversionDeps,
): Promise<string | undefined> {
  const inspect = createBlockInspection(database, network);
  const height = createBlockStore(database).head()?.height ?? 0;
  // The genesis block is compared with the network at every start.
  for (let from = 2; from <= height; from += BATCH_BLOCKS) {
    const { damage } = inspect(from, from + BATCH_BLOCKS - 1);
    if (damage !== undefined) return damage;
    onProgress("comparing blocks with their ids", from / height);
    await turn();
    signal.throwIfAborted();
  }
  return undefined;
}

async function factDamage(
  database: Database,
  path: string,
  { network, signal, onProgress }: ConversionDeps,
): Promise<string | undefined> {
  const growth = createGrowth({ database, network, onTruncated() {} });
  while (growth.step(performance.now() + STEP_MS)) {
    const { height, lag } = growth.figures();
    onProgress("building the Merkle tree of facts", height / (height + lag));
    await turn();
    signal.throwIfAborted();
  }
  const given = withSource(path, factsOf);
  if (!given) return undefined;
  const work = earlierLogRoot(database, network, { height: given.height, version: 1 });
  for (;;) {
    const step = work.next();
    if (step.done) {
      const isSame = step.value.size === given.size && step.value.root === given.root;
      return isSame ? undefined : "the facts root of the copy differs";
    }
    onProgress("comparing the facts with those of the earlier version", step.value / given.height);
    await turn();
    signal.throwIfAborted();
  }
}

type Facts = { readonly height: number; readonly size: number; readonly root: string | undefined };

/** Returns the facts of a database; undefined for version 0.1.0, which had none. */
function factsOf(database: Database): Facts | undefined {
  const hasTree = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'fact_sizes'").get();
  if (!hasTree) return undefined;
  const last = createFactTree(database).last();
  return last && { height: last.height, size: last.size, root: rootAt(database, last.size) };
}

function stateDamage(database: Database, path: string): string | undefined {
  return stateDigest(database) === withSource(path, stateDigest)
    ? undefined
    : "the state of the copy differs";
}

function withSource<T>(path: string, read: (database: Database) => T): T {
  const database = openDatabase(path, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
