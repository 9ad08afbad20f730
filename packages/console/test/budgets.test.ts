/** Download size of a page, compressed as the node does it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { present } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuiltFile, buildConsole } from "../test-support/build.ts";

const KILOBYTE = 1_024;

let folder: string;
let manifest: Readonly<Record<string, BuiltFile>>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-console-"));
  manifest = buildConsole(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Compressed bytes of the requested files. */
const sizes = new Map<string, number>();

function sizeOf(file: string): number {
  const bytes = sizes.get(file) ?? brotliCompressSync(readFileSync(join(folder, file))).length;
  sizes.set(file, bytes);
  return bytes;
}

const compressedBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + sizeOf(file), 0);

/** A script with all of its imports. */
function loadedWith({ file, imports = [] }: BuiltFile, files = new Set<string>()): Set<string> {
  if (!files.has(file)) {
    files.add(file);
    for (const name of imports) loadedWith(present(manifest[name]), files);
  }
  return files;
}

const initial = (): Set<string> =>
  loadedWith(present(Object.values(manifest).find(({ isEntry }) => isEntry)));
const built = (extension: string): string[] =>
  readdirSync(join(folder, "assets"))
    .filter((name) => name.endsWith(extension))
    .map((name) => `assets/${name}`);

test("The first page loads at most 20 kB of JavaScript before it shows anything.", () => {
  expect(compressedBytes(initial())).toBeLessThanOrEqual(20 * KILOBYTE);
});

test("Each screen loads at most 15 kB more.", () => {
  const screens = Object.entries(manifest).filter(([name]) => name.startsWith("src/screens/"));
  expect(screens.length).toBeGreaterThan(10);
  const loaded = screens.map(([name, screen]) => {
    const more = [...loadedWith(screen)].filter((file) => !initial().has(file));
    return { name, bytes: compressedBytes(more) };
  });
  expect(loaded.filter(({ bytes }) => bytes > 15 * KILOBYTE)).toEqual([]);
});

/** The example receivers, which a screen loads as text. */
const isReceivers = (file: string): boolean => file.startsWith("assets/receiver-code-");

test("All scripts have at most 150 kB, the receivers that they show 5 kB, the style sheets 8 kB.", () => {
  const scripts = built(".js");
  expect(scripts.filter(isReceivers)).toHaveLength(1);
  expect(compressedBytes(scripts.filter(isReceivers))).toBeLessThanOrEqual(5 * KILOBYTE);
  expect(compressedBytes(scripts.filter((file) => !isReceivers(file)))).toBeLessThanOrEqual(150 * KILOBYTE);
  expect(compressedBytes(built(".css"))).toBeLessThanOrEqual(8 * KILOBYTE);
});

test("A document has at most 32 kB, and the words of all for the search 296 kB.", () => {
  const pages = readdirSync(join(folder, "documents/pages"), { recursive: true, encoding: "utf8" });
  const files = pages.filter((name) => name.endsWith(".json")).map((name) => `documents/pages/${name}`);
  expect(files.length).toBeGreaterThan(50);
  const large = files.filter((file) => statSync(join(folder, file)).size > 32 * KILOBYTE);
  expect(large.filter((file) => compressedBytes([file]) > 32 * KILOBYTE)).toEqual([]);
  expect(compressedBytes(["documents/search.json"])).toBeLessThanOrEqual(296 * KILOBYTE);
});

test("No script contains the parser of the documents.", () => {
  const scripts = built(".js").map((file) => readFileSync(join(folder, file), "utf8"));
  expect(scripts.filter((script) => /blockquote\W.*\bcodespan\b/s.test(script))).toEqual([]);
});
