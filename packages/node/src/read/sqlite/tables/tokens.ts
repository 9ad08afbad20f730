/**
 * Tokens with their properties. The database does not store the name under which a token was minted.
 *
 * A page of the present properties finds its first row by the parts of the properties, which the database counts (migration 033). The
 * outline of the list after an earlier block is read once: the number of rows, and the key of every 200th row.
 */

import { propertyKey } from "@uniknode/ledger";
import { LRUCache } from "lru-cache";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { type HistoryReader, UNCHANGED } from "../../../store/history/reader.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import { type TokenTerm, tokenTerms } from "../../cursor.ts";
import type { TokenFilter } from "../../filters.ts";
import type { Found, PropertyRange } from "../../page.ts";
import type { Head, QueriesOf, Tokens } from "../../port.ts";
import type { ListedToken, StoredToken, TokenProperty } from "../../rows.ts";
import { type Condition, type Field, indexed, oneOf, text } from "../lists/conditions.ts";
import { comparerOf, termsOf } from "../lists/keyset-cursor.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";
import type { TimeBox } from "../lists/time-box.ts";

const LISTED = "tokens.id, owner AS ownerId, type.value AS type, names.value AS explicitValues";
const COLUMNS = `${LISTED}, first_transaction AS firstTransaction, last_transaction AS lastTransaction`;
const JOINS = `LEFT JOIN properties AS type ON type.token = tokens.id AND type.key = 'type'
  LEFT JOIN properties AS names ON names.token = tokens.id AND names.key = 'explicitValues'`;

const ORDERS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;

export function createTokenQueries(deps: ListDependencies): QueriesOf<Tokens> {
  const { database } = deps;
  const find = database.prepare<StoredToken>(`SELECT ${COLUMNS} FROM tokens ${JOINS} WHERE tokens.id = +?`);
  const list = createTableList<ListedToken>(deps, "tokens", {
    table: "tokens",
    key: ["id"],
    columns: LISTED,
    joins: JOINS,
  });
  const property = database.prepare<{ value: string }>(
    "SELECT value FROM properties WHERE token = ? AND key = ?",
  );
  const totals = new ReadTotals(database);
  return {
    find: (id) => find.get(id),
    list(filter, order, range) {
      const conditions = tokenConditions(filter);
      // The index of owners has the tokens of each by id: they are read as if the list had no filter.
      const isOrderedByIndex = filter.id === undefined && order.field === "id";
      const query = {
        selection: { conditions, order: termsOf(tokenTerms(order), ORDERS) },
        filter: conditions.length === 0 || isOrderedByIndex ? "none" : "values",
        isInOrder: true,
        ...(conditions.length === 0 && { totalCount: Number(totals.of("tokens")) }),
      } as const;
      return list(query, range);
    },
    properties: createPresentProperties(database),
    property: (id, key) => property.get(id, key)?.value,
    storedKeys: (id, keys) => new Set(keys.filter((key) => property.get(id, key))),
    countsByType: () => totals.tokensByType(),
  };
}

const tokenConditions = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [indexed(oneOf("id", ids), "few")]),
  ...(ownerId === undefined ? [] : [indexed({ sql: "owner = +?", values: [ownerId] }, "some")]),
];

/** @throws {SnapshotError} if the time is up; a further call continues the outline */
type PropertyLists = (head: Head, list: PastList, range: PropertyRange) => Found<TokenProperty>;

/** A list after an earlier block. */
type PastList = {
  /** Differs if the list has other keys, unless a block was reverted. */
  readonly name: string;
  /** Returns the number of rows of the part that begins with a key, and the beginning of the next part, if there is one. */
  part(from: string): { readonly rows: number; readonly next?: string | undefined };
  /** Returns rows from a key on. */
  rows(from: string, skipped: number, limit: number): TokenProperty[];
};

/** The parts read so far, each with its first key and the number of rows before it, and the beginning of the next one. */
type Outline = {
  readonly parts: { readonly from: string; readonly before: number }[];
  totalCount: number;
  next: string | undefined;
};

/** Rows of a part. */
const PART = 200;
/** Maximum number of cached outlines. Each uses about 150 bytes for each part: 750 kB for a million properties. */
const MAX_OUTLINES = 100;

