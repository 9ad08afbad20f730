/**
 * Changes of the maps of uniks (facts.md 10), derived from the transactions of the chain, and the rows of the maps in SQLite. A round can
 * be written in several transactions: until it is complete, readers see the rows that it changes as they were after the round before.
 */
import { type TokenEffectContext, tokenEffect } from "@uniknode/ledger";
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { changeLeaves, keyOf } from "./map.ts";
import {
  bytesOf,
  changeProperties,
  MAP_PAGES,
  ownerKey,
  pagesOf,
  type Row,
  type RowReader,
  type Rows,
  readOwner,
  readProperty,
  unikDigest,
} from "./rows.ts";

/** Rows that one transaction removes or restores. */
const STEP_ROWS = 500;

const keyBytes = (key: string): Buffer => Buffer.from(key, "latin1");

export class StoredRows {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database) {
    this.#statements = prepareStatements(database);
  }

  /** Begins changes in memory. */
  begin(): StepRows {
    return new StepRows(this.#statements);
  }

  /** Removes some rows that belong to rounds before `height`; returns whether more may be left. */
  dropBefore(height: number): boolean {
    return this.#statements.older.run(height).changes === STEP_ROWS;
  }

  /** Restores some rows as they were after the round that ended at `height`; returns whether more may be left. */
  restore(height: number): boolean {
    return this.#statements.restore.map((step) => step.run(height).changes).at(-1) === STEP_ROWS;
  }

  /** Removes some rows; returns whether more may be left. */
  remove(): boolean {
    return this.#statements.any.run().changes + this.#statements.anyBefore.run().changes > 0;
  }
}

