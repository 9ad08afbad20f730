/** Wallets of a read model on PostgreSQL with many holdings. */
import { expect, test } from "vitest";
import { CountCache, OffsetCache, type SnapshotReads } from "../../../src/read/postgres/lists/reads.ts";
import { PostgresWallets } from "../../../src/read/postgres/wallets.ts";

test("The holdings of a wallet with more than 250,000 are not read: the request fails.", async () => {
  const statements: unknown[] = [];
  /** Finds a wallet with two collections, whose rows are missing. */
  const find = (tokens: number, hashes: number) => {
    const attributes = { tokens: { size: tokens }, ipfs: { hashes: { size: hashes } } };
    const fields = ["address", "\x1e", "0", "1", JSON.stringify(attributes)].join("\x1f");
    const reads: SnapshotReads = {
      head: { id: "1", height: 1, timestamp: 0 },
      ...{ transactions: 0, counts: new CountCache(), offsets: new OffsetCache() },
      async query<Row>(statement: unknown) {
        statements.push(statement);
        return (statements.length === 1 ? [{ fields }] : []) as Row[];
      },
    };
    statements.length = 0;
    return new PostgresWallets(reads).find("address");
  };
  await expect(find(200_000, 50_001)).rejects.toMatchObject({ code: "SNAPSHOT_TIMEOUT" });
  expect(statements).toHaveLength(1);
  expect(await find(200_000, 50_000)).toMatchObject({ address: "address" });
  expect(statements).toHaveLength(2);
});
