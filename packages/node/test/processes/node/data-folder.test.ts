import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Closing } from "../../../src/platform/lifecycle/closing.ts";
import { deadlineIn } from "../../../src/platform/threads/call.ts";
import { openDataFolder } from "../../../src/processes/node/data-folder.ts";
import { MetaStore } from "../../../src/store/node/meta.ts";
import { readChain } from "../../../test-support/chain/fixtures.ts";

let data: string;
let closing: Parameters<Closing["add"]>[];
let logged: string[];
let claims: number;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "uniknode-folder-"));
  chmodSync(data, 0o700);
  closing = [];
  logged = [];
  claims = 0;
});
afterEach(async () => {
  await closeAll();
  rmSync(data, { recursive: true, force: true });
});

async function closeAll(): Promise<void> {
  for (const [, close] of closing.splice(0).reverse()) await close(deadlineIn(0));
}

const open = async (webhookToken?: string) =>
  openDataFolder(
    { data, webhookToken, webhookKeyFile: undefined, webhookOldKeyFile: undefined },
    {
      network: createNetwork(readChain("chain-1").network),
      logger: pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) }),
      claimFolder: () => void claims++,
    },
    (name, close) => closing.push([name, close]),
  );

test("The folder belongs to one process, and its database closes before it is released.", async () => {
  await open();
  expect(closing.map(([name]) => name)).toEqual(["data folder", "database", "checkpoints"]);
  await expect(open()).rejects.toThrow(expect.objectContaining({ code: "DATA_IN_USE" }));
  expect(logged).toEqual([]);
});

test("The event log of a folder has a random id, which each start keeps.", async () => {
  const logId = new MetaStore((await open()).database).read("eventLog");
  expect(logId).toMatch(/^[0-9a-f]{8}$/);
  await closeAll();
  expect(new MetaStore((await open()).database).read("eventLog")).toBe(logId);
});

test("A folder in use, or with the chain of another network, is neither claimed nor changed.", async () => {
  const { database } = await open();
  expect(claims).toBe(1);
  await expect(open()).rejects.toThrow(expect.objectContaining({ code: "DATA_IN_USE" }));
  // As if another network had stored its genesis block, and an earlier start had not created the key.
  new MetaStore(database).write("nethash", "f".repeat(64));
  await closeAll();
  rmSync(join(data, "checkpoint.key"));
  const hashOf = (file: string) =>
    createHash("sha256")
      .update(readFileSync(join(data, file)))
      .digest("hex");
  // SQLite creates files beside the database for readers, too.
  const isWritten = (file: string) => !/-(wal|shm)$/.test(file);
  const contents = () =>
    new Map(
      readdirSync(data)
        .filter(isWritten)
        .map((file) => [file, hashOf(file)]),
    );
  const before = contents();
  await expect(open()).rejects.toMatchObject({
    code: "CHAIN_NETWORK_MISMATCH",
    message: expect.stringMatching(
      `^the data folder ${data} holds the chain of another network .*: choose another folder with --data$`,
    ),
  });
  await closeAll();
  expect(contents()).toEqual(before);
  expect(claims).toBe(1);
});

test("An empty database, which a killed start leaves, belongs to any network.", async () => {
  writeFileSync(join(data, "node.sqlite"), "");
  await open();
  expect(claims).toBe(1);
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
