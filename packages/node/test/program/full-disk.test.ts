import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transactionToJson } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { devOptions } from "../../src/config/options.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { SlotStore } from "../../src/store/node/slots.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { connect, transferOf } from "../../test-support/process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { newFolder, startFaulty } from "./faulty.ts";

const TOKEN = "full-disk-test";
const POLL = { interval: 200 };
const DISK_BYTES = 32 * 1_048_576;
const MOUNT = `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$0" && exec "$@"`;
/** Reasons for which a busy machine misses slots as well. */
const OTHER_REASONS = /"reason":"(too little time was left|the node was busy)/;
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
const isSkipped = skips(
  missingProgram("unshare", [
    "--user",
    "--map-root-user",
    "--mount",
    "mount",
    "-t",
    "tmpfs",
    "tmpfs",
    "/mnt",
  ]),
);

test.skipIf(isSkipped)(
  "Slots are missed for the logged reason, health reports it, and the node recovers by itself.",
  async () => {
    const node = await startFaulty(
      { stdout: "pipe", stderr: "pipe", through: throughDisk },
      "--metrics-public",
    );
    const folder = `/proc/${node.child.pid}/root${node.folder}`;
    const ready = async () => {
      const response = await fetch(`${node.url}/health/ready`);
      const { checks } = (await response.json()) as { checks: { disk: { detail: string } } };
      return `${response.status} ${checks.disk.detail}`;
    };
    const logged = (msg: string) =>
      node
        .stderr()
        .split("\n")
        .filter((line) => line.includes(`"msg":"${msg}"`) && !OTHER_REASONS.test(line));

    await expect.poll(ready, POLL).toMatch(/^200 \d+ MiB free$/);
    try {
      writeFileSync(join(folder, "filler"), Buffer.alloc(DISK_BYTES));
    } catch {}
    await expect.poll(ready, POLL).toMatch(/^503 not writable: disk full/);
    await expect.poll(() => logged("slot missed").length, POLL).toBeGreaterThan(3);
    for (const line of logged("slot missed")) {
      expect(JSON.parse(line)).toMatchObject({
        reason: "failed to write the block to the database: disk full",
      });
    }
    // One line with the reason, and no stack.
    const said = node.stderr().match(/"msg":"disk full at .*? bytes free; .*?"/g);
    expect(said).toEqual([
      expect.stringMatching(/^"msg":"disk full at \S+\/data, [\d,]+ bytes free; retrying every 2 s"$/),
    ]);
    expect(node.stderr()).not.toMatch(/"level":"error"(?!.*"msg":"disk full at )|"stack"/);
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    expect(metrics).toMatch(/^uniknode_disk_failed_writes_total [1-9]/m);
    expect(metrics).toMatch(/^uniknode_forger_slots_missed_total [1-9]/m);

    rmSync(join(folder, "filler"));
    await node.forgesOn();
    await expect.poll(ready, POLL).toMatch(/^200 /);
    await expect.poll(() => logged("the database is writable again")).toHaveLength(1);
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
    const recorded = new SlotStore(database)
      .missed(1_000)
      .filter(({ reason }) => reason === "failed to write the block to the database: disk full");
    database.close();
    expect(new Set(recorded.map(({ slot }) => slot))).toEqual(missedSlots);
    node.child.kill("SIGTERM");
    expect(await node.ended()).toBe(0);
  },
);

test.skipIf(isSkipped)(
  "Requests that cannot be stored return 503 with the reason, and succeed when there is space.",
  async () => {
    const place = newFolder();
    const options = [
      "--http-port",
      "0",
      "--webhook-token",
      TOKEN,
      "--data",
      join(place, "data"),
      "--log-level",
      "silent",
    ];
    const node = spawnUniknode(["dev", "--block-time", "1000", ...options], { through: throughDisk(place) });
    onTestFinished(() => stop(node));
    const url = await apiUrlOf(node);
    await node.printed(/Ctrl-C stops/);
    const { network } = await connect(url);
    const account = deriveAccounts(devOptions.mnemonic.default, DEV_ADDRESS_VERSION)("account 0");
    let nonce = 0n;
    const sent: unknown[] = [];
    const submit = () => {
      const transaction = transferOf(network, account, account.address, ++nonce);
      const json = transactionToJson(transaction);
      sent.push(json);
      return post("/api/transactions", { transactions: [json] });
    };
    const post = async (path: string, body: object) => {
      const headers = { "content-type": "application/json", authorization: TOKEN };
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const { message } = (await response.json()) as { message?: string };
      return {
        status: response.status,
        code: response.headers.get("error-code"),
        retry: response.headers.get("retry-after"),
        message,
      };
    };
    const filler = join(`/proc/${node.child.pid}/root${place}`, "filler");
    for (let filled = false; !filled; ) {
      try {
        writeFileSync(filler, Buffer.alloc(65_536), { flag: "a" });
      } catch {
        filled = true;
      }
    }
    const refused = {
      status: 503,
      code: "DISK_FULL",
      retry: "10",
      message: expect.stringContaining("disk of the node is full"),
    };
    const webhook = {
      event: "block.applied",
      target: "http://127.0.0.1:9/",
      conditions: [{ key: "id", condition: "ne", value: "x".repeat(200) }],
    };
    // Each of them uses some of the remaining space.
    await expect.poll(() => post("/api/v2/webhooks", webhook), POLL).toEqual(refused);
    // The pool keeps what it accepted.
    const pending = { ...refused, message: expect.stringContaining("transactions are pending") };
    await expect.poll(submit, POLL).toEqual(pending);
    const [last] = sent.slice(-1);
    expect(await post("/api/transactions", { transactions: [last] })).toMatchObject({ status: 200 });
    await expect.poll(() => post("/api/v2/dev/mine", {}), POLL).toEqual(refused);
    expect(await post("/console/session", { token: TOKEN })).toMatchObject({ status: 200 });

    rmSync(filler);
    await expect.poll(() => post("/api/v2/webhooks", webhook), POLL).toMatchObject({ status: 201 });
    expect(await submit()).toMatchObject({ status: 200 });
  },
);

async function stop({ child, ended }: Running): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}
