/** Metrics of what the process writes: the log, and the disk of the data. */
import { Counter, Gauge, type Registry } from "prom-client";
import { showTotal } from "./total.ts";

export type ProcessFigures = {
  /** Of the serving thread. */
  readonly logLinesLost: number;
  /** Writes to the database that failed for lack of a disk. */
  readonly failedWrites: number;
  /** Of the disk of the data; undefined while it is not known. */
  readonly freeBytes: number | undefined;
};

export type ProcessMetrics = {
  /** @param consensusLinesLost undefined: the thread of consensus did not answer */
  show(figures: ProcessFigures, consensusLinesLost: number | undefined): void;
};

export function createProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry];
  const linesLost = new Counter({
    name: "uniknode_log_lines_lost_total",
    help: "Lines of the log that could not be written, by thread.",
    labelNames: ["thread"],
    registers,
  });
  const failedWrites = new Counter({
    name: "uniknode_disk_failed_writes_total",
    help: "Writes to the database that failed because the disk is full or cannot be written.",
    registers,
  });
  const freeBytes = new Gauge({
    name: "uniknode_disk_free_bytes",
    help: "Free space of the disk of the data.",
    registers,
  });
  let consensusLines = 0;

  return {
    show(figures, consensusLinesLost = consensusLines) {
      consensusLines = consensusLinesLost;
      linesLost.reset();
      linesLost.inc({ thread: "consensus" }, consensusLines);
      linesLost.inc({ thread: "serving" }, figures.logLinesLost);
      showTotal(failedWrites, figures.failedWrites);
      freeBytes.set(figures.freeBytes ?? Number.NaN);
    },
  };
}
