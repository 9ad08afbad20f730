/** Pages of transactions; their cost depends neither on the offset nor on the number of transactions. */
import { present } from "../../../platform/present.ts";
import type { Head } from "../../head.ts";
import type { Direction, Found, Range } from "../../page.ts";
import { accessPathsOf, type Selection, scanOf } from "./access-paths.ts";
import type { ByIndex } from "./by-index.ts";
import { startOfTransactions } from "./by-row.ts";
import type { Asked } from "./choose.ts";
import type { Heights } from "./conditions.ts";
import type { CountCache, IncrementalCount, IncrementalCounts, StoredCounts } from "./count-cache.ts";
import { type Finding, findPage, type Learning } from "./find.ts";
import type { PositionList, PositionLists, PositionQuery } from "./position-list.ts";
import { isAt, pageByValue, type RowsAt } from "./position-page.ts";
import type { TimeBoxedScan } from "./time-boxed-scan.ts";
import type { Kind, ValueIndex } from "./value-index.ts";
import type { ValueIndexes } from "./value-index-cache.ts";

/** A query for transactions. */
export type TransactionQuestion = Pick<Asked, "filter"> &
  PositionQuery & {
    readonly selection: Selection;
    /** Column that orders them before their position in the chain; absent: position only. */
    readonly by?: { readonly column: string; readonly kind: Kind };
    readonly direction: Direction;
    /** Direction of the transactions of one block. */
    readonly sequence: Direction;
    /** Set if the query is for all transactions between two heights. */
    readonly heights?: Heights;
    /** Stored number of rows, if the filter has only types. */
    readonly typesTotal: number | undefined;
  };

export type RowSources<Row> = {
  readonly byIndex: ByIndex<Row>;
  readonly timeBoxedScan: TimeBoxedScan<Row>;
  readonly at: RowsAt<Row>;
};

/** The listed table and its key. */
export const TRANSACTIONS = { table: "transactions", key: ["height", "sequence"] } as const;

/** @throws {CursorError | SnapshotError} */
export type TransactionPages = <Row>(
  rows: RowSources<Row>,
  head: Head,
  question: TransactionQuestion,
  range: Range,
) => Found<Row>;

export type PageDependencies = {
  readonly storedCounts: StoredCounts;
  readonly incrementalCount: IncrementalCounts;
  readonly count: CountCache;
  readonly positionLists: PositionLists;
  readonly valueIndexes: ValueIndexes;
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows: number;
};

export function createTransactionPages(deps: PageDependencies): TransactionPages {
  return <Row>(rows: RowSources<Row>, head: Head, question: TransactionQuestion, range: Range) => {
    const { selection, by, filter } = question;
    const scan = scanOf(TRANSACTIONS, selection);
    const { offset, after } = range;
    const asked: Asked = {
      collection: "transactions",
      filter,
      isInOrder: !by,
      scan,
      offset,
      isAfter: after !== undefined,
    };
    const query: Query<Row> = { deps, rows, head, question, range, isBounded: scan === "bounded" };
    const steps = { learning: learningOf(query), finding: findingOf(query) };
    return findPage(asked, {}, { minIndexedRows: deps.minIndexedRows }, steps);
  };
}

/** The query for one page, and what was determined for it. */
type Query<Row> = {
  readonly deps: PageDependencies;
  readonly rows: RowSources<Row>;
  readonly head: Head;
  readonly question: TransactionQuestion;
  readonly range: Range;
  /** True if an index finds only the rows up to the end of the page, or few. */
  readonly isBounded: boolean;
  matches?: PositionList | undefined;
  incrementalCount?: IncrementalCount;
  valueIndex?: ValueIndex | undefined;
};

const learningOf = <Row>(query: Query<Row>): Learning => ({
  matches() {
    query.matches = query.deps.positionLists(query.head, query.question);
    return { matches: query.matches?.count ?? "unknown" };
  },
  total: () => ({ total: countRows(query) }),
  "value index"() {
    const { deps, head, question } = query;
    const { by, selection } = question;
    query.valueIndex = by && deps.valueIndexes.find(head, { ...by, paths: accessPathsOf(selection) });
    return { isIndexed: query.valueIndex !== undefined };
  },
});

function findingOf<Row>(query: Query<Row>): Finding<Row> {
  const { deps, rows, head, question, range } = query;
  const { byIndex, timeBoxedScan, at } = rows;
  const { selection, by, heights } = question;
  const { order } = selection;
  return {
    index: (totalCount) => byIndex(selection, range, { totalCount, isInOrder: heights !== undefined && !by }),
    ...(heights && {
      row(totalCount) {
        const { offset, from } = startOfTransactions(
          deps.storedCounts,
          head,
          heights,
          question,
          range.offset,
        );
        const all = { conditions: [], order };
        return byIndex(all, { ...range, offset }, { totalCount, from, isInOrder: true });
      },
    }),
    count: (totalCount) => findByCount(query, totalCount),
    "time-boxed scan": (totalCount) => timeBoxedScan(selection, range, { totalCount }),
    ...(by && {
      "value index"() {
        const valueIndex = present(query.valueIndex, "the value index of the plan");
        return at(pageByValue(valueIndex, by.kind, order, range), order, range.isWalk);
      },
    }),
    match: () => findByMatch(query),
  };
}

function findByCount<Row>(query: Query<Row>, totalCount: number): Found<Row> {
  const { rows, question, range, isBounded, matches } = query;
  const { selection, direction, values } = question;
  const start =
    range.after === undefined
      ? (matches ?? incrementalCountOf(query)).startOf(direction, range.offset)
      : undefined;
  const [value] = values;
  const walked = matches && value ? { conditions: [value.test], order: selection.order } : selection;
  const walk = matches || !isBounded ? rows.timeBoxedScan : rows.byIndex;
  return walk(walked, { ...range, offset: start?.offset ?? 0 }, { totalCount, from: start?.from });
}

function findByMatch<Row>({ rows, question, range, ...query }: Query<Row>): Found<Row> {
  const { order } = question.selection;
  const matches = present(query.matches, "the position list of the plan");
  if (question.by) {
    const positions = present(matches.positions, "the positions of a short list");
    return rows.byIndex({ conditions: [isAt(positions)], order }, range, { totalCount: matches.count });
  }
  return rows.at(present(matches.page(order, range), "the page of a short list"), order, range.isWalk);
}

function countRows<Row>(query: Query<Row>): number {
  const { deps, head, question, matches } = query;
  const { heights, typesTotal, filter, selection } = question;
  if (heights) return deps.storedCounts.between(heights);
  const known = matches?.count ?? typesTotal;
  if (known !== undefined) return known;
  return filter === "blocks"
    ? deps.count(head, accessPathsOf(selection))
    : incrementalCountOf(query).totalCount;
}

function incrementalCountOf<Row>(query: Query<Row>): IncrementalCount {
  const { deps, head, question } = query;
  query.incrementalCount ??= deps.incrementalCount(head, accessPathsOf(question.selection));
  return query.incrementalCount;
}
