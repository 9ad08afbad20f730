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
  mintedTokenId,
  RuleError,
  type StateReader,
  type Wallet,
  type WalletSignatures,
  walletOf,
} from "@uniknode/ledger";
import { type Network, type SealedTransaction, TransactionError } from "@uniknode/protocol";

export type SendersDeps = {
  network: Network;
  state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  signatures: WalletSignatures;
  head: () => { height: number; timestamp: number };
};

type View = {
  readonly publicKey: string;
  readonly draft: Draft;
  /** Ids of the tokens that its transactions mint. */
  readonly minted: string[];
};

export class Senders {
  readonly #deps: SendersDeps;
  /** Views by address. */
  readonly #views = new Map<string, View>();
  /** Public key of the sender whose view has a token, by the id of the token. */
  readonly #minters = new Map<string, string>();

  constructor(deps: SendersDeps) {
    this.#deps = deps;
  }

  /**
   * Adds a transaction to its sender's view.
   *
   * @returns why the rules refuse it, if they do; the view is then as before
   */
  apply({ data }: SealedTransaction): string | undefined {
    const { network, state, signatures, head } = this.#deps;
    const { senderPublicKey } = data;
    const address = addressOf(senderPublicKey, network);
    const view = this.#views.get(address) ?? {
      publicKey: senderPublicKey,
      draft: createDraft(state),
      minted: [],
    };
    const { height, timestamp } = head();
    const context = {
      network,
      milestone: network.milestoneAt(height),
      head: { height, timestamp },
      state,
      signatures,
      draft: view.draft,
      isMintPending: (tokenId: string) => (this.#minters.get(tokenId) ?? senderPublicKey) !== senderPublicKey,
    };
    try {
      applyToSender(data, context);
    } catch (error) {
      if (isRefusal(error)) return error.message;
      throw error;
    }
    this.#views.set(address, view);
    const minted = mintedTokenId(data);
    if (minted !== undefined) {
      view.minted.push(minted);
      this.#minters.set(minted, senderPublicKey);
    }
    return undefined;
  }

  /** Rebuilds the view from the chain and returns the transactions that no longer apply. */
  rebuild(senderPublicKey: string, pending: readonly SealedTransaction[]): SealedTransaction[] {
    const address = addressOf(senderPublicKey, this.#deps.network);
    for (const tokenId of this.#views.get(address)?.minted ?? []) this.#minters.delete(tokenId);
    this.#views.delete(address);
    // After one that fails, the later ones fail by their nonces.
    return pending.filter((transaction) => this.apply(transaction) !== undefined);
  }

  /** The wallet of a sender after its pending transactions. */
  walletOf(senderPublicKey: string): Wallet {
    const { network, state } = this.#deps;
    const view = this.#views.get(addressOf(senderPublicKey, network));
    return walletOf(view?.draft ?? state, senderPublicKey, network);
  }

  /** Public key of the sender with this address, if it has a view. */
  publicKeyOf(address: string): string | undefined {
    return this.#views.get(address)?.publicKey;
  }

  clear(): void {
    this.#views.clear();
    this.#minters.clear();
  }
}

/** Returns true if an error is a refusal: of a rule, or of a signature that cannot be checked. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof RuleError || error instanceof TransactionError || error instanceof RangeError;
