/** Reads earlier states (decision 69). Each read finds the first row above a height in a primary key. */
import type { Database } from "../engine/database.ts";
import { applyDelta } from "./delta.ts";
import { HISTORY_KINDS } from "./writer.ts";

/** Result of a read: no block above the height changed the record, so that the present one is valid. */
export const UNCHANGED = Symbol("unchanged");
type Earlier<Value> = Value | undefined | typeof UNCHANGED;

export type WalletVersion = {
  readonly balance: string;
  readonly nonce: string;
  readonly hasPublicKey: boolean;
};

export type HistoryReader = {
  /** Returns the lowest recorded height; undefined if none is recorded. */
  since(): number | undefined;
  /** Returns the sum of balances and open locks after a recorded block. */
  coins(height: number): bigint | undefined;
  /** Returns the wallet after the block, without its attributes; undefined if it did not exist. */
  wallet(address: string, height: number): Earlier<WalletVersion>;
  /** Returns the attributes of a wallet after the block as JSON, given its present ones. */
  attributes(address: string, height: number, present: string): string;
  /** Returns the record after the block; undefined if there was none. */
  record(kind: "tokens" | "properties", key: string, height: number): Earlier<string>;
  /** Returns the keys of the properties of a token that recorded blocks changed, each with its token, ascending. */
  propertyKeys(tokenId: string): string[];
};

type WalletRow = { balance: string | null; nonce: string; hasPublicKey: number };
type AttributesRow = { step: number; prefix: number; suffix: number; record: string };

export function createHistoryReader(database: Database): HistoryReader {
  const lowest = database.prepare<{ height: number }>(
    "SELECT height FROM history_blocks ORDER BY height LIMIT 1",
  );
  const coins = database.prepare<{ coins: bigint }>("SELECT coins FROM history_blocks WHERE height = ?", {
    bigints: true,
  });
  const wallet = database.prepare<WalletRow>(
    `SELECT CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, has_public_key AS hasPublicKey
     FROM history_wallets WHERE address = ? AND height > ? ORDER BY height LIMIT 1`,
  );
  const attributes = database.prepare<AttributesRow>(
    `SELECT step, prefix, suffix, record FROM history_records
     WHERE kind = ${HISTORY_KINDS.attributes} AND key = ? AND height > ? ORDER BY height`,
  );
  const record = database.prepare<{ record: string | null }>(
    "SELECT record FROM history_records WHERE kind = ? AND key = ? AND height > ? ORDER BY height LIMIT 1",
  );
  const nextProperty = database.prepare<{ key: string }>(
    `SELECT key FROM history_records
     WHERE kind = ${HISTORY_KINDS.properties} AND key > ? AND key < ? ORDER BY key LIMIT 1`,
  );
  return {
    since: () => lowest.get()?.height,
    coins: (height) => coins.get(height)?.coins,
    wallet(address, height) {
      const row = wallet.get(address, height);
      return row ? versionFromRow(row) : UNCHANGED;
    },
    attributes: (address, height, present) => combine(attributes.iterate(address, height), present),
    record(kind, key, height) {
      const row = record.get(HISTORY_KINDS[kind], key, height);
      return row ? (row.record ?? undefined) : UNCHANGED;
    },
    propertyKeys(tokenId) {
      const keys: string[] = [];
      // One search for each key, however many blocks changed it. "0" follows "/".
      for (let last = `${tokenId}/`; ; ) {
        const next = nextProperty.get(last, `${tokenId}0`)?.key;
        if (next === undefined) return keys;
        keys.push(next);
        last = next;
      }
    },
  };
}

const versionFromRow = ({ balance, nonce, hasPublicKey }: WalletRow): WalletVersion | undefined =>
  balance === null ? undefined : { balance, nonce, hasPublicKey: hasPublicKey === 1 };

/** Combines differences, from the oldest one up to the next whole record or the present one. */
function combine(rows: Iterable<AttributesRow>, present: string): string {
  const deltas: AttributesRow[] = [];
  let text = present;
  for (const row of rows) {
    if (row.step === 0) {
      text = row.record;
      break;
    }
    deltas.push(row);
  }
  for (const { prefix, suffix, record } of deltas.reverse()) {
    text = applyDelta(text, { prefix, suffix, middle: record });
  }
  return text;
}
