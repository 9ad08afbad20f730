/** `uniknode scenario run` as a program: reports, exit codes, deadlines, interruption, and nothing left behind. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@uniknode/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  apiUrlOf,
  type Ended,
  type Running,
  runUniknode,
  spawnUniknode,
} from "../../../test-support/process/uniknode.ts";

const EXAMPLE = fileURLToPath(new URL("../../../../../examples/scenarios/payment.json", import.meta.url));
const TOKEN = "scenario-token";
const folder = mkdtempSync(join(tmpdir(), "uniknode-scenarios-"));
const temporary = join(folder, "temporary");
let node: Running;
let url: string;

beforeAll(async () => {
  mkdirSync(temporary);
  node = spawnUniknode([
    "dev",
    "--data",
    join(folder, "chain"),
    "--http-port",
    "0",
    "--webhook-token",
    TOKEN,
  ]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({ TMPDIR: temporary, UNIKNODE_WEBHOOK_TOKEN: TOKEN });
const run = (...args: string[]): Promise<Ended> =>
  runUniknode(["scenario", "run", ...args], { environment: environment() });

function fileOf(...steps: unknown[]): string {
  const file = join(folder, "scenario.json");
  writeFileSync(file, JSON.stringify({ scenario: 1, name: "a test", steps }));
  return file;
}

/** The temporary chain is removed, and so are the webhooks of a run. */
async function expectNoTraces(): Promise<void> {
  expect(readdirSync(temporary).filter((name) => name.startsWith("uniknode-scenario-"))).toEqual([]);
  const client = createClient({ url, webhookToken: TOKEN });
  expect((await client.webhooks.list().page()).data).toEqual([]);
  expect((await client.dev.snapshot()).data.forging).toBe(true);
}

test("The example passes on a temporary chain, which is removed.", async () => {
  const junit = join(folder, "report.xml");
  const { code, stdout, stderr } = await run(EXAMPLE, "--junit", junit);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ok {4}transfer 100 from account 0 to account 1 +\d+ ms {2}[0-9a-f]{64}$/m);
  expect(stdout).toMatch(/^ok {4}reorganise 2 +\d+ ms {2}2 reverted, 3 applied, head at height 8$/m);
  expect(stdout).toMatch(/\na payment survives a reorganisation: 16 steps passed, 0 failed, 0 skipped\n$/);
  const xml = readFileSync(junit, "utf8");
  expect(xml).toContain(
    'name="uniknode scenario: a payment survives a reorganisation" tests="16" failures="0"',
  );
  expect(xml).toMatch(
    /<testcase classname="scenario\.a payment.*" name="steps\[1\]: mine 3" time="[\d.]+"\/>/,
  );
  await expectNoTraces();
});

test("The example passes on a running chain again and again, and leaves nothing behind.", async () => {
  for (let round = 0; round < 2; round++) {
    const { code, stdout, stderr } = await run(EXAMPLE, "--url", url, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ isPassed: true, passed: 16, failed: 0, skipped: 0 });
  }
  await expectNoTraces();
});

test("A step that fails ends the run with its reason and exit code 1.", async () => {
  const file = fileOf({ mine: 1 }, { expect: { height: "+2" } }, { mine: 1 });
  const { code, stdout, stderr } = await run(file);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "uniknode: steps[1] failed: expect height +2\n" });
  expect(stdout).toMatch(
    /FAIL {2}expect height \+2\n {6}step {6}steps\[1\]\n {6}expected {2}height 5\n {6}found {5}height 4\n/,
  );
  expect(stdout).toMatch(/skip {2}mine 1\n\na test: 1 step passed, 1 failed, 1 skipped\n$/);
});

