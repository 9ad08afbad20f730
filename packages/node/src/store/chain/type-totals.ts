/** Totals of transactions on the chain by type, maintained instead of counted. */
import type { Transaction } from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";

/** Each function must be called in the transaction that changes the table of transactions. */
export type TypeTotals = {
  add(transactions: readonly Pick<Transaction, "typeGroup" | "type">[]): void;
  /** Subtracts the transactions of the blocks at and above a height, before they are removed. */
  subtractFrom(height: number): void;
};

const COUNTS = "SELECT type_group, type, COUNT(*) AS count FROM transactions";

export function createTypeTotals(database: Database): TypeTotals {
  const add = database.prepare(
    `INSERT INTO type_totals VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET transactions = transactions + excluded.transactions`,
  );
  const subtract = database.prepare(
    `UPDATE type_totals SET transactions = transactions - left.count
     FROM (${COUNTS} WHERE height >= ? GROUP BY type_group, type) AS left
     WHERE left.type_group = type_totals.type_group AND left.type = type_totals.type`,
  );
  const removeNone = database.prepare("DELETE FROM type_totals WHERE transactions = 0");
  return {
    add(transactions) {
      for (const group of Map.groupBy(transactions, typeKey).values()) {
        const [{ typeGroup, type }] = group as [(typeof group)[number]];
        add.run(typeGroup, type, group.length);
      }
    },
    subtractFrom(height) {
      subtract.run(height);
      removeNone.run();
    },
  };
}

/** A group has 32 bits, a type has 16 (transactions.md 2). */
const typeKey = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">) => typeGroup * 2 ** 16 + type;

/** Recounts all transactions after rows were written without this store. Scans an index of the whole table. */
export function recountTypes(database: Database): void {
  database.transaction(() => {
    database.execute(`DELETE FROM type_totals; INSERT INTO type_totals ${COUNTS} GROUP BY type_group, type`);
  });
}
