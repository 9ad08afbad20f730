/** The bytes of a long message are decoded in steps. */
import { expect, test } from "vitest";
import { decodeText } from "../../../src/peers/wire/codec.ts";

const MIB = 1024 * 1024;

function decode(bytes: Buffer): { text: string; steps: number } {
  const decoding = decodeText(bytes);
  for (let steps = 1; ; steps++) {
    const { done, value } = decoding.next();
    if (done) return { text: value, steps };
  }
}

test.each(["a", "é", "∢", "😀", "aé∢😀"])("The text is that of the bytes: %s", (characters) => {
  const text = characters.repeat(5 * MIB).slice(0, 5 * MIB);
  const bytes = Buffer.from(text);
  const decoded = decode(bytes);
  expect(decoded.text === bytes.toString()).toBe(true);
  expect(decoded.steps).toBeGreaterThan(bytes.length / MIB);
});

test("A short message is decoded in one step.", () => {
  expect(decode(Buffer.from("é∢"))).toEqual({ text: "é∢", steps: 1 });
  expect(decode(Buffer.alloc(MIB, "a")).steps).toBe(1);
});
