/** First screen of a dev chain, at a terminal and in a pipe, and the commands that it names. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { skips } from "../../test-support/process/available.ts";
import {
  type AtTerminal,
  CLEAR,
  missingTerminal,
  shownLines,
  spawnAtTerminal,
} from "../../test-support/process/terminal.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const MOST_LINES = 24;
const CTRL_C = "\u0003";
const folder = mkdtempSync(join(tmpdir(), "uniknode-start-"));
const data = join(folder, "data");
const args = ["dev", "--data", data, "--http-port", "0", "--block-time", "1"];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(skips(missingTerminal()))("at a terminal", () => {
  let node: AtTerminal;
  const lines = () => shownLines(node.output());

  beforeAll(async () => {
    node = spawnAtTerminal([...args, "--log-level", "info"], {
      columns: 40,
      rows: MOST_LINES,
      environment: { NO_COLOR: "1" },
    });
    await until(node.output, () => node.output().includes("block 6 "));
  });
  afterAll(() => node.kill());

  test("The screen at a terminal has at most 24 lines, and names all addresses.", () => {
    const screen = lines().slice(0, lines().findIndex((line) => line.startsWith("Ctrl-C stops")) + 1);
    expect(screen.length).toBeGreaterThan(10);
    // With the status line below it.
    expect(screen.length).toBeLessThan(MOST_LINES);
    expect(screen[0]).toMatch(/^Uniknode \(\d+\.\d+\.\d+ protocol, \d+\.\d+\.\d+ program\), dev chain$/);
    expect(screen.join("\n")).toMatch(
      /^API +http:\S+\/api\/v2\/blockchain\nDocumentation +http:\S+\/documentation\nWebhook token +[0-9a-f]{64}\n/m,
    );
    expect(screen.join("\n")).toContain(`uniknode token --data ${data}`);
    expect(screen.join("\n")).toContain(`uniknode accounts --data ${data}`);
    expect(screen.filter((line) => /^ {2}D\w{33} {2}[\d,.]+ DEVUNIK$/.test(line))).toHaveLength(3);
  });

  test("Blocks at a terminal overwrite one line that is cut to the window, and log lines above it stay complete.", () => {
    const below = lines().slice(lines().findIndex((line) => line.startsWith("Ctrl-C stops")) + 1);
    const logged = below.filter((line) => /^\d\d:\d\d:\d\d {2}(info|warn) /.test(line));
    expect(logged.filter((line) => line.includes("  block forged  height=")).length).toBeGreaterThan(1);
    expect(below.filter((line) => line !== "" && !logged.includes(line)).length).toBeLessThanOrEqual(1);
    for (const piece of node.output().split(CLEAR)) {
      if (piece.startsWith("block ")) expect(present(piece.split(/\r|\n/)[0]).length).toBeLessThan(40);
    }
    // Nothing but "clear the line": no colours.
    expect(node.output().replaceAll(CLEAR, "")).not.toContain("\u001B");
  });

  test("The commands that the screen names show the token and all accounts while it runs.", async () => {
    const [, shown] = present(/Webhook token +(\S+)/.exec(node.output()));
    expect(await runUniknode(["token", "--data", data])).toEqual({
      code: 0,
      stdout: `${shown}\n`,
      stderr: "",
    });
    const { code, stdout } = await runUniknode(["accounts", "--data", data, "--json"]);
    expect(code).toBe(0);
    const known = JSON.parse(stdout) as { accounts: object[]; delegates: object[] };
    expect([known.accounts.length, known.delegates.length]).toEqual([10, 6]);
    expect(known).toMatchObject({
      accounts: [
        { balance: "999990000000", unik: { kind: "individual" } },
        {},
        {},
        { balance: "1000000000000" },
        {},
        {},
        {},
        {},
        {},
        {},
      ],
      factory: { unik: { kind: "organization" } },
      mnemonic: expect.stringContaining("junk"),
    });
    const text = await runUniknode(["accounts", "--data", data]);
    expect(text.stdout).toMatch(/^ {2}\(9\) D\w{33} {2}10,000 DEVUNIK$/m);
    expect(text.stdout).toMatch(/^Factory: /m);
  });

  test("Ctrl-C removes the status line and stops", async () => {
    node.type(CTRL_C);
    expect(await node.ended).toBe(0);
    expect(lines().join("\n")).toMatch(/Stopping \.\.\. .*Stopped\./s);
    expect(lines().filter((line) => line.startsWith("block "))).toEqual([]);
  });
});

describe("errors of `token` and `accounts`", () => {
  test.each<[args: string[], message: string]>([
    [
      ["token"],
      "no node found: neither .uniknode/dev nor .uniknode/data has a database; give the data folder with --data",
    ],
    [["token", "--data", folder], "is not the data folder of a node"],
    [
      ["accounts"],
      'does not contain a dev chain: start one with "uniknode dev", or give its folder with --data',
    ],
  ])("%j", async (command, message) => {
    const { code, stdout, stderr } = await runUniknode(command, { folder });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});
