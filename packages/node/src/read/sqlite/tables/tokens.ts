/** Tokens with their properties. The database does not store the name under which a token was minted. */
import { propertyKey } from "@uniknode/ledger";
import { LRUCache } from "lru-cache";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { type HistoryReader, UNCHANGED } from "../../../store/history/reader.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import { type TokenTerm, tokenTerms } from "../../cursor.ts";
import type { TokenFilter, TokenOrder } from "../../filters.ts";
import type { Found, PropertyRange, Range } from "../../page.ts";
import type { Head, QueriesOf, Tokens } from "../../port.ts";
import type { ListedToken, StoredToken, TokenProperty } from "../../rows.ts";
import {
  type Condition,
  comparerOf,
  type Field,
  indexed,
  oneOf,
  termsOf,
  text,
} from "../lists/conditions.ts";
import { RevertCheck } from "../lists/count-cache.ts";
import { type ListDependencies, TableList } from "../lists/table-list.ts";
import type { TimeBox } from "../lists/time-box.ts";

const LISTED = "tokens.id, owner AS ownerId, type.value AS type, names.value AS explicitValues";
const COLUMNS = `${LISTED}, first_transaction AS firstTransaction, last_transaction AS lastTransaction`;
const JOINS = `LEFT JOIN properties AS type ON type.token = tokens.id AND type.key = 'type'
  LEFT JOIN properties AS names ON names.token = tokens.id AND names.key = 'explicitValues'`;

const ORDERS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;

export class TokenQueries implements QueriesOf<Tokens> {
  readonly #find: Statement<StoredToken>;
  readonly #list: TableList<ListedToken>;
  readonly #property: Statement<{ value: string }>;
  readonly #present: PresentProperties;
  readonly #totals: ReadTotals;

