import { describe, expect, test } from "vitest";
import { ATTACKS } from "../../test-support/faults/siege/attacks/all.ts";
import { SHORT_BOUNDS } from "../../test-support/faults/siege/report.ts";
import { type AttackReport, besiege } from "../../test-support/faults/siege/siege.ts";

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
      const course = { attackMs: 1_000, settleMs: 300, bounds: SHORT_BOUNDS };
      const reports: AttackReport[] = [];
      for await (const report of besiege(attacks, course)) reports.push(report);
      expect(reports.flatMap(({ attack, faults }) => faults.map((fault) => `${attack}: ${fault}`))).toEqual(
        [],
      );
      expect(reports.filter(({ figures }) => figures.offered === 0)).toEqual([]);
      expect(reports.map(({ attack }) => attack)).toEqual(names);
    },
  );
});
