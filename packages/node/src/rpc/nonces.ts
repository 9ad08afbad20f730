/**
 * Nonces of the transactions that simultaneous calls create: the node does not know any of them yet, so each call would get
 * the same one. Bounded by the calls in progress.
 */
export type Nonces = {
  /** Begins a call that creates a transaction of a sender. */
  enter(senderPublicKey: string): Place;
};

export type Place = {
  /** Returns the next nonce after those of the other calls; `atNode` is the next one as the node knows it. */
  next(atNode: bigint): bigint;
  /** Records that a transaction with this nonce was created. */
  use(nonce: bigint): void;
  leave(): void;
};

export function createNonces(): Nonces {
  /** By sender, while calls are in progress: later calls ask the node. */
  const senders = new Map<string, { calls: number; last: bigint }>();
  return {
    enter(senderPublicKey) {
      const sender = senders.get(senderPublicKey) ?? { calls: 0, last: 0n };
      sender.calls++;
      senders.set(senderPublicKey, sender);
      return {
        next: (atNode) => (sender.last >= atNode ? sender.last + 1n : atNode),
        use(nonce) {
          sender.last = nonce;
        },
        leave() {
          sender.calls--;
          if (sender.calls === 0) senders.delete(senderPublicKey);
        },
      };
    },
  };
}
