/** The comparison of a mirror with its node names every table that differs, and the keys of its rows. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkMirror, requireEqual } from "../../src/mirror/check/check.ts";
import { CHAINS } from "../../test-support/chain/fixtures.ts";
import { changedTable, changeRows } from "../../test-support/mirror/changed-rows.ts";
import { type MirroredChain, mirrorChain } from "../../test-support/mirror/mirrored-chain.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

type Mirrored = MirroredChain & { readonly check: () => ReturnType<typeof checkMirror> };

async function mirrored(name: string): Promise<Mirrored> {
  const chain = await mirrorChain(name, await databases.connect());
  const { postgres, network, built } = chain;
  const { signal } = new AbortController();
  return { ...chain, check: () => checkMirror({ postgres, feed: built.feed, network, signal }) };
}

describe.skipIf(!hasPostgres)("the comparison of a mirror", () => {
  test.each(CHAINS)("The comparison of a mirror of %s finds no difference.", async (name) => {
    const { check, node, close } = await mirrored(name);
    const result = await check();
    const { height, id } = node.chain.head();
    expect(result.position).toEqual({ height, id });
    expect(result.tables.map(({ table }) => table)).toEqual([
      ...["head", "blocks", "transactions", "payees", "type_totals"],
      ...["wallets", "tokens", "properties", "entries", "holdings", "rounds"],
    ]);
    for (const { table, difference, digests } of result.tables) {
      expect(difference, table).toBeUndefined();
      expect(digests.mirror, table).toBe(digests.node);
    }
    expect(() => requireEqual(result)).not.toThrow();
    await close();
  });

  describe("of a damaged one", () => {
    let mirror: Mirrored;
    beforeAll(async () => {
      mirror = await mirrored("chain-random-1");
    });
    afterAll(() => mirror.close());

    const WALLET = "(SELECT address FROM wallets ORDER BY address OFFSET 3 LIMIT 1)";
    test.each<[string, string, string]>([
      [
        "one byte of a transaction",
        "UPDATE transactions SET bytes = set_byte(bytes, 9, get_byte(bytes, 9) # 1) WHERE id = (SELECT max(id) FROM transactions)",
        "SELECT height || '/' || sequence AS key FROM transactions ORDER BY id DESC LIMIT 1",
      ],
      [
        "one byte of a header",
        "UPDATE blocks SET header = set_byte(header, 5, get_byte(header, 5) # 1) WHERE height = 7",
        "SELECT '7' AS key",
      ],
      [
        "a balance",
        `UPDATE wallets SET balance = balance + 1 WHERE address = ${WALLET}`,
        `SELECT ${WALLET} AS key`,
      ],
      [
        "a derived column",
        "UPDATE wallets SET vote = 'x' WHERE address = (SELECT max(address) FROM wallets)",
        "SELECT max(address) AS key FROM wallets",
      ],
      [
        "a round",
        "UPDATE rounds SET record = replace(record, '1', '2') WHERE round = 1",
        "SELECT '1' AS key",
      ],
      [
        "a missing row",
        "DELETE FROM tokens WHERE id = (SELECT min(id) FROM tokens)",
        "SELECT min(id) AS key FROM tokens",
      ],
      [
        "a row after the last one",
        "INSERT INTO entries VALUES ('zzz', 'key', 'value')",
        "SELECT 'zzz/key' AS key",
      ],
      [
        "a row before the first one",
        "INSERT INTO properties VALUES ('0', 'key', 'value')",
        "SELECT '0/key' AS key",
      ],
      [
        "a number of transactions",
        "UPDATE type_totals SET transactions = transactions + 1 WHERE type_group = 1 AND type = 0",
        "SELECT '1/0' AS key",
      ],
      ["the head", "UPDATE head SET transactions = transactions + 1", "SELECT height::text AS key FROM head"],
    ])("names %s", async (_, change, keySql) => {
      const { postgres, check } = mirror;
      const [{ key } = { key: "" }] = await postgres.query<{ key: string }>(keySql);
      const table = changedTable(change);
      await using _restored = await changeRows(postgres, change);
      const result = await check();
      const found = result.tables.filter(({ difference }) => difference);
      expect(found).toEqual([
        expect.objectContaining({ table, difference: { rows: 1, from: key, to: key } }),
      ]);
      expect(found[0]?.digests.mirror).not.toBe(found[0]?.digests.node);
      expect(() => requireEqual(result)).toThrow(`${table} (1 rows, from ${key} to ${key})`);
    });

    test("The comparison is refused while the mirror is being built, or has another block.", async () => {
      const { postgres, check } = mirror;
      await postgres.query("UPDATE head SET phase = 'blocks'");
      await expect(check()).rejects.toMatchObject({ code: "MIRROR_DATABASE" });
      await postgres.query("UPDATE head SET phase = 'ready', id = 'another'");
      await expect(check()).rejects.toMatchObject({ code: "MIRROR_BEHIND" });
    });
  });
});
