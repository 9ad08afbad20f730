/** Metrics of the process and its threads. */

import type { LoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import { createCounter, createGauge, Gauge, type Registry, showTotal } from "./instruments.ts";

/** Version, start time, memory and CPU time of the process. */
export function createUsageMetrics(registry: Registry, version: string): () => void {
  const build = new Gauge({
    name: "uniknode_build_info",
    help: "Always 1; the label has the version.",
    labelNames: ["version"],
    registers: [registry],
  });
  build.set({ version }, 1);
  const started = createGauge(
    registry,
    "uniknode_process_start_time_seconds",
    "Start time of the process, Unix time in seconds.",
  );
  started.set(Date.now() / 1_000 - process.uptime());
  const memory = createGauge(registry, "uniknode_process_resident_memory_bytes", "Memory of the process.");
  const cpu = createCounter(registry, "uniknode_process_cpu_seconds_total", "CPU time of the process.");

  return () => {
    const { user, system } = process.cpuUsage();
    showTotal(cpu, (user + system) / 1e6);
    memory.set(process.memoryUsage.rss());
  };
}

/** Heap and event loop of each thread. */
export function createThreadMetrics(
  registry: Registry,
): (thread: "consensus" | "serving" | "delivery", heapBytes: number, loopDelay: LoopDelay) => void {
  const heap = new Gauge({
    name: "uniknode_heap_used_bytes",
    help: "Heap of each thread.",
    labelNames: ["thread"],
    registers: [registry],
  });
  const delay = new Gauge({
    name: "uniknode_event_loop_delay_seconds",
    help: "Delay of timers since the last scrape, by thread.",
    labelNames: ["thread", "statistic"],
    registers: [registry],
  });

  return (thread, heapBytes, { p50, p99, max }) => {
    heap.set({ thread }, heapBytes);
    delay.set({ thread, statistic: "p50" }, p50);
    delay.set({ thread, statistic: "p99" }, p99);
    delay.set({ thread, statistic: "max" }, max);
  };
}
