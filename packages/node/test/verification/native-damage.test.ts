/** A damaged addon ends the process when it is loaded or called: it must be refused before. So must a damaged module. */

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
import {
  CompiledCodeError,
  type KnownVerdict,
  loadNativeVerify,
  loadWebAssemblyVerify,
} from "../../src/verification/native.ts";

const NODE = join(import.meta.dirname, "../..");
const NAME = "linux-x64.node";
const MODULE = "signatures.wasm";

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

const reasonOf = (load = loadNativeVerify, path = addon): string => {
  try {
    load(folder);
  } catch (error) {
    expect(error).toBeInstanceOf(CompiledCodeError);
    expect(error).toMatchObject({ code: "COMPILED_CODE", path, isRetryable: false });
    return (error as Error).message;
  }
  return "used";
};

const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Records the current checksums of the files. */
const recordSums = (names: readonly string[], of = folder) =>
  writeFileSync(join(of, "sha256sums"), names.map((name) => `${sumOf(join(of, name))}  ${name}\n`).join(""));

describe("the addon is used", () => {
  test("The addon is used as it was built.", () => {
    expect(reasonOf()).toBe("used");
  });

  test("The addon is used through a symbolic link, such as that of a package manager.", () => {
    renameSync(addon, join(folder, "..", "stored"));
    symlinkSync(join("..", "stored"), addon);
    expect(reasonOf()).toBe("used");
  });
});

