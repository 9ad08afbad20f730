import { expect, test } from "vitest";
import { createEpochFence } from "../../src/index.ts";

test("Deliveries of a former owner are refused, by webhook.", () => {
  const fence = createEpochFence();
  const accepts = (webhookId: number, epoch: number) => fence.accepts({ webhookId, epoch });
  expect([accepts(1, 2), accepts(1, 2), accepts(2, 1), accepts(1, 1), accepts(1, 3), accepts(1, 2)]).toEqual([
    true,
    true,
    true,
    false,
    true,
    false,
  ]);
});

test("Deliveries without an epoch are accepted at any time.", () => {
  const fence = createEpochFence();
  expect(fence.accepts({ webhookId: 1, epoch: 2 })).toBe(true);
  expect(fence.accepts({ webhookId: 1 })).toBe(true);
  expect(fence.accepts({ webhookId: 1, epoch: 1 })).toBe(false);
});
