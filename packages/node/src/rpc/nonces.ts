/**
 * Nonces of the transactions that simultaneous calls, or the calls of a batch, create: the node does not know any of them yet,
 * so each call would get the same one. Bounded by the bodies in progress.
 */
export type Nonces = {
  /** Begins a body of calls. */
  open(): BodyNonces;
};

export type BodyNonces = {
  /** Begins a call that creates a transaction of a sender. Its place lasts as long as the body. */
  enter(senderPublicKey: string): Place;
  /** Ends the body: when the last one of a sender ends, the node decides again. */
  leave(): void;
};

export type Place = {
  /** Returns the next nonce after those of the other calls; `atNode` is the next one as the node knows it. */
  next(atNode: bigint): bigint;
  /** Records that a transaction with this nonce was created. */
  use(nonce: bigint): void;
};

export function createNonces(): Nonces {
  /** By sender, while bodies are in progress. */
  const senders = new Map<string, { bodies: number; last: bigint }>();
  return {
    open() {
      const entered = new Set<string>();
      return {
        enter(senderPublicKey) {
          const sender = senders.get(senderPublicKey) ?? { bodies: 0, last: 0n };
          if (!entered.has(senderPublicKey)) sender.bodies++;
          entered.add(senderPublicKey);
          senders.set(senderPublicKey, sender);
          return {
            next: (atNode) => (sender.last >= atNode ? sender.last + 1n : atNode),
            use(nonce) {
              sender.last = nonce;
            },
          };
        },
        leave() {
          for (const senderPublicKey of entered) {
            const sender = senders.get(senderPublicKey);
            if (sender && --sender.bodies === 0) senders.delete(senderPublicKey);
          }
          entered.clear();
        },
      };
    },
  };
}
