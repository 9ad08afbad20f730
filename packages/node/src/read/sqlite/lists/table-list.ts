/** Lists of a table whose rows are found by its indexes: blocks, wallets, tokens, balances. */
import type { Database } from "../../../store/engine/database.ts";
import type { Found, Range } from "../../page.ts";
import type { Head } from "../../port.ts";
import { accessPathsOf, type ListedTable, type Selection, scanOf } from "./access-paths.ts";
import { createCountCache } from "./count-cache.ts";
import { createOffsetCache } from "./offset-cache.ts";
import {
  type Collection,
  findPage,
  type ListQuery,
  type PlannerOptions,
  type Statistics,
} from "./planner.ts";
import { createIndexScan, createTimeBoxedScan } from "./scans.ts";
import type { ChunksOf, TimeBox } from "./time-box.ts";

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
  readonly chunksOf: ChunksOf;
};

/** @throws {CursorError | SnapshotError} */
type TableList<Row> = (query: TableQuery, range: Range) => Found<Row>;

/** Value indexes are not built for these tables. */
const NEVER_INDEXED = Number.POSITIVE_INFINITY;

export function createTableList<Row>(
  { database, head, time, chunksOf, onPlan }: ListDependencies,
  collection: "balances" | "blocks" | "wallets" | "tokens",
  listed: ListedTable,
): TableList<Row> {
  const indexScan = createIndexScan<Row>(database, listed);
  const timeBoxedScan = createTimeBoxedScan<Row>(database, listed, { chunksOf, indexScan });
  const startAtOffset = createOffsetCache(database, time, listed);
  const count = createCountCache(database, chunksOf, listed);
  const options = { minIndexedRows: NEVER_INDEXED, onPlan };
  return ({ selection, filter, isInOrder, totalCount }, range) => {
    const { offset, after } = range;
    const known: Statistics = totalCount === undefined ? {} : { rows: totalCount };
    // With a filter, the index of the filter finds the rows, even if another index has them in order.
    const isIndexOrder = isInOrder && filter === "none";
    const scan = isIndexOrder ? "bounded" : scanOf(listed, selection);
    const query: ListQuery = { collection, filter, isInOrder, scan, offset, isAfter: after !== undefined };
    const implemented: Collection<Row> = {
      statistics: { rows: () => ({ rows: count(head(), accessPathsOf(selection)) }) },
      plans: {
        "index scan": (totalCount) => indexScan(selection, range, { totalCount, isInOrder: isIndexOrder }),
        "time-boxed scan": (totalCount) => timeBoxedScan(selection, range, { totalCount }),
        "offset cache"(totalCount) {
          const { from, offset } = startAtOffset(head(), selection, range.offset);
          return indexScan(selection, { ...range, offset }, { totalCount, from, isInOrder: true });
        },
      },
    };
    return findPage(query, known, options, implemented);
  };
}
