import type { Counter } from "prom-client";

/** Sets a counter to a total that is counted elsewhere. */
export function showTotal(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}
