/** Compares two implementations of the read model at the same head. */
import { isDeepStrictEqual } from "node:util";
import { MAX_CURSOR_BYTES } from "../../src/read/cursor.ts";
import type { Found } from "../../src/read/page.ts";
import type { ReadModel, Snapshot } from "../../src/read/port.ts";
import { createDraws, type Random } from "../random.ts";
import { type ListRequest, listRequest, readRows, type SingleRead, singleRead } from "./requests.ts";

export type Difference = { readonly request: string; readonly one: unknown; readonly other: unknown };

export type ComparisonOptions = {
  readonly seed: number;
  /** Number of requests; a walk through all pages of a list is one request. */
  readonly cases: number;
};

const MAX_DIFFERENCES = 5;
/** Requests at a time, so that snapshots share transactions. */
const CONCURRENT = 20;
const MAX_PAGES = 30;

/** Returns the first differences; none if the results of all requests are equal. */
export async function compareReadModels(
  one: ReadModel,
  other: ReadModel,
  { seed, cases }: ComparisonOptions,
): Promise<Difference[]> {
  const random = createDraws(seed);
  const draws = { random, rows: await readRows(one) };
  // Requests are drawn before the first of them waits, so that a seed always gives the same ones.
  const compareNext = () =>
    random.chance(0.2)
      ? compareSingles(one, other, singleRead(draws))
      : compareLists(one, other, listRequest(draws), random);
  const differences: Difference[] = [];
  for (let count = 0; count < cases && differences.length < MAX_DIFFERENCES; count += CONCURRENT) {
    const length = Math.min(CONCURRENT, cases - count);
    const found = await Promise.all(Array.from({ length }, compareNext));
    differences.push(...found.filter((difference) => difference !== undefined));
  }
  return differences;
}

async function compareSingles(
  one: ReadModel,
  other: ReadModel,
  { name, run }: SingleRead,
): Promise<Difference | undefined> {
  const results = await Promise.all([one, other].map((model) => outcomeOf(model, run)));
  return differenceOf(name, results);
}

async function compareLists(
  one: ReadModel,
  other: ReadModel,
  request: ListRequest,
  random: Random,
): Promise<Difference | undefined> {
  const { name, filter, order, run } = request;
  const isWalk = random.chance(0.3);
  const limit = random.pick([1, 2, 5, 20, 100]);
  const offset = isWalk ? 0 : random.pick([0, 0, 0, 1, 7, 50, 104, 150, 1_000, Number.MAX_SAFE_INTEGER, -1]);
  const title = `${name} ${JSON.stringify({ filter, order, limit, offset, isWalk })}`;
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const range = { offset, limit, isWalk, ...(after !== undefined && { after }) };
    const results = await Promise.all(
      [one, other].map((model) => outcomeOf(model, (snapshot) => run(snapshot, range))),
    );
    const difference = differenceOf(
      `${title} page ${page}`,
      results.map((result) => comparable(result, isWalk)),
    );
    if (difference) return difference;
    after = (results[0] as Found<object>).next;
    if (!isWalk || after === undefined) return undefined;
  }
  return undefined;
}

/** Errors are results, too. */
async function outcomeOf<T>(model: ReadModel, run: (snapshot: Snapshot) => Promise<T>): Promise<unknown> {
  try {
    return await model.snapshot(run);
  } catch (error) {
    return { failed: (error as { readonly code?: string }).code ?? String(error) };
  }
}

const differenceOf = (request: string, [one, other]: readonly unknown[]): Difference | undefined =>
  isDeepStrictEqual(plain(one), plain(other)) ? undefined : { request, one, other };

/** The prototypes of rows are those of their drivers. */
const plain = (value: unknown): unknown => structuredClone(value);

/** Rows of a walk can have members from which cursors are made; without a walk, the cursor is optional. */
function comparable(result: unknown, isWalk: boolean): unknown {
  const { rows, next, ...rest } = result as Partial<Found<object>>;
  if (!rows) return result;
  return {
    ...rest,
    next: isWalk ? next : undefined,
    isShort: next === undefined || Buffer.byteLength(next) <= MAX_CURSOR_BYTES,
    rows: rows.map((row) => ({ ...row, values: undefined })),
  };
}
