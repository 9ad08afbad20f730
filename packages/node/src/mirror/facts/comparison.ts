/** Compares the Merkle tree of final facts of a mirror with the tree of its node. */
import type { Logger } from "pino";
import { MirrorError } from "../error.ts";
import type { Checkpoint } from "../line.ts";
import type { FactMark } from "./growth.ts";

export type FactComparison = {
  /** Adds marks of blocks that the tree of the mirror has passed. */
  add(marks: readonly FactMark[]): void;
  /**
   * Compares a checkpoint of the node with the mark of the same block. Ignores it if there is none: the two trees grow
   * at different times.
   *
   * @throws {MirrorError} MIRROR_DIFFERS
   */
  compare(checkpoint: Checkpoint): void;
};

/** Maximum number of cached marks. */
const MAX_MARKS = 1_000;

export function createFactComparison(logger: Pick<Logger, "info" | "debug">): FactComparison {
  /** Marks by height, oldest first. */
  const marks = new Map<number, FactMark>();
  let isFirst = true;
  return {
    add(passed) {
      for (const mark of passed.slice(-MAX_MARKS)) {
        marks.delete(mark.height);
        marks.set(mark.height, mark);
      }
      for (const height of marks.keys()) {
        if (marks.size <= MAX_MARKS) return;
        marks.delete(height);
      }
    },
    compare({ height, id, size, root }) {
      const own = marks.get(height);
      if (own?.id !== id) return;
      const ownRoot = Buffer.from(own.root).toString("hex");
      if (own.size !== size || ownRoot !== root) {
        throw new MirrorError(
          "MIRROR_DIFFERS",
          `the facts of the blocks up to ${height} differ: ${own.size} facts with the root ${ownRoot} in the mirror, ` +
            `${size} with the root ${root} in the node; run "uniknode mirror --check", which names the rows that differ, ` +
            "and start the mirror with an empty database",
        );
      }
      logger[isFirst ? "info" : "debug"]({ height, size, root }, "the facts agree with those of the node");
      isFirst = false;
    },
  };
}
