/** The native addon and the module for WebAssembly are as their guide describes. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const NATIVE = "packages/node/native";
/** Sources of the library, pinned by the lock file; `package.json` of the node names the release. */
const LIBRARY = join(ROOT, "node_modules/secp256k1/src/secp256k1");
/** Another compiler yields another file from the same sources. */
const BINARIES = [
  {
    name: "linux-arm64.node",
    command: "aarch64-linux-gnu-gcc",
    compiler: /\) 12\.2\..*Free Software Foundation/s,
  },
  { name: "linux-x64.node", command: "cc", compiler: /\) 12\.2\..*Free Software Foundation/s },
  { name: "signatures.wasm", command: "clang", compiler: /^Debian clang version 14\.0\.6/ },
];

const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

test.each(BINARIES)("The guide has the checksum of $name", ({ name }) => {
  const guide = readFileSync(join(ROOT, "docs/guides/signatures.md"), "utf8");
  expect(guide).toContain(sumOf(join(ROOT, NATIVE, name)));
});

/** Files below a folder, each as `./path`, in the order of their bytes. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `./${relative(folder, join(entry.parentPath, entry.name))}`)
    .sort();

test("The guide has the version and the digests of the sources.", () => {
  const guide = readFileSync(join(ROOT, "docs/guides/signatures.md"), "utf8");
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const { version, integrity } = present(lock.packages["node_modules/secp256k1"]);
  expect(guide).toContain(`| npm package \`secp256k1\` ${version} | \`${integrity}\` |`);
  const files = filesBelow(LIBRARY);
  const list = files.map((path) => `${sumOf(join(LIBRARY, path))}  ${path}\n`).join("");
  const digest = createHash("sha256").update(list).digest("hex");
  expect(guide).toContain(`| its folder \`src/secp256k1\`, ${files.length} files | \`${digest}\` |`);
  const [, release] =
    /^AC_INIT\(\[libsecp256k1\],\[(.*)\]\)$/m.exec(readFileSync(join(LIBRARY, "configure.ac"), "utf8")) ?? [];
  expect(guide).toContain(`version ${present(release)} (\`configure.ac\`)`);
});

test("The file sha256sums has the checksums of the files that are loaded.", () => {
  const folder = join(ROOT, NATIVE);
  const sums = [...BINARIES.map(({ name }) => name), "known-verdicts.json"].map((name) => {
    return `${sumOf(join(folder, name))}  ${name}\n`;
  });
  expect(readFileSync(join(folder, "sha256sums"), "utf8")).toBe(sums.join(""));
});

/** Returns the reason why this machine cannot build the same file; undefined if it can. */
function missingForBuild(command: string, compiler: RegExp): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return "binaries are built on Linux on x64";
  const missing = missingProgram(command) ?? (command === "clang" ? missingProgram("wasm-ld") : undefined);
  if (missing !== undefined) return missing;
  const { stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return compiler.test(stdout) ? undefined : `${command} is not of the recorded version`;
}

for (const { name, command, compiler } of BINARIES) {
  const isSkipped = skips(missingForBuild(command, compiler));
  test.skipIf(isSkipped)(`The sources yield ${name}, byte for byte.`, () => {
    const copy = mkdtempSync(join(tmpdir(), "uniknode-addon-"));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    cpSync(join(ROOT, NATIVE), join(copy, NATIVE), { recursive: true });
    rmSync(join(copy, NATIVE, name));
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    execFileSync("sh", [join(copy, NATIVE, "build.sh"), LIBRARY, name], { stdio: "ignore" });
    expect(sumOf(join(copy, NATIVE, name))).toBe(sumOf(join(ROOT, NATIVE, name)));
  });
}
