/** Where a page of transactions comes from, so that its time depends neither on how far it is nor on how many there are. */

import type { Head } from "../../head.ts";
import type { Direction, Found, Range } from "../../page.ts";
import { betweenHeights, type Heights } from "../blocks.ts";
import { isAt, MAX_LOOKED_UP, type Matches, type RankedPages, type Wanted } from "../rankings/pages.ts";
import type { Kind } from "../rankings/ranking.ts";
import { anyOf, type Condition } from "./conditions.ts";
import { type Alternatives, alternativesOf, type List, type Selection } from "./listing.ts";
import type { RowsAt } from "./places.ts";
import type { Tallies } from "./tallies.ts";
import type { Totals } from "./totals.ts";

/** What is asked of all transactions. */
export type Question = {
  readonly selection: Selection;
  /** What they are ordered by before their place in the chain; absent: nothing. */
  readonly by?: { readonly column: string; readonly kind: Kind };
  readonly direction: Direction;
  /** Of transactions of one block. */
  readonly sequence: Direction;
  /** Where all transactions between two heights are asked for, and no others. */
  readonly heights?: Heights;
  /** Whether a few blocks are left by the conditions, or some that depend on the head. */
  readonly isWithinBlocks: boolean;
  /** Those of the conditions that want values of a column. */
  readonly wanted: readonly Wanted[];
  /** Those parts of the conditions that an index answers each for itself. */
  readonly indexed: readonly Alternatives[];
  /** Number of rows, where nothing is asked for but types: it is kept. */
  readonly typesTotal: number | undefined;
};

export type TransactionPages = <Row>(
  rows: { readonly list: List<Row>; readonly at: RowsAt<Row> },
  head: Head,
  question: Question,
  range: Range,
) => Found<Row>;

export type PageDependencies = {
  readonly totals: Totals;
  readonly tally: Tallies;
  readonly ranked: RankedPages;
  /** Rows from which on a ranking is worth its memory. */
  readonly minRanked: number;
};

/** Offset from which on rows are not walked over one by one. */
const FAR = 200;

export function createTransactionPages({
  totals,
  tally,
  ranked,
  minRanked,
}: PageDependencies): TransactionPages {
  /** The rows that a page of all transactions between two heights begins with, and what is left of the offset there. */
  function startOf(
    head: Head,
    { direction, sequence }: Question,
    { low, high }: Heights,
    offset: number,
  ): { offset: number; from: Condition } {
    if (direction === "asc") {
      const above = totals.upTo(low - 1) + offset;
      const height = totals.heightOf(above + 1, head);
      return { offset: above - totals.upTo(height - 1), from: betweenHeights({ low: height, high }) };
    }
    const below = totals.upTo(high) - offset;
    const height = totals.heightOf(below, head);
    if (sequence === "asc") {
      return { offset: totals.upTo(height) - below, from: betweenHeights({ low, high: height }) };
    }
    const last = below - totals.upTo(height - 1) - 1;
    return {
      offset: 0,
      from: { sql: "(height, sequence) <= (?, ?) AND height >= ?", values: [height, last, low] },
    };
  }

  /** Nothing is counted, and nothing sorted or skipped but within a block. */
  function pageBetween<Row>(
    list: List<Row>,
    head: Head,
    question: Question,
    heights: Heights,
    range: Range,
  ): Found<Row> {
    const totalCount = totals.between(heights);
    const counted = { ...question.selection, totalCount, isInOrder: true };
    if (range.offset < FAR || range.offset >= totalCount) return list(head, counted, range);
    const { offset, from } = startOf(head, question, heights, range.offset);
    return list(head, { ...counted, conditions: [], from }, { ...range, offset });
  }

  /** The fewest rows that have a value which is wanted. */
  function matchesOf(head: Head, wanted: readonly Wanted[]): Matches | undefined {
    if (totals.upTo(head.height) < minRanked) return undefined;
    const found = wanted.map((one) => ranked.matches(head, one)).filter((matches) => matches !== undefined);
    return found.sort((a, b) => a.count - b.count)[0];
  }

  /** The rows of the index that finds the fewest, where each condition alone finds too many and the rest is few. */
  function lookedUp(head: Head, indexed: readonly Alternatives[]): readonly number[] | undefined {
    if (indexed.length < 2 || totals.upTo(head.height) < minRanked) return undefined;
    const [fewest] = indexed
      .map((alternatives) => ({ alternatives, count: tally(head, alternatives).totalCount }))
      .sort((a, b) => a.count - b.count);
    return fewest!.count > MAX_LOOKED_UP ? undefined : ranked.places(fewest!.alternatives);
  }

  return ({ list, at }, head, question, range) => {
    const { selection, by, direction, wanted, heights } = question;
    if (heights && !by) return pageBetween(list, head, question, heights, range);
    const knownTotal = heights ? totals.between(heights) : question.typesTotal;
    if (question.isWithinBlocks) return list(head, { ...selection, totalCount: knownTotal }, range);
    const { conditions, ways = [], order } = selection;
    const matches = matchesOf(head, wanted);
    const places = matches?.places ?? lookedUp(head, question.indexed);
    // Matches are all that is asked for, or more than that.
    const isAll = ways.length === 0 && conditions.length === 1;
    const all = isAll
      ? matches
      : places && ranked.passing(head, places, [...conditions, ...(ways.length > 0 ? [anyOf(ways)] : [])]);
    const page = by ? undefined : all?.page(order, range);
    if (page) return at(page, order, range.isWalk);
    if (by && all?.places) {
      return list(head, { conditions: [isAt(all.places)], order, totalCount: all.count }, range);
    }

    const isFar = !by && range.offset >= FAR;
    const known = all?.count ?? knownTotal;
    const tallied =
      known === undefined || (isFar && !all) ? tally(head, alternativesOf(selection)) : undefined;
    const totalCount = known ?? tallied?.totalCount ?? 0;
    if (by && totalCount >= minRanked) {
      const alternatives = alternativesOf(selection);
      const page = ranked.ordered(head, { ...by, alternatives }, selection.order, range);
      if (page) return at(page, selection.order, range.isWalk);
    }
    const counted = { ...selection, totalCount };
    if (by || range.offset >= totalCount) return list(head, counted, range);
    const start = (all ?? (isFar ? tallied : undefined))?.startOf(direction, range.offset);
    if (!start) return list(head, counted, range);
    const { offset, from } = start;
    const walked =
      all && wanted[0] ? { ...counted, conditions: [alongTheChain(wanted[0], conditions[0]!)] } : counted;
    return list(head, { ...walked, from }, { ...range, offset });
  };
}

/** The same condition for what nearly all rows meet: an index would find them in another order. */
const alongTheChain = ({ column }: Wanted, { sql, values }: Condition): Condition => ({
  sql: sql.replaceAll(column, `+${column}`),
  values,
});
