import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { UndoStore } from "../../../src/store/state/state.ts";

function openUndo() {
  const database = openDatabase(":memory:");
  migrate(database);
  const undo = new UndoStore(database);
  const heights = () =>
    database
      .prepare<{ height: number }>("SELECT height FROM undo ORDER BY height")
      .all()
      .map(({ height }) => height);
  return { undo, heights };
}

test("A block that changed nothing has an undo record that writes nothing.", () => {
  const { undo } = openUndo();
  undo.append(2, []);
  expect(undo.read(2)).toEqual([]);
  expect(undo.read(3)).toBeUndefined();
});

test("An empty text is restored as an empty text, and not as absent.", () => {
  const { undo } = openUndo();
  undo.append(2, [
    { table: "properties", key: "a", before: "", after: "x" },
    { table: "properties", key: "b", before: undefined, after: "" },
  ]);
  expect(undo.read(2)).toEqual([
    { table: "properties", key: "a", after: "" },
    { table: "properties", key: "b", after: undefined },
  ]);
});

test("Old undo records are dropped below a height, reverted ones at and above.", () => {
  const { undo, heights } = openUndo();
  for (let height = 2; height <= 10; height++) undo.append(height, []);
  undo.prune(5);
  expect(heights()).toEqual([5, 6, 7, 8, 9, 10]);
  undo.removeFrom(9);
  expect(heights()).toEqual([5, 6, 7, 8]);
  undo.append(9, []);
  expect(heights()).toEqual([5, 6, 7, 8, 9]);
});
