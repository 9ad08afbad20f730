import { expect, test } from "vitest";
import { createSubscribers } from "../../src/platform/notifier.ts";

test("Listeners are called in the order in which they subscribed, until they unsubscribe.", () => {
  const { subscribe, notify } = createSubscribers<number>();
  const seen: string[] = [];
  const unsubscribe = subscribe((value) => seen.push(`first ${value}`));
  subscribe((value) => seen.push(`second ${value}`));
  notify(1);
  unsubscribe();
  notify(2);
  expect(seen).toEqual(["first 1", "second 1", "second 2"]);
});

test("A throwing listener does not prevent calls of others if errors are handled.", () => {
  const errors: unknown[] = [];
  const { subscribe, notify } = createSubscribers<number>((error) => errors.push(error));
  const seen: number[] = [];
  const error = new Error("broken");
  subscribe(() => {
    throw error;
  });
  subscribe((value) => seen.push(value));
  notify(1);
  expect({ errors, seen }).toEqual({ errors: [error], seen: [1] });
});

test("Without an error handler, the notifier receives the error of a listener.", () => {
  const { subscribe, notify } = createSubscribers<void>();
  subscribe(() => {
    throw new Error("broken");
  });
  expect(() => notify()).toThrow("broken");
});
