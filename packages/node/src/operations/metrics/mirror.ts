/** Metrics of the mirror process that a node starts. */
import type { MirrorFigures } from "../../gateway/figures.ts";
import { createCounter, createGauge, type Registry, showTotal } from "./instruments.ts";

export function createMirrorMetrics(registry: Registry): (figures: MirrorFigures) => void {
  const up = createGauge(registry, "uniknode_mirror_up", "1 if the mirror process runs, else 0.");
  const starts = createCounter(
    registry,
    "uniknode_mirror_starts_total",
    "Starts of the mirror process since the node started.",
  );
  const height = createGauge(
    registry,
    "uniknode_mirror_height",
    "Height of the last block of the mirror; 0 if unknown.",
  );
  const lastEvent = createGauge(
    registry,
    "uniknode_mirror_last_event",
    "Sequence of the last event that the mirror has copied; 0 if unknown.",
  );
  const gaps = createCounter(
    registry,
    "uniknode_mirror_event_gaps_total",
    "Times that events were missing in the log of the node, since the database was created.",
  );
  return (figures) => {
    up.set(figures.isRunning ? 1 : 0);
    showTotal(starts, figures.starts);
    height.set(figures.height);
    lastEvent.set(figures.lastEvent);
    showTotal(gaps, figures.eventGaps);
  };
}
