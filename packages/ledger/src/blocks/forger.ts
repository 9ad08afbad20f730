/** The delegate of a slot (consensus.md 4). */
import { delegateOfSlot, forgingOrder, type Rounds, type Slots } from "@uniknode/protocol";
import type { Round, StateReader } from "../state/tables.ts";

type Calendar = { readonly rounds: Rounds; readonly slots: Slots };

/** A round with the order that the nodes of the network use for it. */
type KnownRound = Pick<Round, "delegates" | "order">;

/**
 * The delegates of the round of `height`, and their forging order; undefined if the round is not stored.
 *
 * The nodes of the network use the stored order for the round of the next height. The order of a finished round they
 * rebuild from the stored vote balances only, and judge a second version of its last block by it: they reject the block
 * where the true order would cause a rollback. Trap B6 calls this a fault, but another verdict of this node would only
 * split the network's reaction to such a block. The stored order itself is never replaced.
 *
 * @param headHeight height of the last accepted block
 */
export function roundOf(
  state: StateReader,
  { rounds }: Calendar,
  headHeight: number,
  height: number,
): KnownRound | undefined {
  const { round } = rounds.roundAt(height);
  const record = state.get("rounds", String(round));
  if (!record) return undefined;
  const isHeld = round === rounds.roundAt(headHeight + 1).round;
  return {
    delegates: record.delegates,
    order: isHeld ? record.order : forgingOrder(round, byBalance(record)),
  };
}

/** Vote balance descending, then public key ascending. */
const byBalance = ({ delegates }: Round): string[] =>
  delegates
    .toSorted((a, b) => {
      if (a.voteBalance !== b.voteBalance) return a.voteBalance > b.voteBalance ? -1 : 1;
      return a.publicKey < b.publicKey ? -1 : 1;
    })
    .map(({ publicKey }) => publicKey);

/** Returns true if the generator of a block is the delegate of its slot; true if the order is unknown. */
export const isFromDelegateOfSlot = (
  round: KnownRound | undefined,
  { slots }: Calendar,
  { generatorPublicKey, timestamp }: { generatorPublicKey: string; timestamp: number },
): boolean =>
  round === undefined || delegateOfSlot(round.order, slots.slotAt(timestamp)) === generatorPublicKey;
