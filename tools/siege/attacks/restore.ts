/** Restores an older copy of the data folder of a separate node while its clock is late. */
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack-definition.ts";
import { ask } from "../requests.ts";
import { dataFolderOf, newFolder, startForging, startNode } from "../start-node.ts";
import { type SiegedNode, type Target, untilForged } from "../target.ts";

/** Signed after the copy was made. */
const BLOCKS_SINCE = 6;
/** Late enough for the node to start before the slots of the copy. */
const START_LATE_MS = 600_000;
const MIN_REFUSALS = 2;
const TIMEOUT_MS = 60_000;

/** Slots that the clock skips when it is set. */
const LEFT_OUT = "the node was busy or suspended during the slot";
/** The slot in the middle of which the clock is set. */
const ENTERED_LATE = "too little time was left in the slot";

const setClock = (clockFile: string, aheadMs: number) => writeFileSync(clockFile, String(aheadMs));

/** Copies a node, lets it sign more slots, kills it, and restarts it from the copy with a late clock. */
async function startRestored(): Promise<SiegedNode> {
  const folder = newFolder();
  const data = dataFolderOf(folder);
  const copy = join(folder, "copy");
  const needs = { folder, hasOwnClock: true };
  const first = await startForging(needs);
  await first.stop();
  cpSync(data, copy, { recursive: true });
  const second = await startNode(needs);
  await untilForged(second, BLOCKS_SINCE);
  await second.stop("SIGKILL");
  rmSync(data, { recursive: true });
  cpSync(copy, data, { recursive: true });
  setClock(join(folder, "clock"), -START_LATE_MS);
  const restored = await startNode(needs);
  return { ...restored, signed: () => [first, second, restored].flatMap(({ signed }) => signed()) };
}

async function counter(target: Target, name: string): Promise<number> {
  const headers = { authorization: target.token };
  const { text } = await ask(target, { path: "/metrics", from: "127.46.0.1", headers });
  const line = text.split("\n").find((line) => line.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}
const refusals = (target: Target) =>
  counter(target, 'uniknode_forger_refusals_total{reason="signed_before"}');
const forged = (target: Target) => counter(target, "uniknode_forger_blocks_forged_total");

/** Time of the last block, milliseconds. */
async function lastBlockMs(target: Target): Promise<number> {
  const { text } = await ask(target, { path: "/api/v2/blocks?limit=1", from: "127.46.0.2" });
  const { data } = JSON.parse(text) as { data: [{ timestamp: { unix: number } }] };
  return data[0].timestamp.unix * 1_000;
}

async function until(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const endsMs = performance.now() + TIMEOUT_MS;
  while (!(await isReached())) {
    if (performance.now() > endsMs) throw new Error(`not within ${TIMEOUT_MS / 1_000} s: ${what}`);
    await sleep(500);
  }
}

export const restoredFolder: Attack = {
  name: "restored folder",
  description:
    "an older data folder and a late clock: no slot is signed twice, already signed slots are missed, and a correct clock ends this",
  start: startRestored,
  async run(target, tally, signal) {
    const restoredMs = await lastBlockMs(target);
    const aheadMs = restoredMs - Date.now();
    setClock(target.clockFile, aheadMs);
    // The forger detects the new clock with a delay, possibly of one slot.
    const slotMs = target.network.blocktime * 1_000;
    tally.outage({ fromMs: 0, toMs: restoredMs + slotMs, reason: LEFT_OUT });
    tally.outage({ fromMs: restoredMs, toMs: restoredMs + slotMs, reason: ENTERED_LATE });
    await until(
      `${MIN_REFUSALS} already signed slots are refused`,
      async () => (await refusals(target)) >= MIN_REFUSALS,
    );
    while (!signal.aborted) await sleep(200);
    const count = await refusals(target);
    tally.offered(count);
    tally.refused(count);

    const nowMs = Date.now();
    setClock(target.clockFile, 0);
    tally.outage({ fromMs: restoredMs, toMs: nowMs + aheadMs, reason: "the signing record already has" });
    tally.outage({ fromMs: nowMs + aheadMs, toMs: nowMs, reason: LEFT_OUT });
    tally.outage({ fromMs: nowMs, toMs: nowMs + slotMs, reason: ENTERED_LATE });
    const before = await forged(target);
    await until("a block is forged with a correct clock", async () => (await forged(target)) > before);
  },
};
