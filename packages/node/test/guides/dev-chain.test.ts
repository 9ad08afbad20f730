/** Effects of the commands in the guide of the dev chain, and of the reorganisation in the README. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@uniknode/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { blocksOf } from "../../test-support/guides/page.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const TOKEN = "guide-test";
const folder = mkdtempSync(join(tmpdir(), "uniknode-guide-"));
const run = promisify(execFile);
let node: Running;
let url: string;

const GUIDE = "docs/guides/dev-chain.md";

const textsOf = (path: string): string[] => blocksOf(path).map(({ text }) => text);

const commandsOf = (path: string): string[] =>
  textsOf(path).filter((block) => block.startsWith("curl") && block.includes("/api/dev/"));

beforeAll(async () => {
  const args = ["dev", "--data", folder, "--http-port", "0", "--block-time", "2", "--webhook-token", TOKEN];
  node = spawnUniknode(args);
  url = await apiUrlOf(node);
  // Deep enough for all reorganisations of the pages.
  await node.printed(/Ctrl-C stops/);
  await type(
    `curl -X POST -H "Authorization: TOKEN" -H "Content-Type: application/json" -d '{"blocks": 5}' http://127.0.0.1:4003/api/dev/mine`,
  );
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

type Block = { height: number; id: string };
type CommandResult = { id?: string; head: Block; reverted: Block[]; applied: Block[]; forging: boolean };

/** Runs a command in a shell, with placeholders replaced. */
async function type(command: string, values: Record<string, string> = {}): Promise<CommandResult> {
  const typed = Object.entries({ TOKEN, "http://127.0.0.1:4003": url, ...values }).reduce(
    (text, [name, value]) => text.replaceAll(name, value),
    command.replaceAll("curl ", "curl -sS --fail-with-body "),
  );
  const { stdout } = await run("sh", ["-c", typed]);
  return (JSON.parse(stdout) as { data: CommandResult }).data;
}

test("Every command of the guide has the described effect.", async () => {
  const commands = commandsOf(GUIDE);
  const names = commands.map((command) => present(/\/api\/dev\/(\w+)/.exec(command))[1]);
  expect(names).toEqual([
    "forge",
    "mine",
    "mine",
    "reorg",
    "reorg",
    "snapshot",
    "restore",
    "travel",
    "fail",
    "accounts",
  ]);
  const [forge, mineOne, mineTen, reorg, moving, snapshot, restore, travel, fail, accounts] = commands;
  const paused = await type(present(forge));
  expect(paused.forging).toBe(false);
  const one = await type(present(mineOne));
  expect(one.head.height).toBe(paused.head.height + 1);
  expect((await type(present(mineTen))).applied).toHaveLength(10);
  const other = await type(present(reorg));
  expect([other.reverted.length, other.applied.length]).toEqual([3, 4]);
  const moved = await type(present(moving));
  expect([moved.reverted.length, moved.applied.length]).toEqual([1, 5]);
  const { id, head } = await type(present(snapshot));
  expect(id).toBe(head.id);
  await type(present(mineOne));
  expect(await type(present(restore), { '"ID"': `"${id}"` })).toMatchObject({
    head,
    reverted: [{ height: head.height + 1 }],
  });
  expect((await type(present(travel))).head).toEqual(head);
  const client = createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
  const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
  await client.webhooks.create({ event: "block.reverted", target: "http://127.0.0.1:9/", conditions });
  expect(await type(present(fail))).toEqual([{ webhook: 1, how: "refuse", status: 503 }]);
  expect(await type(present(accounts))).toEqual((await client.dev.accounts()).data);
});

test("`listen` receives the reorganisation of the README", async () => {
  const [reorg] = commandsOf("README.md");
  const [listen] = textsOf("README.md").filter((block) => block.startsWith("npm start -- listen"));
  const args = present(listen).trim().replaceAll('"', "").split(" ").slice(3);
  expect(args).toEqual(expect.arrayContaining(["listen", "--event", "block.*"]));
  const listener = spawnUniknode([...args, "--token", TOKEN, "--url", url]);
  try {
    await listener.printed(/Ctrl-C stops the receiver/);
    const { reverted, applied } = await type(present(reorg));
    for (const { id } of reverted)
      await listener.printed(new RegExp(`block\\.reverted .*verified.*${id.slice(0, 12)}`));
    for (const { id } of applied)
      await listener.printed(new RegExp(`block\\.applied .*verified.*${id.slice(0, 12)}`));
  } finally {
    listener.child.kill("SIGINT");
    await listener.ended;
  }
});

test("The response in the guide has the members of a real one.", async () => {
  const [shown] = textsOf(GUIDE).filter((block) => block.startsWith('{"data"'));
  const result = await type(present(commandsOf(GUIDE)[0]));
  const named = (text: string) => new Set(Array.from(text.matchAll(/"(\w+)":/g), ([, name]) => name));
  expect(named(present(shown))).toEqual(named(JSON.stringify({ data: result })));
});
