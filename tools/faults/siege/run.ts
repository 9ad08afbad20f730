/**
 * Attacks a node in every known way, while an honest client reads from it, an honest receiver gets webhooks and an
 * orchestrator checks its health.
 */
import type { Attack } from "./attacker.ts";
import { ATTACKS } from "./attacks/all.ts";
import { BOUNDS, failures, type Row, SHORT_BOUNDS, table } from "./report.ts";
import { besiege } from "./siege.ts";

export type SiegeOptions = {
  /** Duration of each attack. */
  readonly seconds: number;
  /** Names of the only attacks; default: all. */
  readonly only?: readonly string[] | undefined;
};

/** Attacks that are shorter have the bounds of short ones. */
const SHORT_SECONDS = 10;
/** Pauses after an attack, before its memory is measured. */
const SHORT_PAUSE_MS = 1_000;
const PAUSE_MS = 30_000;

/** Prints a row for each attack. Returns the failures, and the number of attacks. */
export async function runSiege({
  seconds,
  only = ATTACKS.map(({ name }) => name),
}: SiegeOptions): Promise<{ readonly faults: readonly string[]; readonly attacks: number }> {
  const isShort = seconds < SHORT_SECONDS;
  const bounds = isShort ? SHORT_BOUNDS : BOUNDS;
  const times = { attackMs: seconds * 1_000, settleMs: isShort ? SHORT_PAUSE_MS : PAUSE_MS };
  const rows: Row[] = [];
  for await (const row of besiege(possible(only), times)) {
    rows.push(row);
    console.log(table([row], bounds).split("\n").slice(1).join("\n"));
  }
  console.log(`\n${table(rows, bounds)}`);
  const faults = rows.flatMap((row) => failures(row, bounds).map((failure) => `${row.attack}: ${failure}`));
  return { faults, attacks: rows.length };
}

/** Returns the attacks that this machine can carry out, and names the others. */
const possible = (only: readonly string[]): Attack[] =>
  ATTACKS.filter(({ name, missingRequirement }) => {
    const missing = only.includes(name) ? missingRequirement?.() : undefined;
    if (missing !== undefined) console.log(`${name}: LEFT OUT, this machine lacks: ${missing}`);
    return only.includes(name) && missing === undefined;
  });
