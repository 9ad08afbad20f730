/** Steps of matching and of background tasks, and when a run of the dispatcher omits them. */
import { beforeEach, expect, test } from "vitest";
import { Sources } from "../../../src/webhooks/delivery/sources.ts";

let steps: string[];
let changed: number[];
/** Results of the next steps. */
let hasEvents: boolean;
let hasTasks: boolean;
let isDown: boolean;
let sources: Sources;

beforeEach(() => {
  steps = [];
  changed = [];
  hasEvents = false;
  hasTasks = false;
  isDown = false;
  sources = new Sources({
    async match() {
      steps.push("match");
      if (isDown) throw new Error("down");
      return { webhooks: new Set([1]), more: hasEvents };
    },
    backgroundTasks: [
      async () => {
        steps.push("task");
        return { webhook: 2, more: hasTasks };
      },
    ],
    clock: { steadyMs: () => 1_000 },
    onChange: (webhook) => changed.push(webhook),
  });
});

/** Returns the steps of a run, and whether events are waiting. */
async function run(): Promise<[steps: string[], isMore: boolean]> {
  steps = [];
  const isMore = await sources.run();
  return [steps, isMore];
}

test("The first run does all of them, and a later one only what may have work.", async () => {
  expect(await run()).toEqual([["match", "task"], false]);
  expect(changed).toEqual([1, 2]);
  expect(await run()).toEqual([[], false]);
  sources.wakeTasks();
  expect(await run()).toEqual([["task"], false]);
  sources.wake();
  expect(await run()).toEqual([["match", "task"], false]);
});

test("Matching continues while events are waiting, and the tasks follow then.", async () => {
  hasEvents = true;
  expect(await run()).toEqual([["match"], true]);
  hasEvents = false;
  expect(await run()).toEqual([["match", "task"], false]);
});

test("A task that has more work continues after a pause.", async () => {
  hasTasks = true;
  await run();
  expect(sources.nextMs()).toBeGreaterThan(1_000);
  hasTasks = false;
  expect(await run()).toEqual([["task"], false]);
  expect(sources.nextMs()).toBeUndefined();
});

test("An event that is reported while others are matched is matched by the next run.", async () => {
  const running = sources.run();
  sources.wake();
  await running;
  expect(await run()).toEqual([["match", "task"], false]);
});

test("A failed run is repeated completely when it is woken again.", async () => {
  isDown = true;
  await expect(sources.run()).rejects.toThrow("down");
  isDown = false;
  sources.wake();
  expect(await run()).toEqual([["match", "task"], false]);
});
