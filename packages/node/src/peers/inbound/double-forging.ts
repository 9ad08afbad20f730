/** Detects delegates that sign two blocks for one slot. */
import type { BlockHeader, Network, Slots } from "@uniknode/protocol";
import { headerSignatureJob, verifyHeaderJob } from "@uniknode/protocol";
import type { Logger } from "pino";
import { deleteOldest } from "../../platform/bounded-entries.ts";

export type DoubleForgingDeps = {
  readonly network: Network;
  readonly slots: Slots;
  /** Header of this node's chain at a height. */
  readonly header: (height: number) => BlockHeader | undefined;
  readonly logger: Logger;
};

export type DoubleForging = {
  /** Compares a received header with the chain, and logs double forging once per block. */
  check(header: BlockHeader): void;
};

/** Blocks that are remembered as logged. */
const MAX_REPORTED = 1_000;

export function createDoubleForging({ network, slots, header, logger }: DoubleForgingDeps): DoubleForging {
  const reported = new Set<string>();

  return {
    check(other) {
      const { height, generatorPublicKey, id } = other;
      const ours = header(height);
      if (!ours || ours.id === id || ours.generatorPublicKey !== generatorPublicKey) return;
      if (slots.slotAt(ours.timestamp) !== slots.slotAt(other.timestamp) || reported.has(id)) return;
      if (verifyHeaderJob(headerSignatureJob(other, network)) !== "valid") return;
      if (reported.size >= MAX_REPORTED) deleteOldest(reported);
      reported.add(id);
      logger.warn(
        { height, generatorPublicKey, blockIds: [ours.id, id] },
        "double forging: a delegate signed two blocks for one slot",
      );
    },
  };
}
