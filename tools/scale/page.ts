/** The generated parts of docs/scale.md: the plan of the example, the costs, and the statements in use. */
import { readFileSync } from "node:fs";
import { costs, MEASURED } from "./costs.ts";
import { INPUTS, readInputs } from "./inputs.ts";
import { planOf } from "./model/plan.ts";
import { ratesOf } from "./model/rates.ts";
import { reportLines } from "./simulation/report.ts";
import { simulatePlan } from "./simulation/simulate.ts";
import { FEATURES, filesOf, withFeature } from "./statements/features.ts";
import { readStatements } from "./statements/statements.ts";
import { linesOf } from "./tables.ts";

const PATH = new URL("../../docs/scale.md", import.meta.url);
/** The page has fewer than the command, because a test generates it. */
const PRINTED_JOBS = 50_000;
/** A generated part, between two comments. */
const PART = /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** Returns the page with its generated parts. */
export const scalePage = (): string =>
  readFileSync(PATH, "utf8").replace(PART, (_, begin: string, name: string, end: string) => {
    const lines = PARTS[name]?.();
    if (!lines) throw new Error(`docs/scale.md: no part has the name ${name}`);
    return `${begin}\n${lines.join("\n")}\n\n${end}`;
  });

const PARTS: Readonly<Record<string, () => readonly string[]>> = {
  plan: () => block(linesOf(examplePlan({ readers: "1000000", webhooks: "100000", years: "10" }))),
  simulation: () => block(reportLines(simulatePlan(examplePlan({}), costs, { seed: 1, jobs: PRINTED_JOBS }))),
  rates: () => table(["process", "work", "in a second"], rateRows()),
  inputs: () => table(["option", "default", "meaning"], inputRows()),
  costs: () => table(["cost", "value", "meaning", "measured by", "on"], costRows()),
  changes: () => table(["property", "statements", "Citus", "YugabyteDB"], changeRows()),
  statements: () => table(["property", "files below `packages/node/src`"], statementRows()),
};

const examplePlan = (options: Readonly<Record<string, string>>) => planOf(readInputs(options), costs);

const block = (lines: readonly string[]): string[] => ["```text", ...lines, "```"];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);

/** Two digits: the costs are not more exact. */
const rateRows = () =>
  ratesOf(costs).map(({ process, work, perSecond }) => [
    ...[process, work, perSecond.toLocaleString("en", { maximumSignificantDigits: 2 })],
  ]);

const inputRows = () =>
  Object.values(INPUTS).map(({ option, default: value, meaning }) => [
    ...[`\`--${option}\``, value.toLocaleString("en"), meaning],
  ]);

const costRows = () =>
  Object.entries(MEASURED).map(([name, { value, meaning, source, date }]) => [
    ...[`\`${name}\``, value.toLocaleString("en"), meaning, `\`${source}\``, date],
  ]);

function changeRows(): string[][] {
  const statements = readStatements();
  return FEATURES.map((feature) => {
    const { name, citus = "no change", yugabyte = "no change" } = feature;
    return [name, `${withFeature(statements, feature).length}`, citus, yugabyte];
  });
}

function statementRows(): string[][] {
  const statements = readStatements();
  return FEATURES.map((feature) => {
    const files = filesOf(withFeature(statements, feature));
    return [feature.name, files.map((file) => `\`${file}\``).join(", ")];
  });
}
