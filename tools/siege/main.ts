/**
 * `npm run siege -- [--short] [--seconds N] [--settle N] [--only NAME]... [--list]`
 *
 * Attacks a node in every known way, while an honest client reads from it, an honest receiver gets webhooks and an
 * orchestrator checks its health. Prints a table, and exits with 1 and the failures if any.
 */

import { readArguments } from "../arguments.ts";
import { ATTACKS } from "./attacks/all.ts";
import { missingForIpv6, runInOwnNetwork } from "./own-network.ts";
import { BOUNDS, failures, SHORT_BOUNDS, table } from "./report.ts";
import { besiege } from "./siege.ts";

const { values } = readArguments("siege", {
  options: {
    /** A few seconds per attack, without attacks that need a separate node, as in `npm test`. */
    short: { type: "boolean", default: false },
    seconds: { type: "string" },
    settle: { type: "string" },
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
  const [seconds, settle] = values.short ? [3, 1] : [20, 30];
  const bounds = values.short ? SHORT_BOUNDS : BOUNDS;
  const rows = await besiege({
    attackMs: Number(values.seconds ?? seconds) * 1_000,
    settleMs: Number(values.settle ?? settle) * 1_000,
    isShort: values.short,
    ...(values.only && { only: values.only }),
    onLeftOut: (name, missing) => console.log(`${name}: LEFT OUT, this machine lacks: ${missing}`),
    onRow: (row) => console.log(`${table([row], bounds).split("\n").slice(1).join("\n")}`),
  });
  console.log(`\n${table(rows, bounds)}`);
  const hasHeld = rows.every((row) => failures(row, bounds).length === 0);
  console.log(hasHeld ? "\nthe node held" : "\nthe node did NOT hold");
  if (!hasHeld) process.exitCode = 1;
}
