/** `uniknode conform` as a program: reports, exit codes, deadlines, interruption, restarts. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { SCENARIOS } from "../../src/conform/run.ts";
import { present } from "../../src/platform/present.ts";
import { signingSecretOf } from "../../src/webhooks/model/message.ts";
import { DEFECTS } from "../../test-support/conform/defects/list.ts";
import { type Parts, SOUND, startReceiver, TOKEN } from "../../test-support/conform/receiver.ts";
import { freePort } from "../../test-support/peers/world.ts";
import {
  type Ended,
  runUniknode,
  type SpawnOptions,
  spawnUniknode,
} from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-conform-"));
afterAll(() => rmSync(folder, { recursive: true }));

const environment: SpawnOptions = { environment: { UNIKNODE_CONFORM_SECRET: signingSecretOf(TOKEN) } };
const conform = (...args: string[]): Promise<Ended> => runUniknode(["conform", ...args], environment);

async function receiverWith(parts: Partial<Parts>): Promise<string> {
  const receiver = await startReceiver({ ...SOUND, ...parts });
  onTestFinished(receiver.close);
  return receiver.url;
}

const partsOf = (defect: string): Partial<Parts> =>
  present(DEFECTS.find(({ name }) => name === defect)).parts;

test("A receiver that passes leads to exit code 0; scenarios with a restart are skipped with a reason.", async () => {
  const { code, stdout, stderr } = await conform(await receiverWith({}));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const { name, needsRestart } of SCENARIOS) {
    expect(stdout).toMatch(new RegExp(`^${needsRestart ? "skip" : "ok  "}  ${name} `, "m"));
  }
  expect(stdout).toContain("give the command with --restart\n");
  expect(stdout).toMatch(/^46 passed, 0 failed, 4 skipped$/m);
});

test("A failed scenario is reported with its reason, as text and as JSON.", async () => {
  const url = await receiverWith(partsOf("does not deduplicate"));
  const only = ["--only", "duplicate", "--only", "one-fact", "--only", "kept-after-restart"];
  const args = [url, ...only];
  const { code, stdout, stderr } = await conform(...args);
  expect(code).toBe(1);
  expect(stderr).toBe("uniknode: failed scenarios: duplicate\n");
  expect(stdout).toMatch(
    /^skip {2}kept-after-restart +restarts the receiver: give the command with --restart$/m,
  );
  const [, reason = ""] = stdout.split("FAIL  duplicate\n");
  expect(reason).toMatch(
    /^ {6}rule .*\n {6}sent {6}block\.applied at height \d+ (msg_\w+): 204\n {6}sent .*\1: 204\n {6}expected .*\1\n {6}found {5}its view has block\.applied \1 2 times\n {6}change {4}store .*\n {6}see {7}docs\/guides\/webhooks\.md#guarantees\n/,
  );

  const report = JSON.parse((await conform(...args, "--json")).stdout);
  expect(report).toMatchObject({
    url,
    passed: ["one-fact"],
    failed: ["duplicate"],
    skipped: ["kept-after-restart"],
  });
  expect(report.scenarios[1]).toMatchObject({
    ...{
      name: "duplicate",
      group: "repetition",
      state: "failed",
      sent: [expect.any(String), expect.any(String)],
    },
    ...{ expected: expect.any(String), found: expect.stringMatching(/2 times$/), change: expect.any(String) },
  });
});

test("A receiver that never responds fails each scenario by name, and the run continues.", async () => {
  const url = await receiverWith({ refuse: () => "never" });
  const args = [url, "--timeout", "1", "--only", "one-fact", "--only", "ping"];
  const { code, stdout, stderr } = await conform(...args);
  expect(code).toBe(1);
  expect(stderr).toBe("uniknode: failed scenarios: one-fact, ping\n");
  expect(
    stdout.match(/found {5}there was none: no response within 1000 ms\n {6}change {4}start the receiver/g),
  ).toHaveLength(2);
});

test("A receiver that does not run is named once, instead of a failure of each scenario.", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const { code, stdout, stderr } = await conform(url);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `uniknode: no receiver at ${url}: ECONNREFUSED; start it, or correct the URL\n`,
  });
});

test("Ctrl-C ends the run with the report of the scenarios that were played.", async () => {
  const url = await receiverWith({ refuse: ({ event }) => (event === "ping" ? "never" : undefined) });
  const running = spawnUniknode(["conform", url, "--timeout", "600"], environment);
  await running.printed(/^ok {4}one-fact/m);
  running.child.kill("SIGINT");
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: "uniknode: the run was interrupted\n" });
  expect(stdout).toMatch(new RegExp(`^1 passed, 0 failed, ${SCENARIOS.length - 1} skipped$`, "m"));
  expect(stdout).toMatch(/^skip {2}ping +the run was interrupted$/m);
});

test("The restart command is run by a shell, and a failure of it has the exit status as the reason.", async () => {
  const url = await receiverWith({});
  const only = ["--only", "kept-after-restart"];
  expect(await conform(url, ...only, "--restart", "echo restarted; true")).toMatchObject({
    code: 0,
    stderr: "restarted\n",
  });
  const { code, stdout } = await conform(url, ...only, "--restart", "exit 3");
  expect(code).toBe(1);
  expect(stdout).toContain("found     failed to restart the receiver: the command ended with 3\n");
});

test("A receiver that the restart command starts in the background keeps its output after the run.", async () => {
  const url = await receiverWith({});
  const mark = join(folder, "written");
  // It would end at a broken pipe before it writes the file.
  const background = `(sleep 2; echo output >&2 && echo survived > ${mark}) &`;
  await conform(url, "--only", "kept-after-restart", "--restart", background);
  await expect.poll(() => readFileSync(mark, { encoding: "utf8", flag: "a+" })).toBe("survived\n");
});

test.each([
  [[], "give the URL of the receiver"],
  [["ftp://127.0.0.1/"], 'a URL such as http://127.0.0.1:8000/hook is expected, not "ftp://127.0.0.1/"'],
  [["http://127.0.0.1:9/", "--only", "duplicat"], '"duplicat" is not a scenario; did you mean "duplicate"?'],
  [["http://127.0.0.1:9/", "--secret", "abc"], "--secret: the token of a webhook (64 hexadecimal digits)"],
  [["http://127.0.0.1:9/", "--event", "block.forged"], "--event: one of block.applied, transaction.applied"],
])("The wrong usage %j leads to exit code 2.", async (args, message) => {
  const { code, stderr } = await conform(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("abc");
});

test("A run without a secret leads to exit code 2.", async () => {
  const { code, stderr } = await runUniknode(["conform", "http://127.0.0.1:9/"]);
  expect(code).toBe(2);
  expect(stderr).toContain("UNIKNODE_CONFORM_SECRET");
});
