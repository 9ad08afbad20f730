/** Costs of the statistics of fees of the last days, beside the transactions of that time. */
import { Chunks, TimeBox } from "../../packages/node/src/read/sqlite/lists/time-box.ts";
import { FeeQueries } from "../../packages/node/src/read/sqlite/tables/chain.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { createInventedTransactions } from "../../packages/node/test-support/store/invented-transactions.ts";
import { sender } from "../api/dataset.ts";
import { cpuUsOf } from "./cpu.ts";

const PER_BLOCK = 280;

export function measureFees(path: string, transactions: number): void {
  const database = openDatabase(path);
  migrate(database);
  const append = createInventedTransactions(database);
  const parties = { sender: sender(0).publicKey, recipient: sender(1).address };
  database.transaction(() => {
    for (let made = 0; made < transactions; made++) {
      const position = { height: 2 + Math.floor(made / PER_BLOCK), sequence: made % PER_BLOCK };
      append({ ...position, ...parties, type: made % 3 === 0 ? 6 : 0, amount: made });
    }
  }, "process death");
  const time = new TimeBox(60_000);
  const fees = new FeeQueries({ database, chunks: new Chunks(database, time) });
  time.begin();
  const us = cpuUsOf(() => fees.since(2, 0));
  console.log(`fees of ${transactions} transactions: ${(us / 1_000).toFixed(1)} ms`);
  database.close();
}
