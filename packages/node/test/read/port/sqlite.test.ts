/** Suite of the read model on SQLite. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeHeader } from "@uniknode/protocol";
import { SqliteReadModel } from "../../../src/read/sqlite/read-model.ts";
import { BlockStore } from "../../../src/store/chain/blocks.ts";
import { TransactionStore } from "../../../src/store/chain/transactions.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { chain } from "../../../test-support/http/chain.ts";
import { writeChain } from "../../../test-support/http/fixture.ts";
import { longer } from "../../../test-support/http/longer.ts";
import type { OpenSubject } from "./subject.ts";
import { describeReadModel, describeSnapshots } from "./suite.ts";

const open: OpenSubject = async ({ isEmpty = false, hasTime = true } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-read-model-"));
  const path = isEmpty ? join(folder, "chain.sqlite") : writeChain(folder, longer);
  const writer = openDatabase(path);
  if (isEmpty) migrate(writer);
  const blocks = new BlockStore(writer);
  const transactions = new TransactionStore(writer);
  const reader = openDatabase(path, { readonly: true });
  const model = new SqliteReadModel(hasTime ? {} : { readTimeoutMs: -1 }, {
    database: reader,
    network: chain.network,
  });
  return {
    model,
    async append(block) {
      writer.transaction(() => {
        blocks.append({ ...block, headerBytes: encodeHeader(block.header, chain.network) });
        transactions.append(block);
      });
    },
    async revertTo(height) {
      writer.transaction(() => {
        transactions.removeFrom(height + 1);
        blocks.removeFrom(height + 1);
      });
    },
    async close() {
      model.close();
      reader.close();
      writer.close();
      rmSync(folder, { recursive: true });
    },
  };
};

describeSnapshots("SQLite", open);
describeReadModel("SQLite", open);
