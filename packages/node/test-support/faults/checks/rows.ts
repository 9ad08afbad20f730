/** Invariants of the database of a node, however its process ended. */
import assert from "node:assert/strict";
import { foldHashes, HASH_BYTES } from "../../../src/facts/merkle/proofs.ts";
import { hashesAt, TILE_BYTES, TILE_WIDTH, widthOf } from "../../../src/facts/merkle/tiles.ts";
import { FactTree } from "../../../src/facts/tree/store.ts";
import { present } from "../../../src/platform/present.ts";
import type { Database } from "../../../src/store/engine/database.ts";

/** @throws {AssertionError} unless all tables agree, and the accepted transactions are on the chain or pending */
export function inspectRows(database: Database, accepted: ReadonlySet<string>): void {
  const number = (sql: string): bigint =>
    database.prepare<{ n: bigint | null }>(sql, { bigints: true }).get()?.n ?? 0n;
  const height = number("SELECT max(height) AS n FROM blocks");
  assert.equal(number("SELECT count(*) AS n FROM blocks"), height, "blocks without a gap");
  assert.equal(number("SELECT count(*) AS n FROM undo"), height - 1n, "an undo record for each block");
  // The genesis sender has minus the premine: the sum of all balances is what the blocks created.
  const balances = number("SELECT sum(balance) AS n FROM wallets");
  assert.equal(balances, number("SELECT sum(reward) AS n FROM blocks"), "balances are the rewards");
  const unlikeNonces = number(
    `SELECT count(*) AS n FROM wallets JOIN senders ON senders.public_key = unhex(wallets.public_key)
     WHERE nonce <> (SELECT count(*) FROM transactions WHERE sender = senders.number)`,
  );
  assert.equal(unlikeNonces, 0n, "each nonce is the number of transactions sent");
  const unlikeFigures = number(
    `SELECT count(*) AS n FROM queues WHERE waiting + retrying + replaying <>
     (SELECT count(*) FROM deliveries WHERE deliveries.webhook = queues.webhook AND state = 'pending')`,
  );
  assert.equal(unlikeFigures, 0n, "the figures of the queues are what counting finds");
  inspectFacts(database);
  if (accepted.size === 0) return;
  const stored = database.prepare<{ id: string }>(
    "SELECT id_text AS id FROM transactions UNION ALL SELECT id FROM pool",
  );
  const lost = accepted.difference(new Set(stored.all().map(({ id }) => id)));
  assert.deepEqual([...lost], [], "accepted transactions are on the chain or pending");
}

/** Checks that the tiles of the fact tree are complete and consistent. Its last blocks may just have been reverted. */
function inspectFacts(database: Database): void {
  const tree = new FactTree(database);
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
