/** Lists of a table whose rows are found by its indexes: blocks, wallets, tokens, balances. */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import type { Found, Range } from "../../page.ts";
import { type Head, perHead } from "../../port.ts";
import {
  accessPathsOf,
  inRange,
  type KeyedTable,
  type ListedTable,
  nameOf,
  pageText,
  type Selection,
  StatementCache,
  scanOf,
  valuesOf,
} from "./access-paths.ts";
import { after, cursorFrom, valuesText } from "./conditions.ts";
import { CountCache, type Start } from "./count-cache.ts";
import { choosePlan, type ListQuery, type PlannerOptions } from "./planner.ts";
import { Scans } from "./scans.ts";
import type { Chunks, TimeBox } from "./time-box.ts";

type TableQuery = Pick<ListQuery, "filter" | "isInOrder"> & {
  readonly selection: Selection;
  /** Number of rows, if known without counting. */
  readonly totalCount?: number;
};

export type ListDependencies = Pick<PlannerOptions, "onPlan"> & {
  readonly database: Database;
  /** Returns the head of the state that the queries read. */
  readonly head: () => Head;
  readonly time: TimeBox;
  readonly chunks: Chunks;
};

export class TableList<Row> {
  readonly #collection: ListQuery["collection"];
  readonly #listed: ListedTable;
  readonly #head: () => Head;
  readonly #scans: Scans<Row>;
  readonly #offsets: OffsetCache;
  readonly #counts: CountCache;
  readonly #onPlan: PlannerOptions["onPlan"];

  constructor(
    { database, head, time, chunks, onPlan }: ListDependencies,
    collection: Exclude<ListQuery["collection"], "transactions">,
    listed: ListedTable,
  ) {
    this.#collection = collection;
    this.#listed = listed;
    this.#head = head;
    this.#scans = new Scans(database, listed, chunks);
    this.#offsets = new OffsetCache(database, time, listed);
    this.#counts = new CountCache(database, chunks, listed);
    this.#onPlan = onPlan;
  }

  /** @throws {CursorError | SnapshotError} */
  page({ selection, filter, isInOrder, totalCount }: TableQuery, range: Range): Found<Row> {
    const { offset } = range;
    // With a filter, the index of the filter finds the rows, even if another index has them in order.
    const isIndexOrder = isInOrder && filter === "none";
    const query: ListQuery = {
      collection: this.#collection,
      filter,
      isInOrder,
      scan: isIndexOrder ? "bounded" : scanOf(this.#listed, selection),
      offset,
      isAfter: range.after !== undefined,
    };
    const rows = totalCount ?? this.#counts.count(this.#head(), accessPathsOf(selection));
    // Value indexes are not built for these tables.
    const plan = choosePlan(query, { rows }, Number.POSITIVE_INFINITY);
    this.#onPlan?.(plan);
    if (plan === "empty") return { rows: [], totalCount: rows };
    if (plan === "time-boxed scan") return this.#scans.inTime(selection, range, { totalCount: rows });
    if (plan === "index scan") {
      return this.#scans.byIndex(selection, range, { totalCount: rows, isInOrder: isIndexOrder });
    }
    const start = this.#offsets.startOf(this.#head(), selection, offset);
    const options = { totalCount: rows, from: start.from, isInOrder: true };
    return this.#scans.byIndex(selection, { ...range, offset: start.offset }, options);
  }
}

/** Rows between two entries of a list that an index has in order. */
const STEP = 1_000;
/** Maximum number of cached lists. Each uses 200 bytes per step: 4 MB in total at two hundred thousand rows. */
const MAX_LISTS = 100;

/**
 * Plan "offset cache": a sparse index of positions in a list by the number of rows before them, so that a page with a large offset
 * starts at the nearest entry instead of skipping all rows before it. Costs the rows between two entries, plus once the rows up to
 * the entry. The entries are keyset cursors of a list that an index has in order, cached until the next block and read only as far as
 * requests need them. Transactions have entries by height instead (`lists/count-cache.ts`).
 */
class OffsetCache {
  readonly #time: TimeBox;
  readonly #listed: KeyedTable;
  readonly #statements: StatementCache;
  readonly #cursorsByList = perHead(() => new LRUCache<string, string[]>({ max: MAX_LISTS }));

  constructor(database: Database, time: TimeBox, listed: KeyedTable) {
    this.#time = time;
    this.#listed = listed;
    this.#statements = new StatementCache(database);
  }

  /** Returns where a page of a list starts. */
  startOf(head: Head, selection: Selection, offset: number): Start {
    const wanted = Math.floor(offset / STEP);
    const name = nameOf(this.#listed, selection);
    const lists = this.#cursorsByList(head);
    const cursors = lists.get(name) ?? [];
    lists.set(name, cursors);
    while (cursors.length < wanted) {
      const cursor = this.#nextCursor(selection, cursors.at(-1));
      if (cursor === undefined) break;
      cursors.push(cursor);
    }
    const count = Math.min(wanted, cursors.length);
    const cursor = cursors[count - 1];
    const from = cursor === undefined ? undefined : after(selection.order, cursor);
    return { offset: offset - count * STEP, ...(from && { from }) };
  }

  /** Returns the cursor of the row that is one step after a cursor, or after the beginning; undefined beyond the end. */
  #nextCursor(selection: Selection, last: string | undefined): string | undefined {
    this.#time.check();
    const { order } = selection;
    const rest = inRange(accessPathsOf(selection), last === undefined ? undefined : after(order, last));
    const { text, names } = pageText(this.#listed, rest, order);
    const select = this.#statements.prepare(`SELECT ${valuesText(names)} AS "values" FROM (${text})`);
    const row = select.get(...valuesOf(rest), 1, STEP - 1) as { values: string } | undefined;
    return row && cursorFrom(order, row.values);
  }
}
