/** A damaged addon ends the process when it is loaded or called: it must be refused before. */

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { type KnownVerdict, loadNativeVerify, NativeAddonError } from "../../src/verification/native.ts";

const NODE = join(import.meta.dirname, "../..");
const NAME = "linux-x64.node";

const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "uniknode-native-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

let folder: string;
let addon: string;
beforeEach(() => {
  folder = join(newFolder(), "native");
  cpSync(join(NODE, "native"), folder, { recursive: true });
  addon = join(folder, NAME);
});

const reasonOf = (): string => {
  try {
    loadNativeVerify(folder);
  } catch (error) {
    expect(error).toBeInstanceOf(NativeAddonError);
    expect(error).toMatchObject({ code: "NATIVE_ADDON", path: addon, isRetryable: false });
    return (error as Error).message;
  }
  return "used";
};

const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Records the current checksums of the files. */
const recordSums = (names: readonly string[]) =>
  writeFileSync(
    join(folder, "sha256sums"),
    names.map((name) => `${sumOf(join(folder, name))}  ${name}\n`).join(""),
  );

describe("the addon is used", () => {
  test("as it was built", () => {
    expect(reasonOf()).toBe("used");
  });

  test("through a symbolic link, such as that of a package manager", () => {
    renameSync(addon, join(folder, "..", "stored"));
    symlinkSync(join("..", "stored"), addon);
    expect(reasonOf()).toBe("used");
  });
});

describe("the addon is refused, with the reason, if it", () => {
  test("has one altered bit, wherever it is", () => {
    const bytes = readFileSync(addon);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length * 8 - 1 }), (bit) => {
        const altered = Buffer.from(bytes);
        altered[bit >> 3] = present(altered[bit >> 3], "an item of altered") ^ (1 << (bit & 7));
        writeFileSync(addon, altered);
        expect(reasonOf()).toMatch(/SHA-256 mismatch: linux-x64\.node/);
      }),
      { numRuns: 50, examples: [[0], [bytes.length * 8 - 1]] },
    );
  });

  test.each([0, 1, 63, 64, 4_096, 50_000, -1])("is cut to %i bytes", (length) => {
    const whole = readFileSync(addon).length;
    truncateSync(addon, length < 0 ? whole + length : length);
    expect(reasonOf()).toMatch(/SHA-256 mismatch: linux-x64\.node/);
  });

  test("is longer", () => {
    writeFileSync(addon, "\0", { flag: "a" });
    expect(reasonOf()).toMatch(/SHA-256/);
  });

  test("is built for another processor", () => {
    const bytes = readFileSync(addon);
    // e_machine of the ELF header: AArch64.
    bytes.writeUInt16LE(183, 18);
    writeFileSync(addon, bytes);
    expect(reasonOf()).toMatch(/SHA-256/);
    recordSums([NAME, "known-verdicts.json"]);
    expect(reasonOf()).toMatch(/linux-x64\.node/);
  });

  test.each([
    ["a text", "module.exports = { verify: (packed, verdicts) => verdicts.fill(1) };"],
    ["zeros", Buffer.alloc(90_000)],
  ])("is another file: %s", (_, bytes) => {
    writeFileSync(addon, bytes);
    expect(reasonOf()).toMatch(/SHA-256/);
  });

  test.each<[string, () => void, RegExp]>([
    ["is missing", () => {}, /no such file/],
    ["is a folder", () => mkdirSync(addon), /not a file/],
    ["is a link to a device", () => symlinkSync("/dev/zero", addon), /not a file/],
    ["is a link to a missing file", () => symlinkSync("nowhere", addon), /no such file/],
    ["is a link to itself", () => symlinkSync(NAME, addon), /symbolic links/],
    ["is a link to another file", () => symlinkSync("signatures.c", addon), /SHA-256/],
    ["is a pipe", () => execFileSync("mkfifo", [addon]), /not a file/],
    ["is far too large", () => execFileSync("truncate", ["-s", "1T", addon]), /more than/],
  ])("%s", (_, place, reason) => {
    rmSync(addon);
    place();
    expect(reasonOf()).toMatch(reason);
  });
});

describe("the reference data of the addon", () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ["is missing", (path) => rmSync(path), /no such file/],
    ["is empty", (path) => truncateSync(path, 0), /no checksums/],
    ["is something else", (path) => writeFileSync(path, "{}"), /no checksums/],
  ])("refuses it if sha256sums %s", (_, damage, reason) => {
    damage(join(folder, "sha256sums"));
    expect(reasonOf()).toMatch(reason);
  });

  test("a platform without checksum has no addon", () => {
    recordSums(["known-verdicts.json"]);
    expect(loadNativeVerify(folder)).toBeUndefined();
  });

  test.each(["[]", "", "null", "[1"])("refuses it if the recorded verdicts are %j", (text) => {
    writeFileSync(join(folder, "known-verdicts.json"), text);
    expect(reasonOf()).toMatch(/SHA-256 mismatch: known-verdicts\.json/);
  });

  test("is complete: each of the recorded verdicts is required", () => {
    const path = join(folder, "known-verdicts.json");
    const known = JSON.parse(readFileSync(path, "utf8")) as KnownVerdict[];
    for (const [index, { name, isValid }] of known.entries()) {
      writeFileSync(
        path,
        JSON.stringify(
          known.with(index, { ...present(known[index], "an item of known"), isValid: !isValid }),
        ),
      );
      recordSums([NAME, "known-verdicts.json"]);
      expect(reasonOf()).toContain(`its verdict is wrong for ${name}`);
    }
    expect(known.length).toBeGreaterThan(200);
  });
});

/** The program with a copy of its folder, as on another machine. */
test("threads and the calling thread survive a truncated addon, use WebAssembly, and warn once.", () => {
  const copy = newFolder();
  for (const path of ["src", "native", "test/verification/verify-in-thread.ts"]) {
    cpSync(join(NODE, path), join(copy, "packages/node", path), { recursive: true });
  }
  symlinkSync(join(NODE, "../../node_modules"), join(copy, "node_modules"));
  const run = () =>
    spawnSync(process.execPath, [join(copy, "packages/node/test/verification/verify-in-thread.ts")], {
      encoding: "utf8",
    });
  expect(run()).toMatchObject({ status: 0, signal: null, stdout: "true,false", stderr: "" });
  truncateSync(join(copy, "packages/node/native", NAME), 40_000);
  const { status, signal, stdout, stderr } = run();
  expect({ status, signal, stdout }).toEqual({ status: 0, signal: null, stdout: "true,false" });
  expect(stderr.match(/failed to load the native addon/g)).toHaveLength(1);
  expect(stderr).toMatch(/SHA-256 mismatch: linux-x64\.node/);
});
