/** `npm run scale` as a command. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ["tools/scale/main.ts", ...args], { encoding: "utf8" });

test("--help explains every option, with its default.", () => {
  const { status, stdout } = run("--help");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^usage: npm run scale -- \[OPTIONS\]\n/);
  expect(stdout).toMatch(/--blocks +blocks in a year; the default is a block every 8 s \(3944700\)/);
});

test("A value beyond its bounds is refused with code 2.", () => {
  const { status, stdout, stderr } = run("--load", "7");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^--load 7: must be a number from 0\.05 to 1 .*\nusage:/);
});

test("The plan is printed as tables, and as JSON.", () => {
  const load = ["--readers", "1000000", "--webhooks", "100000", "--years", "10"];
  const { status, stdout } = run(...load);
  expect(status).toBe(0);
  expect(stdout).toMatch(/\nprocesses +number +machines +cores/);
  expect(stdout).toMatch(/\nExceeded first: webhooks of one register\. /);
  const plan = JSON.parse(run(...load, "--json").stdout);
  expect(plan.inputs).toMatchObject({ readers: 1_000_000, webhooks: 100_000, years: 10 });
  expect(plan.limits[0]).toMatchObject({ name: "webhooks of one register", share: 10 });
});
