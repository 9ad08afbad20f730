/** The guide to the first event, executed literally. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { blocksOf, ROOT } from "../../test-support/guides/page.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { apiUrlOf, spawnUniknode } from "../../test-support/process/uniknode.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const TOKEN = "first-event-test";
const run = promisify(execFile);

const [, , register, receive, send, log] = blocksOf("docs/guides/first-event.md").map(({ text }) => text);

const RUN = join(ROOT, "tools/run.mjs");
/** The program that `npm run example --` starts. */
const EXAMPLE = "npm run example -- ";

function startReceiver(command: string): { printed: () => string; end: () => Promise<void> } {
  const args = command.trim().replace(EXAMPLE, "").split(" ");
  const child: ChildProcess = spawn(process.execPath, [RUN, "example", ...args]);
  let text = "";
  present(child.stdout).on("data", (chunk) => (text += chunk));
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const end = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  onTestFinished(end);
  return { printed: () => text, end };
}

test("The first event arrives, and a stopped receiver gets its missed events after its restart.", async () => {
  const data = mkdtempSync(join(tmpdir(), "uniknode-first-event-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const node = spawnUniknode([
    ...["dev", "--data", data, "--http-port", "0", "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--mnemonic", MNEMONIC],
  ]);
  onTestFinished(async () => {
    node.child.kill("SIGKILL");
    await node.ended;
  });
  const url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
  const port = `${await freePort()}`;
  const values: Record<string, string> = {
    "http://127.0.0.1:4003": url,
    5005: port,
    TOKEN,
    ADDRESS: people("account 1").address,
  };
  const typed = (command: string) =>
    Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), command);
  const curl = async (command: string) => {
    const { stdout } = await run("sh", ["-c", typed(command).replace("curl ", "curl -sS --fail-with-body ")]);
    return JSON.parse(stdout).data;
  };
  const sendOne = async () => {
    const command = typed(present(send)).trim().replace(EXAMPLE, `"${process.execPath}" "${RUN}" example `);
    const sending = run("sh", ["-c", `${command} ${url}`]);
    present(sending.child.stdin).end(`${people("account 0").passphrase}\n`);
    await sending;
  };

  const { id, token } = await curl(present(register));
  expect(id).toBe(1);
  Object.assign(values, { SECRET: token, ID: `${id}` });
  const first = startReceiver(typed(present(receive)));
  await expect.poll(first.printed).toContain(`listening on http://127.0.0.1:${port}`);
  await sendOne();
  await expect.poll(first.printed).toMatch(/verified msg_\w+: transaction\.applied at height \d+/);
  const states = async (): Promise<string[]> =>
    (await curl(present(log))).map(({ state }: { state: string }) => state);
  // The receiver prints an event before it responds.
  await expect.poll(states).toEqual(["delivered"]);

  await first.end();
  await sendOne();
  await expect.poll(states).toEqual(["pending", "delivered"]);
  const second = startReceiver(typed(present(receive)));
  await expect.poll(second.printed).toMatch(/verified msg_\w+: transaction\.applied at height \d+/);
  await expect.poll(states).toEqual(["delivered", "delivered"]);
});
