/** Requests resolutions until all wanted properties are there. Each one is verified before the next request. */

import { digestOf, FIRST, LIFE_CYCLE, TYPE } from "./pages.ts";
import type { ResolutionVerdict } from "./verdict.ts";
import type { ResolutionOptions } from "./verify.ts";

/** Requests pages of a unik from some digests on, and verifies them. */
export type Resolve = (
  from: readonly string[],
  rules: Pick<ResolutionOptions, "from" | "properties">,
) => Promise<ResolutionVerdict>;

type Proven = Extract<ResolutionVerdict, { readonly verdict: "proven" }>;

/** Digests that each resolution must show. */
const ALWAYS: readonly string[] = [TYPE, LIFE_CYCLE].map(digestOf);
/** A node returns 16 pages at once. */
const MAX_NAMES = 16 - ALWAYS.length;
/** A unik whose properties change between two pages is requested again. */
const MAX_STATES = 8;

/** Yields a verdict for each page, in the order of digests. */
export async function* pagesFrom(resolve: Resolve): AsyncGenerator<ResolutionVerdict> {
  for (let from: string | null = FIRST; from !== null; ) {
    const verdict: ResolutionVerdict = await resolve([from, ...ALWAYS], { from });
    yield verdict;
    from = verdict.verdict === "proven" ? (verdict.unik?.next ?? null) : null;
  }
}

/** Yields verdicts that show all properties with the given names. */
async function* pagesOfNames(resolve: Resolve, names: readonly string[]): AsyncGenerator<ResolutionVerdict> {
  for (let first = 0; first === 0 || first < names.length; first += MAX_NAMES) {
    const properties = names.slice(first, first + MAX_NAMES);
    yield await resolve([...properties.map(digestOf), ...ALWAYS], { properties });
  }
}

/** Returns the verdict with all properties, or with those of the given names. */
export async function resolveAll(
  resolve: Resolve,
  names: readonly string[] | undefined,
): Promise<ResolutionVerdict> {
  for (let state = 0; state < MAX_STATES; state++) {
    const verdict = await merge(names ? pagesOfNames(resolve, names) : pagesFrom(resolve));
    if (verdict) return verdict;
  }
  return {
    verdict: "refused",
    step: "PROPERTIES",
    reason: `the properties changed ${MAX_STATES} times between two pages: resolve the unik again, or page by page`,
  };
}

/** Returns undefined if the properties changed between two pages. */
async function merge(verdicts: AsyncIterable<ResolutionVerdict>): Promise<ResolutionVerdict | undefined> {
  const properties: [name: string, value: string][] = [];
  let last: Proven | undefined;
  for await (const verdict of verdicts) {
    if (verdict.verdict !== "proven" || !verdict.unik) return verdict;
    if (last && verdict.unik.root !== last.unik?.root) return undefined;
    for (const entry of Object.entries(verdict.unik.properties)) properties.push(entry);
    last = verdict;
  }
  if (!last?.unik) return last;
  return { ...last, unik: { ...last.unik, properties: Object.fromEntries(properties) } };
}
