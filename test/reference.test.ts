import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePages } from "../tools/reference.ts";

/** `npm run reference` writes them. */
test.each(Object.entries(await referencePages()))("%s is generated from the code", (path, content) => {
  expect(readFileSync(path, "utf8")).toBe(content);
});
