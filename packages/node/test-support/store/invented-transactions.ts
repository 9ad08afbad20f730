/** Rows of transactions that no network made, for tests of reads that do not decode them. */
import { concatBytes, hexToBytes } from "@uniknode/protocol";
import { IdLevels, TRANSACTION_IDS } from "../../src/store/chain/id-levels.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { Dictionary, RECIPIENTS, SENDERS } from "../../src/store/engine/dictionary.ts";

export type InventedTransaction = {
  readonly height: number;
  readonly sequence: number;
  /** 64 digits. */
  readonly id?: string;
  readonly version?: number;
  readonly typeGroup?: number;
  readonly type?: number;
  /** Public key, or a part of one. */
  readonly sender?: string;
  readonly recipient?: string | null;
  readonly nonce?: number;
  readonly amount?: number | bigint;
  readonly fee?: number;
  readonly vendorField?: string | null;
  readonly isAlive?: boolean;
};

const SENDER = `02${"00".repeat(32)}`;

/** Returns a function that inserts the row of a transaction. Its bytes have zeros, the version and the sender. */
export function createInventedTransactions(database: Database): (transaction: InventedTransaction) => void {
  const insert = database.prepare(
    "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, NULL, ?)",
  );
  const senders = new Dictionary(database, SENDERS);
  const recipients = new Dictionary(database, RECIPIENTS);
  const ids = new IdLevels(database, TRANSACTION_IDS);
  return ({ height, sequence, sender = SENDER, recipient = null, ...others }) => {
    const { version = 2, typeGroup = 1, type = 0, nonce = 1, amount = 0, fee = 1 } = others;
    const { id = inventedId(height, sequence), vendorField = null, isAlive = false } = others;
    const before = new Uint8Array(version === 1 ? 8 : 17);
    before[1] = version;
    const bytes = concatBytes(before, hexToBytes(sender), new Uint8Array(9 + 64));
    insert.run(
      ...[height, sequence, hexToBytes(id), version, typeGroup, type, senders.numberOf(sender)],
      ...[recipient === null ? null : recipients.numberOf(recipient), nonce, amount, fee, vendorField],
      ...[isAlive ? 1 : null, bytes],
    );
    ids.add(hexToBytes(id), height, sequence);
  };
}

/** Returns the id of a transaction without one of its own. */
export const inventedId = (height: number, sequence: number): string =>
  `${height * 1_000 + sequence}`.padEnd(64, "b");
