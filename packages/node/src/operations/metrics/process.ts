/** Metrics of the log, the database, and the disk with the data folder. */
import { Counter, Gauge, type Registry, showTotal } from "./instruments.ts";

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

export type ProcessMetrics = {
  /** @param consensusLinesLost undefined if the consensus thread did not reply; the last value is kept */
  show(figures: ProcessFigures, consensusLinesLost: number | undefined): void;
};

export function createProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry];
  const linesLost = new Counter({
    name: "uniknode_log_lines_lost_total",
    help: "Log lines lost because they could not be written, by thread.",
    labelNames: ["thread"],
    registers,
  });
  const failedWrites = new Counter({
    name: "uniknode_disk_failed_writes_total",
    help: "Failed writes to the database because the disk is full or not writable.",
    registers,
  });
  const freeBytes = new Gauge({
    name: "uniknode_disk_free_bytes",
    help: "Free bytes on the disk of the data folder.",
    registers,
  });
  const logPages = new Gauge({
    name: "uniknode_database_log_pages",
    help: "Pages of 4 KiB in the write-ahead log of the database.",
    registers,
  });
  const inspections = new Counter({
    name: "uniknode_database_inspections_total",
    help: "Database inspections, by outcome: sound, damaged, failed.",
    labelNames: ["outcome"],
    registers,
  });
  const isDamaged = new Gauge({
    name: "uniknode_database_damaged",
    help: "1 if the last inspection found damage in the database, else 0.",
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
      logPages.set(figures.logPages);
      const { damage, ...outcomes } = figures.inspections;
      inspections.reset();
      for (const [outcome, total] of Object.entries(outcomes)) inspections.inc({ outcome }, total);
      isDamaged.set(damage === undefined ? 0 : 1);
    },
  };
}
