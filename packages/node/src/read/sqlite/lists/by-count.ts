/**
 * Plan "count": rows were counted in steps before, and the page is reached from the nearest mark. Costs the rows between two
 * marks, plus once the first count of the rows.
 */
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import {
  accessPathsOf,
  createStatementCache,
  inRange,
  type KeyedTable,
  pageText,
  type Selection,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { after, cursorFrom, valuesText } from "./keyset-cursor.ts";
import { createMarks } from "./marks.ts";
import type { TimeBox } from "./time-box.ts";

/** Start of a page: a row to start at, and the remaining offset from that row. */
export type Start = { readonly from?: Condition; readonly offset: number };

export type StartInIndex = (head: Head, selection: Selection, offset: number) => Start;

/** Creates marks in lists that an index has in order. Transactions have tallies (`lists/tallies.ts`) instead. */
export function createStartInIndex(database: Database, time: TimeBox, listed: KeyedTable): StartInIndex {
  const prepare = createStatementCache(database);
  const marks = createMarks();
  return (head, selection, offset) => {
    const { order } = selection;
    const paths = accessPathsOf(selection);
    const { text, names } = pageText(listed, paths, order);
    const list = [text, ...valuesOf(paths)].join("\0");
    const { cursor, rest } = marks.before(head, list, offset, (last, rows) => {
      time.check();
      const behind = inRange(paths, last === undefined ? undefined : after(order, last));
      const { text } = pageText(listed, behind, order);
      const select = prepare(`SELECT ${valuesText(names)} AS "values" FROM (${text})`);
      const row = select.get(...valuesOf(behind), 1, rows - 1) as { values: string } | undefined;
      return row && cursorFrom(order, row.values);
    });
    return { offset: rest, ...(cursor !== undefined && { from: after(order, cursor) }) };
  };
}
