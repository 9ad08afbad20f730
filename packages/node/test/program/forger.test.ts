/** Slot records of the forger, queried through the real program. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { SlotStore } from "../../src/store/node/slots.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "uniknode-forger-"));
  const database = openDatabase(join(data, "node.sqlite"));
  migrate(database);
  const slots = new SlotStore(database);
  slots.recordMissed("02aa", 5, "behind: 1 of 3 peers are at height 9, this node at 8");
  slots.recordMissed("02aa", 7, "too little time was left in the slot");
  database.close();
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const why = async (...args: string[]) =>
  (await runUniknode(["forger", "why", "--data", data, ...args])).stdout;

test("The forger command shows why a slot was missed, or the latest ones.", async () => {
  expect(await why("--slot", "5")).toBe(
    "slot 5, 02aa: behind: 1 of 3 peers are at height 9, this node at 8\n",
  );
  expect(await why()).toMatch(/^slot 7, 02aa: too little .*\nslot 5, 02aa: behind/);
  expect(await why("--slot", "6")).toContain("slot 6 was not missed by this node");
});
