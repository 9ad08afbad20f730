/** Invariants of a data folder, however its process ended. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { foldHashes, HASH_BYTES } from "../../src/facts/merkle/hashes.ts";
import { hashesAt, TILE_BYTES, TILE_WIDTH, widthOf } from "../../src/facts/merkle/tiles.ts";
import { createFactTree } from "../../src/facts/tree/store.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { factOf } from "./receiver.ts";

export type Expectation = {
  /** Height that the process had reported as reached. */
  readonly shownHeight: number;
  /** Ids of transactions that the node had accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Height above which the facts of blocks have webhooks. */
  readonly registeredHeight: number;
};

export type Findings = {
  readonly height: number;
  /** Facts that must have been delivered in the end. */
  readonly facts: readonly string[];
  /** Nonce of the sender's next transaction, counting pending ones. */
  readonly nextNonce: bigint;
};

/** Checks the database of a data folder whose process has ended. */
export function inspecting<T>(folder: string, inspect: (database: Database) => T): T {
  const database = openDatabase(join(folder, "node.sqlite"), { readonly: true });
  try {
    return inspect(database);
  } finally {
    database.close();
  }
}

const numberOf = (database: Database, sql: string, ...parameters: string[]): bigint =>
  database.prepare<{ n: bigint | null }>(sql, { bigints: true }).get(...parameters)?.n ?? 0n;

/**
 * Checks that the tiles of the fact tree are complete and consistent. Its last blocks may just have been
 * reverted.
 */
function inspectFacts(database: Database): void {
  const tree = createFactTree(database);
  const size = tree.last()?.size ?? 0;
  for (let level = 0; hashesAt(level, size) > 0; level++) {
    const above: Uint8Array[] = [];
    for (let number = 0; widthOf(level, number, size) > 0; number++) {
      const tile = tree.tile(level, number);
      assert.ok(tile && tile.length >= widthOf(level, number, size) * HASH_BYTES, "a tile for all hashes");
      if (tile.length === TILE_BYTES) above.push(foldHashes(tile));
    }
    const tiles = above.map((_, index) => index).filter((index) => index % TILE_WIDTH === 0);
    const known = tiles.map((index) => present(tree.tile(level + 1, index / TILE_WIDTH)));
    assert.deepEqual(Buffer.concat(known), Buffer.concat(above), "the hashes of whole tiles");
  }
}

/** Checks that blocks, state, undo records and the fact tree agree; returns the height. */
export function inspectChain(database: Database): number {
  const number = (sql: string) => numberOf(database, sql);
  const height = Number(number("SELECT max(height) AS n FROM blocks"));
  assert.equal(number("SELECT count(*) AS n FROM blocks"), BigInt(height), "blocks without a gap");
  assert.equal(number("SELECT count(*) AS n FROM undo"), BigInt(height - 1), "an undo record for each block");
  // The genesis sender has minus the premine: the sum of all balances is what the blocks created.
  const balances = number("SELECT sum(balance) AS n FROM wallets");
  assert.equal(balances, number("SELECT sum(reward) AS n FROM blocks"), "balances are the rewards");
  inspectFacts(database);
  return height;
}

/**
 * Checks that height, state, undo records, event log and queue figures agree, and that no accepted
 * transaction is lost.
 */
export function inspectData(folder: string, sender: string, expected: Expectation): Findings {
  return inspecting(folder, (database) => inspectDatabase(database, sender, expected));
}

function inspectDatabase(database: Database, sender: string, expected: Expectation): Findings {
  const number = (sql: string, ...parameters: string[]) => numberOf(database, sql, ...parameters);
  const ids = (sql: string) =>
    database
      .prepare<{ id: string }>(sql)
      .all()
      .map(({ id }) => id);
  const height = inspectChain(database);
  assert.ok(height >= expected.shownHeight, `block ${expected.shownHeight} was shown, ${height} is there`);

  const sent = number(
    "SELECT count(*) AS n FROM transactions JOIN senders ON number = sender WHERE lower(hex(public_key)) = ?",
    sender,
  );
  const nonce = number("SELECT nonce AS n FROM wallets WHERE public_key = ?", sender);
  assert.equal(nonce, sent, "the nonce is the number of transactions sent");

  const kept = new Set(ids("SELECT id_text AS id FROM transactions UNION ALL SELECT id FROM pool"));
  for (const id of expected.accepted) assert.ok(kept.has(id), `accepted transaction ${id} is lost`);

  const after = `height > ${expected.registeredHeight}`;
  const facts = [
    ...ids(`SELECT id_text AS id FROM blocks WHERE ${after}`).map((id) => factOf("block.applied", id)),
    ...ids(`SELECT id_text AS id FROM transactions WHERE ${after}`).map((id) =>
      factOf("transaction.applied", id),
    ),
  ];
  const logged = database
    .prepare<{ name: string; data: string }>(`SELECT name, data FROM events WHERE ${after}`)
    .all()
    .map(({ name, data }) => factOf(name, (JSON.parse(data) as { id: string }).id));
  assert.deepEqual(logged.toSorted(), facts.toSorted(), "one event for each fact, and no other");

  const differing = number(
    `SELECT count(*) AS n FROM queues WHERE waiting + retrying + replaying <>
     (SELECT count(*) FROM deliveries WHERE deliveries.webhook = queues.webhook AND state = 'pending')`,
  );
  assert.equal(differing, 0n, "the figures of the queues are what counting finds");

  const pending = number("SELECT count(*) AS n FROM pool");
  return { height, facts, nextNonce: nonce + pending + 1n };
}
