/** The states of a hand-over: each change continues from an expected state, or changes nothing. */
import { expect, test } from "vitest";
import { nextOwner, OWNER_STATES, type OwnerState } from "../../../src/webhooks/hand-over/owner.ts";

const ALLOWED: readonly (readonly [OwnerState, OwnerState])[] = [
  ["node", "to workers"],
  ["to workers", "workers"],
  ["to workers", "node"],
  ["workers", "to node"],
  ["to node", "node"],
  ["to node", "workers"],
];

test("A state is followed by the next step of the hand-over, or by the former owner.", () => {
  for (const from of OWNER_STATES) {
    for (const to of OWNER_STATES) {
      const change = () => nextOwner({ state: from, transfer: "a" }, { from, to, transfer: "a" });
      const isAllowed = from === to || ALLOWED.some(([a, b]) => a === from && b === to);
      if (isAllowed) expect(change(), `${from}, ${to}`).toEqual({ state: to, transfer: "a" });
      else expect(change, `${from}, ${to}`).toThrow(expect.objectContaining({ code: "OWNER_CHANGED" }));
    }
  }
});

test("A hand-over begins with its own id, and only this id continues it.", () => {
  const begun = nextOwner(
    { state: "node", transfer: "a" },
    { from: "node", to: "to workers", transfer: "b" },
  );
  expect(begun).toEqual({ state: "to workers", transfer: "b" });
  for (const to of ["workers", "node"] as const) {
    const change = { from: "to workers", to, transfer: "a" } as const;
    expect(() => nextOwner(begun, change)).toThrow(expect.objectContaining({ isRetryable: false }));
  }
});

test("A change that was made is not made again, and one of another id is refused.", () => {
  const owner = { state: "workers", transfer: "a" } as const;
  expect(nextOwner(owner, { from: "to workers", to: "workers", transfer: "a" })).toBe(owner);
  expect(() => nextOwner(owner, { from: "to workers", to: "workers", transfer: "b" })).toThrow(
    'the state of the webhooks is "workers", hand-over a, not "to workers"',
  );
});
