/** Finds damage in the database of a node: invalid pages, blocks that do not match their ids, malformed rows. */
import type { Network } from "@uniknode/protocol";
import { shortened, withoutControls } from "../../platform/text/foreign.ts";
import type { Database } from "../../store/engine/database.ts";
import { openReader } from "../../store/engine/migrations.ts";
import { blockDamage } from "./blocks.ts";
import { formDamage } from "./forms.ts";
import { structureDamage } from "./structure.ts";

/** The first damage found, such as `table blocks: block 602: its id is not that of its bytes`. */
export type Inspection = {
  readonly damage?: string;
  /** Number of blocks whose bytes were compared with their ids, and of blocks on the chain. */
  readonly inspected: number;
  readonly blocks: number;
};

export type InspectOptions = {
  /** Time for which blocks are inspected, in random order. If absent, only pages and rows are inspected. */
  readonly blocks?: { readonly network: Network; readonly forMs: number };
};

const MAX_DAMAGE = 300;
/** The file cannot be read as a database. Other errors are not damage of the file. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|IOERR)/;

/**
 * Reads the whole database, in a transaction for each table and for each batch of blocks, so that a running
 * node is not blocked.
 *
 * @throws {Error} of the driver when the file cannot be opened
 */
export function inspectDatabase(path: string, { blocks }: InspectOptions = {}): Inspection {
  const progress = { inspected: 0, blocks: 0 };
  let database: Database | undefined;
  try {
    database = openReader(path);
    const damage =
      structureDamage(database) ??
      formDamage(database) ??
      (blocks && blockDamage(database, { ...blocks, progress }));
    return damage === undefined ? progress : { ...progress, damage: shown(damage) };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (!DAMAGED.test(String(code))) throw error;
    return { ...progress, damage: shown(`${message} (${code})`) };
  } finally {
    database?.close();
  }
}

const shown = (damage: string): string => shortened(withoutControls(damage), MAX_DAMAGE);
