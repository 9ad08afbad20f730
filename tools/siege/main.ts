/**
 * `npm run siege -- [--seconds N] [--settle N] [--only NAME]... [--list]`
 *
 * Attacks a node in every known way, while an honest client reads from it, an honest receiver gets webhooks and an
 * orchestrator checks its health. Prints a table, and exits with 1 and the failures if any.
 */

import { readArguments } from "../arguments.ts";
import type { Attack } from "./attacker.ts";
import { ATTACKS } from "./attacks/all.ts";
import { missingForIpv6, runInOwnNetwork } from "./namespaces.ts";
import { BOUNDS, failures, type Row, SHORT_BOUNDS, table } from "./report.ts";
import { besiege } from "./siege.ts";

/** Attacks that are shorter have the bounds of short ones. */
const SHORT_MS = 10_000;

const { values } = readArguments("siege", {
  options: {
    /** Duration of each attack, and of the pause after it. */
    seconds: { type: "string", default: "20" },
    settle: { type: "string", default: "30" },
    only: { type: "string", multiple: true },
    list: { type: "boolean", default: false },
  },
});

if (values.list) {
  for (const { name, description } of ATTACKS) console.log(`${name}: ${description}`);
} else {
  // Inside the namespace, all requirements are met.
  const code = missingForIpv6() === undefined ? undefined : await runInOwnNetwork();
  if (code === undefined) await run();
  else process.exitCode = code;
}

async function run(): Promise<void> {
  const [attackMs, settleMs] = [Number(values.seconds) * 1_000, Number(values.settle) * 1_000];
  const bounds = attackMs < SHORT_MS ? SHORT_BOUNDS : BOUNDS;
  const rows: Row[] = [];
  for await (const row of besiege(selectAttacks(values.only), { attackMs, settleMs })) {
    rows.push(row);
    console.log(table([row], bounds).split("\n").slice(1).join("\n"));
  }
  console.log(`\n${table(rows, bounds)}`);
  const hasHeld = rows.every((row) => failures(row, bounds).length === 0);
  console.log(hasHeld ? "\nthe node held" : "\nthe node did NOT hold");
  if (!hasHeld) process.exitCode = 1;
}

/** Returns the attacks that this machine can carry out, and names the others. */
function selectAttacks(only: readonly string[] = ATTACKS.map(({ name }) => name)): Attack[] {
  const unknown = only.filter((name) => !ATTACKS.some((attack) => attack.name === name));
  if (unknown.length > 0) throw new Error(`no such attack: ${unknown.join(", ")}; see --list`);
  return ATTACKS.filter(({ name, missingRequirement }) => {
    const missing = only.includes(name) ? missingRequirement?.() : undefined;
    if (missing !== undefined) console.log(`${name}: LEFT OUT, this machine lacks: ${missing}`);
    return only.includes(name) && missing === undefined;
  });
}
