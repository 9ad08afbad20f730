/**
 * `npm run bench -- compare COMMIT [replay] [unverified] [sync] [api] [instructions] [submissions] [webhooks] [start] [idle] [load] [--runs 5]`
 *
 * Compares this work tree with another commit: all rows, or the named ones. The versions alternate, each first in every
 * other run, so that other load of the machine affects both. Each figure is the median of the runs, printed with the
 * spread between the lowest and the highest: a ratio within the spread is not significant.
 */

import { present } from "../packages/node/src/platform/present.ts";
import { readArguments } from "../tools/arguments.ts";
import type { Figures } from "./compare/process.ts";
import { ROWS } from "./compare/rows.ts";
import { treeOf, workingTree } from "./trees.ts";

const { values, positionals } = readArguments("bench compare COMMIT [ROW...]", {
  allowPositionals: true,
  options: { runs: { type: "string", default: "5" } },
});
const [commit, ...names] = positionals;
if (commit === undefined) throw new Error("the commit is missing: npm run bench -- compare COMMIT [ROW...]");
const unknown = names.filter((name) => !ROWS.some((row) => row.name === name));
if (unknown.length > 0)
  throw new Error(
    `unknown rows ${unknown.join(", ")}; the rows are ${ROWS.map(({ name }) => name).join(", ")}`,
  );

const runs = Number(values.runs);
const base = treeOf(commit);
const now = workingTree();

/** The median of all runs, and the distance between the lowest and the highest as a share of it. */
type Summary = { readonly median: number; readonly spread: number };

function summaryOf(numbers: readonly number[]): Summary {
  const sorted = numbers.toSorted((a, b) => a - b);
  const median = present(sorted[Math.floor(sorted.length / 2)]);
  return { median, spread: median === 0 ? 0 : (present(sorted.at(-1)) - present(sorted[0])) / median };
}

function show(name: string, was: Summary, is: Summary): void {
  const spreads = [was, is].map(({ spread }) => `${Math.round(spread * 100)} %`).join(", ");
  console.log(
    `${name} | ${shown(was.median)} | ${shown(is.median)} | ${(is.median / was.median).toFixed(2)} | ${spreads}`,
  );
}

const shown = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

console.log(`${base.name} and this work tree, alternating, medians of ${runs} runs`);
console.log(`figure | ${base.name} | now | ratio | spread of each`);
for (const row of ROWS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const [before, after] = (await row.measure([base, now], runs)) as [Figures[], Figures[]];
  // Another version may lack a figure.
  for (const name of Object.keys(before[0] ?? {}).filter((name) => name in (after[0] ?? {}))) {
    const [was, is] = [before, after].map((figures) => figures.map((run) => present(run[name])));
    show(name, summaryOf(present(was)), summaryOf(present(is)));
  }
}
