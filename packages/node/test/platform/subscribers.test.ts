import { expect, test } from "vitest";
import { Subscribers } from "../../src/platform/notifier.ts";

test("Listeners are called in the order in which they subscribed, until they unsubscribe.", () => {
  const subscribers = new Subscribers<number>();
  const seen: string[] = [];
  const unsubscribe = subscribers.subscribe((value) => seen.push(`first ${value}`));
  subscribers.subscribe((value) => seen.push(`second ${value}`));
  subscribers.notify(1);
  unsubscribe();
  subscribers.notify(2);
  expect(seen).toEqual(["first 1", "second 1", "second 2"]);
});

test("A throwing listener does not prevent calls of others if errors are handled.", () => {
  const errors: unknown[] = [];
  const subscribers = new Subscribers<number>((error) => errors.push(error));
  const seen: number[] = [];
  const error = new Error("broken");
  subscribers.subscribe(() => {
    throw error;
  });
  subscribers.subscribe((value) => seen.push(value));
  subscribers.notify(1);
  expect({ errors, seen }).toEqual({ errors: [error], seen: [1] });
});

test("Without an error handler, the notifier receives the error of a listener.", () => {
  const subscribers = new Subscribers<void>();
  subscribers.subscribe(() => {
    throw new Error("broken");
  });
  expect(() => subscribers.notify()).toThrow("broken");
});
