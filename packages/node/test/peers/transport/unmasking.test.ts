/** A damaged `bufferutil` ends the process when it is loaded or called: it must be refused before. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findFault } from "../../../src/peers/transport/unmasking.ts";
import { CheckedFiles } from "../../../src/platform/files/checked-files.ts";
import { present } from "../../../src/platform/present.ts";

const NODE = join(import.meta.dirname, "../../..");
const MODULES = join(NODE, "../../node_modules");
const ADDON = "linux-x64/bufferutil.node";

const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "uniknode-unmasking-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

describe("the addon is used", () => {
  test("The addon is used as it was installed.", () => {
    expect(findFault()).toBeUndefined();
  });

  test("The addon is used on every platform: the checksums are those of the installed release.", () => {
    const folder = join(MODULES, "bufferutil/prebuilds");
    const files = new CheckedFiles(folder, join(NODE, "native/bufferutil-sha256sums"));
    const names = readdirSync(folder).map((platform) => `${platform}/bufferutil.node`);
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(files.read(name).length).toBeGreaterThan(1_000);
  });
});

test.each<[string, (path: string) => void, RegExp]>([
  ["is truncated", (path) => truncateSync(path, 4_000), /SHA-256 mismatch: linux-x64/],
  ["has an altered byte", (path) => alter(path), /SHA-256 mismatch: linux-x64/],
  ["is missing", (path) => rmSync(path), /no such file/],
])("an addon that %s is refused, with the reason", (_, damage, reason) => {
  const folder = join(newFolder(), "prebuilds");
  cpSync(join(MODULES, "bufferutil/prebuilds"), folder, { recursive: true });
  expect(findFault(folder)).toBeUndefined();
  damage(join(folder, ADDON));
  expect(findFault(folder)).toMatch(reason);
});

function alter(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = present(bytes[middle]) ^ 1;
  writeFileSync(path, bytes);
}

/** The program with a copy of its packages, as on another machine. */
describe("a process that exchanges frames", () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), "uniknode-unmasking-"));
    const node = join(copy, "packages/node");
    for (const path of ["src", "native", "test/peers/transport/echo-frame.ts"]) {
      cpSync(join(NODE, path), join(node, path), { recursive: true });
    }
    for (const name of ["ws", "bufferutil"]) {
      cpSync(join(MODULES, name), join(node, "node_modules", name), { recursive: true });
    }
    symlinkSync(MODULES, join(copy, "node_modules"));
    return () => rmSync(copy, { recursive: true, force: true });
  });

  const run = () => {
    const script = join(copy, "packages/node/test/peers/transport/echo-frame.ts");
    const { status, signal, stdout } = spawnSync(process.execPath, [script], { encoding: "utf8" });
    expect({ status, signal }).toEqual({ status: 0, signal: null });
    return JSON.parse(stdout) as { isEqual: boolean; isNative: boolean; fault: string | null };
  };

  test("A process that exchanges frames uses an intact addon, and survives a truncated one.", () => {
    expect(run()).toEqual({ isEqual: true, isNative: true, fault: null });
    truncateSync(join(copy, "packages/node/node_modules/bufferutil/prebuilds", ADDON), 4_000);
    const { fault, ...rest } = run();
    expect(rest).toEqual({ isEqual: true, isNative: false });
    expect(fault).toMatch(/SHA-256 mismatch/);
  });
});
