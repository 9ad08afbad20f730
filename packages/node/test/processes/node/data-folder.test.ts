import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Closing } from "../../../src/platform/lifecycle/closing.ts";
import { deadlineIn } from "../../../src/platform/threads/call.ts";
import { openDataFolder } from "../../../src/processes/node/data-folder.ts";
import { readChain } from "../../../test-support/chain/fixtures.ts";

let data: string;
let closing: Parameters<Closing["add"]>[];
let logged: string[];
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "uniknode-folder-"));
  chmodSync(data, 0o700);
  closing = [];
  logged = [];
});
afterEach(async () => {
  await closeAll();
  rmSync(data, { recursive: true, force: true });
});

async function closeAll(): Promise<void> {
  for (const [, close] of closing.splice(0).reverse()) await close(deadlineIn(0));
}

const open = (webhookToken?: string) =>
  openDataFolder(
    { data, webhookToken, webhookKeyFile: undefined, webhookOldKeyFile: undefined },
    {
      network: createNetwork(readChain("chain-1").network),
      logger: pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) }),
      stopping: new AbortController().signal,
      onStarting() {},
    },
    (name, close) => closing.push([name, close]),
  );

test("The folder belongs to one process, and its database closes before it is released.", async () => {
  await open();
  expect(closing.map(([name]) => name)).toEqual(["data folder", "database", "checkpoints"]);
  await expect(open()).rejects.toThrow(expect.objectContaining({ code: "DATA_IN_USE" }));
  expect(logged).toEqual([]);
});

test("A token is created at the first start and kept, unless one is given.", async () => {
  const { webhookToken, secretKey } = await open();
  expect(webhookToken).toMatch(/^\S{16,}$/);
  expect(secretKey).toBeUndefined();
  await closeAll();
  expect((await open()).webhookToken).toBe(webhookToken);
  await closeAll();
  expect((await open("a token of the operator")).webhookToken).toBe("a token of the operator");
});

test("A folder that every user can read is logged.", async () => {
  chmodSync(data, 0o755);
  await open();
  expect(logged).toEqual([expect.stringContaining("can read the data folder; run chmod 700 /")]);
});
