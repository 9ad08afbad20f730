/** A reader decodes what the page draws. */
import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { qrCode } from "../../src/components/qr-code.tsx";
import { readQrCode } from "../../test-support/qr-code.ts";

test.each([1, 100, 1_950, 2_953])("A text of %i characters is read from its code.", (length) => {
  const text = Array.from({ length }, (_, index) => "key 03ab\n".charAt(index % 9)).join("");
  expect(readQrCode(present(qrCode(text)))).toBe(text);
});

test("A longer text has no code.", () => {
  expect(qrCode("k".repeat(2_954))).toBeUndefined();
  expect(qrCode("é".repeat(1_477))).toBeUndefined();
});