test("A refusal of the pool fails the step, unless it is expected.", async () => {
  const transfer = { from: "account 0", to: "account 1", amount: "900000" };
  const refused = "ERR_APPLY";
  const { code, stdout } = await run(
    fileOf({ transfer: { ...transfer, refused } }, { transfer: { ...transfer, amount: "900001" } }),
    "--url",
    url,
    "--json",
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout).steps).toMatchObject([
    { state: "passed" },
    {
      state: "failed",
      code: "SCENARIO_REFUSED",
      found: expect.stringMatching(/^the pool refused it: .*ERR_APPLY/),
    },
  ]);
});

test("A step has a deadline, and its message says what it waited for.", async () => {
  const file = fileOf(
    { webhook: { name: "hook", events: ["block.applied"] } },
    { fail: { webhook: "hook", how: "drop" } },
    { mine: 1 },
    { settle: "hook" },
  );
  const { code, stdout } = await run(file, "--url", url, "--step-timeout", "1", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout).steps[3]).toMatchObject({
    ...{ state: "failed", code: "SCENARIO_TIMEOUT" },
    message: expect.stringMatching(/within 1000 ms: webhook \d+ is \w+ and has [1-9]\d* queued deliveries/),
  });
  await expectNoTraces();
});

test.each([
  ["SIGINT", false],
  ["SIGTERM", false],
  ["SIGHUP", false],
  ["SIGINT", true],
] as const)("%s ends the run with a report, and removes its traces.", async (signal, isRemote) => {
  const steps = Array.from({ length: 900 }, () => ({ mine: 10 }));
  const file = fileOf({ webhook: { name: "hook", events: ["block.applied"] } }, ...steps);
  const args = isRemote ? ["--url", url] : [];
  const running = spawnUniknode(["scenario", "run", file, ...args], { environment: environment() });
  await running.printed(/ok {4}mine 10/);
  running.child.kill(signal);
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: "uniknode: the run was interrupted\n" });
  expect(stdout).toMatch(/skip {2}mine 10\n\na test: \d+ steps? passed, 0 failed, \d+ skipped\n$/);
  await expectNoTraces();
});

test("A signal while the temporary chain starts ends the command, and removes the folder.", async () => {
  const running = spawnUniknode(["scenario", "run", EXAMPLE], { environment: environment() });
  const isCreated = () => readdirSync(temporary).some((name) => name.startsWith("uniknode-scenario-"));
  await expect.poll(isCreated, { interval: 5 }).toBe(true);
  running.child.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: "uniknode: the run was interrupted\n" });
  await expectNoTraces();
});

test("A chain that ends during the run fails a step, and the report is complete.", async () => {
  const other = spawnUniknode([
    "dev",
    "--data",
    join(folder, "ending"),
    "--http-port",
    "0",
    "--webhook-token",
    TOKEN,
  ]);
  const otherUrl = await apiUrlOf(other);
  await other.printed(/Ctrl-C stops/);
  const steps = Array.from({ length: 900 }, () => ({ mine: 10 }));
  const junit = join(folder, "ended.xml");
  const running = spawnUniknode(["scenario", "run", fileOf(...steps), "--url", otherUrl, "--junit", junit], {
    environment: environment(),
  });
  await running.printed(/ok {4}mine 10/);
  other.child.kill("SIGKILL");
  await other.ended;
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^uniknode: steps\[\d+\] failed: mine 10\n$/);
  expect(stdout).toMatch(
    /FAIL {2}mine 10\n {6}step {6}steps\[\d+\]\n {6}reason {4}POST \/api\/dev\/mine: no response/,
  );
  expect(readFileSync(junit, "utf8")).toContain('failures="1"');
});

test("A file that is not a scenario leads to exit code 2 with the member.", async () => {
  const file = fileOf({ mine: "three" });
  const { code, stdout, stderr } = await run(file);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    `uniknode: ${file} is not a scenario: steps[0].mine: an integer from 1 to 1000 is expected, not "three"; docs/guides/scenarios.md describes the format\n`,
  );
  expect((await run(join(folder, "missing.json"))).code).toBe(1);
});
