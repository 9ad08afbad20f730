/** The table of error codes against the sources that throw them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CHAPTERS } from "../../src/http/core/error-codes.ts";

const SOURCE = join(import.meta.dirname, "../../src");
const TABLE = "http/core/error-codes.ts";
const texts = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && path !== TABLE)
  .map((path) => readFileSync(join(SOURCE, path), "utf8"));
const codes = Object.values(ERROR_CHAPTERS).flatMap((chapter) => Object.keys(chapter));

// The compiler ensures that no code outside of the table is thrown.
test("Every code of the table is thrown somewhere.", () => {
  expect(codes.filter((code) => !texts.some((text) => text.includes(`"${code}"`)))).toEqual([]);
});

test("Each code is listed once, with its meaning and the next step.", () => {
  expect(new Set(codes).size).toBe(codes.length);
  for (const [code, { why, next }] of Object.values(ERROR_CHAPTERS).flatMap(Object.entries)) {
    expect([code, why]).toEqual([code, expect.stringMatching(/^.{10,}\.$/)]);
    expect([code, next]).toEqual([code, expect.stringMatching(/^.{3,}[^.]$/)]);
  }
});
