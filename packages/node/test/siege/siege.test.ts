import { expect, test } from "vitest";
import { failures, SHORT_BOUNDS } from "../../../../tools/siege/report.ts";
import { besiege } from "../../../../tools/siege/siege.ts";

/** The long run, with the attacks that need their own node or network: `npm run siege`. */
test("The node withstands every attack", { timeout: 300_000 }, async () => {
  const rows = await besiege({ attackMs: 1_000, settleMs: 300, isShort: true });
  const failed = rows.flatMap((row) =>
    failures(row, SHORT_BOUNDS).map((failure) => `${row.attack}: ${failure}`),
  );
  expect(failed).toEqual([]);
  expect(rows.filter(({ offered }) => offered === 0)).toEqual([]);
});
