import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");

test("The binary of the addon is the one that its guide says how to build.", () => {
  const binary = readFileSync(join(ROOT, "packages/node/native/linux-x64.node"));
  const guide = readFileSync(join(ROOT, "docs/guides/accelerator.md"), "utf8");
  expect(guide).toContain(createHash("sha256").update(binary).digest("hex"));
});

test("sha256sums has the checksums of the files that are loaded.", () => {
  const folder = join(ROOT, "packages/node/native");
  const sums = ["linux-x64.node", "known-verdicts.json"].map((name) => {
    const sum = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return `${sum}  ${name}\n`;
  });
  expect(readFileSync(join(folder, "sha256sums"), "utf8")).toBe(sums.join(""));
});
