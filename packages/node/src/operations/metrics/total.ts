import type { Counter } from "prom-client";

/** Shows a total that is counted elsewhere. */
export function showTotal(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}
