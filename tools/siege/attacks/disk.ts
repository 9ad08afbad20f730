/** Fills the data disk of a separate node for a while. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack-definition.ts";
import { missingForDisk } from "../data-disk.ts";
import { ask } from "../requests.ts";
import { startForging } from "../start-node.ts";
import type { Target } from "../target.ts";

const MIB = 1_048_576;
const DISK_MIB = 48;
const REASON = "failed to write the block to the database: disk full";
const READY = /^200 \d+ MiB free$/;
const FULL = /^503 not writable: disk full/;
/** The write of a block must fail before the node detects the full disk; afterwards a block must be written. */
const NOTICE_TIMEOUT_MS = 20_000;

/** Uses all free space. */
function fill(folder: string): void {
  try {
    // Append: rewriting the file would release its space first.
    writeFileSync(join(folder, "filler"), Buffer.alloc(DISK_MIB * MIB), { flag: "a" });
  } catch {
    // A partial write is fine.
  }
}

/** Returns the status of readiness, and its check of the disk. */
async function readiness(target: Target): Promise<string> {
  const { status, text } = await ask(target, { path: "/health/ready", from: "127.45.0.1" });
  if (status === 0) return "no response";
  const { checks } = JSON.parse(text) as { checks: { disk: { detail: string } } };
  return `${status} ${checks.disk.detail}`;
}

async function untilReadiness(target: Target, expected: RegExp): Promise<void> {
  const endsMs = performance.now() + NOTICE_TIMEOUT_MS;
  for (let said = ""; !expected.test(said); await sleep(200)) {
    said = await readiness(target);
    if (performance.now() > endsMs) throw new Error(`/health/ready is "${said}", expected ${expected}`);
  }
}

export const fullDisk: Attack = {
  name: "full disk",
  description:
    "a node with a full data disk: it must miss its slots, report the reason in /health/ready, and recover by itself",
  start: () => startForging({ diskMib: DISK_MIB }),
  missingRequirement: missingForDisk,
  async run(target, tally, signal) {
    await untilReadiness(target, READY);
    const fromMs = Date.now();
    try {
      for (let noticed = false; !(signal.aborted && noticed); await sleep(500)) {
        tally.offered();
        fill(target.diskFolder);
        if (!noticed) await untilReadiness(target, FULL);
        noticed = true;
        const said = await readiness(target);
        if (!FULL.test(said)) throw new Error(`/health/ready is "${said}" although the disk is full`);
      }
    } finally {
      rmSync(join(target.diskFolder, "filler"), { force: true });
      tally.outage({ fromMs, toMs: Date.now(), reason: REASON });
    }
    await untilReadiness(target, READY);
  },
};
