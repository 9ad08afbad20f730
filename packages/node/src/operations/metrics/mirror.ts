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
  return (figures) => {
    up.set(figures.isRunning ? 1 : 0);
    showTotal(starts, figures.starts);
    height.set(figures.height);
  };
}