function prepareStatements(database: Database) {
  const some = (table: string, condition = "") =>
    database.prepare(
      `DELETE FROM ${table} WHERE (height, key) IN (SELECT height, key FROM ${table} ${condition} LIMIT ${STEP_ROWS})`,
    );
  const kept = `FROM unik_before WHERE height = ? ORDER BY key LIMIT ${STEP_ROWS}`;
  return {
    get: database.prepare<{ value: Uint8Array }>("SELECT value FROM unik_rows WHERE key = ?"),
    // INSERT OR REPLACE would move the row to the end of the table.
    put: database.prepare(
      "INSERT INTO unik_rows VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
    remove: database.prepare("DELETE FROM unik_rows WHERE key = ?"),
    keep: database.prepare(
      "INSERT OR IGNORE INTO unik_before SELECT ?, ?, (SELECT value FROM unik_rows WHERE key = ?)",
    ),
    older: some("unik_before", "WHERE height < ?"),
    anyBefore: some("unik_before"),
    any: database.prepare(
      `DELETE FROM unik_rows WHERE key IN (SELECT key FROM unik_rows LIMIT ${STEP_ROWS})`,
    ),
    restore: [
      `DELETE FROM unik_rows WHERE key IN (SELECT key ${kept})`,
      `INSERT INTO unik_rows SELECT key, value FROM (SELECT key, value ${kept}) WHERE value IS NOT NULL`,
      `DELETE FROM unik_before WHERE (height, key) IN (SELECT height, key ${kept})`,
    ].map((sql) => database.prepare(sql)),
  };
}

/** Rows with changes in memory. */
export class StepRows implements Rows {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #changed = new Map<string, Row | undefined>();

  constructor(statements: ReturnType<typeof prepareStatements>) {
    this.#statements = statements;
  }

  read(key: string): Row | undefined {
    return this.#changed.has(key) ? this.#changed.get(key) : this.#statements.get.get(keyBytes(key))?.value;
  }

  change(key: string, value: Row | undefined): void {
    this.#changed.set(key, value);
  }

  /** Number of changed rows. */
  size(): number {
    return this.#changed.size;
  }

  /**
   * Copies the rows to change for readers, inside the caller's transaction.
   *
   * @param height last block of the last complete round
   */
  keep(height: number): void {
    for (const text of this.#changed.keys()) {
      const key = keyBytes(text);
      this.#statements.keep.run(height, key, key);
    }
  }

  /** Writes the changed rows, inside the caller's transaction; readers see rows that were not kept. */
  write(): void {
    for (const [text, value] of this.#changed) {
      const key = keyBytes(text);
      if (value) this.#statements.put.run(key, bytesOf(value));
      else this.#statements.remove.run(key);
    }
  }
}

/**
 * Returns a function that reads the rows as they were after a round.
 *
 * @returns given `height`, the last block of the last complete round
 */
export function createRowReaders(database: Database): (height: number) => RowReader {
  const get = database.prepare<{ value: Uint8Array }>("SELECT value FROM unik_rows WHERE key = ?");
  const before = database.prepare<{ value: Uint8Array | null }>(
    "SELECT value FROM unik_before WHERE height = ? AND key = ?",
  );
  return (height) => ({
    read(key) {
      const bytes = keyBytes(key);
      const kept = before.get(height, bytes);
      return kept ? (kept.value ?? undefined) : get.get(bytes)?.value;
    },
  });
}

export type ChangeContext = Pick<TokenEffectContext, "addressOf" | "usernameOf">;

/** Changes of a unik: its new owner, and its new properties, `null` for removed ones. */
type UnikChanges = { owner: string | undefined; readonly properties: Map<string, string | null> };

/** Groups of the types that can change uniks. */
export const UNIK_GROUPS: readonly number[] = [TYPE_GROUPS.nft, TYPE_GROUPS.uns];

export class Changes {
  readonly #rows: Rows;
  readonly #context: TokenEffectContext;
  readonly #uniks = new Map<string, UnikChanges>();
  #size = 0;

  constructor(rows: Rows, context: ChangeContext) {
    this.#rows = rows;
    this.#context = { ...context, propertyOf: (unik, name) => this.#propertyOf(unik, name) };
  }

  /** Number of changed properties, and of transactions. */
  size(): number {
    return this.#size;
  }

  /**
   * Adds changes of the next transaction.
   *
   * @param first index of its first property to add
   * @param limit number of properties to add
   * @returns index of the first property that is left; undefined if none is
   */
  add(transaction: Transaction, first: number, limit: number): number | undefined {
    const effect = tokenEffect(transaction, this.#context);
    if (!effect) return undefined;
    const unik = this.#uniks.get(effect.tokenId) ?? { owner: undefined, properties: new Map() };
    this.#uniks.set(effect.tokenId, unik);
    unik.owner = effect.ownerId ?? unik.owner;
    const given = Object.entries(effect.properties);
    const end = Math.min(first + limit, given.length);
    for (const [name, value] of given.slice(first, end)) unik.properties.set(name, value);
    this.#size += 1 + end - first;
    return end < given.length ? end : undefined;
  }

  /** Writes the changes; returns the number of minted uniks. */
  write(): number {
    const changes = [...this.#uniks].map(([unik, changed]) => ({
      unik,
      ...writeUnik(this.#rows, unik, changed),
    }));
    const leaves = changes.flatMap(({ unik, digest }) =>
      digest === undefined ? [] : [{ key: keyOf(unik), value: digest, text: "" }],
    );
    if (leaves.length > 0) changeLeaves(pagesOf(this.#rows, MAP_PAGES), leaves);
    return changes.filter(({ isMinted }) => isMinted).length;
  }

  #propertyOf(unik: string, name: string): string | undefined {
    const changed = this.#uniks.get(unik)?.properties.get(name);
    return changed === undefined ? readProperty(this.#rows, unik, name) : (changed ?? undefined);
  }
}

/** Writes the owner and the properties of a unik; returns the digest of its value if it exists. */
function writeUnik(
  rows: Rows,
  unik: string,
  { owner, properties }: UnikChanges,
): { isMinted: boolean; digest: string | undefined } {
  const before = readOwner(rows, unik);
  if (owner !== undefined && owner !== before) rows.change(ownerKey(unik), Buffer.from(owner));
  const root = changeProperties(rows, unik, properties);
  const now = owner ?? before;
  return {
    isMinted: now !== undefined && before === undefined,
    digest: now === undefined ? undefined : unikDigest(now, root),
  };
}
