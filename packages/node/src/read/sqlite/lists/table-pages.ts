/** Pages of a table whose rows are found by its indexes: blocks, wallets, tokens. */
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import type { Found, Range } from "../../page.ts";
import { accessPathsOf, type ListedTable, type Selection, scanOf } from "./access-paths.ts";
import { createByIndex } from "./by-index.ts";
import type { Asked, Known } from "./choose.ts";
import { createCountCache } from "./count-cache.ts";
import { type Finding, findPage } from "./find.ts";
import { createOffsetCache } from "./offset-cache.ts";
import type { ChunksOf, TimeBox } from "./time-box.ts";
import { createTimeBoxedScan } from "./time-boxed-scan.ts";

export type TableQuestion<Row> = Pick<Asked, "filter" | "isInOrder"> & {
  readonly selection: Selection;
  /** Number of rows, if known without counting. */
  readonly totalCount?: number;
  /** Finds the page by row numbers, if rows are numbered without gaps. */
  readonly byRow?: () => Found<Row>;
};

export type TablePagesDependencies = {
  readonly database: Database;
  readonly time: TimeBox;
  readonly chunksOf: ChunksOf;
};

/** @throws {CursorError | SnapshotError} */
export type TablePages<Row> = (head: Head, question: TableQuestion<Row>, range: Range) => Found<Row>;

/** Value indexes are not built for these tables. */
const BOUNDS = { minIndexedRows: Number.POSITIVE_INFINITY };

export function createTablePages<Row>(
  { database, time, chunksOf }: TablePagesDependencies,
  collection: "blocks" | "wallets" | "tokens",
  listed: ListedTable,
): TablePages<Row> {
  const byIndex = createByIndex<Row>(database, listed);
  const timeBoxedScan = createTimeBoxedScan<Row>(database, listed, { chunksOf, byIndex });
  const startAtOffset = createOffsetCache(database, time, listed);
  const count = createCountCache(database, chunksOf, listed);
  return (head, { selection, filter, isInOrder, totalCount, byRow }, range) => {
    const { offset, after } = range;
    const known: Known = totalCount === undefined ? {} : { total: totalCount };
    const learning = { total: () => ({ total: count(head, accessPathsOf(selection)) }) };
    // With a filter, the index of the filter finds the rows, even if another index has them in order.
    const isWalked = isInOrder && filter === "none";
    const scan = isWalked ? "bounded" : scanOf(listed, selection);
    const asked: Asked = { collection, filter, isInOrder, scan, offset, isAfter: after !== undefined };
    const finding: Finding<Row> = {
      ...(byRow && { row: byRow }),
      index: (totalCount) => byIndex(selection, range, { totalCount, isInOrder: isWalked }),
      "time-boxed scan": (totalCount) => timeBoxedScan(selection, range, { totalCount }),
      count(totalCount) {
        const { from, offset } = startAtOffset(head, selection, range.offset);
        return byIndex(selection, { ...range, offset }, { totalCount, from, isInOrder: true });
      },
    };
    return findPage(asked, known, BOUNDS, { learning, finding });
  };
}
