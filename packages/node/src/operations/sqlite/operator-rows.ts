/** The rows for operators in SQLite. Reads have settled when they return. */
import type { Database, Statement } from "../../store/engine/database.ts";
import { SlotStore } from "../../store/node/slots.ts";
import type { OperatorRows } from "../overview.ts";

export class SqliteOperatorRows implements OperatorRows {
  readonly #slots: SlotStore;
  readonly #total: Statement<{ transactions: number }>;

  /** @param database may be a connection that only reads */
  constructor(database: Database) {
    this.#slots = new SlotStore(database);
    this.#total = database.prepare(
      "SELECT transactions_up_to AS transactions FROM blocks ORDER BY height DESC LIMIT 1",
    );
  }

  async transactions() {
    return this.#total.get()?.transactions ?? 0;
  }

  async forgedBy(publicKey: string) {
    return this.#slots.forgedBy(publicKey);
  }

  async missed(limit: number) {
    return this.#slots.missed(limit);
  }
}
