/** `uniknode scenario record`: a recorded program has the same effects on a new dev chain. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, EVERY_EVENT } from "@uniknode/client";
import { playScenario, readScenario, type Step } from "@uniknode/client/testing";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../../src/commands/listen/receiver.ts";
import { present } from "../../../src/platform/present.ts";
import { apiUrlOf, runUniknode, spawnUniknode } from "../../../test-support/process/uniknode.ts";

const token = "scenario-token";
const folder = mkdtempSync(join(tmpdir(), "uniknode-scenarios-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Chain = { readonly url: string; readonly client: Client };

async function startChain(name: string, ...args: string[]): Promise<Chain> {
  const fixed = ["dev", "--data", join(folder, name), "--http-port", "0", "--webhook-token", token];
  const node = spawnUniknode([...fixed, ...args]);
  onTestFinished(async () => {
    node.child.kill("SIGKILL");
    await node.ended;
  });
  const url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  return { url, client: createClient({ url, webhookToken: token }) };
}

/** Counts the events that a receiver gets, and their retractions. */
async function countEvents({ client }: Chain): Promise<() => Promise<Record<string, number>>> {
  const secret = Promise.withResolvers<string>();
  const receiver = await startReceiver(
    { port: 0, status: 204, delayMs: 0 },
    { secret: secret.promise, onRequest: () => {} },
  );
  onTestFinished(receiver.close);
  const events = ["transaction.applied", "unik.*", "wallet.vote", "wallet.unvote", "block.applied"];
  const { data } = await client.webhooks.create({
    ...{ events, target: receiver.target },
    conditions: [EVERY_EVENT],
  });
  secret.resolve(data.token);
  return async () => {
    const counts: Record<string, number> = {};
    for await (const { event, reverts } of client.webhooks.deliveries(data.id)) {
      const name = reverts === undefined ? event : `retraction: ${event}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };
}

const ACCOUNTS = [0, 1, 2, 3, 4, 5];

async function stateOf({ client }: Chain) {
  const accounts = (await client.dev.accounts()).data.accounts;
  const balances = await Promise.all(
    ACCOUNTS.map(async (index) => (await client.wallets.get(present(accounts[index]).address)).data.balance),
  );
  return { height: (await client.blockchain.get()).data.block.height, balances };
}

/** Actions of every kind, without webhooks, as a user does them. */
const ACTIONS: Step[] = [
  { mine: 2 },
  { transfer: { from: "account 0", to: "account 1", amount: "100.5", message: "rent", as: "rent" } },
  { transfer: { from: "account 2", to: "account 3", amount: "7", fee: "0.3", as: "gift" } },
  { mint: { owner: "account 4", unik: "home", kind: "organization", set: { "usr/color": "red" } } },
  { mine: 1 },
  { update: { owner: "account 4", unik: "home", set: { "usr/color": null, "usr/shape": "round" } } },
  { vote: { from: "account 0", delegate: "delegate 0" } },
  { mine: 2 },
  { reorganise: { depth: 3, blocks: 5, transactions: true, without: ["gift"] } },
  { mine: 1 },
  { transferUnik: { from: "account 4", unik: "home", to: "account 5" } },
  { unvote: { from: "account 0", delegate: "delegate 0" } },
  { mine: 1 },
  { travel: "1d" },
  { reorganise: 1 },
  { mine: 2 },
  { transfer: { from: "account 5", to: "account 0", amount: "1" } },
  { restore: 1 },
  { mine: 1 },
];

test("A recording has the same heights, balances and events on a new chain.", async () => {
  const [recorded, other] = await Promise.all([
    startChain("recorded", "--instant"),
    startChain("other", "--instant"),
  ]);
  const count = [await countEvents(recorded), await countEvents(other)];
  await playScenario(
    { scenario: 1, name: "actions", steps: [...ACTIONS, { settle: 1 }] },
    { url: recorded.url, token },
  );

  const file = join(folder, "recorded.json");
  const record = (...args: string[]) =>
    runUniknode(["scenario", "record", ...args, "--url", recorded.url, "--token", token]);
  const { code, stdout, stderr } = await record(file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+ steps in .*recorded\.json\n$/);
  const text = readFileSync(file, "utf8");
  const ids = text.match(/[0-9a-f]{64}|\d{10,}/g) ?? [];
  expect(ids).toEqual([]);

  const played = readScenario(text);
  await playScenario({ ...played, steps: [...played.steps, { settle: 1 }] }, { url: other.url, token });
  expect(await stateOf(other)).toEqual(await stateOf(recorded));
  expect(await present(count[1])()).toEqual(await present(count[0])());

  const ran = await runUniknode(["scenario", "run", file]);
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
  // A file that a user may have edited stays as it is.
  expect(await record(file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("remove the existing file first"),
  });
  expect((await record()).stdout).toBe(text);
});

test("Blocks that a chain forges by itself are recorded. A new recording can begin.", async () => {
  const { client } = await startChain("forging", "--block-time", "1");
  const isForged = async (height: number) => (await client.blockchain.get()).data.block.height >= height;
  await expect.poll(() => isForged(6)).toBe(true);
  await client.dev.forge({ enabled: false });
  const { height } = (await client.blockchain.get()).data.block;
  const first = (await client.dev.restartRecording()).data;
  expect(first.steps).toEqual([{ mine: height - 3 }, { expect: { height: `+${height - 3}` } }]);

  await client.dev.mine({ blocks: 2 });
  await client.dev.mine({ blocks: 3 });
  expect((await client.dev.recording()).data.steps).toEqual([
    { note: `the recording began at height ${height}: earlier actions are missing` },
    { mine: 5 },
    { expect: { height: "+5" } },
  ]);
});

test("A transaction that a scenario cannot have is a note.", async () => {
  const { client, url } = await startChain("notes", "--instant");
  const { accounts } = (await client.dev.accounts()).data;
  const [sender, recipient, other] = [0, 1, 2].map((index) => present(accounts[index]));
  const payments = [present(recipient), present(other)].map(({ address }) => `${address}=1`);
  const environment = { UNIKNODE_PASSPHRASE: present(sender).passphrase };
  const sent = await runUniknode(["tx", "multi-payment", ...payments, "--url", url, "--wait"], {
    environment,
  });
  expect({ code: sent.code, stderr: sent.stderr }).toEqual({ code: 0, stderr: "" });
  const [note, ...rest] = readScenario((await client.dev.recording()).data).steps;
  expect(note).toEqual({
    note: expect.stringMatching(
      /^not recorded: transaction [0-9a-f]{64} of group 1, type 6, which a scenario/,
    ),
  });
  expect(rest).toContainEqual({ mine: 1 });
  const file = join(folder, "notes.json");
  const { stdout } = await runUniknode(["scenario", "record", file, "--url", url, "--token", token]);
  expect(stdout).toMatch(/^note: not recorded: transaction/);
});

test("A recording is bounded, and has a note after its maximum.", async () => {
  const { client, url } = await startChain("bounded", "--instant");
  const steps: Step[] = Array.from({ length: 920 }, () => ({ travel: "1m" }));
  await playScenario({ scenario: 1, name: "many", steps }, { url, token });
  const recording = readScenario((await client.dev.recording()).data);
  expect(recording.steps[0]).toEqual({
    note: "the recording is full after 900 steps: later actions are missing",
  });
  expect(recording.steps.slice(1)).toEqual(steps.slice(0, 900));
});