export function createPropertyLists(database: Database, time: TimeBox): PropertyLists {
  const outlines = new LRUCache<string, Outline>({ max: MAX_OUTLINES });
  const blockId = database.prepare<{ id: string }>("SELECT id_text AS id FROM blocks WHERE height = ?");
  let known: Head | undefined;

  /** Discards all outlines if a block was reverted. */
  function follow(head: Head): void {
    if (known && known.id !== head.id && blockId.get(known.height)?.id !== known.id) outlines.clear();
    known = head;
  }

  function outlineOf({ name, part }: PastList): Outline {
    const outline = outlines.get(name) ?? { parts: [], totalCount: 0, next: "" };
    outlines.set(name, outline);
    while (outline.next !== undefined) {
      time.check();
      const { rows, next } = part(outline.next);
      outline.parts.push({ from: outline.next, before: outline.totalCount });
      outline.totalCount += rows;
      outline.next = next;
    }
    return outline;
  }

  return (head, list, { offset, limit, afterKey }) => {
    follow(head);
    const { parts, totalCount } = outlineOf(list);
    if (limit === 0 || (afterKey === undefined && offset >= totalCount)) return { rows: [], totalCount };
    if (afterKey !== undefined) return { rows: list.rows(successorOf(afterKey), 0, limit), totalCount };
    const { from, before } = parts[
      firstIndex(parts.length, (index) => beforeOf(parts[index]) > offset) - 1
    ] ?? {
      from: "",
      before: 0,
    };
    return { rows: list.rows(from, offset - before, limit), totalCount };
  };
}

const beforeOf = (part: Outline["parts"][number] | undefined): number => part?.before ?? 0;

type PresentProperties = (tokenId: string, range: PropertyRange) => Found<TokenProperty>;
type Part = { readonly first: string; readonly number: number };

/** Returns a function that reads present properties of a token. */
export function createPresentProperties(database: Database): PresentProperties {
  const page = database.prepare<TokenProperty>(
    "SELECT key, value FROM properties WHERE token = +? AND key >= +? ORDER BY key LIMIT +? OFFSET +?",
  );
  const [small, large] = [1, 2].map((level) =>
    database.prepare<Part>(
      `SELECT first, number FROM property_parts WHERE token = +? AND level = ${level} AND first >= +? ORDER BY first`,
    ),
  ) as [Statement<Part>, Statement<Part>];
  return (tokenId, { offset, limit, afterKey }) => {
    const all = large.all(tokenId, "");
    const top = all.length > 0 ? all : small.all(tokenId, "");
    const totalCount = top.reduce((sum, { number }) => sum + number, 0);
    if (afterKey !== undefined)
      return { rows: page.all(tokenId, successorOf(afterKey), limit, 0), totalCount };
    if (limit === 0 || offset >= totalCount) return { rows: [], totalCount };
    const above = skipParts(top, offset);
    const { first, rest } = skipParts(small.iterate(tokenId, above.first), above.rest);
    return { rows: page.all(tokenId, first, limit, rest), totalCount };
  };
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

/** Returns the properties of a token after an earlier block: the recorded versions, or else the present ones. */
export function createPastProperties(
  database: Database,
  earlier: HistoryReader,
): (height: number, tokenId: string) => PastList {
  const present = database.prepare<TokenProperty>(
    "SELECT key, value FROM properties WHERE token = +? AND key >= +? ORDER BY key LIMIT +?",
  );

  function partAt(height: number, tokenId: string, from: string) {
    const now = present.all(tokenId, from, PART);
    const then = earlier.properties(tokenId, from, height, PART);
    const ends = [now, then].flatMap((rows) => (rows.length < PART ? [] : [rows.at(-1)?.key ?? ""]));
    const [end] = ends.sort(compare);
    const isInPart = ({ key }: { key: string }) => end === undefined || compare(key, end) <= 0;
    const merged = new Map(now.filter(isInPart).map(({ key, value }) => [key, value]));
    for (const { key, value } of then.filter(isInPart)) {
      if (value === null) merged.delete(key);
      else merged.set(key, value);
    }
    const rows = [...merged].map(([key, value]) => ({ key, value })).sort((a, b) => compare(a.key, b.key));
    return { rows, next: end === undefined ? undefined : successorOf(end) };
  }

  return (height, tokenId) => ({
    name: `${tokenId} ${height}`,
    part(from) {
      const { rows, next } = partAt(height, tokenId, from);
      return { rows: rows.length, next };
    },
    rows(from, skipped, limit) {
      const found: TokenProperty[] = [];
      for (
        let [at, skip]: [string | undefined, number] = [from, skipped];
        at !== undefined && found.length < limit;
      ) {
        const { rows, next } = partAt(height, tokenId, at);
        found.push(...rows.slice(skip, skip + limit - found.length));
        skip = Math.max(skip - rows.length, 0);
        at = next;
      }
      return found;
    },
  });
}

/** Returns the value of a property after an earlier block. */
export function createPastProperty(database: Database, earlier: HistoryReader) {
  const value = database.prepare<{ value: string }>(
    "SELECT value FROM properties WHERE token = ? AND key = ?",
  );
  return (height: number, tokenId: string, key: string): string | undefined => {
    const record = earlier.record("properties", propertyKey(tokenId, key), height);
    return record === UNCHANGED ? value.get(tokenId, key)?.value : record;
  };
}

/** The next text in the order of SQLite. */
const successorOf = (key: string): string => `${key}\0`;

const compareRows = comparerOf([{ value: "key", direction: "asc" }]);
/** Orders as SQLite does: by the bytes of UTF-8. */
const compare = (one: string, other: string): number => compareRows([one], [other]);
