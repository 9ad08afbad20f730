import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { MeteredConditions } from "../../src/subscriptions/conditions/cost.ts";
import { NO_MATCHING_OBSERVER } from "../../src/subscriptions/conditions/slices.ts";
import type { Definition } from "../../src/webhooks/matching/definitions.ts";
import { Verdicts } from "../../src/webhooks/matching/matcher.ts";
import { silent } from "../../test-support/webhooks/support.ts";

const busy = (ms: number) => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};

test("Each slice yields one verdict exactly once, however slow the register and the conditions are.", () => {
  let requested = 0;
  const slow = (id: number): Definition => ({
    ...{
      id,
      event: "peer.added",
      events: [],
      conditions: "[]",
      match: "any",
      confirmations: 0,
      activeAfter: 0,
    },
    list: [],
    names: new Map([["peer.added", "peer.added"]]),
    metered: new MeteredConditions(() => {
      requested++;
      busy(12);
      return id % 2 === 0;
    }),
  });
  const definitions = [1, 2, 3, 4].map(slow);
  const register = {
    forEvent() {
      busy(12);
      return definitions.map((definition) => ({ definition, name: "peer.added" }));
    },
  };
  const verdicts = new Verdicts({ observer: NO_MATCHING_OBSERVER, logger: silent });
  const event = { id: "peer.added:1", name: "peer.added", data: {}, sequence: 1, createdMs: 0 };
  const slices = [1, 2, 3, 4].map(() => verdicts.find([event], register));
  expect(slices).toEqual([0, 0, 0, 1]);
  expect(requested).toBe(4);
  expect(definitions.map((definition) => verdicts.of(event, definition))).toEqual([false, true, false, true]);
  // Nothing is kept after the cursor has passed it.
  expect(verdicts.find([{ ...event, sequence: 2 }], register)).toBe(0);
  expect(verdicts.of(event, present(definitions[0]))).toBeUndefined();
});
