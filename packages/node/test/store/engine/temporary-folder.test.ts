import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TemporaryFolder } from "../../../src/store/engine/new-folder.ts";

test("A temporary folder removes those of killed processes, and none that is in use or of others.", () => {
  const parent = mkdtempSync(join(tmpdir(), "uniknode-temporary-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const prefix = `${basename(parent)}-`;
  const at = (name: string) => join(tmpdir(), `${prefix}${name}`);
  const used = new TemporaryFolder(prefix);
  // The operating system has released the lock of a killed process.
  for (const name of ["killed", "other"]) mkdirSync(at(name));
  writeFileSync(join(at("killed"), "unfinished.lock"), "");
  writeFileSync(join(at("killed"), "node.sqlite"), "a chain");
  const next = new TemporaryFolder(prefix);
  expect([used.path, next.path, at("killed"), at("other")].map(existsSync)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  used.remove();
  expect([used.path, next.path].map(existsSync)).toEqual([false, true]);
  next.remove();
  rmSync(at("other"), { recursive: true });
});

test("A temporary folder is removed while other threads create files in it.", async () => {
  const folder = new TemporaryFolder(`uniknode-busy-${process.pid}-`);
  // The thread pool creates them, as the stream that unpacks a snapshot does.
  const files = Array.from({ length: 400 }, (_, number) => writeFile(join(folder.path, String(number)), ""));
  folder.remove();
  await Promise.allSettled(files);
  expect(existsSync(folder.path)).toBe(false);
});
