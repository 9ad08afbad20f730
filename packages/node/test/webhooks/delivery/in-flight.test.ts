import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { InFlight } from "../../../src/webhooks/delivery/under-way.ts";

function open() {
  const graces: { delayMs: number; end: () => void }[] = [];
  const inFlight = new InFlight({
    after(delayMs, end) {
      graces.push({ delayMs, end });
      return () => void graces.pop();
    },
  });
  return { inFlight, graces };
}

test("A request counts until it ends.", async () => {
  const { inFlight } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  inFlight.begin(1, () => promise);
  expect(inFlight.size()).toBe(1);
  resolve();
  await inFlight.close(100);
  expect(inFlight.size()).toBe(0);
});

test("Requests that exceed the grace period are aborted, and closing waits for them.", async () => {
  const { inFlight, graces } = open();
  let isGivenUp = false;
  inFlight.begin(
    1,
    (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          isGivenUp = true;
          resolve();
        });
      }),
  );
  const closing = inFlight.close(100);
  expect(graces.map(({ delayMs }) => delayMs)).toEqual([100]);
  expect(isGivenUp).toBe(false);
  present(graces[0]).end();
  await closing;
  expect([isGivenUp, graces.length]).toEqual([true, 0]);
});
