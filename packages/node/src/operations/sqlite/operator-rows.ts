/** The rows for operators in SQLite. Reads have settled when they return. */
import type { Database } from "../../store/engine/database.ts";
import { createSlotStore } from "../../store/node/slots.ts";
import type { OperatorRows } from "../operator-rows.ts";

/** @param database may be a connection that only reads */
export function createSqliteOperatorRows(database: Database): OperatorRows {
  const slots = createSlotStore(database);
  const total = database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks ORDER BY height DESC LIMIT 1",
  );
  return {
    transactions: async () => total.get()?.transactions ?? 0,
    forgedBy: async (publicKey) => slots.forgedBy(publicKey),
    missed: async (limit) => slots.missed(limit),
  };
}
