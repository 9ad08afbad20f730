/** A data disk that is full for a while: a real one, which only the process and this test see. */
import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { createSlotStore } from "../../src/store/node/slots.ts";
import { newFolder, startFaulty } from "./faulty.ts";

const POLL = { timeout: 30_000, interval: 200 };
const DISK_BYTES = 32 * 1_048_576;
const MOUNT = `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$0" && exec "$@"`;
const throughDisk = (folder: string) => [
  "unshare",
  "--user",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  MOUNT,
  folder,
];
const canMount =
  process.platform === "linux" &&
  spawnSync("unshare", ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
    .status === 0;

test.skipIf(!canMount)(
  "slots are missed for the real reason, health says it, and the node recovers by itself",
  {
    timeout: 150_000,
  },
  async () => {
    const node = await startFaulty(
      { stdout: "pipe", stderr: "pipe", through: throughDisk },
      "--metrics-public",
    );
    const folder = `/proc/${node.child.pid}/root${node.folder}`;
    const ready = async () => {
      const answer = await fetch(`${node.url}/health/ready`);
      const { checks } = (await answer.json()) as { checks: { disk: { detail: string } } };
      return `${answer.status} ${checks.disk.detail}`;
    };
    const logged = (msg: string) =>
      node
        .stderr()
        .split("\n")
        .filter((line) => line.includes(`"msg":"${msg}"`));

    expect(await ready()).toMatch(/^200 \d+ MiB free$/);
    try {
      writeFileSync(join(folder, "filler"), Buffer.alloc(DISK_BYTES));
    } catch {}
    await expect.poll(ready, POLL).toMatch(/^503 nothing can be written: disk full/);
    await expect.poll(() => logged("slot missed").length, POLL).toBeGreaterThan(3);
    for (const line of logged("slot missed")) {
      expect(JSON.parse(line)).toMatchObject({ reason: "the block could not be written: disk full" });
    }
    // One line that says it, and no stack.
    const said = node.stderr().match(/"msg":"disk full at .*? bytes free; .*?"/g);
    expect(said).toEqual([
      expect.stringMatching(
        /^"msg":"disk full at \S+\/data, [\d,]+ bytes free; waiting, trying again every 2 s"$/,
      ),
    ]);
    expect(node.stderr()).not.toMatch(/"level":"error"(?!.*"msg":"disk full at )|"stack"/);
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    expect(metrics).toMatch(/^uniknode_disk_failed_writes_total [1-9]/m);
    expect(metrics).toMatch(/^uniknode_forger_slots_missed_total [1-9]/m);

    rmSync(join(folder, "filler"));
    await node.forgesOn();
    await expect.poll(ready, POLL).toMatch(/^200 /);
    expect(logged("the database can be written again")).toHaveLength(1);
    const missedSlots = new Set(
      logged("slot missed").map((line) => (JSON.parse(line) as { slot: number }).slot),
    );
    // SQLite would follow the path to another disk.
    const copy = newFolder();
    node.child.kill("SIGSTOP");
    for (const file of ["node.sqlite", "node.sqlite-wal"])
      copyFileSync(join(folder, "data", file), join(copy, file));
    node.child.kill("SIGCONT");
    const database = openDatabase(join(copy, "node.sqlite"));
    const recorded = createSlotStore(database)
      .missed(1_000)
      .filter(({ reason }) => reason === "the block could not be written: disk full");
    database.close();
    expect(new Set(recorded.map(({ slot }) => slot))).toEqual(missedSlots);
    node.child.kill("SIGTERM");
    expect((await node.ended()).code).toBe(0);
  },
);
