/** Parts close in reverse order; slow and failed ones are logged by name. */
import { expect, test } from "vitest";
import { Closing } from "../../../src/platform/lifecycle/closing.ts";

test("A part that fails to close is named in the log, and the others close in reverse order.", async () => {
  const closed: string[] = [];
  const logged: unknown[] = [];
  const closing = new Closing();
  closing.add("database", () => void closed.push("database"));
  closing.add("pool", async () => {
    expect(closing.current()).toBe("pool");
    throw new Error("disk is full");
  });
  closing.add("peers", () => void closed.push("peers"));
  const log = (data: object, message?: string) => void logged.push([data, message]);
  await closing.closeAll({ error: log, warn: log });
  expect(closed).toEqual(["peers", "database"]);
  expect(logged).toEqual([
    [
      { part: "pool", durationMs: expect.any(Number), err: new Error("disk is full") },
      "failed to close pool",
    ],
  ]);
  expect(closing.current()).toBeUndefined();
});
