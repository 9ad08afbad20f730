/** The package works in a browser: it loads nothing of Node.js there. */

import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/present.ts";

const source = new URL("../../src/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("../package.json", source), "utf8"));

/** Modules named in imports and re-exports, without type imports. */
const importsOf = (code: string): string[] =>
  [...code.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^"';]*?\bfrom\s+)?"([^"]+)";/gm)].map(([, name]) =>
    present(name, "name"),
  );

/** Every module reached from the entry with the condition `browser`, and every package. */
function reached(): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [new URL("index.ts", source).href];
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const name of importsOf(readFileSync(fileURLToPath(file), "utf8"))) {
      if (name.startsWith(".")) waiting.push(new URL(name, file).href);
      else if (name.startsWith("#"))
        waiting.push(new URL(`../${manifest.imports[name].browser}`, source).href);
      else packages.add(name);
    }
  }
  return { files, packages };
}

test("No module of Node.js is loaded with the condition browser.", () => {
  const { files, packages } = reached();
  const names = [...files].map((file) => file.slice(source.href.length));
  expect(names).toContain("builders/core.ts");
  expect(names).toContain("crypto/primitives.browser.ts");
  expect(names).not.toContain("crypto/primitives.node.ts");
  expect([...packages].filter((name) => isBuiltin(name))).toEqual([]);
});

test("Every package that is loaded is a declared dependency.", () => {
  const declared = Object.keys(manifest.dependencies);
  const undeclared = [...reached().packages].filter(
    (name) => !declared.some((dependency) => name === dependency || name.startsWith(`${dependency}/`)),
  );
  expect(undeclared).toEqual([]);
});

/** Globals that only Node.js has. */
test("No global of Node.js is used.", () => {
  for (const file of reached().files) {
    const code = readFileSync(fileURLToPath(file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    expect(code.match(/\b(?:Buffer|process|__dirname|require)\b[.(]/g) ?? [], file).toEqual([]);
  }
});
