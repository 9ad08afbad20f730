import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { finalHeight } from "../../src/facts/final.ts";
import { FactsTask } from "../../src/facts/task.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { createForkingChain, network } from "../../test-support/chain/forking.ts";
import { until } from "../../test-support/process/until.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

type Line = { readonly level: number; readonly msg: string; readonly from?: object; readonly to?: object };

async function start(isDevChain = false, alter: (database: Database) => Database = (database) => database) {
  const path = join(folder.path, "node.sqlite");
  const forking = createForkingChain(path);
  const database = openDatabase(path);
  const logged: Line[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const task = new FactsTask({
    ...{ database: alter(database), network, isDevChain, logger },
    startDelayMs: 0,
  });
  forking.chain.subscribe((change) => task.chainChanged(change));
  onTestFinished(() => {
    task.close();
    database.close();
  });
  const final = () => finalHeight(forking.chain.head().height, network);
  const complete = () => until("the tree has all final blocks", () => task.figures().height === final());
  return { ...forking, task, logged, complete, final };
}

test("The tree follows the chain's commits by itself.", async () => {
  const { forge, task, complete, final, logged } = await start();
  for (let index = 0; index < 40; index++) await forge();
  await complete();
  expect(final()).toBeGreaterThan(20);
  expect(task.figures()).toMatchObject({ height: final(), lag: 0 });
  expect(logged).toEqual([]);
});

test.each([
  [false, 50],
  [true, 30],
])("A revert of final blocks is logged (dev chain: %s, level %i).", async (isDevChain, level) => {
  const { chain, forge, complete, final, logged } = await start(isDevChain);
  for (let index = 0; index < 40; index++) await forge();
  await complete();
  const height = final();
  await chain.revertTo(height - 3);
  await expect.poll(() => logged).toMatchObject([{ level, from: { height }, to: { height: height - 3 } }]);
  for (let index = 0; index < 40; index++) await forge([], 1);
  await complete();
  expect(logged).toHaveLength(1);
});

test("A failed database write is logged as an error, and the node continues.", async () => {
  const { forge, logged, task } = await start(false, (database) => ({
    ...database,
    transaction() {
      throw new Error("the disk is full");
    },
  }));
  for (let index = 0; index < 40; index++) await forge();
  await expect
    .poll(() => logged)
    .toMatchObject([{ level: 50, msg: expect.stringContaining("failed to extend") }]);
  expect(task.figures()).toMatchObject({ height: 0, size: 0 });
});
