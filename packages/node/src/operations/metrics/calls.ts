/** Metrics of the calls to other threads. */

import type { CallFigures } from "../../platform/threads/open-calls.ts";
import { Counter, Gauge, type Registry } from "./instruments.ts";

export type CallsByThread = Readonly<Record<"consensus" | "slow", CallFigures>>;

export function createCallMetrics(registry: Registry): (calls: CallsByThread) => void {
  const options = { labelNames: ["thread"] as const, registers: [registry] };
  const open = new Gauge({
    name: "uniknode_thread_calls",
    help: "Calls to each thread that are in progress.",
    ...options,
  });
  const timedOut = new Counter({
    name: "uniknode_thread_calls_timed_out_total",
    help: "Calls to each thread that timed out.",
    ...options,
  });
  const refused = new Counter({
    name: "uniknode_thread_calls_refused_total",
    help: "Calls to each thread that were refused because too many were in progress.",
    ...options,
  });

  return (calls) => {
    timedOut.reset();
    refused.reset();
    for (const [thread, figures] of Object.entries(calls)) {
      open.set({ thread }, figures.open);
      timedOut.inc({ thread }, figures.timedOut);
      refused.inc({ thread }, figures.refused);
    }
  };
}
