/** The clock of a dev chain. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DevClock } from "../../src/dev-chain/folder.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-clock-"));
  path = join(folder, "clock.json");
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test("The clock is that of the machine until it is moved, and leaves no file.", () => {
  const clock = new DevClock(path);
  expect(clock.nowMs()).toBe(1_000_000);
  vi.setSystemTime(1_000_500);
  expect(clock.nowMs()).toBe(1_000_500);
  expect(existsSync(path)).toBe(false);
});

test("The clock continues at its moved time, in the next process as well.", () => {
  new DevClock(path).moveTo(5_000_000);
  vi.setSystemTime(1_000_700);
  const clock = new DevClock(path);
  expect(clock.nowMs()).toBe(5_000_700);
  clock.moveTo(6_000_000);
  expect(new DevClock(path).nowMs()).toBe(6_000_000);
});

test("The clock never goes back.", () => {
  const clock = new DevClock(path);
  clock.moveTo(5_000_000);
  clock.moveTo(4_000_000);
  expect(clock.nowMs()).toBe(5_000_000);
  expect(new DevClock(path).nowMs()).toBe(5_000_000);
});