  constructor(deps: ListDependencies) {
    const { database } = deps;
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM tokens ${JOINS} WHERE tokens.id = +?`);
    this.#list = new TableList(deps, "tokens", {
      table: "tokens",
      key: ["id"],
      columns: LISTED,
      joins: JOINS,
    });
    this.#property = prepareProperty(database);
    this.#present = new PresentProperties(database);
    this.#totals = new ReadTotals(database);
  }

  find(id: string): StoredToken | undefined {
    return this.#find.get(id);
  }

  list(filter: TokenFilter, order: TokenOrder, range: Range): Found<ListedToken> {
    const conditions = tokenConditions(filter);
    // The index of owners has the tokens of each by id: they are read as if the list had no filter.
    const isOrderedByIndex = filter.id === undefined && order.field === "id";
    const query = {
      selection: { conditions, order: termsOf(tokenTerms(order), ORDERS) },
      filter: conditions.length === 0 || isOrderedByIndex ? "none" : "values",
      isInOrder: true,
      ...(conditions.length === 0 && { totalCount: Number(this.#totals.of("tokens")) }),
    } as const;
    return this.#list.page(query, range);
  }

  properties(id: string, range: PropertyRange): Found<TokenProperty> {
    return this.#present.page(id, range);
  }

  property(id: string, key: string): string | undefined {
    return this.#property.get(id, key)?.value;
  }

  storedKeys(id: string, keys: readonly string[]): Set<string> {
    return new Set(keys.filter((key) => this.#property.get(id, key)));
  }

  countsByType(): ReadonlyMap<string, number> {
    return this.#totals.tokensByType();
  }
}

const prepareProperty = (database: Database): Statement<{ value: string }> =>
  database.prepare("SELECT value FROM properties WHERE token = ? AND key = ?");

const tokenConditions = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [indexed(oneOf("id", ids), "few")]),
  ...(ownerId === undefined ? [] : [indexed({ sql: "owner = +?", values: [ownerId] }, "some")]),
];

/** Number of the rows of a part, and its first key. */
type Part = { readonly first: string; readonly number: number };

/** Present properties of tokens. The database counts their parts (migration 033), by which the first row of a page is found. */
export class PresentProperties {
  readonly #page: Statement<TokenProperty>;
  readonly #small: Statement<Part>;
  readonly #large: Statement<Part>;

  constructor(database: Database) {
    const partsOf = (level: 1 | 2) =>
      database.prepare<Part>(
        `SELECT first, number FROM property_parts WHERE token = +? AND level = ${level} AND first >= +? ORDER BY first`,
      );
    this.#page = database.prepare(
      "SELECT key, value FROM properties WHERE token = +? AND key >= +? ORDER BY key LIMIT +? OFFSET +?",
    );
    this.#small = partsOf(1);
    this.#large = partsOf(2);
  }

  page(tokenId: string, { offset, limit, afterKey }: PropertyRange): Found<TokenProperty> {
    const all = this.#large.all(tokenId, "");
    const top = all.length > 0 ? all : this.#small.all(tokenId, "");
    const totalCount = top.reduce((sum, { number }) => sum + number, 0);
    if (afterKey !== undefined) {
      return { rows: this.#page.all(tokenId, successorOf(afterKey), limit, 0), totalCount };
    }
    if (limit === 0 || offset >= totalCount) return { rows: [], totalCount };
    const above = skipParts(top, offset);
    const { first, rest } = skipParts(this.#small.iterate(tokenId, above.first), above.rest);
    return { rows: this.#page.all(tokenId, first, limit, rest), totalCount };
  }
}

/** Skips whole parts; returns the beginning of the one with a row, and the number of its rows to skip. */
function skipParts(parts: Iterable<Part>, offset: number): { first: string; rest: number } {
  let rest = offset;
  for (const { first, number } of parts) {
    if (rest < number) return { first, rest };
    rest -= number;
  }
  throw new Error(`the parts of the properties have ${rest} rows less than their sum`);
}

/** The parts read so far, each with its first key and the number of rows before it, and the beginning of the next one. */
type Outline = {
  readonly parts: { readonly from: string; readonly before: number }[];
  totalCount: number;
  next: string | undefined;
};

/** Rows of a part of the list, and the beginning of the next part, if there is one. */
type PastPart = { readonly rows: TokenProperty[]; readonly next: string | undefined };

/** Maximum number of rows of a part. */
const PART = 200;
/** Maximum number of cached outlines. Each uses about 150 bytes for each part: 750 kB for a million properties. */
const MAX_OUTLINES = 100;

/**
 * Properties of tokens after an earlier block: the recorded versions, or else the present ones. The outline of a list is read
 * once: the number of rows, and the key of every 200th row.
 */
export class PastProperties {
  readonly #time: TimeBox;
  readonly #earlier: HistoryReader;
  readonly #value: Statement<{ value: string }>;
  readonly #present: Statement<TokenProperty>;
  readonly #reverts: RevertCheck;
  readonly #outlines = new LRUCache<string, Outline>({ max: MAX_OUTLINES });

  constructor(database: Database, time: TimeBox, earlier: HistoryReader) {
    this.#time = time;
    this.#earlier = earlier;
    this.#value = prepareProperty(database);
    this.#present = database.prepare(
      "SELECT key, value FROM properties WHERE token = +? AND key >= +? ORDER BY key LIMIT +?",
    );
    this.#reverts = new RevertCheck(database);
  }

  /** Returns the value of a property after an earlier block. */
  value(height: number, tokenId: string, key: string): string | undefined {
    const record = this.#earlier.record("properties", propertyKey(tokenId, key), height);
    return record === UNCHANGED ? this.#value.get(tokenId, key)?.value : record;
  }

  /** @throws {SnapshotError} if the time is up; a further call continues the outline */
  page(
    head: Head,
    height: number,
    tokenId: string,
    { offset, limit, afterKey }: PropertyRange,
  ): Found<TokenProperty> {
    if (this.#reverts.hasReverted(head)) this.#outlines.clear();
    const { parts, totalCount } = this.#outlineOf(height, tokenId);
    if (limit === 0 || (afterKey === undefined && offset >= totalCount)) return { rows: [], totalCount };
    if (afterKey !== undefined) {
      return { rows: this.#rows(height, tokenId, successorOf(afterKey), 0, limit), totalCount };
    }
    const index = firstIndex(parts.length, (index) => (parts[index]?.before ?? 0) > offset) - 1;
    const { from, before } = parts[index] ?? { from: "", before: 0 };
    return { rows: this.#rows(height, tokenId, from, offset - before, limit), totalCount };
  }

  #outlineOf(height: number, tokenId: string): Outline {
    const name = `${tokenId} ${height}`;
    const outline = this.#outlines.get(name) ?? { parts: [], totalCount: 0, next: "" };
    this.#outlines.set(name, outline);
    while (outline.next !== undefined) {
      this.#time.check();
      const { rows, next } = this.#partAt(height, tokenId, outline.next);
      outline.parts.push({ from: outline.next, before: outline.totalCount });
      outline.totalCount += rows.length;
      outline.next = next;
    }
    return outline;
  }

  /** Returns rows from a key on. */
  #rows(height: number, tokenId: string, from: string, skipped: number, limit: number): TokenProperty[] {
    const found: TokenProperty[] = [];
    let skip = skipped;
    for (let at: string | undefined = from; at !== undefined && found.length < limit; ) {
      const { rows, next } = this.#partAt(height, tokenId, at);
      found.push(...rows.slice(skip, skip + limit - found.length));
      skip = Math.max(skip - rows.length, 0);
      at = next;
    }
    return found;
  }

  /** Returns the part that begins with a key. */
  #partAt(height: number, tokenId: string, from: string): PastPart {
    const now = this.#present.all(tokenId, from, PART);
    const then = this.#earlier.properties(tokenId, from, height, PART);
    const ends = [now, then].flatMap((rows) => (rows.length < PART ? [] : [rows.at(-1)?.key ?? ""]));
    const [end] = ends.sort(compare);
    const isInPart = ({ key }: { key: string }) => end === undefined || compare(key, end) <= 0;
    const merged = new Map(now.filter(isInPart).map(({ key, value }) => [key, value]));
    for (const { key, value } of then.filter(isInPart)) {
      if (value === UNCHANGED) continue;
      if (value === undefined) merged.delete(key);
      else merged.set(key, value);
    }
    const rows = [...merged].map(([key, value]) => ({ key, value })).sort((a, b) => compare(a.key, b.key));
    return { rows, next: end === undefined ? undefined : successorOf(end) };
  }
}

const compareRows = comparerOf([{ value: "key", direction: "asc" }]);
/** Orders as SQLite does: by the bytes of UTF-8. */
const compare = (one: string, other: string): number => compareRows([one], [other]);

/** The next text in the order of SQLite. */
const successorOf = (key: string): string => `${key}\0`;
