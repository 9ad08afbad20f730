/** Texts of unknown size. */
import { expect, test } from "vitest";
import { readBounded } from "../../../src/platform/text/foreign.ts";

/** Parts that the reader has taken. */
async function* parts(list: readonly Uint8Array[], taken: Uint8Array[]) {
  for (const part of list) {
    taken.push(part);
    yield part;
  }
}

test("A character that is split between two parts is read.", async () => {
  const bytes = Buffer.from("é€");
  expect(await readBounded(parts([bytes.subarray(0, 1), bytes.subarray(1)], []), 5)).toBe("é€");
  expect(await readBounded(null, 5)).toBe("");
});

test("A longer text is refused, and the rest is not read.", async () => {
  const taken: Uint8Array[] = [];
  const list = [Buffer.from("abc"), Buffer.from("def"), Buffer.from("ghi")];
  await expect(readBounded(parts(list, taken), 5)).rejects.toThrow("the text is longer than 5 bytes");
  expect(taken).toHaveLength(2);
});
