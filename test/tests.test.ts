/** `npm test`: a failure is a failure. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

const PASSES = 'import { test } from "vitest"; test("Passes.", () => {});';
/** Passes from the second time on. */
const FAILS_ONCE = `
import { existsSync, writeFileSync } from "node:fs";
import { test } from "vitest";
test("Fails once.", () => {
  const mark = import.meta.filename + ".mark";
  if (existsSync(mark)) return;
  writeFileSync(mark, "");
  throw new Error("once");
});`;
const LEAVES_A_REJECTION = `${PASSES} test("Leaves a rejection.", () => { void Promise.reject(new Error("left")); });`;
const LEAVES_A_TIMER = `${PASSES} setInterval(() => {}, 1_000);`;

/** Runs the tests of a folder with these files. */
async function runTests(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-tests-"));
  try {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [name, source] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.mjs`), source);
    // Without the variables of this run.
    const { PATH, HOME, TMPDIR } = process.env;
    const child = spawn(process.execPath, [join(ROOT, "tools/tests.ts"), folder], {
      env: { PATH, HOME, TMPDIR, NO_COLOR: "1" },
    });
    const [[code], stdout, stderr] = await Promise.all([
      once(child, "exit"),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, stdout, stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.concurrent("The run passes if all tests pass, also if one leaves a timer behind.", async ({
  expect,
}) => {
  const { code, stdout } = await runTests({ one: PASSES, other: LEAVES_A_TIMER });
  expect(code).toBe(0);
  expect(stdout.trimEnd()).toMatch(/^all tests: 2 passed, 0 failed, 0 skipped$/m);
});

test.concurrent("A test that fails once fails the run, and the output shows its failure.", async ({
  expect,
}) => {
  const { code, stdout, stderr } = await runTests({ good: PASSES, "fails-once": FAILS_ONCE });
  expect(code).toBe(1);
  expect(stdout.trimEnd().split("\n").slice(-2)).toEqual([
    "failed: fails-once.test.mjs > Fails once.: once",
    "all tests: 1 passed, 1 failed, 0 skipped",
  ]);
  expect(stderr).toContain("Error: once");
});

test.concurrent("An error outside of tests fails the run, and so does a file that cannot be loaded.", async ({
  expect,
}) => {
  const { code, stdout } = await runTests({
    leaves: LEAVES_A_REJECTION,
    broken: 'throw new Error("cannot")',
  });
  expect(code).toBe(1);
  expect(stdout.trimEnd().split("\n").slice(-3)).toEqual([
    "failed: broken.test.mjs: cannot",
    "failed: outside of tests: left",
    "all tests: 2 passed, 0 failed, 0 skipped",
  ]);
});

test.concurrent("A folder without tests fails the run.", async ({ expect }) => {
  expect((await runTests({})).code).toBe(1);
});