describe("the addon is refused, with the reason, if it", () => {
  test("The addon is refused, with the reason, if it has one altered bit, wherever it is.", () => {
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

  test.each([0, 1, 63, 64, 4_096, 50_000, -1])(
    "The addon is refused, with the reason, if it is cut to %i bytes.",
    (length) => {
      const whole = readFileSync(addon).length;
      truncateSync(addon, length < 0 ? whole + length : length);
      expect(reasonOf()).toMatch(/SHA-256 mismatch: linux-x64\.node/);
    },
  );

  test("The addon is refused, with the reason, if it is longer.", () => {
    writeFileSync(addon, "\0", { flag: "a" });
    expect(reasonOf()).toMatch(/SHA-256/);
  });

  test("The addon is refused, with the reason, if it is built for another processor.", () => {
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
  ])("The addon is refused, with the reason, if it is another file: %s.", (_, bytes) => {
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

  test("A platform without checksum has no addon.", () => {
    recordSums(["known-verdicts.json"]);
    expect(loadNativeVerify(folder)).toBeUndefined();
  });

  test.each(["[]", "", "null", "[1"])(
    "The reference data refuses the addon if the recorded verdicts are %j.",
    (text) => {
      writeFileSync(join(folder, "known-verdicts.json"), text);
      expect(reasonOf()).toMatch(/SHA-256 mismatch: known-verdicts\.json/);
    },
  );

  test("The reference data of the addon is complete: each of the recorded verdicts is required.", () => {
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

const I32 = 0x7f;
const END = 0x0b;

/** A module with the exports of signatures.wasm, of which `verify` consists of `code`. */
const moduleWith = (code: readonly number[]): Uint8Array => {
  const vector = (items: readonly (readonly number[])[]) => [items.length, ...items.flat()];
  const section = (id: number, content: readonly number[]) => [id, content.length, ...content];
  const exported = (name: string, kind: number, index: number) => [
    ...[name.length, ...Buffer.from(name)],
    ...[kind, index],
  ];
  const functions = ["_initialize", "buffer", "verify"];
  const exports = [exported("memory", 2, 0), ...functions.map((name, index) => exported(name, 0, index))];
  const body = (instructions: readonly number[]) => [instructions.length + 2, 0, ...instructions, END];
  return Uint8Array.of(
    ...[0, ...Buffer.from("asm"), 1, 0, 0, 0],
    // Types and functions: () => void, () => i32, (i32) => i32.
    ...section(
      1,
      vector([
        [0x60, 0, 0],
        [0x60, 0, 1, I32],
        [0x60, 1, I32, 1, I32],
      ]),
    ),
    ...section(3, vector([[0], [1], [2]])),
    ...section(5, vector([[0, 1]])),
    ...section(7, vector(exports)),
    ...section(10, vector([body([]), body([0x41, 0]), body(code)])),
  );
};
const TRAP = [0x00];
/** i32.const 0: a verdict of a table differs from that of the library. */
const DIFFERS = [0x41, 0];
/** i32.const 1: all verdicts are the bytes of an empty memory. */
const REFUSES = [0x41, 1];

describe("the module for WebAssembly is refused, with the reason, if it", () => {
  const moduleReason = () => reasonOf(loadWebAssemblyVerify, join(folder, MODULE));

  test.each<[string, Uint8Array | string, RegExp]>([
    ["is another file", "module", /WebAssembly/],
    ["traps", moduleWith(TRAP), /unreachable/],
    ["refuses all signatures", moduleWith(REFUSES), /its verdict is wrong for ecdsa: a valid signature/],
  ])("%s, even if its checksum is recorded", (_, bytes, reason) => {
    expect(moduleReason()).toBe("used");
    writeFileSync(join(folder, MODULE), bytes);
    expect(moduleReason()).toMatch(/SHA-256 mismatch: signatures\.wasm/);
    recordSums([NAME, MODULE, "known-verdicts.json"]);
    expect(moduleReason()).toMatch(reason);
  });

  test("is missing", () => {
    rmSync(join(folder, MODULE));
    expect(moduleReason()).toMatch(/no such file/);
  });
});

/** Runs the program with a copy of its folder, as on another machine. */
function runCopy(change: (native: string) => void) {
  const copy = newFolder();
  for (const path of ["src", "native", "test/verification/verify-in-thread.ts"]) {
    cpSync(join(NODE, path), join(copy, "packages/node", path), { recursive: true });
  }
  symlinkSync(join(NODE, "../../node_modules"), join(copy, "node_modules"));
  change(join(copy, "packages/node/native"));
  return spawnSync(process.execPath, [join(copy, "packages/node/test/verification/verify-in-thread.ts")], {
    encoding: "utf8",
  });
}
const VERDICTS = "true,false";

test("Threads use the addon, without it the module, and without both libauth, and warn once.", () => {
  const addonOnly = runCopy(() => {});
  expect(addonOnly).toMatchObject({ status: 0, stdout: `libsecp256k1 (native) ${VERDICTS}`, stderr: "" });

  const truncated = runCopy((native) => truncateSync(join(native, NAME), 40_000));
  expect(truncated).toMatchObject({
    ...{ status: 0, signal: null },
    stdout: `libsecp256k1 (WebAssembly) ${VERDICTS}`,
  });
  expect(truncated.stderr.match(/failed to load libsecp256k1/g)).toHaveLength(1);
  expect(truncated.stderr).toMatch(/SHA-256 mismatch: linux-x64\.node/);

  const both = runCopy((native) => {
    for (const name of [NAME, MODULE]) truncateSync(join(native, name), 40_000);
  });
  expect(both).toMatchObject({ status: 0, signal: null, stdout: `libauth (WebAssembly) ${VERDICTS}` });
  expect(both.stderr.match(/failed to load libsecp256k1/g)).toHaveLength(1);
});

test("A machine without addon uses the module without a warning.", () => {
  const other = runCopy((native) => recordSums([MODULE, "known-verdicts.json"], native));
  expect(other).toMatchObject({
    ...{ status: 0, signal: null, stderr: "" },
    stdout: `libsecp256k1 (WebAssembly) ${VERDICTS}`,
  });
});

test("A thread ends the process if a table of the module differs from the library.", () => {
  const ended = runCopy((native) => {
    writeFileSync(join(native, MODULE), moduleWith(DIFFERS));
    recordSums([MODULE, "known-verdicts.json"], native);
  });
  expect(ended).toMatchObject({ signal: "SIGKILL", stdout: "" });
  expect(ended.stderr).toContain("the table of a key and libsecp256k1 differ about a signature");
});
