/**
 * The pool's view of its senders: for each, the chain state with the effects of its own pending transactions.
 * Others' pending effects are not visible to it, so what is still on its way to a wallet cannot be spent.
 */
import { applyToSender, createDraft, type Draft, RuleError, type StateReader } from "@uniknode/ledger";
import type { Network, SealedTransaction } from "@uniknode/protocol";

export type Senders = {
  /**
   * Adds a transaction to its sender's view.
   *
   * @throws {RuleError} when the rules refuse it; the view stays as it was
   */
  apply(transaction: SealedTransaction): void;
  /** Starts the view afresh from the chain; the transactions that no longer apply are returned, and all after them. */
  rebuild(senderPublicKey: string, pending: readonly SealedTransaction[]): SealedTransaction[];
  clear(): void;
};

export type SendersDeps = {
  network: Network;
  state: StateReader;
  head: () => { height: number; timestamp: number };
};

export function createSenders({ network, state, head }: SendersDeps): Senders {
  const drafts = new Map<string, Draft>();

  function apply({ data }: SealedTransaction): void {
    let draft = drafts.get(data.senderPublicKey);
    if (!draft) {
      draft = createDraft(state);
      drafts.set(data.senderPublicKey, draft);
    }
    const mark = draft.mark();
    try {
      applyToSender(data, {
        network,
        milestone: network.milestoneAt(head().height),
        head: head(),
        state,
        draft,
      });
    } catch (error) {
      draft.rollback(mark);
      throw error;
    }
  }

  function rebuild(senderPublicKey: string, pending: readonly SealedTransaction[]): SealedTransaction[] {
    drafts.delete(senderPublicKey);
    for (const [index, transaction] of pending.entries()) {
      try {
        apply(transaction);
      } catch (error) {
        if (error instanceof RuleError) return pending.slice(index);
        throw error;
      }
    }
    return [];
  }

  return { apply, rebuild, clear: () => drafts.clear() };
}
