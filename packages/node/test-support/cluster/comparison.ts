/** Compares the database with the node at the same head: all rows, the copied events, and the root of the facts. */
import { setTimeout as sleep } from "node:timers/promises";
import type { NetworkFiles } from "@uniknode/protocol";
import { readHead } from "../../src/mirror/head.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { compareFacts, compareTables } from "../mirror/dev-chain.ts";
import { compareEvents } from "../mirror/events.ts";

const WAIT_MS = 60_000;
const POLL_MS = 100;

/**
 * Waits until both have one head.
 *
 * @returns the root of the facts, in hexadecimal digits
 * @throws {Error} that names a difference
 */
export async function compareWithNode(
  node: Database,
  postgres: Postgres,
  files: NetworkFiles,
): Promise<string> {
  await reachHead(node, postgres);
  await compareTables(node, postgres);
  await compareEvents(node, postgres);
  return compareFacts(node, postgres, files);
}

async function reachHead(node: Database, postgres: Postgres): Promise<void> {
  const select = node.prepare<{ id: string; height: number }>(
    "SELECT id_text AS id, height FROM blocks ORDER BY height DESC LIMIT 1",
  );
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    const [own, mirrored] = [select.get(), await readHead(postgres)];
    if (own?.id === mirrored?.id) return;
    if (performance.now() > endMs)
      throw new Error(`the mirror is at block ${mirrored?.height}, the node at block ${own?.height}`);
    await sleep(POLL_MS);
  }
}
