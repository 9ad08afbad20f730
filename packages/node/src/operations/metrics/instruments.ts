/**
 * The instruments of prom-client that this node uses. Its main entry would also load default metrics, a push
 * gateway and the OpenTelemetry interface: 80 more modules.
 */
import { createRequire } from "node:module";
import type * as PromClient from "prom-client";

const load = createRequire(import.meta.url);

export const Counter: typeof PromClient.Counter = load("prom-client/lib/counter");
export type Counter<T extends string = string> = PromClient.Counter<T>;
export const Gauge: typeof PromClient.Gauge = load("prom-client/lib/gauge");
export type Gauge<T extends string = string> = PromClient.Gauge<T>;
export const Histogram: typeof PromClient.Histogram = load("prom-client/lib/histogram");
export type Histogram<T extends string = string> = PromClient.Histogram<T>;
export const Registry: typeof PromClient.Registry = load("prom-client/lib/registry");
export type Registry = PromClient.Registry;

/** Creates functions that create instruments in a registry, with the labels that are named. */
export function instrumentsOf(registry: Registry) {
  const registers = [registry];
  return {
    gauge: <L extends string = never>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
      new Gauge({ name, help, labelNames, registers }),
    counter: <L extends string = never>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
      new Counter({ name, help, labelNames, registers }),
  };
}

export type Instruments = ReturnType<typeof instrumentsOf>;

/** Sets a counter to a total that is counted elsewhere. */
export function showTotal(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}

/** Sets a counter with one label to the totals of each value, which are counted elsewhere. */
export function showTotals(counter: Counter, totals: Readonly<Record<string, number>>): void {
  counter.reset();
  for (const [value, total] of Object.entries(totals)) counter.labels(value).inc(total);
}
