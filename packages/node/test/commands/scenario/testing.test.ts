/** The entry `testing` of the client on a dev chain: its example with Vitest, its result, and its errors. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { createClient, EVERY_EVENT } from "@uniknode/client";
import { playScenario, type Scenario, type Step } from "@uniknode/client/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../../src/commands/listen/receiver.ts";
import { blocksOf, ROOT } from "../../../test-support/guides/page.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../../test-support/process/uniknode.ts";

const token = "scenario-token";
const folder = mkdtempSync(join(tmpdir(), "uniknode-scenarios-"));
let node: Running;
let url: string;

beforeAll(async () => {
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--webhook-token", token]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const scenarioOf = (...steps: Step[]): Scenario => ({ scenario: 1, name: "a test", steps });
const play = (...steps: Step[]) => playScenario(scenarioOf(...steps), { url, token });

test("The example with Vitest passes.", async () => {
  const environment = { ...process.env, UNIKNODE_URL: url, UNIKNODE_WEBHOOK_TOKEN: token, VITEST: undefined };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--root", join(ROOT, "examples/scenarios")],
    { env: environment },
  );
  expect(stripVTControlCharacters(stdout)).toMatch(/Tests {2}1 passed/);
});

test("The guide shows the example files.", async () => {
  const [json] = blocksOf("docs/guides/scenarios.md").filter(({ language }) => language === "json");
  const file = await import("../../../../../examples/scenarios/payment.json", { with: { type: "json" } });
  expect(JSON.parse(json?.text ?? "")).toEqual(file.default);
});

test("Uniks, votes, wallets and snapshots work, again and again on one chain.", async () => {
  const steps: Step[] = [
    { webhook: { name: "uniks", events: ["unik.*", "wallet.vote"] } },
    { transfer: { from: "account 0", to: "wallet carol", amount: "50", as: "gift" } },
    { mine: 1 },
    { mint: { owner: "wallet carol", unik: "home" } },
    { mine: 1 },
    { update: { owner: "wallet carol", unik: "home", set: { "usr/color": "red" } } },
    { vote: { from: "wallet carol", delegate: "delegate 0" } },
    { mine: 1 },
    { expect: { delivered: { webhook: "uniks", event: "unik.minted", count: 1 } } },
    { expect: { delivered: { webhook: "uniks", event: "wallet.vote", count: 1 } } },
    { snapshot: "voted" },
    { unvote: { from: "wallet carol", delegate: "delegate 0" } },
    { transferUnik: { from: "wallet carol", unik: "home", to: "account 3" } },
    { mine: 2 },
    { expect: { delivered: { webhook: "uniks", event: "unik.transferred", count: 1 } } },
    { restore: "voted" },
    { expect: { retracted: { webhook: "uniks", event: "unik.transferred", count: 1 } } },
    { restore: 1 },
    { expect: { height: "+2" } },
    { expect: { retracted: { webhook: "uniks", event: "unik.updated", count: 1 } } },
    { expect: { balance: { of: "account 0", is: "-50.1" } } },
  ];
  for (let round = 0; round < 2; round++) {
    const chain = await play(...steps);
    expect(chain).toMatchObject({
      name: "a test",
      isPassed: true,
      transactions: { gift: expect.any(String) },
    });
    const { data } = await chain.client.transactions.get(chain.transactions.gift ?? "");
    expect(data.recipient).toBe(chain.account("wallet carol").address);
  }
});

test("A branch with transactions omits the named ones.", async () => {
  const transfer = { from: "account 4", amount: "1" };
  const chain = await play(
    { transfer: { ...transfer, to: "account 5", as: "first" } },
    { transfer: { ...transfer, from: "account 6", to: "account 5", as: "second" } },
    { mine: 1 },
    { expect: { balance: { of: "account 5", is: "+2" } } },
    { reorganise: { depth: 1, blocks: 2, transactions: true, without: ["second"] } },
    { expect: { height: "+2" } },
    { expect: { balance: { of: "account 5", is: "+1" } } },
  );
  expect(Object.keys(chain.transactions)).toEqual(["first", "second"]);
});

test("A webhook of the application is the subject of a scenario by its number.", async () => {
  const client = createClient({ url, webhookToken: token });
  const secret = Promise.withResolvers<string>();
  const events: string[] = [];
  const receiver = await startReceiver(
    { port: 0, status: 204, delayMs: 0 },
    {
      secret: secret.promise,
      onRequest: (received) => events.push("delivery" in received ? received.delivery.event : "refused"),
    },
  );
  onTestFinished(receiver.close);
  const { data } = await client.webhooks.create({
    ...{ events: ["block.applied"], target: receiver.target },
    conditions: [EVERY_EVENT],
  });
  onTestFinished(async () => void (await client.webhooks.remove(data.id)));
  secret.resolve(data.token);
  for (let round = 0; round < 2; round++) {
    await play(
      { mine: 2 },
      { expect: { delivered: { webhook: data.id, event: "block.applied", count: 2 } } },
      { reorganise: { depth: 1 } },
      { expect: { retracted: { webhook: data.id, event: "block.applied", count: 1 } } },
    );
  }
  expect(new Set(events)).toEqual(new Set(["block.applied", "block.reverted"]));
});

test("An expectation that is not met rejects with the step, and a test reporter shows both values.", async () => {
  await expect(
    play({ mine: 1 }, { expect: { balance: { of: "account 7", is: "+1" } } }),
  ).rejects.toMatchObject({
    name: "ScenarioError",
    code: "SCENARIO_EXPECTATION",
    expected: "account 7 to have 10001",
    found: "account 7 has 10000",
    message: expect.stringMatching(
      /^steps\[1\] \(expect balance of account 7 \+1\): expected account 7 to have 10001/,
    ),
  });
});

test.each<[string, Step[], object]>([
  [
    "an unknown account",
    [{ vote: { from: "account 500", delegate: "delegate 0" } }],
    { code: "SCENARIO_INVALID" },
  ],
  [
    "a unik that an account does not own",
    [{ update: { owner: "account 9", unik: "account 9", set: { "usr/a": "b" } } }],
    { code: "SCENARIO_INVALID" },
  ],
  [
    "a branch below the setup blocks",
    [{ reorganise: 1_000 }],
    { code: "API_REFUSED", nodeCode: "DEV_DEPTH" },
  ],
])("The chain has a reason to refuse %s.", async (_what, steps, error) => {
  await expect(play(...steps)).rejects.toMatchObject(error);
});

test("A signal ends a run on a node that does not respond.", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close().closeAllConnections());
  const address = silent.address() as { port: number };
  await expect(
    playScenario(scenarioOf({ mine: 1 }), {
      ...{ url: `http://127.0.0.1:${address.port}`, token },
      signal: AbortSignal.timeout(200),
    }),
  ).rejects.toMatchObject({ name: "TimeoutError" });
});
