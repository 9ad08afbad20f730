/** A block that does not continue the chain (consensus.md 6.4). */
import type { BlockHeader } from "@uniknode/protocol";
import type { JudgeContext } from "./context.ts";
import { isFromDelegateOfSlot, roundOf } from "./forger.ts";
import type { Reason, Verdict } from "./verdict.ts";

const ROLLBACK_BLOCKS = 5000;

/** Returns true if a block continues the head: its parent, its height, and a later slot. */
export const isChained = (
  { previousBlock, height, timestamp }: BlockHeader,
  { head, slots }: Pick<JudgeContext, "head" | "slots">,
): boolean =>
  previousBlock === head.id &&
  height === head.height + 1 &&
  slots.slotAt(timestamp) > slots.slotAt(head.timestamp);

const rejected = (reason: Reason): Verdict => ({ kind: "Rejected", reason });
const discarded = (reason: Reason): Verdict => ({ kind: "Discarded", reason });

export function judgeUnchained(context: JudgeContext, header: BlockHeader): Verdict {
  const { head, repetitions, draft } = context;
  if (header.height > head.height + 1) {
    return repetitions.isOnceTooOften(header.id)
      ? { kind: "Rollback", reason: "too-high-again", blocks: ROLLBACK_BLOCKS }
      : discarded("too-high");
  }
  if (header.height < head.height) return discarded("below-head");
  if (header.height === head.height && header.id === head.id) return discarded("is-head");
  if (header.timestamp < head.timestamp) return rejected("older-than-head");
  // It may also be the next height with another parent (trap A23).
  const round = roundOf(draft, context, head.height, header.height);
  if (!isFromDelegateOfSlot(round, context, header)) return rejected("wrong-generator");
  return round?.delegates.some(({ publicKey }) => publicKey === header.generatorPublicKey)
    ? { kind: "Rollback", reason: "double-forging" }
    : rejected("wrong-generator");
}
