/** Metrics of a witness: its nodes, and the tree that it signed. */
import { createGauge, type Registry } from "./instruments.ts";

export type WitnessFigures = {
  readonly size: number;
  readonly height: number;
  /** Nodes by the result of the last round. */
  readonly agreed: number;
  readonly differing: number;
  readonly failed: number;
};

export function createWitnessMetrics(registry: Registry): (figures: WitnessFigures) => void {
  const gauge = (name: string, help: string) => createGauge(registry, `uniknode_witness_${name}`, help);
  const size = gauge("signed_leaves", "Leaves of the tree of facts that this witness signed.");
  const height = gauge("signed_height", "Height of the last block of this tree.");
  const agreed = gauge("nodes_agreed", "Nodes whose tree agreed in the last round.");
  const differing = gauge("nodes_differing", "Nodes whose tree differed in the last round.");
  const failed = gauge("nodes_failed", "Nodes without a usable checkpoint in the last round.");
  return (figures) => {
    size.set(figures.size);
    height.set(figures.height);
    agreed.set(figures.agreed);
    differing.set(figures.differing);
    failed.set(figures.failed);
  };
}
