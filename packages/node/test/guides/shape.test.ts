/** Outputs that match the text of a page, and others that do not. */
import { expect, test } from "vitest";
import { isShapeOf } from "../../test-support/guides/shape.ts";

test.each([
  ["other numbers and hashes", "block 12  804a0225d300  empty", "block 7  0c2f11aa90be  empty", true],
  ["another address of the node", "API  http://127.0.0.1:4003/api", "API  http://127.0.0.1:20111/api", true],
  ["other passphrases", `${"abandon ".repeat(11)}about`, `${"zoo ".repeat(11)}wrong`, true],
  ["lines between those shown", "height 1\nsynced yes", "height 1\npeers 0\nsynced yes", true],
  ["omitted lines", "accepted; ...", "accepted; pending until a block contains it", true],
  ["another word", "synced yes", "synced no", false],
  ["a missing line", "height 1\nsynced yes", "height 1", false],
  ["another order of lines", "height 1\nsynced yes", "synced yes\nheight 1", false],
  ["JSON with other values", '{"id": 1, "state": "x"}', '{"state":"y","id":2,"more":3}', true],
  ["JSON without a member", '{"id": 1, "state": "x"}', '{"id":2}', false],
])("%s", (_what, shown, printed, expected) => {
  expect(isShapeOf(shown, printed)).toBe(expected);
});
