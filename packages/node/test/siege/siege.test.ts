import { describe, expect, test } from "vitest";
import { ATTACKS } from "../../../../tools/faults/siege/attacks/all.ts";
import { failures, type Row, SHORT_BOUNDS } from "../../../../tools/faults/siege/report.ts";
import { besiege } from "../../../../tools/faults/siege/siege.ts";

const NODES = 3;
/** Attacks without a node of their own. */
const SHARED = ATTACKS.filter(({ start }) => !start);
const PARTS = Array.from({ length: NODES }, (_, part) => SHARED.filter((_, index) => index % NODES === part));

/** Each of three nodes has a third of the attacks at the same time. The long run, with all attacks: `npm run faults -- siege`. */
describe.concurrent("The node withstands", () => {
  test.each(PARTS.map((attacks) => attacks.map(({ name }) => name)))(
    "%s, and others after it",
    async (...names) => {
      const attacks = ATTACKS.filter(({ name }) => names.includes(name));
      const rows: Row[] = [];
      for await (const row of besiege(attacks, { attackMs: 1_000, settleMs: 300 })) rows.push(row);
      const failed = rows.flatMap((row) =>
        failures(row, SHORT_BOUNDS).map((failure) => `${row.attack}: ${failure}`),
      );
      expect(failed).toEqual([]);
      expect(rows.filter(({ offered }) => offered === 0)).toEqual([]);
      expect(rows.map(({ attack }) => attack)).toEqual(names);
    },
  );
});
