/** Messages of the program about unusable files and folders: the thing, the reason and the next step. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { runMain } from "../../test-support/process/main.ts";
import { runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-messages-"));
const chain = join(folder, "chain");
const NOISE = Buffer.alloc(8_192, "no database ");

beforeAll(async () => {
  const node = spawnUniknode(["dev", "--data", chain, "--http-port", "0"]);
  await node.printed(/Ctrl-C stops/);
  node.child.kill("SIGINT");
  await node.ended;
  // Without the log of SQLite, which stays if the database is inspected at the end, and would repair a copy.
  openDatabase(join(chain, "node.sqlite")).close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let copies = 0;
/** A copy of a dev chain, modified by the test. */
function copyOf(change: (data: string) => void): string {
  const data = join(folder, `copy-${++copies}`);
  cpSync(chain, data, { recursive: true });
  chmodSync(data, 0o700);
  change(data);
  return data;
}
const overwrite = (name: string, content: string | Buffer) => () =>
  copyOf((data) => writeFileSync(join(data, name), content));
const cut = (name: string, bytes: number) => () => copyOf((data) => truncateSync(join(data, name), bytes));

const RESET = "start over with --reset, or choose another folder with --data";

describe("a start in an unusable data folder", () => {
  test.concurrent.each<[title: string, make: () => string, message: string, code: number]>([
    [
      "a damaged database",
      overwrite("node.sqlite", NOISE),
      `DATA/node.sqlite is damaged (file is not a database): ${RESET}`,
      1,
    ],
    [
      "a truncated database",
      cut("node.sqlite", 100_000),
      `DATA/node.sqlite is damaged (database disk image is malformed): ${RESET}`,
      1,
    ],
    [
      "a damaged lock",
      overwrite("lock.sqlite", NOISE),
      "DATA/lock.sqlite is damaged (file is not a database): it contains no data; remove it while no node uses the folder, then restart",
      1,
    ],
    [
      "a damaged description",
      overwrite("dev-chain.json", "{"),
      `the description of the dev chain DATA/dev-chain.json cannot be read: it is not JSON`,
      2,
    ],
    [
      "a description of something else",
      overwrite("dev-chain.json", "{}"),
      `the description of the dev chain DATA/dev-chain.json cannot be read: it must have required property 'mnemonic'; ${RESET}`,
      2,
    ],
    [
      "a damaged clock",
      overwrite("dev-clock.json", ""),
      "the clock of the dev chain DATA/dev-clock.json cannot be read: it is empty; start over with --reset",
      2,
    ],
    [
      "a folder at the path of the database",
      () => {
        const data = join(folder, "folder");
        mkdirSync(join(data, "node.sqlite"), { recursive: true, mode: 0o700 });
        return data;
      },
      "DATA/node.sqlite cannot be used (unable to open database file): make it readable and writable for this user, or choose another folder with --data",
      1,
    ],
    [
      "a file",
      () => {
        writeFileSync(join(folder, "file"), "");
        return join(folder, "file");
      },
      "the data folder DATA cannot be used: DATA is not a folder; choose another with --data",
      2,
    ],
    [
      "/proc/x",
      () => "/proc/x",
      "the data folder /proc/x cannot be used: the file system does not support folders; choose another with --data",
      2,
    ],
    ["/proc", () => "/proc", "/proc/lock.sqlite cannot be used (ENOENT", 1],
  ])("%s", async (_, make, message, code) => {
    const data = make();
    // Warnings depend on the machine, such as of a part that closes slowly.
    const options = ["--data", data, "--http-port", "0", "--log-level", "error"];
    const ended = await runUniknode(["dev", ...options]);
    expect(ended.stderr).toContain(`uniknode: ${message.replaceAll("DATA", data)}`);
    // No stack: one line.
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
  });

  test("--reset starts a damaged chain over", async () => {
    const node = spawnUniknode([
      "dev",
      "--data",
      overwrite("node.sqlite", NOISE)(),
      "--http-port",
      "0",
      "--reset",
    ]);
    await node.printed(/Ctrl-C stops/);
    node.child.kill("SIGINT");
    expect((await node.ended).code).toBe(0);
  });
});

describe("other commands", () => {
  const damaged = overwrite("node.sqlite", NOISE);
  const file = (content: string) => () => {
    const path = join(folder, `config-${++copies}.json`);
    writeFileSync(path, content);
    return path;
  };
  const TRY = 'correct it (example: {"httpPort": 4003}), or omit --config';
  const DAMAGED =
    'PATH/node.sqlite is damaged (file is not a database): start a dev chain over with "uniknode dev --reset"';

  test.each<[args: string, make: () => string, message: string, code: number]>([
    ["token --data PATH", damaged, DAMAGED, 1],
    ["accounts --data PATH", damaged, DAMAGED, 1],
    ["forger why --data PATH", damaged, DAMAGED, 1],
    [
      "dev --config PATH",
      file('{\n"httpPort": '),
      `configuration file PATH cannot be read: it is not JSON`,
      2,
    ],
    [
      "dev --config PATH",
      file("[]"),
      `configuration file PATH cannot be read: it must be a JSON object; ${TRY}`,
      2,
    ],
    ["dev --config PATH", () => folder, `configuration file PATH cannot be read: it is a folder; ${TRY}`, 2],
    [
      "dev --config PATH",
      file('{"blokTime": 1}'),
      '"blokTime" in PATH is not an option; did you mean "blockTime"? The options are',
      2,
    ],
    [
      "status --url http://127.0.0.1:9",
      () => "",
      "GET /api/blockchain: no response: fetch refuses this port; is the node running?",
      1,
    ],
  ])("%s", async (args, make, message, code) => {
    const path = make();
    const ended = await runMain(args.replaceAll("PATH", path).split(" "));
    expect(ended.stderr).toContain(`uniknode: ${message.replaceAll("PATH", path)}`);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
  });
});
