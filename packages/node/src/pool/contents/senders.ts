/**
 * The pool's view of each sender: the state of the chain with the effects of the sender's own pending transactions.
 * Effects of other senders are not visible, so an incoming pending amount cannot be spent. Only the tokens that they
 * mint count as existing.
 */
import {
  addressOf,
  applyToSender,
  createDraft,
  type Draft,
  RuleError,
  type StateReader,
  type Wallet,
  type WalletSignatures,
  walletOf,
} from "@uniknode/ledger";
import { type Network, type SealedTransaction, TransactionError } from "@uniknode/protocol";

export type Senders = {
  /**
   * Adds a transaction to its sender's view.
   *
   * @returns why the rules refuse it, if they do; the view is then as before
   */
  apply(transaction: SealedTransaction): string | undefined;
  /** Rebuilds the view from the chain and returns the transactions that no longer apply. */
  rebuild(senderPublicKey: string, pending: readonly SealedTransaction[]): SealedTransaction[];
  /** The wallet of a sender after its pending transactions. */
  walletOf(senderPublicKey: string): Wallet;
  /** Public key of the sender with this address, if it has a view. */
  publicKeyOf(address: string): string | undefined;
  clear(): void;
};

export type SendersDeps = {
  network: Network;
  state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  signatures: WalletSignatures;
  head: () => { height: number; timestamp: number };
  /** Public key of the sender whose pending transaction mints this token, if there is one. */
  minterOf: (tokenId: string) => string | undefined;
};

type View = { readonly publicKey: string; readonly draft: Draft };

export function createSenders({ network, state, signatures, head, minterOf }: SendersDeps): Senders {
  /** Views by address. */
  const views = new Map<string, View>();

  function apply({ data }: SealedTransaction): string | undefined {
    const address = addressOf(data.senderPublicKey, network);
    const view = views.get(address) ?? { publicKey: data.senderPublicKey, draft: createDraft(state) };
    const { height, timestamp } = head();
    const context = {
      network,
      milestone: network.milestoneAt(height),
      head: { height, timestamp },
      state,
      signatures,
      draft: view.draft,
      isMintPending: (tokenId: string) =>
        (minterOf(tokenId) ?? data.senderPublicKey) !== data.senderPublicKey,
    };
    try {
      applyToSender(data, context);
    } catch (error) {
      if (isRefusal(error)) return error.message;
      throw error;
    }
    views.set(address, view);
    return undefined;
  }

  function rebuild(senderPublicKey: string, pending: readonly SealedTransaction[]): SealedTransaction[] {
    views.delete(addressOf(senderPublicKey, network));
    // After one that fails, the later ones fail by their nonces.
    return pending.filter((transaction) => apply(transaction) !== undefined);
  }

  return {
    apply,
    rebuild,
    walletOf: (senderPublicKey) =>
      walletOf(views.get(addressOf(senderPublicKey, network))?.draft ?? state, senderPublicKey, network),
    publicKeyOf: (address) => views.get(address)?.publicKey,
    clear: () => views.clear(),
  };
}

/** Returns true if an error is a refusal: of a rule, or of a signature that cannot be checked. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof RuleError || error instanceof TransactionError || error instanceof RangeError;
