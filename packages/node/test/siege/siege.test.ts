import { describe, expect, test } from "vitest";
import { ATTACKS } from "../../../../tools/siege/attacks/all.ts";
import { failures, SHORT_BOUNDS } from "../../../../tools/siege/report.ts";
import { besiege } from "../../../../tools/siege/siege.ts";

const NODES = 3;
/** Attacks without a node or network of their own. */
const NAMES = ATTACKS.filter(({ start }) => start === undefined).map(({ name }) => name);
const PARTS = Array.from({ length: NODES }, (_, part) => NAMES.filter((_, index) => index % NODES === part));

/** Each of three nodes has a third of the attacks at the same time. The long run, with all attacks: `npm run siege`. */
describe.concurrent("The node withstands", () => {
  test.each(PARTS)("%s, and others after it", async (...only) => {
    const missing: string[] = [];
    const onLeftOut = (attack: string) => missing.push(attack);
    const rows = await besiege({ attackMs: 1_000, settleMs: 300, only, onLeftOut });
    const failed = rows.flatMap((row) =>
      failures(row, SHORT_BOUNDS).map((failure) => `${row.attack}: ${failure}`),
    );
    expect(failed).toEqual([]);
    expect(rows.filter(({ offered }) => offered === 0)).toEqual([]);
    expect([...rows.map(({ attack }) => attack), ...missing].sort()).toEqual(only.sort());
  });
});
