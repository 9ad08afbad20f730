/** The suite of the read model on PostgreSQL, as a mirror writes it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeHeader } from "@uniknode/protocol";
import { describe } from "vitest";
import { decodeBundle } from "../../../src/mirror/blocks.ts";
import { appendBundles, revertTo } from "../../../src/mirror/follow.ts";
import type { Bundle, Row } from "../../../src/mirror/line.ts";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { migrate as migratePostgres } from "../../../src/postgres/migrations.ts";
import { PostgresReadModel } from "../../../src/read/postgres/read-model.ts";
import { BlockStore } from "../../../src/store/chain/blocks.ts";
import { TransactionStore } from "../../../src/store/chain/transactions.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { chain, cold } from "../../../test-support/http/chain.ts";
import { writeChain } from "../../../test-support/http/fixture.ts";
import { longer } from "../../../test-support/http/longer.ts";
import { type BuiltMirror, buildMirror } from "../../../test-support/mirror/build.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import type { OpenSubject, Subject } from "./subject.ts";
import { describeReadModel, describeSnapshots } from "./suite.ts";

const { network } = chain;
const databases = useDatabases();

/** @param isShared as in an API server, whose snapshots share transactions */
const opening =
  (isShared: boolean): OpenSubject =>
  async ({ isEmpty = false, hasTime = true } = {}) => {
    const subjectOf = (postgres: Postgres, options: { readTimeoutMs?: number } = {}) => ({
      model: new PostgresReadModel(
        { ...options, headCacheMs: 0, offsetCacheStep: 5 },
        { postgres, ...(isShared && { shared: postgres }), network },
      ),
    });
    const postgres = await databases.connect();
    if (isEmpty) {
      await migratePostgres(postgres);
      return { ...subjectOf(postgres), ...NO_WRITER, close: () => postgres.close() };
    }
    const folder = mkdtempSync(join(tmpdir(), "uniknode-read-model-"));
    const path = writeChain(folder, longer);
    const mirror = await buildMirror(postgres, path, network);
    const node = openDatabase(path);
    if (!hasTime) await slowDown(postgres);
    return {
      ...subjectOf(postgres, hasTime ? {} : { readTimeoutMs: 500 }),
      ...writerOf(node, postgres, mirror),
      async close() {
        mirror.close();
        node.close();
        await postgres.close();
        rmSync(folder, { recursive: true });
      },
    };
  };

const NO_WRITER = { append: async () => {}, revertTo: async () => {} };

/** Every read of a second public key takes longer than the time of a read. */
const slowDown = async (postgres: Postgres): Promise<void> => {
  await postgres.query(`
    CREATE FUNCTION slowly(value text) RETURNS text STABLE LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(1); RETURN value; END $$;
    ALTER TABLE wallets RENAME TO stored_wallets;
    CREATE VIEW wallets AS SELECT address, public_key, balance, nonce, vote, username,
      slowly(second_public_key) AS second_public_key, attributes FROM stored_wallets`);
};

/** Any record that stays what it is: every block writes some. */
const UNCHANGED: Row = ["wallets", cold.address, "1027", "0", {}];

function writerOf(
  node: Database,
  postgres: Postgres,
  { epoch, feed }: BuiltMirror,
): Pick<Subject, "append" | "revertTo"> {
  const blocks = new BlockStore(node);
  const transactions = new TransactionStore(node);
  return {
    async append(block) {
      node.transaction(() => {
        blocks.append({ ...block, headerBytes: encodeHeader(block.header, network) });
        transactions.append(block);
      });
      const { height } = block.header;
      const bundles: Bundle[] = [];
      for await (const line of feed.blocks(height - 1, height, new AbortController().signal)) {
        if ("block" in line) bundles.push({ ...line, changes: [UNCHANGED] });
      }
      await appendBundles(
        postgres,
        bundles.map((bundle) => decodeBundle(bundle, network)),
        { network, epoch, undoDepth: 10 },
      );
    },
    async revertTo(height) {
      if (blocks.head()?.height === height) return;
      const { id } = present(blocks.header(height), "the block of the height");
      await revertTo(postgres, { height, id }, epoch);
      node.transaction(() => {
        transactions.removeFrom(height + 1);
        blocks.removeFrom(height + 1);
      });
    },
  };
}

describe.skipIf(!hasPostgres)("PostgreSQL", () => {
  describeSnapshots("PostgreSQL", opening(false));
  describeSnapshots("PostgreSQL in shared transactions", opening(true));
  // Only the transaction of a snapshot depends on whether it is shared.
  describeReadModel("PostgreSQL in shared transactions", opening(true));
});
