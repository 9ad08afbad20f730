/** Pages of transactions; their cost depends neither on the offset nor on the number of transactions. */
import type { Head } from "../../head.ts";
import type { Direction, Found, Range } from "../../page.ts";
import type { ByIndex } from "../plans/by-index.ts";
import { isAt, type Matches, type Matching, type Wanted } from "../plans/by-match.ts";
import type { ByRanking } from "../plans/by-ranking.ts";
import { startOfTransactions } from "../plans/by-row.ts";
import type { ByStretches } from "../plans/by-stretches.ts";
import { type Asked, MAX_LOOKED_UP } from "../plans/choose.ts";
import { type Finding, findPage, type Learning } from "../plans/find.ts";
import type { Kind, Ranking } from "../rankings/ranking.ts";
import type { Rankings } from "../rankings/rankings.ts";
import { anyOf } from "./conditions.ts";
import type { Heights } from "./heights.ts";
import type { RowsAt } from "./positions.ts";
import type { RowCounts } from "./row-counts.ts";
import { type Alternatives, alternativesOf, type Selection, scanOf } from "./selection.ts";
import type { Tallies, Tally } from "./tallies.ts";
import type { Totals } from "./totals.ts";

/** A query for transactions. */
export type TransactionQuestion = Pick<Asked, "filter"> & {
  readonly selection: Selection;
  /** Column that orders them before their position in the chain; absent: position only. */
  readonly by?: { readonly column: string; readonly kind: Kind };
  readonly direction: Direction;
  /** Direction of the transactions of one block. */
  readonly sequence: Direction;
  /** Set if the query is for all transactions between two heights. */
  readonly heights?: Heights;
  /** Conditions on the value of a column, which a ranking can look up. */
  readonly wanted: readonly Wanted[];
  /** Parts of the conditions that an index can look up, each on its own. */
  readonly indexed: readonly Alternatives[];
  /** Stored number of rows, if the filter has only types. */
  readonly typesTotal: number | undefined;
};

export type RowSources<Row> = {
  readonly byIndex: ByIndex<Row>;
  readonly byStretches: ByStretches<Row>;
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
  readonly totals: Totals;
  readonly tally: Tallies;
  readonly count: RowCounts;
  readonly matching: Matching;
  readonly rankings: Rankings;
  readonly byRanking: ByRanking;
  /** Minimum number of rows for which a ranking is built. */
  readonly minRanked: number;
};

export function createTransactionPages({
  totals,
  tally,
  count,
  matching,
  rankings,
  byRanking,
  minRanked,
}: PageDependencies): TransactionPages {
  /** Returns the matches of the most selective condition on a value. */
  function valueMatches(head: Head, wanted: readonly Wanted[]): Matches | undefined {
    const found = wanted.map((one) => matching.matches(head, one)).filter((matches) => matches !== undefined);
    return found.sort((a, b) => a.count - b.count)[0];
  }

  /** Returns the rows of the most selective index, if each condition alone finds too many rows to sort but few pass all. */
  function lookedUp(head: Head, indexed: readonly Alternatives[]): readonly number[] | undefined {
    if (indexed.length < 2) return undefined;
    const [fewest] = indexed
      .map((alternatives) => ({ alternatives, count: tally(head, alternatives).totalCount }))
      .sort((a, b) => a.count - b.count);
    return fewest!.count > MAX_LOOKED_UP ? undefined : matching.positions(fewest!.alternatives);
  }

  /** Returns all rows of the query if they are identified by their positions; otherwise undefined. */
  function matchesOf(head: Head, { selection, wanted, indexed }: TransactionQuestion): Matches | undefined {
    if (totals.upTo(head.height) < minRanked) return undefined;
    const { conditions, ways = [] } = selection;
    const matches = valueMatches(head, wanted);
    const positions = matches?.positions ?? lookedUp(head, indexed);
    // Matches are exactly the rows of the query, or a superset.
    if (ways.length === 0 && conditions.length === 1) return matches;
    return (
      positions &&
      matching.passing(head, positions, [...conditions, ...(ways.length > 0 ? [anyOf(ways)] : [])])
    );
  }

  function pageOf<Row>(
    { byIndex, byStretches, at }: RowSources<Row>,
    head: Head,
    question: TransactionQuestion,
    range: Range,
  ): Found<Row> {
    const { selection, by, direction, heights, filter } = question;
    const { order } = selection;
    const { offset, after, isWalk } = range;
    const scan = scanOf(TRANSACTIONS, selection);
    let matches: Matches | undefined;
    let tallied: Tally | undefined;
    let ranking: Ranking | undefined;
    const tallyAll = () => {
      tallied ??= tally(head, alternativesOf(selection));
      return tallied;
    };
    const counted = () =>
      filter === "blocks" ? count(head, alternativesOf(selection)) : tallyAll().totalCount;

    const learning: Learning = {
      matches() {
        matches = matchesOf(head, question);
        return { matches: matches?.count ?? "unknown" };
      },
      total: () => ({
        total: heights ? totals.between(heights) : (matches?.count ?? question.typesTotal ?? counted()),
      }),
      ranking() {
        ranking = rankings.find(head, { ...by!, alternatives: alternativesOf(selection) });
        return { isRanked: ranking !== undefined };
      },
    };
    const finding: Finding<Row> = {
      index: (totalCount) =>
        byIndex(selection, range, { totalCount, isInOrder: heights !== undefined && !by }),
      row(totalCount) {
        const { offset, from } = startOfTransactions(totals, head, heights!, question, range.offset);
        const all = { conditions: [], order };
        return byIndex(all, { ...range, offset }, { totalCount, from, isInOrder: true });
      },
      count(totalCount) {
        const start = after === undefined ? (matches ?? tallyAll()).startOf(direction, offset) : undefined;
        const walked = matches ? { conditions: [question.wanted[0]!.alongTheChain], order } : selection;
        const left = { ...range, offset: start?.offset ?? 0 };
        const walk = matches || scan !== "bounded" ? byStretches : byIndex;
        return walk(walked, left, { totalCount, from: start?.from });
      },
      stretches: (totalCount) => byStretches(selection, range, { totalCount }),
      ranking: () => at(byRanking(ranking!, by!.kind, order, range), order, isWalk),
      match() {
        if (!by) return at(matches!.page(order, range)!, order, isWalk);
        return byIndex({ conditions: [isAt(matches!.positions!)], order }, range, {
          totalCount: matches!.count,
        });
      },
    };
    const asked: Asked = {
      collection: "transactions",
      filter,
      isInOrder: !by,
      scan,
      offset,
      isAfter: after !== undefined,
    };
    return findPage(asked, {}, { minRanked }, { learning, finding });
  }

  return pageOf;
}
