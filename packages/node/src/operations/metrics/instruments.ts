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

export const createGauge = (registry: Registry, name: string, help: string): Gauge =>
  new Gauge({ name, help, registers: [registry] });

export const createCounter = (registry: Registry, name: string, help: string): Counter =>
  new Counter({ name, help, registers: [registry] });

/** Sets a counter to a total that is counted elsewhere. */
export function showTotal(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}
