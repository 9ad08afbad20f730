/** The map of uniks of a mirror has the roots of its node, also for rounds that are too large for one group of changes. */
import { createRounds } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { Growth } from "../../src/facts/growth.ts";
import { MapRoots } from "../../src/facts/uniks/state.ts";
import { addRounds } from "../../src/mirror/facts/uniks.ts";
import { insertRows } from "../../src/mirror/statements.ts";
import { present } from "../../src/platform/present.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { type WrittenChain, writtenChain } from "../../test-support/facts/long-unik.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

/** A round with more changes than one group, and others that change, add and remove properties. */
function write(chain: WrittenChain): void {
  chain.append([chain.mint(), chain.mint("ab".repeat(32))]);
  chain.addProperties(1, 5_000);
  chain.append([chain.update({ "key-1": null, "key-2": "changed", other: "new" })]);
  chain.finalize(1);
  chain.append([chain.update({ "key-3": null }), chain.update({ type: null }, "ab".repeat(32))]);
  chain.finalize();
}

const COLUMNS = [
  ...[["height", "bigint"] as const, ["sequence", "integer"] as const, ["id", "text"] as const],
  ...[["version", "integer"] as const, ["type_group", "bigint"] as const, ["type", "integer"] as const],
  ...[["sender", "text"] as const, ["nonce", "bigint"] as const, ["amount", "bigint"] as const],
  ...[["fee", "bigint"] as const, ["timestamp", "bigint"] as const, ["signatures", "text"] as const],
  ["bytes", "bytea"] as const,
];

type Row = {
  height: number;
  sequence: number;
  id: string;
  type_group: number;
  type: number;
  bytes: Uint8Array;
};

describe.skipIf(!hasPostgres)("the map of uniks of a mirror", () => {
  test("The map of uniks of a mirror has the roots of its node after each round, in one step or in several.", async () => {
    const folder = temporaryFolder();
    const chain = writtenChain(`${folder.path}/node.sqlite`);
    onTestFinished(() => {
      chain.database.close();
      folder.remove();
    });
    write(chain);
    const { database, network } = chain;
    const growth = new Growth({ database, network, onTruncated: () => {} });
    while (growth.step(Number.POSITIVE_INFINITY));
    const { roundAt } = createRounds(network);
    const { height } = growth.figures();
    const ends = Array.from({ length: height }, (_, index) => index + 1).filter(
      (at) => at > 1 && roundAt(at + 1).isNewRound,
    );
    const rows = database
      .prepare<Row>(
        "SELECT height, sequence, id_text AS id, type_group, type, bytes FROM transactions ORDER BY height, sequence",
      )
      .all();

    for (const steps of [1, 2]) {
      const postgres = await databases.connect();
      await migrate(postgres);
      const given = rows.map(({ height, sequence, id, type_group, type, bytes }) => [
        ...[height, sequence, id, 2, type_group, type],
        ...["", 0, 0, 0, 0, "", Buffer.from(bytes)],
      ]);
      const roots = new Map<number, { root: string; uniks: number }>();
      await postgres.transaction("READ WRITE", async (transaction) => {
        await insertRows(transaction, "transactions", COLUMNS, given);
      });
      for (let step = 0; step < steps; step++) {
        const size = Math.ceil(ends.length / steps);
        await postgres.transaction("READ WRITE", async (transaction) => {
          const added = await addRounds(transaction, ends.slice(step * size, (step + 1) * size), network);
          for (const [at, root] of added) roots.set(at, root);
        });
      }
      const own = new MapRoots(database);
      expect([...roots]).toEqual(ends.map((at) => [at, own.at(at)]));
      expect(roots.get(present(ends.at(-1)))).toMatchObject({ uniks: 2 });
      await postgres.close();
    }
  });
});
