/**
 * Forging after a restore, beside another forger, and with a signing record that is in use, damaged or
 * missing.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { testNetwork } from "../../test-support/peers/test-network.ts";
import { createWorld } from "../../test-support/peers/world.ts";
import { clockOptions, setClock } from "../../test-support/process/clock.ts";
import { readMetric, SCRAPES } from "../../test-support/process/metrics.ts";
import { writeNetwork } from "../../test-support/process/network.ts";
import { type Ended, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const TOKEN = "signing-test";

let folder: string;
let running: Running[];
const at = (name: string) => join(folder, name);
const record = () => at("data.signing");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-signing-"));
  running = [];
  const network = testNetwork({ nodes: 1, blocktime: 1 });
  writeNetwork(at("network"), network);
  const secrets = network.delegates.map(({ passphrase }) => passphrase);
  writeFileSync(at("delegates.json"), JSON.stringify({ secrets }));
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  rmSync(folder, { recursive: true });
});

const argumentsOf = (data: string, ...more: string[]) => [
  ...["run", "--network-dir", at("network"), "--alone", "--data", data, "--http-port", "0"],
  ...["--delegates", at("delegates.json"), "--webhook-token", TOKEN, ...more],
];

/** A node that forges a block per second, with a clock that is late. */
async function start(lateSeconds = 0): Promise<{ node: Running; url: string }> {
  setClock(folder, -1_000 * lateSeconds);
  const node = spawnUniknode(argumentsOf(at("data")), clockOptions(folder));
  running.push(node);
  return { node, url: (await node.printed(/http:\S+/))[0] };
}

async function stop({ node }: { node: Running }, signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
  node.child.kill(signal);
  return node.ended;
}

/** Lines of the log with this message. */
const logged = ({ node }: { node: Running }, message: string): Record<string, unknown>[] =>
  node
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);

const blocksOf = (process: { node: Running }) =>
  logged(process, "block forged") as { slot: number; id: string; height: number }[];

/** Waits until a process has forged so many blocks. */
const forges = (process: { node: Running }, count: number) =>
  expect.poll(() => blocksOf(process).length).toBeGreaterThanOrEqual(count);

const metric = (url: string, name: string) => readMetric(url, name, TOKEN);

const lastRecorded = () => Number(present(/ (\d+) \d+ \S+ \S+\n$/.exec(readFileSync(record(), "utf8")))[1]);

test("An older data folder and a late clock sign no slot again; the reason is logged.", async () => {
  const first = await start();
  await forges(first, 2);
  await stop(first);
  cpSync(at("data"), at("backup"), { recursive: true });
  const backupMs = Date.now();
  const second = await start();
  await forges(second, 1);
  const { slot: early } = present(blocksOf(second)[0]);
  // However late the third process is, it has time in these slots.
  setClock(folder, 30_000);
  await expect.poll(() => blocksOf(second).at(-1)?.slot).toBeGreaterThan(early + 20);
  await stop(second, "SIGKILL");
  const signed = [...blocksOf(first), ...blocksOf(second)].map(({ slot }) => slot);
  expect(lastRecorded()).toBeGreaterThanOrEqual(Math.max(...signed));

  rmSync(at("data"), { recursive: true });
  cpSync(at("backup"), at("data"), { recursive: true });
  const last = lastRecorded();
  // It starts in the past of the backup, however long that takes, and then continues from the time of the
  // backup.
  const third = await start(600);
  setClock(folder, backupMs - Date.now());
  const refused = () =>
    (logged(third, "slot missed") as { slot: number; reason: string }[]).filter(({ reason }) =>
      /^the signing record already has (this slot|the later slot \d+) for this key \(block \w+\): refusing to sign twice/.test(
        reason,
      ),
    );
  await expect.poll(() => refused().length).toBeGreaterThanOrEqual(2);
  for (const { slot } of refused()) expect(slot).toBeLessThanOrEqual(last);
  expect(await metric(third.url, 'uniknode_forger_refusals_total{reason="signed_before"}')).toBeGreaterThan(
    1,
  );
  const why = await runUniknode([
    "forger",
    "why",
    "--data",
    at("data"),
    "--slot",
    String(present(refused()[0]).slot),
  ]);
  expect(why.stdout).toContain("the signing record already has");
  // With a clock that is right again, slots are new, and the chain continues.
  setClock(folder, 60_000);
  await forges(third, 1);
  expect(present(blocksOf(third)[0]).slot).toBeGreaterThan(last);
});

describe("a signing record", () => {
  test("A signing record in use by another forger ends the second; a missing one is created from the data folder.", async () => {
    const first = await start();
    await forges(first, 1);
    const second = await runUniknode(argumentsOf(at("other"), "--signing-record", record()));
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`the signing record ${record()} is in use by another uniknode`);
    await stop(first, "SIGKILL");
    expect(logged(first, "signing record opened")).toMatchObject([{ isNew: true }]);
    // The system has released it. The block after the last forged one may be in the record only.
    const last = Math.max(...blocksOf(first).map(({ slot }) => slot));
    rmSync(record());
    const third = await start();
    expect(lastRecorded()).toBeGreaterThanOrEqual(last);
    await expect.poll(third.node.stderr).toContain("signing record missing: created from the data folder");
  });

  test("A signing record that is damaged is refused with the next step; a node without delegates ignores it.", async () => {
    writeFileSync(record(), "uniknode-signing-record 1\ndamaged\n");
    const { code, stderr } = await runUniknode(argumentsOf(at("data")));
    expect(code).toBe(1);
    expect(stderr).toContain(`uniknode: the signing record ${record()} is damaged (line 2 is damaged)`);
    expect(stderr).toContain("move the file away");
    const follower = spawnUniknode(
      argumentsOf(at("data")).filter(
        (text, index, all) => text !== "--delegates" && all[index - 1] !== "--delegates",
      ),
    );
    running.push(follower);
    await follower.printed(/http:\S+/);
  });
});

test("The later one of two forgers with one key watches, finds the other and does not forge.", async ({
  onTestFinished,
}) => {
  const world = await createWorld({ nodes: 2, blocktime: 2 });
  onTestFinished(world.close);
  const nodes = await Promise.all([world.start(0), world.start(1)]);
  await expect.poll(() => present(nodes[0]).height()).toBeGreaterThan(1);
  const keys = join(world.folder, "delegates-0.json");
  const twin = await world.start(2, "--delegates", keys, "--watch-rounds", "5", "--webhook-token", TOKEN);
  const refusals = () => metric(twin.url, 'uniknode_forger_refusals_total{reason="other_forger"}');
  await expect.poll(refusals, SCRAPES).toBeGreaterThan(0);
  expect(await metric(twin.url, "uniknode_forger_blocks_forged_total")).toBe(0);
  expect(await metric(twin.url, "uniknode_forger_keys_used_elsewhere")).toBe(1);
  await expect.poll(twin.process.stderr).toContain("another forger signs with a key of this node");
  const why = await runUniknode(["forger", "why", "--data", join(world.folder, "node-2")]);
  expect(why.stdout).toContain("another forger signs with this key");
  // The first one continues.
  expect(present(nodes[0]).process.stderr()).not.toContain("another forger signs");
});
