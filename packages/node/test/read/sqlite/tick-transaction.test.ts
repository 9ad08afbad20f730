/** State of the reads of one event-loop tick. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { createNetwork, dalinet } from "@uniknode/protocol";
import { afterAll, expect, test } from "vitest";
import type { Snapshot } from "../../../src/read/port.ts";
import { SqliteReadModel, TickTransaction } from "../../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { createInventedBlocks } from "../../../test-support/store/invented-blocks.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-tick-"));
const path = join(folder, "chain.sqlite");
const writer = openDatabase(path);
migrate(writer);
const insert = createInventedBlocks(writer);
let last = 0;
function append(): number {
  last++;
  insert({ height: last, id: `block ${last}` });
  return last;
}
append();
afterAll(() => {
  writer.close();
  rmSync(folder, { recursive: true });
});

function open() {
  const database = openDatabase(path, { readonly: true });
  return { database, model: new SqliteReadModel({}, { database, network: createNetwork(dalinet) }) };
}

test("Reads of one tick see one state, and those of the next tick see later writes.", async () => {
  const { database, model } = open();
  const heights = async () => [
    (await model.head())?.height,
    await model.snapshot(async ({ head }) => head.height),
  ];
  const before = last;
  expect(await heights()).toEqual([before, before]);
  append();
  expect(await heights()).toEqual([before, before]);
  await nextTick();
  expect(await heights()).toEqual([before + 1, before + 1]);
  model.close();
  database.close();
});

test("A work that awaited something else continues while the head is the same, and fails after a change.", async () => {
  const { database, model } = open();
  let kept: Snapshot | undefined;
  const height = last;
  await model.snapshot(async (snapshot) => {
    kept = snapshot;
    await nextTick();
    expect(await snapshot.blocks.byHeight(height)).toMatchObject({ height });
  });
  append();
  await nextTick();
  await expect(kept?.blocks.byHeight(height)).rejects.toMatchObject({
    code: "SNAPSHOT_ENDED",
    isRetryable: true,
  });
  model.close();
  database.close();
});

test("An error of one work is thrown, and does not affect the next one.", async () => {
  const { database, model } = open();
  await expect(model.snapshot(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await model.snapshot(async () => 1)).toBe(1);
  model.close();
  database.close();
});

test("No open statement prevents a connection from being closed.", async () => {
  const reader = openDatabase(path, { readonly: true });
  const transaction = new TickTransaction(reader);
  transaction.head();
  transaction.end();
  transaction.end();
  reader.close();
  // The end of the tick finds nothing to do.
  await nextTick();
});
