/** Data folders that fail: a full disk, and an older copy beside a late clock. */
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Attacker } from "../attacker.ts";
import { missingForDisk, throughDisk } from "../namespaces.ts";
import type { SiegedNode } from "../node.ts";
import { readMetrics, until } from "../requests.ts";
import { dataFolderOf, diskOf, newFolder, startForging, startNode } from "../start-node.ts";

const MIB = 1_048_576;
const DISK_MIB = 48;
const DISK_FULL = "failed to write the block to the database: disk full";
const READY = /^200 \d+ MiB free$/;
const FULL = /^503 not writable: disk full/;
/** The write of a block must fail before the node detects the full disk; afterwards a block must be written. */
const NOTICE_TIMEOUT_MS = 20_000;

/** Uses all free space. */
function fill(file: string): void {
  try {
    // Append: rewriting the file would release its space first.
    writeFileSync(file, Buffer.alloc(DISK_MIB * MIB), { flag: "a" });
  } catch {
    // A partial write is fine.
  }
}

/** Returns the status of readiness, and its check of the disk. */
async function readiness(attacker: Attacker): Promise<string> {
  const { status, text } = await attacker.ask({ path: "/health/ready" });
  if (status === 0) return "no response";
  const { checks } = JSON.parse(text) as { checks: { disk: { detail: string } } };
  return `${status} ${checks.disk.detail}`;
}

const untilReadiness = (attacker: Attacker, expected: RegExp): Promise<void> =>
  until(
    `/health/ready is ${expected}`,
    async () => expected.test(await readiness(attacker)),
    NOTICE_TIMEOUT_MS,
  );

const fullDisk: Attack = {
  name: "full disk",
  description:
    "a node with a full data disk: it must miss its slots, report the reason in /health/ready, and recover by itself",
  start: () => startForging({ through: (folder) => throughDisk(diskOf(folder), DISK_MIB) }),
  missingRequirement: missingForDisk,
  async run(attacker) {
    await untilReadiness(attacker, READY);
    const filler = join(attacker.target.diskFolder, "filler");
    const fromMs = Date.now();
    try {
      for (let noticed = false; !(attacker.signal.aborted && noticed); await sleep(500)) {
        attacker.offered();
        fill(filler);
        if (!noticed) await untilReadiness(attacker, FULL);
        noticed = true;
        const said = await readiness(attacker);
        if (!FULL.test(said)) throw new Error(`/health/ready is "${said}" although the disk is full`);
      }
    } finally {
      rmSync(filler, { force: true });
      attacker.outages.push({ fromMs, toMs: Date.now(), reason: DISK_FULL });
    }
    await untilReadiness(attacker, READY);
  },
};

/** Signed after the copy was made. */
const BLOCKS_SINCE = 6;
/** Late enough for the node to start before the slots of the copy. */
const START_LATE_MS = 600_000;
const MIN_REFUSALS = 2;
/** Slots before the clock is set. */
const TOO_EARLY = "the head is in the future";
/** Slots that the clock skips when it is set. */
const LEFT_OUT = "the node was busy or suspended during the slot";
/** The slot in the middle of which the clock is set. */
const ENTERED_LATE = "too little time was left in the slot";
const SIGNED_BEFORE = "the signing record already has";

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
  await second.untilForged(BLOCKS_SINCE);
  await second.stop("SIGKILL");
  rmSync(data, { recursive: true });
  cpSync(copy, data, { recursive: true });
  setClock(join(folder, "clock"), -START_LATE_MS);
  return startNode({ ...needs, earlier: [first, second] });
}

/** Time of the last block, milliseconds. */
async function lastBlockMs(attacker: Attacker): Promise<number> {
  const { text } = await attacker.ask({ path: "/api/v2/blocks?limit=1" });
  return Number(/"unix":(\d+)/.exec(text)?.[1]) * 1_000;
}

const restoredFolder: Attack = {
  name: "restored folder",
  description:
    "an older data folder and a late clock: no slot is signed twice, already signed slots are missed, and a correct clock ends this",
  start: startRestored,
  async run(attacker) {
    const { target, outages } = attacker;
    const metric = async (name: string) => (await readMetrics(target, attacker.nextAddress()))(name);
    const refusals = async () =>
      (await metric('uniknode_forger_refusals_total{reason="signed_before"}')) || 0;
    const forged = () => metric("uniknode_forger_blocks_forged_total");
    const restoredMs = await lastBlockMs(attacker);
    const aheadMs = restoredMs - Date.now();
    setClock(target.clockFile, aheadMs);
    // The forger detects the new clock with a delay, possibly of one slot.
    const slotMs = target.network.blocktime * 1_000;
    outages.push({ fromMs: 0, toMs: restoredMs, reason: TOO_EARLY });
    outages.push({ fromMs: 0, toMs: restoredMs + slotMs, reason: LEFT_OUT });
    outages.push({ fromMs: restoredMs, toMs: restoredMs + slotMs, reason: ENTERED_LATE });
    await until(
      `${MIN_REFUSALS} already signed slots are refused`,
      async () => (await refusals()) >= MIN_REFUSALS,
    );
    attacker.offered(MIN_REFUSALS);
    await attacker.aborted();
    const count = await refusals();
    attacker.offered(count - MIN_REFUSALS);
    attacker.refused(count);

    const nowMs = Date.now();
    setClock(target.clockFile, 0);
    outages.push({ fromMs: restoredMs, toMs: nowMs + aheadMs, reason: SIGNED_BEFORE });
    outages.push({ fromMs: nowMs + aheadMs, toMs: nowMs, reason: LEFT_OUT });
    outages.push({ fromMs: nowMs, toMs: nowMs + slotMs, reason: ENTERED_LATE });
    const before = await forged();
    await until("a block is forged with a correct clock", async () => (await forged()) > before);
  },
};

export const FOLDERS: readonly Attack[] = [fullDisk, restoredFolder];
