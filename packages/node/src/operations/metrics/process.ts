/** Metrics of a process: its log, its database and the disk with the data folder, its resource usage, and its threads. */
import type { LoopDelay } from "../../platform/lifecycle/event-loop.ts";
import { instrumentsOf, type Registry, showTotal, showTotals } from "./instruments.ts";

export type ProcessFigures = {
  /** Lines lost in the serving thread. */
  readonly logLinesLost: number;
  /** Failed writes to the database because the disk is full or not writable. */
  readonly failedWrites: number;
  /** Free bytes of the disk with the data folder; undefined while unknown. */
  readonly freeBytes: number | undefined;
  /** Pages in the write-ahead log of the database. */
  readonly logPages: number;
  /** Inspections of the database by their outcome, and the damage that the last one found. */
  readonly inspections: {
    readonly sound: number;
    readonly damaged: number;
    readonly failed: number;
    readonly damage?: string;
  };
};

/** Returns a function whose second parameter is undefined if the consensus thread did not reply; the last value is kept. */
export function createProcessMetrics(
  registry: Registry,
): (figures: ProcessFigures, consensusLinesLost: number | undefined) => void {
  const { gauge, counter } = instrumentsOf(registry);
  const linesLost = counter(
    "uniknode_log_lines_lost_total",
    "Log lines lost because they could not be written, by thread.",
    "thread",
  );
  const failedWrites = counter(
    "uniknode_disk_failed_writes_total",
    "Failed writes to the database because the disk is full or not writable.",
  );
  const freeBytes = gauge("uniknode_disk_free_bytes", "Free bytes on the disk of the data folder.");
  const logPages = gauge(
    "uniknode_database_log_pages",
    "Pages of 4 KiB in the write-ahead log of the database.",
  );
  const inspections = counter(
    "uniknode_database_inspections_total",
    "Database inspections, by outcome: sound, damaged, failed.",
    "outcome",
  );
  const isDamaged = gauge(
    "uniknode_database_damaged",
    "1 if the last inspection found damage in the database, else 0.",
  );
  let consensusLines = 0;

  return (figures, consensusLinesLost = consensusLines) => {
    consensusLines = consensusLinesLost;
    showTotals(linesLost, { consensus: consensusLines, serving: figures.logLinesLost });
    showTotal(failedWrites, figures.failedWrites);
    freeBytes.set(figures.freeBytes ?? Number.NaN);
    logPages.set(figures.logPages);
    const { damage, ...outcomes } = figures.inspections;
    showTotals(inspections, outcomes);
    isDamaged.set(damage === undefined ? 0 : 1);
  };
}

/** Creates the metrics of the version, start time, memory and CPU time of the process. */
export function createUsageMetrics(registry: Registry, version: string): () => void {
  const { gauge, counter } = instrumentsOf(registry);
  const build = gauge("uniknode_build_info", "Always 1; the label has the version.", "version");
  build.set({ version }, 1);
  const started = gauge(
    "uniknode_process_start_time_seconds",
    "Start time of the process, Unix time in seconds.",
  );
  started.set(Date.now() / 1_000 - process.uptime());
  const memory = gauge("uniknode_process_resident_memory_bytes", "Memory of the process.");
  const cpu = counter("uniknode_process_cpu_seconds_total", "CPU time of the process.");

  return () => {
    const { user, system } = process.cpuUsage();
    showTotal(cpu, (user + system) / 1e6);
    memory.set(process.memoryUsage.rss());
  };
}

/** Creates the metrics of the heap and event loop of each thread. */
export function createThreadMetrics(
  registry: Registry,
): (thread: "consensus" | "serving" | "delivery", heapBytes: number, loopDelay: LoopDelay) => void {
  const { gauge } = instrumentsOf(registry);
  const heap = gauge("uniknode_heap_used_bytes", "Heap of each thread.", "thread");
  const delay = gauge(
    "uniknode_event_loop_delay_seconds",
    "Delay of timers since the last scrape, by thread.",
    "thread",
    "statistic",
  );

  return (thread, heapBytes, { p50, p99, max }) => {
    heap.set({ thread }, heapBytes);
    delay.set({ thread, statistic: "p50" }, p50);
    delay.set({ thread, statistic: "p99" }, p99);
    delay.set({ thread, statistic: "max" }, max);
  };
}
