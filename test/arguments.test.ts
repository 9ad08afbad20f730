/** Arguments of the tools: `npm run faults`, `npm run bench -- replay` and others. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { usageOf } from "../tools/arguments.ts";

const ROOT = join(import.meta.dirname, "..");

const run = (program: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(ROOT, program), ...args], { encoding: "utf8" });

const PROGRAMS = ["tools/faults/main.ts", "tools/release/main.ts", "bench/forge.ts"];

test.each(PROGRAMS)("%s prints its usage for --help, and starts nothing.", (program) => {
  const { status, stdout, stderr } = run(program, "--help");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^usage: npm run .*\n$/);
});

test.each(PROGRAMS)("%s names an unknown option, and prints its usage.", (program) => {
  const { status, stdout, stderr } = run(program, "--no-such-option");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^Unknown option '--no-such-option'.*\nusage: npm run .*\n$/);
});

test("The usage shows the defaults, and the options that can be repeated.", () => {
  const options = {
    seed: { type: "string", default: "1" },
    only: { type: "string", multiple: true },
    list: { type: "boolean" },
  } as const;
  expect(usageOf("bench replay [FOLDER]", { options })).toBe(
    "usage: npm run bench -- replay [FOLDER] [--seed 1] [--only VALUE]... [--list]",
  );
});

test.each(["test", "test:long"])("npm run %s runs the named file alone.", (command) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(ROOT, "tools/run.mjs"), command, "test/skips.test.ts"],
    { encoding: "utf8", env: { PATH: process.env.PATH, NO_COLOR: "1" } },
  );
  expect(status).toBe(0);
  expect(stdout).toMatch(/test\/skips\.test\.ts[\s\S]*Test Files +1 passed \(1\)/);
});
