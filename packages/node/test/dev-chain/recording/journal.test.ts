/** The recorded steps: merged, bounded, without ids and times. */
import { expect, test } from "vitest";
import {
  addCommand,
  addMined,
  addTransaction,
  createJournal,
} from "../../../src/dev-chain/recording/journal.ts";
import type { ChainCommand } from "../../../src/gateway/dev-commands.ts";

const NOTHING = { reverted: [], movedSeconds: 0 };
const stepsOf = (command: ChainCommand, performed = {}) => {
  const journal = createJournal(3);
  addCommand(journal, command, { ...NOTHING, ...performed });
  return journal.steps;
};

test("blocks are added to the step before, up to the maximum of a step", () => {
  const journal = createJournal(3);
  for (const blocks of [1, 999, 1, 1_000]) addMined(journal, blocks);
  expect(journal.steps).toEqual([{ mine: 1_000 }, { mine: 1_000 }, { mine: 1 }]);
});

test.each([
  [86_400, "1d"],
  [7_200, "2h"],
  [90, "90s"],
  [600, "10m"],
])("a journey of %i s is recorded as %s", (movedSeconds, duration) => {
  const steps = stepsOf({ name: "travel", to: 4_000_000_000 }, { movedSeconds });
  expect(steps).toEqual([{ travel: duration }]);
});

test("a journey that moves nothing is not recorded", () => {
  expect(stepsOf({ name: "travel", to: 4_000_000_000 })).toEqual([]);
});

test("commands that change nothing are not recorded", () => {
  expect(stepsOf({ name: "snapshot" })).toEqual([]);
  expect(stepsOf({ name: "forge", isEnabled: false })).toEqual([]);
});

test("a branch has the names of its omitted transactions, and unknown ones are left out", () => {
  const journal = createJournal(3);
  addTransaction(journal, "id 1", { transfer: { from: "account 0", to: "account 1", amount: "1" } });
  addTransaction(journal, "id 2", { note: "not recorded" });
  const reorg = { name: "reorg", depth: 1, withTransactions: true } as const;
  for (let round = 0; round < 2; round++) {
    addCommand(journal, { ...reorg, leftOut: ["id 1", "id 2", "id 3"] }, NOTHING);
  }
  addCommand(journal, { ...reorg, withTransactions: false }, NOTHING);
  const branch = { reorganise: { depth: 1, transactions: true, without: ["transaction 0"] } };
  expect(journal.steps).toEqual([
    { transfer: { from: "account 0", to: "account 1", amount: "1", as: "transaction 0" } },
    { note: "not recorded" },
    ...[branch, branch],
    { reorganise: 1 },
  ]);
});

test("after the maximum of steps, no step changes", () => {
  const journal = createJournal(3);
  for (let step = 0; step < 899; step++)
    addCommand(journal, { name: "travel", seconds: 1 }, { ...NOTHING, movedSeconds: 1 });
  addMined(journal, 1);
  addCommand(journal, { name: "restore", id: "" }, NOTHING);
  addMined(journal, 5);
  expect(journal.steps).toHaveLength(900);
  expect(journal.steps.at(-1)).toEqual({ mine: 1 });
  expect(journal.isFull).toBe(true);
});

test("long steps fill a recording earlier, so that the file has the size of a scenario", () => {
  const journal = createJournal(3);
  for (let step = 0; step < 900; step++) addTransaction(journal, `id ${step}`, { note: "x".repeat(500) });
  expect(journal.isFull).toBe(true);
  expect(journal.steps.length).toBeGreaterThan(350);
  expect(JSON.stringify(journal.steps).length).toBeLessThan(262_144);
});
