/** `npm test`: files that fail beside others run again alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const REPEATED = "These files failed, and run again alone:";
const PASSED_ALONE = "These files failed beside others, and passed alone.";

const PASSES = 'import { test } from "vitest"; test("Passes.", () => {});';
const FAILS = 'import { test } from "vitest"; test("Fails.", () => { throw new Error("as always"); });';
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
const LEAVES_A_REJECTION = `${FAILS_ONCE} test("Leaves a rejection.", () => { void Promise.reject(new Error("left")); });`;
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

test.concurrent("The run passes if all tests pass, and nothing runs again.", async ({ expect }) => {
  const { code, stdout } = await runTests({ one: PASSES, other: LEAVES_A_TIMER });
  expect(code).toBe(0);
  expect(stdout).not.toContain(REPEATED);
});

test.concurrent("A file that fails once runs again alone, and the output shows its name and failure.", async ({
  expect,
}) => {
  const { code, stdout, stderr } = await runTests({ good: PASSES, "fails-once": FAILS_ONCE });
  expect(code).toBe(0);
  expect(stdout).toContain(`${REPEATED}\n  fails-once.test.mjs\n`);
  expect(stdout).toContain(PASSED_ALONE);
  expect(stderr).toContain("Error: once");
});

test.concurrent("A file that fails again fails the run, also if another one passes.", async ({ expect }) => {
  const { code, stdout } = await runTests({ "fails-once": FAILS_ONCE, fails: FAILS });
  expect(code).toBe(1);
  expect(stdout).toContain(REPEATED);
  expect(stdout).toMatch(/passed alone\..*:\n {2}fails-once\.test\.mjs\n/);
  expect(stdout).toMatch(/failed again alone:\n {2}fails\.test\.mjs\n/);
});

test.concurrent("Four files that fail fail the run, although each would pass alone.", async ({ expect }) => {
  const names = ["first", "second", "third", "fourth"];
  const { code, stdout } = await runTests(Object.fromEntries(names.map((name) => [name, FAILS_ONCE])));
  expect(code).toBe(1);
  expect(stdout).not.toContain(REPEATED);
});

test.concurrent("An error outside of tests fails the run.", async ({ expect }) => {
  const { code, stdout } = await runTests({ leaves: LEAVES_A_REJECTION });
  expect(code).toBe(1);
  expect(stdout).not.toContain(REPEATED);
});

test.concurrent("A folder without tests fails the run.", async ({ expect }) => {
  expect((await runTests({})).code).toBe(1);
});
