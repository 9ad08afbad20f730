/** Verifies the headers above the common block of two chains (p2p.md 10.4 step 5). */
import type { StateReader } from "@uniknode/ledger";
import {
  type BlockHeader,
  delegateOfSlot,
  headerSignatureJob,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import type { Verifier } from "../../verification/verifier.ts";

export type VerifyBranchDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  /** State at the head. */
  readonly state: StateReader;
  readonly verify: Verifier["verify"];
  /** Network time in seconds. */
  readonly now: () => number;
};

/**
 * The last height above `common` whose delegate is known: the end of the round of the block after `common`. The order
 * of this round follows from blocks that both chains have, so it is the same on both.
 *
 * An old node checks one block more, against the delegates of the wrong round.
 */
export function lastCheckableHeight(common: number, { rounds }: Pick<VerifyBranchDeps, "rounds">): number {
  const { roundHeight, maxDelegates } = rounds.roundAt(common + 1);
  return roundHeight + maxDelegates - 1;
}

/**
 * Returns the reason why the headers do not continue the block `common`; undefined if they do. An old node
 * accepts any delegate of the round; this node requires the delegate of the slot, so that no branch can be
 * forged with a single key.
 */
export async function branchFault(
  common: BlockHeader,
  headers: readonly BlockHeader[],
  deps: VerifyBranchDeps,
): Promise<string | undefined> {
  const { network, slots, rounds, state, now } = deps;
  const { round } = rounds.roundAt(common.height + 1);
  const order = state.get("rounds", String(round))?.order;
  let previous = common;
  for (const header of headers) {
    const slot = slots.slotAt(header.timestamp);
    if (header.height !== previous.height + 1) return `a header has height ${header.height}`;
    if (header.previousBlock !== previous.id)
      return `block ${header.height} does not follow the previous block`;
    if (slot <= slots.slotAt(previous.timestamp)) return `block ${header.height} is too early`;
    if (slot > slots.slotAt(now())) return `block ${header.height} is in the future`;
    if (order && delegateOfSlot(order, slot) !== header.generatorPublicKey) {
      return `block ${header.height} was not forged by the delegate of its slot`;
    }
    previous = header;
  }
  const valid = await deps.verify(headers.map((header) => headerCheck(header, network)));
  const wrong = headers[valid.indexOf(false)];
  return wrong && `block ${wrong.height} is not signed by its generator`;
}

export const headerCheck = (header: BlockHeader, network: Network) => ({
  ...headerSignatureJob(header, network),
  scheme: "ecdsa" as const,
});
