/** Reads earlier states (decision 69). Each read finds the first row above a height in a primary key. */
import {
  type HoldingRow,
  hasCollections,
  holdingKey,
  parseHoldingKey,
  propertyKey,
  shownText,
} from "@uniknode/ledger";
import type { Database } from "../engine/database.ts";
import type { HoldingMembers } from "../state/json.ts";
import { HISTORY_KINDS } from "./writer.ts";

/** Result of a read: no block above the height changed the record, so that the present one is valid. */
export const UNCHANGED = Symbol("unchanged");
type Earlier<Value> = Value | undefined | typeof UNCHANGED;

export type WalletVersion = {
  readonly balance: string;
  readonly nonce: string;
  readonly hasPublicKey: boolean;
};

type PropertyVersion = { readonly key: string; readonly value: Earlier<string> };

type WalletRow = { balance: string | null; nonce: string; hasPublicKey: number };

/** Keys that one statement visits: some hundred microseconds. */
const KEYS_AT_ONCE = 200;

export class HistoryReader {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #onRow: (() => void) | undefined;

  /**
   * @param onRow called for each holding of a wallet when it is read, and when it is shown, and for each recorded key of a range: an
   * exception ends the work
   */
  constructor(database: Database, onRow?: () => void) {
    this.#statements = prepareStatements(database);
    this.#onRow = onRow;
  }

  /** Returns the lowest recorded height; undefined if none is recorded. */
  since(): number | undefined {
    return this.#statements.lowest.get()?.height;
  }

  /** Returns the sum of balances and open locks after a recorded block. */
  coins(height: number): bigint | undefined {
    return this.#statements.coins.get(height)?.coins;
  }

  /** Returns the wallet after the block, without its attributes; undefined if it did not exist. */
  wallet(address: string, height: number): Earlier<WalletVersion> {
    const row = this.#statements.wallet.get(address, height);
    return row ? versionFromRow(row) : UNCHANGED;
  }

  /** Returns the attributes of a wallet after the block as JSON, as responses show them, given its present ones. */
  attributes(address: string, height: number, present: string): string {
    const version = this.#record("attributes", address, height);
    const text = version === UNCHANGED || version === undefined ? present : version;
    return hasCollections(text) ? shownText(text, this.#holdings(address, height), this.#onRow) : text;
  }

  /** Returns the record after the block; undefined if there was none. */
  record(kind: "tokens" | "properties", key: string, height: number): Earlier<string> {
    return this.#record(kind, key, height);
  }

  /**
   * Returns properties of a token that have recorded versions, as they were after the block, by ascending key from a key on. The
   * value of a property that did not exist is undefined.
   */
  properties(tokenId: string, from: string, height: number, limit: number): PropertyVersion[] {
    const prefix = propertyKey(tokenId, "");
    // Keys of the token begin with its id and "/", and "0" is the next character.
    const versions = this.#versions("properties", prefix + from, `${tokenId}0`, height).take(limit);
    return versions
      .map(({ key, value }): PropertyVersion => ({ key: key.slice(prefix.length), value }))
      .toArray();
  }

  /** Searches the version of each key of a range, some keys at a time. */
  *#versions(
    kind: keyof typeof HISTORY_KINDS,
    from: string,
    end: string,
    height: number,
  ): Generator<PropertyVersion, undefined> {
    const { versions } = this.#statements;
    const number = HISTORY_KINDS[kind];
    for (let first = from; ; ) {
      const rows = versions.all(number, first, end, number, end, KEYS_AT_ONCE, number, height);
      for (const { key, value } of rows) {
        this.#onRow?.();
        yield { key, value: value === null ? UNCHANGED : value === 0 ? undefined : value };
      }
      const last = rows.at(-1);
      if (!last || rows.length < KEYS_AT_ONCE) return;
      first = `${last.key}\0`;
    }
  }

  #record(kind: keyof typeof HISTORY_KINDS, key: string, height: number): Earlier<string> {
    const row = this.#statements.record.get(HISTORY_KINDS[kind], key, height);
    return row ? (row.record ?? undefined) : UNCHANGED;
  }

  /** Returns what the wallet held after the block. */
  #holdings(address: string, height: number): Iterable<HoldingRow> {
    const { holdings } = this.#statements;
    const held = new Map<string, HoldingRow>();
    for (const row of holdings.iterate(address)) {
      held.set(holdingKey(address, row.kind, row.id), row);
      this.#onRow?.();
    }
    for (const { key, value: record } of this.#versions("holdings", `${address}/`, `${address}0`, height)) {
      if (record === UNCHANGED) continue;
      held.delete(key);
      // The wallet did not have it.
      if (record === undefined) continue;
      const [value, , next] = JSON.parse(record) as HoldingMembers;
      held.set(key, { ...parseHoldingKey(key), next, value: JSON.stringify(value) });
    }
    return held.values();
  }
}

const versionFromRow = ({ balance, nonce, hasPublicKey }: WalletRow): WalletVersion | undefined =>
  balance === null ? undefined : { balance, nonce, hasPublicKey: hasPublicKey === 1 };

const prepareStatements = (database: Database) => ({
  lowest: database.prepare<{ height: number }>("SELECT height FROM history_blocks ORDER BY height LIMIT 1"),
  coins: database.prepare<{ coins: bigint }>("SELECT coins FROM history_blocks WHERE height = ?", {
    bigints: true,
  }),
  wallet: database.prepare<WalletRow>(
    `SELECT CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, has_public_key AS hasPublicKey
     FROM history_wallets WHERE address = ? AND height > ? ORDER BY height LIMIT 1`,
  ),
  record: database.prepare<{ record: string | null }>(
    "SELECT record FROM history_records WHERE kind = ? AND key = ? AND height > ? ORDER BY height LIMIT 1",
  ),
  // Searches each key, because a key can have thousands of versions. `value` is null if no version follows the height, and 0 if there
  // was no record.
  versions: database.prepare<{ key: string; value: string | 0 | null }>(
    `WITH RECURSIVE keys (key) AS (
       SELECT (SELECT key FROM history_records WHERE kind = +? AND key >= +? AND key < +? ORDER BY key LIMIT 1)
       UNION ALL
       SELECT (SELECT key FROM history_records AS next
         WHERE kind = +? AND next.key > keys.key AND next.key < +? ORDER BY next.key LIMIT 1)
         FROM keys WHERE key IS NOT NULL
       LIMIT +?)
     SELECT key, (SELECT coalesce(record, 0) FROM history_records AS version
       WHERE kind = +? AND version.key = keys.key AND height > +? ORDER BY height LIMIT 1) AS value
     FROM keys WHERE key IS NOT NULL`,
  ),
  holdings: database.prepare<HoldingRow>("SELECT kind, id, next, value FROM holdings WHERE address = ?"),
});
